"""The sheet of files that a restore would put back: a list to choose from over the diff of one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.containers import Vertical

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.files.restoration.plan import RestoreAction
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.panes.lines_view import LinesView
from leafward_tui.ui.panes.pane_lines import Block, LazyLines, SpanLine, blanks
from leafward_tui.ui.routed_screen import Routes
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheets.sheet import OneLine, Sheet, SheetKey, SheetLine, hairline
from leafward_tui.ui.text.cells import expand_tabs, fit, fit_path, wrap
from leafward_tui.ui.text.paths import tilde
from leafward_tui.ui.text.spans import Span, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.files.restoration.plan import RestoredFile
    from leafward_tui.explorer.controllers.restore import RestoreChoice
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.appearance.theme import Ground
    from leafward_tui.ui.panes.pane_lines import Lines

_FRAME = 9
"""Lines of the sheet besides list and diff, and the title of the screen."""
_IN_SIGHT = 4
"""Lines of the screen that stay in sight while files are chosen."""

_PREVIEW = 12
"""Lines of a diff that are enough to choose by."""


class RestoreSheet(Sheet):
    """The choice of files. Ends with "written" after the write, or with None."""

    NAME: ClassVar[str] = "restore"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("restore")]

    def __init__(self, choice: RestoreChoice, title: str, note: str) -> None:
        self.choice, choice.view = choice, self
        about = [
            SheetLine(f"in {tilde(choice.folder)}; the files from before are kept for the undo", lines=3)
        ]
        super().__init__(title, about, note=note)
        self.files = RestoreFiles(self.choice, partial(hairline, self))
        self.routes = Routes(RowSteps(self.files.step, self.files.page), self.choice)

    def compose_body(self) -> ComposeResult:
        """The files."""
        yield self.files

    def mounted(self) -> None:
        """Begins to plan the changes."""
        self.choice.begin(services_of(self).jobs(self))
        self.files.file_list.focus()
        self.draw()

    def resized(self) -> None:
        """Makes the sheet as high as there is room."""
        self.files.share_room()

    @property
    def key(self) -> str:
        """The file of the cursor."""
        return self.files.file_list.key

    def next_row(self) -> None:
        """Puts the cursor on the file below, and shows its change."""
        self.files.step(1)

    def draw(self) -> None:
        """Shows the chosen files, and the effect of restoring them."""
        if self.is_mounted:
            self.files.draw()
            self.foot.refresh()

    def action_leave(self) -> None:
        """Does the same as the key, after a click beside the sheet."""
        self.choice.leave()

    def sheet_keys(self) -> tuple[SheetKey, ...]:
        """The keys that commit, cancel and choose."""
        choice, cancel = self.choice, ("mode.leave", "cancel")
        if choice.plan is None or choice.writing:
            return self.intent_keys(cancel)
        return self.intent_keys(
            ("restore.accept", "restore"),
            cancel,
            ("restore.toggle", "choose"),
            ("restore.all", "all safe"),
            ("pane.next", "list" if choice.in_diff else "diff"),
        )

    def operation(self) -> str:
        """The write in words, or why there is none."""
        return self.choice.operation

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """Shows the clicked file; a click on its box chooses it, or takes it out."""
        message.stop()
        if message.view is self.files.file_list:
            if message.x < len("[ ]"):
                self.choice.switch(message.key)
            self.files.draw_preview()

    def commit(self) -> None:
        """Writes the chosen files."""
        self.choice.accept()


class RestoreFiles(Vertical):
    """The state, the list, and the diff of the file under its cursor."""

    DEFAULT_CSS = "RestoreFiles { height: auto; width: 1fr; }"

    def __init__(self, choice: RestoreChoice, rule: Callable[[], OneLine]) -> None:
        """`rule` makes the line between list and diff."""
        super().__init__()
        self._choice, self._rule = choice, rule
        self.state = OneLine(self._state_line)
        self.file_list = LinesView(id="files", raised=True)
        self.preview = LinesView(id="file", cursor=False, raised=True)

    def compose(self) -> ComposeResult:
        """The list over the diff."""
        yield self.state
        yield self.file_list
        yield self._rule()
        yield self.preview

    def draw(self) -> None:
        """Shows the chosen files."""
        glyphs, choice = services_of(self).glyphs, self._choice
        self.share_room()
        if choice.plan is not None:
            self.file_list.show(
                lambda width, _rows: file_lines(choice.files, choice.same, choice.chosen, width, glyphs)
            )
        self.draw_preview()
        self.state.refresh()

    def draw_preview(self) -> None:
        """Shows the change of the file under the cursor."""
        glyphs, choice = services_of(self).glyphs, self._choice
        file, diff = choice.file, choice.diff() if choice.plan is not None else []
        chosen = file is not None and file.path in choice.chosen
        self.preview.show(lambda width, _rows: preview_lines(file, diff, chosen, width, glyphs))

    def share_room(self) -> None:
        """Divides the room between list and diff; the one with the keys has more of it."""
        choice = self._choice
        room = max(6, self.app.size.height - _FRAME - (0 if choice.in_diff else _IN_SIGHT))
        some = max(1, len(choice.files) + bool(choice.same))
        rows = min(some, 3 if choice.in_diff else max(3, room // 2))
        self.file_list.styles.height = rows
        self.preview.styles.height = max(3, room - rows if choice.in_diff else min(room - rows, _PREVIEW))
        self.state.display = bool(choice.state or choice.problem)

    def step(self, by: int) -> None:
        """Moves the cursor, or scrolls the diff where that has the keys."""
        if self._choice.in_diff:
            self.preview.move_by(by)
            return
        self.file_list.move_by(by)
        self.preview.scroll_to(y=0, animate=False)
        self.draw_preview()

    def page(self) -> int:
        """Lines of the pane with the keys."""
        return (self.preview if self._choice.in_diff else self.file_list).size.height

    def _state_line(self, width: int, ground: Ground) -> list[Segment]:
        choice, glyphs = self._choice, services_of(self).glyphs
        problem = f"{glyphs.malformed} {choice.problem}" if choice.problem else ""
        text = fit(problem or choice.state, width - 2, ellipsis=glyphs.ellipsis)
        return [Segment(" ", ground.blank), Segment(text, ground.bad if problem else ground.sub)]


_VERB = 7
_DIFF_HEAD = 2
"""Lines of a diff that name the file."""
_LONGEST = 1_000
"""Characters shown of one line of a diff."""


def file_lines(
    changes: Sequence[RestoredFile], same: int, chosen: Collection[str], width: int, glyphs: Glyphs
) -> Lines:
    """The files, each with whether it is chosen, its change, and why the change is safe or not."""
    room = width - 4 - _VERB - 1 - 2
    names = max((cell_len(safe_line(one.path, _LONGEST)) for one in changes), default=0)
    # Reasons keep more than half of the row, or all of it that names do not need: a path is known by its end.
    reasons = min(max((cell_len(one.why) for one in changes), default=0), max(room * 9 // 16, room - names))
    names = min(room - reasons, names)
    below = f"{counted(same, 'file is', 'files are')} already as at that entry" if same else ""
    if not changes and not same:
        below = "no recorded call touched a file"

    def made(y: int) -> SpanLine:
        if y == len(changes):
            return SpanLine((Span(below, "nothing"),))
        return _file_line(changes[y], changes[y].path in chosen, names, reasons, glyphs)

    places = {f"file:{one.path}": y for y, one in enumerate(changes)}
    return LazyLines(len(changes) + bool(below), made, places)


def _file_line(change: RestoredFile, here: bool, names: int, reasons: int, glyphs: Glyphs) -> SpanLine:
    """One file, with `names` cells for its path and `reasons` for its reason."""
    possible = change.is_possible
    sign = f"[{glyphs.ok if here else ' '}] " if possible else "    "
    action = change.action if change.is_safe else change.offered
    verb = str(action or RestoreAction.LEAVE)
    ink = "text" if here else "sub" if possible else "faint"
    tone = "faint" if change.is_safe or not possible else "warn"
    path = fit_path(safe_line(change.path, _LONGEST), names, pad=True, gap=glyphs.ellipsis)
    why = fit(safe_line(change.why, _LONGEST), reasons, pad=True, ellipsis=glyphs.ellipsis)
    spans = (
        Span(sign, "leaf" if here else "faint"),
        Span(f"{verb:<{_VERB}} ", ink),
        Span(path, ink),
        blanks(2),
        Span(why, tone),
    )
    return SpanLine(spans, f"file:{change.path}")


def preview_lines(
    change: RestoredFile | None, diff: Sequence[str] | None, chosen: bool, width: int, glyphs: Glyphs
) -> Lines:
    """The change of one file in full, and its diff; without a diff, that it is being computed."""
    if change is None:
        return Block()
    lines = [SpanLine((Span(text, ink),)) for text, ink in _about(change, chosen, width, glyphs)]
    if change.after is None or not change.is_possible:
        return Block(lines)
    if diff is None:
        return Block([*lines, SpanLine((Span("comparing", "nothing"),))])
    begin = len(lines) - _DIFF_HEAD

    def made(y: int) -> SpanLine:
        return lines[y] if y < len(lines) else _diff_line(diff[y - begin], width, glyphs)

    return LazyLines(begin + max(_DIFF_HEAD, len(diff)), made)


def _about(change: RestoredFile, chosen: bool, width: int, glyphs: Glyphs) -> list[tuple[str, str]]:
    path, why = safe_line(change.path, _LONGEST), safe_line(change.why, _LONGEST)
    if change.is_safe:
        text = f"{path}: {why}" + ("" if chosen else ", not chosen")
        ink = "sub"
    elif change.is_offered:
        text = f"{path}: {why}; " + ("chosen anyway" if chosen else "stays unless you choose it")
        ink = "warn"
    else:
        text, ink = f"{path}: {why}; it stays as it is", "warn"
    lines = [(part, ink) for part in wrap(text, width, lines=3, ellipsis=glyphs.ellipsis)]
    if change.remark:
        lines += [(part, "sub") for part in wrap(change.remark, width, lines=2, ellipsis=glyphs.ellipsis)]
    return lines


def _diff_line(line: str, width: int, glyphs: Glyphs) -> SpanLine:
    ink, ground = {"+": ("text", "leaf_tint"), "-": ("text", "bad_tint"), "@": ("faint", "")}.get(
        line[:1], ("sub", "")
    )
    text = shown(expand_tabs(line[:_LONGEST].rstrip("\r")))
    return SpanLine((Span(fit(text, width, pad=True, ellipsis=glyphs.ellipsis), ink, ground),))
