"""A centred modal: at most 76 × 20, a hairline frame, its title in the top rule, scrollable rows."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from textual.geometry import Size
from textual.screen import ModalScreen
from textual.strip import Strip

from leafward_tui.ui.keys.intents import INTENT_ACTION
from leafward_tui.ui.panes.line_scroll import LineScroll, set_extent
from leafward_tui.ui.routed_screen import Actions, RoutedScreen, Routes
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.services import AppServices, services_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.segment import Segment
    from textual import events
    from textual.app import ComposeResult
    from textual.content import Content

    from leafward_tui.ui.appearance.theme import Ground

MODAL_WIDTH = 76
MODAL_HEIGHT = 20
MODAL_MARGIN = Size(8, 3)
"""Cells around the rows of a modal: frame, padding and scrollbar."""
_SCRAPS = 9
"""Cells: with fewer than these left beside it, a frame takes the whole width, since nothing there would be readable."""


class Rows(LineScroll):
    """Rows made when they are painted."""

    DEFAULT_CSS = "Rows { background: $lw-panel; scrollbar-background: $lw-panel; }"

    def __init__(self, make: Callable[[int, int, Ground], list[Segment]], cursor: int | None) -> None:
        super().__init__()
        self._make = make
        self.cursor = -1 if cursor is None else cursor
        self.count = 0

    def show(self, count: int) -> None:
        """Sets the number of rows."""
        self.count = count
        set_extent(self, count)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row."""
        services = services_of(self)
        row = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        ground = services.styles_now.sel if row == self.cursor else services.styles_now.panel
        pieces = self._make(row, width, ground) if row < self.count else []
        return Strip(pieces).adjust_cell_length(width, ground.blank)

    def step(self, by: int) -> None:
        """Moves the cursor, or scrolls where there is none."""
        if self.cursor < 0:
            self.scroll_to(y=self.scroll_offset.y + by, animate=False)
            return
        self.cursor = max(0, min(self.count - 1, self.cursor + by))
        self.reveal()
        self.refresh()


class Modal(RoutedScreen[None], ModalScreen[None]):
    """Frame, rows, and the keys all lists share."""

    DEFAULT_CSS = f"""
    Modal {{
        align: center middle;
        overflow: hidden;
        & > Rows {{
            width: {MODAL_WIDTH};
            max-width: 100%;
            height: auto;
            max-height: 100%;
            padding: 1 2 0 2;
            border: solid $lw-line;
            border-title-color: $lw-text;
            border-title-style: bold;
            border-title-background: $lw-panel;
            border-subtitle-color: $lw-sub;
            border-subtitle-background: $lw-panel;
        }}
    }}
    """

    AUTO_FOCUS = ""
    NAME: ClassVar[str] = ""

    def __init__(
        self,
        row: Callable[[int, int, Ground], list[Segment]],
        actions: Mapping[str, Callable[[], object]] = MappingProxyType({}),
        *,
        cursor: int | None = None,
    ) -> None:
        """`row` makes a row of a width on a ground; `actions` are those besides moving and leaving.

        `cursor` is the row of the cursor, None where rows are only read.
        """
        super().__init__()
        self.answer = self._say
        self._foot_note = ""
        self._foot_keys: Sequence[tuple[str, str]] = ()
        self.rows = Rows(row, cursor)
        every = {"mode.leave": self.leave, "app.back": self.leave, **actions}
        self.routes = Routes(RowSteps(self.step, lambda: self.rows.size.height), Actions(every))

    def compose(self) -> ComposeResult:
        """The rows in their frame."""
        yield self.rows

    @property
    def services(self) -> AppServices:
        """The application's services."""
        return services_of(self)

    def frame(
        self,
        title: str,
        count: int,
        *offers: tuple[str, str],
        note: str = "",
        width: int = 0,
        height: int = 0,
    ) -> None:
        """Sets title, number of rows, the words in the lower rule, and the size of the rows where it is given.

        In the lower rule is a note, then the intents that are offered, each with its words; a click there runs one.
        """
        from textual.content import Content

        label = services_of(self).keymap.label
        self._foot_note, self._foot_keys = note, [one for one in offers if label(one[0])]
        self.rows.border_title = Content(title)
        self._say("")
        if services_of(self).glyphs.hairline == "-":
            self.rows.styles.border = ("ascii", services_of(self).palette_now.line)
        least = width + MODAL_MARGIN.width if width else MODAL_WIDTH
        cells = max(least, len(title) + 4, len(self._foot().plain) + 4)
        self.rows.styles.width = cells if self.app.size.width - cells >= _SCRAPS else self.app.size.width
        self.rows.styles.height = height + MODAL_MARGIN.height if height else min(MODAL_HEIGHT, count + 3)
        self.rows.show(count)

    def _foot(self) -> Content:
        """The words in the lower rule."""
        from textual.content import Content
        from textual.style import Style

        label = services_of(self).keymap.label
        keys = [
            Content.styled(
                f"{label(one)} {words}", Style.from_meta({"@click": f"screen.{INTENT_ACTION}('{one}')"})
            )
            for one, words in self._foot_keys
        ]
        return Content("   ").join([*([Content(self._foot_note)] if self._foot_note else []), *keys])

    def _say(self, reason: str) -> None:
        """Shows in the lower rule the `reason` why a key does nothing; an empty reason brings the usual words back."""
        from textual.content import Content

        words = Content(f"{services_of(self).glyphs.malformed} {reason}") if reason else self._foot()
        self.rows.border_subtitle = words if words.plain else ""

    def moved(self) -> None:
        """Called when the cursor has moved; overridden."""

    def chosen(self) -> None:
        """Called when the row of the cursor was clicked; overridden."""

    def step(self, by: int) -> None:
        """Moves the cursor, or scrolls."""
        before = self.rows.cursor
        self.rows.step(by)
        if self.rows.cursor != before:
            self.moved()

    def leave(self) -> None:
        """Closes without a change."""
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """Leaves on a click beside the frame; one on a row puts the cursor there, where there is a cursor."""
        if event.widget is self:
            self.leave()
            return
        row = self.rows.row_at(event) if event.widget is self.rows and self.rows.cursor >= 0 else -1
        if row < 0:
            return
        if row == self.rows.cursor:
            self.chosen()
        else:
            self.step(row - self.rows.cursor)
