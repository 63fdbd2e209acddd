"""The strip: the whole session on a few screen lines. Context size turn by turn, the path as an axis, its branches."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from leafward_tui.explorer.model.overview_drawing import draw
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import count, exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from leafward_tui.explorer.model.overview import Detour, Overview, SideBranch
    from leafward_tui.explorer.model.overview_drawing import Drawing
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.appearance.theme import Ground, Styles


class StripView(Widget):
    """Shows an overview; a click or a drag asks for the turn below it."""

    DEFAULT_CSS = "StripView { height: 4; width: 1fr; background: $lw-bg; }"

    class TurnWanted(Message):
        """A turn was pointed at: its first entry, or the tip of a branch."""

        def __init__(self, entry: int) -> None:
            super().__init__()
            self.entry = entry

        def can_replace(self, message: Message) -> bool:
            """A later message of a drag replaces an earlier one: only the current place counts."""
            return isinstance(message, StripView.TurnWanted)

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._overview: Overview | None = None
        self._detour: Detour | None = None
        self._hits: Sequence[int] = ()
        self._drawing: Drawing | None = None
        self._drawn_for: tuple[object, ...] = ()
        self._strips: list[Strip] = []
        self._wanted = -1
        self._dragging = False

    # --- content ------------------------------------------------------------------------------------------------------

    def show(self, overview: Overview | None) -> None:
        """Shows a session's overview, or that there is none yet. A proposed move is dropped: it is about another axis."""
        self._overview = overview
        self._detour = None
        self._again()

    def set_ghost(self, detour: Detour | None) -> None:
        """Shows a proposed move, made by `Overview.detour`; None removes it."""
        if detour != self._detour:
            self._detour = detour
            self._again()

    def set_hits(self, turns: Sequence[int]) -> None:
        """Ticks the turns that a search found, made by `Overview.turns_of`."""
        self._hits = turns
        self._again()

    def _again(self) -> None:
        self._drawing = None
        self.refresh()

    # --- drawing ------------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One of the strip's lines."""
        services = services_of(self)
        self._draw(services.styles_now, services.glyphs)
        return (
            self._strips[y]
            if y < len(self._strips)
            else Strip.blank(self.size.width, services.styles_now.bg.blank)
        )

    def _draw(self, styles: Styles, glyphs: Glyphs) -> None:
        basis = (self.size, styles, glyphs)
        if self._drawing is not None and basis == self._drawn_for:
            return
        width, height = self.size
        self._drawn_for = basis
        self._drawing = draw(self._overview, width, height, glyphs, self._detour, self._hits)
        self._strips = [
            Strip(_segments(signs, inks, styles.bg), width)
            for signs, inks in zip(self._drawing.signs, self._drawing.inks, strict=True)
        ]

    # --- mouse --------------------------------------------------------------------------------------------------------

    def entry_at(self, x: int, y: int) -> int:
        """The entry of a cell: of several turns in a column the marked one, else the first."""
        overview, drawing = self._overview, self._drawing
        if overview is None or drawing is None or not drawing.axis.columns:
            return -1
        if y == 3 or (y == 2 and self.size.height == 3):
            for cells, branch in drawing.branches:
                if x in cells:
                    return _entry_of(branch, x - cells.start, len(cells))
        turns = drawing.turn_at(x)
        if turns.stop >= len(overview):
            return overview.place
        hit = bisect_left(self._hits, turns.start)
        if hit < len(self._hits) and self._hits[hit] < turns.stop:
            return overview.heads[self._hits[hit]]
        for flags in (overview.compacted, overview.failed):
            marked = flags.find(1, turns.start, turns.stop)
            if marked >= 0:
                return overview.heads[marked]
        return overview.heads[turns.start]

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Goes to the pressed place, and follows the mouse from now on."""
        if event.button == 1:
            self.capture_mouse()
            self._dragging = True
            self._wanted = -1
            self._want(event.x, event.y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follows a drag; otherwise shows the turn under the mouse."""
        if self._dragging:
            self._want(event.x, event.y)
        elif self._drawing is not None and self._overview is not None:
            self.tooltip = self._turn_words(self._drawing.turn_at(event.x))

    def on_mouse_up(self) -> None:
        """Ends a drag."""
        self._dragging = False
        self.release_mouse()

    def _want(self, x: int, y: int) -> None:
        entry = self.entry_at(x, y)
        if entry >= 0 and entry != self._wanted:
            self._wanted = entry
            self.post_message(self.TurnWanted(entry))

    def _turn_words(self, turns: range) -> Content | None:
        if not turns or self._overview is None:
            return None
        overview = self._overview
        size = max(overview.sizes[turns.start : turns.stop])
        first, last = (overview.number_of(turn) for turn in (turns.start, turns.stop - 1))
        number = exact(first) if first == last else f"{exact(first)} – {exact(last)}"
        every = overview.number_of(len(overview) - 1)
        return Content(f"turn {number} of {exact(every)}   {count(size, zero='')}".rstrip())


def _entry_of(branch: SideBranch, at: int, cells: int) -> int:
    """The entry of a branch for one of its cells; its last cell is its tip."""
    if at >= cells - 1 and cells > 1:
        return branch.tip
    return branch.heads[len(branch.heads) * at // max(1, cells)]


def _segments(signs: str, inks: Sequence[str], ground: Ground) -> list[Segment]:
    """Cells as few segments."""
    segments: list[Segment] = []
    start = 0
    for x in range(1, len(signs) + 1):
        if x == len(signs) or inks[x] != inks[start]:
            segments.append(Segment(signs[start:x], getattr(ground, inks[start])))
            start = x
    return segments
