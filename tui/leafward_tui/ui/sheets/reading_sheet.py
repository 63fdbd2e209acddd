"""A sheet with a text to read: a summary while it is written and when it is whole, or a request before it is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from leafward_tui.ui.keys.intents import intent, intent_bindings
from leafward_tui.ui.panes.line_scroll import LineScroll, set_extent
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.routed_screen import Actions, Routes
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheets.sheet import Sheet, SheetKey
from leafward_tui.ui.text.cells import fit, right, wrap
from leafward_tui.ui.text.markdown import rendered
from leafward_tui.ui.text.spans import indented_text, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.style import Style
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward_tui.ui.appearance.theme import Ground
    from leafward_tui.ui.text.spans import Span

_SHARE = 0.5
"""The part of the screen's height that the text takes."""
_LEAST = 4
"""Lines of text."""
_MARGIN = 1


class _Text(LineScroll, can_focus=False):
    """Session text in lines, made safe, wrapped to the width."""

    DEFAULT_CSS = "_Text { height: 8; background: $lw-raise; scrollbar-background: $lw-raise; }"

    def __init__(self, *, markdown: bool) -> None:
        super().__init__()
        self._markdown = markdown
        self._text = ""
        self._lines: list[list[Span]] = []
        self._made_for = -1

    def show(self, text: str, *, to_end: bool) -> None:
        """Shows another text, from its end while it grows."""
        self._text = text
        self._made_for = -1
        self._make()
        self.refresh()
        if to_end:
            self.scroll_to(y=max(0, len(self._lines) - self.size.height), animate=False, force=True)

    def _make(self) -> None:
        width = max(12, self.size.width - 2 * _MARGIN)
        if width == self._made_for or not self.size.width:
            return
        self._made_for = width
        if self._markdown:
            self._lines = rendered(self._text, width, services_of(self).glyphs)
        else:
            self._lines = indented_text(shown(self._text), width, "sub")
        set_extent(self, len(self._lines))

    def on_resize(self) -> None:
        """Fits the lines to the new width."""
        self._make()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        ground = services_of(self).styles_now.raised
        width = self.scrollable_content_region.width
        row = y + self.scroll_offset.y
        pieces = [Segment(" " * _MARGIN, ground.blank)]
        if row < len(self._lines):
            pieces += [Segment(span.text, _ink(ground, span.ink)) for span in self._lines[row]]
        return Strip(pieces).adjust_cell_length(width, ground.blank)

    def move(self, by: int) -> None:
        """Scrolls by lines."""
        self.scroll_to(y=self.scroll_offset.y + by, animate=False)


def _ink(ground: Ground, name: str) -> Style:
    # Text on the raised ground is one step brighter, as everywhere on it.
    style: Style = getattr(ground, "sub" if name == "faint" else name)
    return style


class StateLines(Painted):
    """The progress or the outcome, beside its figures; words that do not fit there go on below."""

    DEFAULT_CSS = "StateLines { height: 2; width: 1fr; }"
    GROUND = "raised"

    def __init__(self) -> None:
        super().__init__()
        self._text = self._tone = self._figures = ""

    def show(self, text: str, tone: str = "", figures: str = "") -> None:
        """Shows another state; `tone` says whether it is good or bad."""
        self._text, self._tone, self._figures = text, tone, figures
        self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """The sign and the words up to the figures, then the other words."""
        glyphs = services_of(self).glyphs
        ellipsis = glyphs.ellipsis
        figures = fit(self._figures, max(0, width // 2), ellipsis=ellipsis)
        sign = {"warn": "malformed", "bad": "malformed", "leaf": "ok"}.get(self._tone, "")
        lead = f"{getattr(glyphs, sign)} " if sign else ""
        whole = max(1, width - 2 - cell_len(lead))
        room = whole - cell_len(figures) - 2 if figures else whole
        first, *rest = wrap(self._text, max(1, room), ellipsis=ellipsis) or [""]
        if y:
            words = fit(" ".join(rest), whole, ellipsis=ellipsis)
            return [Segment(" " * (1 + cell_len(lead)), ground.blank), Segment(words, ground.sub)]
        return [
            Segment(" ", ground.blank),
            Segment(lead, getattr(ground, self._tone) if self._tone else ground.sub),
            Segment(first, ground.sub),
            Segment(right(figures, whole - cell_len(first)), ground.sub),
        ]


class ReadingSheet(Sheet):
    """A text, with figures beside the title. Ends with `move`, `again` or `base`, or with None.

    While `running`, the text grows and leaving gives it up; `ended` shows the outcome.
    """

    NAME: ClassVar[str] = "draft"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("draft")]

    def __init__(
        self,
        title: str,
        text: str = "",
        *,
        note: str = "",
        markdown: bool = True,
        running: bool = False,
        cancel: Callable[[], object] = lambda: None,
        save: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__(title, note=note)
        self.text = text
        self.body = _Text(markdown=markdown)
        self.state = StateLines()
        self.running = running
        self._cancel = cancel
        self._saves = save is not None
        self.waits_for = lambda: "not finished yet" if self.running else ""
        self._move = ""
        self._refused = ""
        self.refuses = lambda intent_id: self._refused if intent_id == "draft.move" else ""
        self._operation = ""
        self._again = self._base = ""
        steps = RowSteps(self.body.move, lambda: self.body.size.height)
        always = {"mode.leave": self.action_leave, "app.back": self.action_leave, "app.help": self.show_help}
        self.routes = Routes(steps, Actions(always), _Offers(self, save or (lambda _text: None)))

    def compose_body(self) -> ComposeResult:
        """The state, then the text."""
        yield self.state
        yield self.body

    def mounted(self) -> None:
        """Makes the sheet as high as there is room."""
        self.resized()
        self.body.show(self.text, to_end=False)

    def resized(self) -> None:
        """Gives the text its share of the height."""
        self.body.styles.height = max(_LEAST, int(self.app.size.height * _SHARE))

    # --- outcome ------------------------------------------------------------------------------------------------------

    def grow(self, text: str, state: str) -> None:
        """Shows more of the text; `state` is the progress."""
        self.text = text
        self.state.show(state)
        if self.is_mounted:
            self.body.show(text, to_end=True)

    def ended(
        self,
        text: str,
        state: str,
        *,
        figures: str = "",
        tone: str = "leaf",
        move: str = "",
        refused: str = "",
        operation: str = "",
        again: str = "",
        base: str = "",
    ) -> None:
        """Shows the final text, or that there will be none: `state` with `tone` says which.

        `move` is the label of enter, `refused` why enter does nothing, `operation` what it would write, `again` another
        way to make the text, `base` another base for it.
        """
        self.running = False
        self.text = text
        # A key that was pressed too early was told to wait.
        self.say("")
        self.state.show(state, tone, figures)
        self._move, self._refused, self._operation = move, refused, operation
        self._again, self._base = again, base
        if self.is_mounted:
            self.body.show(text, to_end=False)
            self.body.scroll_to(y=0, animate=False, force=True)
            self.refresh(layout=True)
            self.foot.refresh()

    # --- drawing ------------------------------------------------------------------------------------------------------

    def offered(self) -> list[tuple[str, str]]:
        """Intents that work now, with their words, the one that commits first."""
        if self.running:
            return [("mode.leave", "cancel")]
        offered = [("draft.move", self._move)] if self._move and not self._refused else []
        if self.text:
            offered.append(("copy.text", "copy"))
        if self.text and self._saves:
            offered.append(("draft.save", intent("draft.save").hint))
        if self._base:
            offered.append(("draft.base", self._base))
        if self._again:
            offered.append(("draft.again", self._again))
        return [*offered, ("mode.leave", "cancel" if self._move or self._again else "close")]

    def sheet_keys(self) -> tuple[SheetKey, ...]:
        """The intents that work now, under their keys."""
        return self.intent_keys(*self.offered())

    def operation(self) -> str:
        """The write that moving would make, or why it cannot be made."""
        return "" if self.running else self._refused or self._operation

    # --- keys ---------------------------------------------------------------------------------------------------------

    def action_leave(self) -> None:
        """Cancels the running work, or leaves."""
        if self.running:
            self._cancel()
        self.dismiss(None)

    def show_help(self) -> None:
        """Shows the keys of this sheet."""
        from leafward_tui.ui.sheets.key_help import HelpScreen

        self.app.push_screen(HelpScreen(self.NAME))


class _Offers(Actions):
    """Intents that a sheet offers at times: an intent that is not offered does not work."""

    def __init__(self, sheet: ReadingSheet, save: Callable[[str], object]) -> None:
        super().__init__(
            {
                "draft.move": lambda: sheet.dismiss("move"),
                "draft.again": lambda: sheet.dismiss("again"),
                "draft.base": lambda: sheet.dismiss("base"),
                "draft.save": lambda: save(sheet.text),
                "copy.text": lambda: services_of(sheet).copy(sheet.text),
            }
        )
        self._sheet = sheet

    def enabled(self, intent_id: str) -> bool:
        """Whether it is offered."""
        return any(one == intent_id for one, _ in self._sheet.offered())
