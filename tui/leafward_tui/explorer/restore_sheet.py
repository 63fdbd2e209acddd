"""The files that a restore would put back: a list to choose from over the diff of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.containers import Vertical

from leafward_tui.explorer.controllers.restore_choice import RestoreChoice
from leafward_tui.explorer.model.restore_lines import file_lines, preview_lines
from leafward_tui.ui.cells import fit
from leafward_tui.ui.intents import intent_bindings
from leafward_tui.ui.lines_view import LinesView
from leafward_tui.ui.paths import tilde
from leafward_tui.ui.routed_screen import Routes
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheet import OneLine, Sheet, SheetLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.session.session import Session
    from leafward_tui.ui.theme import Ground

__all__ = ["RestoreSheet"]

_FRAME = 9
"""Lines of the sheet that are neither list nor diff, and the title of the screen."""
_IN_SIGHT = 4
"""Lines of the screen that stay in sight while files are chosen."""

_PREVIEW = 12
"""Lines of a diff that are enough to choose by."""


class RestoreSheet(Sheet):
    """Chooses files. Ends with "written" once that is done, or with None."""

    NAME: ClassVar[str] = "restore"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("restore")]

    def __init__(
        self,
        session: Session,
        entry: int,
        title: str,
        note: str,
        write: Callable[[RestoreChoice], object],
        moves: str = "",
    ) -> None:
        """`write` begins to write what is chosen; `moves` says what is appended with it, empty where nothing is."""
        self.choice = RestoreChoice(session, entry, self, write, moves)
        about = [SheetLine(f"in {tilde(session.cwd)}; the files from before are kept for the undo", lines=1)]
        super().__init__(title, about, note=note)
        self.files = RestoreFiles(self.choice, self.hairline)
        self.routes = Routes(RowSteps(self.files.step, self.files.page), self.choice)

    def compose_body(self) -> ComposeResult:
        """The files."""
        yield self.files

    def mounted(self) -> None:
        """Begins to work out what would change."""
        self.choice.begin(services_of(self).jobs(self))
        self.files.file_list.focus()
        self.draw()

    def resized(self) -> None:
        """As high as there is room."""
        self.files.share_room()

    @property
    def key(self) -> str:
        """The file of the cursor."""
        return self.files.file_list.key

    def next_file(self) -> None:
        """Puts the cursor on the file below."""
        self.files.file_list.move_by(1)

    def draw(self) -> None:
        """Shows what is chosen, and what that means."""
        if self.is_mounted:
            self.files.draw()
            self.foot.refresh()

    def close(self, answer: str | None) -> None:
        """Closes the sheet."""
        self.dismiss(answer)

    def action_leave(self) -> None:
        """A click beside the sheet does what the key does."""
        self.choice.leave()

    def keys(self) -> tuple[tuple[str, str], ...]:
        """What commits, what leaves, what chooses."""
        if self.choice.plan is None or self.choice.writing:
            return (("esc", "cancel"),)
        other = "list" if self.choice.in_diff else "diff"
        return (
            ("ctrl+s", "restore"),
            ("esc", "cancel"),
            ("space", "choose"),
            ("a", "all safe"),
            ("tab", other),
        )

    def operation(self) -> str:
        """What would be written, or what is missing for it."""
        return self.choice.operation

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """A click shows a file; one on its box chooses it, or not."""
        message.stop()
        if message.view is self.files.file_list:
            if message.x < len("[ ]"):
                self.choice.switch(message.key)
            self.files.draw_preview()

    def commit(self) -> None:
        """What is chosen."""
        self.choice.accept()

    def pressed(self, number: int) -> None:
        """Does what one of `keys`, which was clicked, does."""
        choice = self.choice
        if choice.plan is None or choice.writing:
            choice.leave()
            return
        (choice.accept, choice.leave, choice.toggle, choice.choose_all, choice.switch_pane)[number]()


class RestoreFiles(Vertical):
    """What is going on, the list, and the diff of the file under its cursor."""

    DEFAULT_CSS = "RestoreFiles { height: auto; width: 1fr; }"

    def __init__(self, choice: RestoreChoice, rule: Callable[[], OneLine]) -> None:
        """`rule` makes the line between both."""
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
        """Shows what is chosen."""
        glyphs, choice = services_of(self).glyphs, self._choice
        self.share_room()
        if choice.plan is not None:
            self.file_list.show(
                lambda width, _rows: file_lines(choice.files, choice.same, choice.chosen, width, glyphs)
            )
        self.draw_preview()
        self.state.refresh()

    def draw_preview(self) -> None:
        """Shows what becomes of the file under the cursor."""
        glyphs, choice = services_of(self).glyphs, self._choice
        file, diff = choice.file, choice.diff() if choice.plan is not None else []
        chosen = file is not None and file.path in choice.chosen
        self.preview.show(lambda width, _rows: preview_lines(file, diff, chosen, width, glyphs))

    def share_room(self) -> None:
        """List and diff share the room; the one that keys go to has more of it."""
        choice = self._choice
        room = max(6, self.app.size.height - _FRAME - (0 if choice.in_diff else _IN_SIGHT))
        some = max(1, len(choice.files) + bool(choice.same))
        rows = min(some, 3 if choice.in_diff else max(3, room // 2))
        self.file_list.styles.height = rows
        self.preview.styles.height = max(3, room - rows if choice.in_diff else min(room - rows, _PREVIEW))
        self.state.display = bool(choice.state or choice.problem)

    def step(self, by: int) -> None:
        """Moves the cursor, or scrolls the diff where keys go there."""
        if self._choice.in_diff:
            self.preview.move_by(by)
            return
        self.file_list.move_by(by)
        self.preview.scroll_to(y=0, animate=False)
        self.draw_preview()

    def page(self) -> int:
        """Lines of what the keys go to."""
        return (self.preview if self._choice.in_diff else self.file_list).size.height

    def _state_line(self, width: int, ground: Ground) -> list[Segment]:
        choice, glyphs = self._choice, services_of(self).glyphs
        problem = f"{glyphs.malformed} {choice.problem}" if choice.problem else ""
        text = fit(problem or choice.state, width - 2, ellipsis=glyphs.ellipsis)
        return [Segment(" ", ground.blank), Segment(text, ground.bad if problem else ground.sub)]
