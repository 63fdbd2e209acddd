"""The list of sessions: one line-rendered widget with a cursor."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.message import Message
from textual.strip import Strip

from leafward_tui.catalogue.model.listing import EMPTY, LineKind, Listing, ListLine
from leafward_tui.catalogue.widgets.session_row import RowPainter, SessionColumns
from leafward_tui.ui.panes.line_scroll import LineList, set_extent
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit, fit_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.catalogue.cards.card import Card
    from leafward_tui.ui.appearance.theme import Ground

_CACHED = 512
"""Lines kept painted."""


class SessionList(LineList):
    """Lines of a `Listing` with a cursor. Holds no state of the catalogue but the cursor."""

    DEFAULT_CSS = "SessionList { scrollbar-gutter: stable; }"

    @dataclass
    class GroupToggled(Message):
        """A group's line was clicked."""

        group: str

    def __init__(self) -> None:
        super().__init__()
        self.listing: Listing = EMPTY
        self.cursor = 0
        self._touched = False
        self._cache: dict[tuple[int, bool, int], Strip] = {}
        self._empty: tuple[tuple[str, str], ...] = ()

    # --- model --------------------------------------------------------------------------------------------------------

    @property
    def line(self) -> ListLine | None:
        """The line under the cursor; None where there is none."""
        lines = self.listing.lines
        return lines[self.cursor] if self.cursor < len(lines) else None

    @property
    def card(self) -> Card | None:
        """The session under the cursor; None where the line is no session."""
        return self.line.card if self.line is not None else None

    def show(self, listing: Listing) -> None:
        """Takes new lines; the cursor stays on its session, and the session on its row of the screen."""
        old, before, offset = self.listing, self.line, self.cursor - self.scroll_offset.y
        same_view = listing.view == self.listing.view
        same_query = listing.view.text == self.listing.view.text
        self.listing = listing
        self._cache.clear()
        place = self._place_of(before, old, folded=same_query) if self._touched or not same_view else None
        self.cursor = self._first() if place is None else place
        set_extent(self, len(listing.lines))
        if place is not None and same_query:
            self.scroll_to(y=max(0, place - offset), animate=False, force=True)
        else:
            self.scroll_to(y=0, animate=False, force=True)
        self.reveal()
        self.refresh()
        self.post_message(self.CursorMoved())

    def _place_of(self, line: ListLine | None, old: Listing, *, folded: bool) -> int | None:
        """The new place of a line of the old list; None where it has none.

        With `folded`, the next session of its group stands for it, then the group's head, then the nearest line.
        """
        if line is None:
            return None
        at = self.listing.at
        if line.card is not None and line.card.path in at:
            return at[line.card.path]
        if line.card is not None and folded:
            places = range(self.cursor + 1, len(old.lines)), range(self.cursor - 1, -1, -1)
            for near in places:
                same = takewhile(lambda one: one.group == line.group, (old.lines[place] for place in near))
                stays = (at[one.card.path] for one in same if one.card is not None and one.card.path in at)
                found = next(stays, None)
                if found is not None:
                    return found
        # A user who types looks for a session: the cursor leaves the head of a group for the first session that is
        # found.
        stays_on_head = folded or (line.card is None and not self.listing.view.text)
        head = at.get(f"group:{line.group}") if stays_on_head else None
        return self._nearest(old) if head is None and folded else head

    def _nearest(self, old: Listing) -> int | None:
        """The place of the session or folded group that was nearest below the cursor, else nearest above it."""
        for place in (*range(self.cursor + 1, len(old.lines)), *range(self.cursor - 1, -1, -1)):
            line = old.lines[place]
            name = line.card.path if line.card is not None else f"group:{line.group}" if line.folded else ""
            if name in self.listing.at:
                return self.listing.at[name]
        return None

    def _first(self) -> int:
        lines = self.listing.lines
        return next((number for number, line in enumerate(lines[:200]) if line.kind is LineKind.SESSION), 0)

    def say_empty(self, lines: Sequence[tuple[str, str]]) -> None:
        """Sets the text of an empty list: name of a style, or `path`, and text, one for each row."""
        if tuple(lines) != self._empty:
            self._empty = tuple(lines)
            self._cache.clear()
            self.refresh()

    # --- cursor -------------------------------------------------------------------------------------------------------

    def move_by(self, step: int) -> None:
        """Moves by a number of lines, over blank ones."""
        lines = self.listing.lines
        if not lines:
            return
        target = max(0, min(len(lines) - 1, self.cursor + step))
        way = 1 if step > 0 else -1
        while 0 <= target < len(lines) and lines[target].kind in {LineKind.BLANK, LineKind.HIDDEN}:
            target += way
        if not 0 <= target < len(lines):
            target = max(0, min(len(lines) - 1, self.cursor + step))
            while target > 0 and lines[target].kind in {LineKind.BLANK, LineKind.HIDDEN}:
                target -= 1
        self.go(target)

    def move_to_session(self, step: int) -> None:
        """Moves to the next session in a direction, over groups."""
        lines = self.listing.lines
        target = self.cursor + step
        while 0 <= target < len(lines):
            if lines[target].kind is LineKind.SESSION:
                self.go(target)
                return
            target += step

    def go(self, target: int) -> None:
        """Puts the cursor on a line, where it stays when other lines come."""
        self._touched = True
        if 0 <= target < len(self.listing.lines):
            self.put_cursor(target)

    def reveal(self) -> None:
        """Scrolls until the cursor is on the screen; the head of the first group stays above its first session."""
        top, height = self.scroll_offset.y, self.size.height
        if height <= 0:
            return
        first = self.cursor
        if first == 1 and self.listing.lines[0].kind is LineKind.GROUP:
            first = 0
        if first < top:
            self.scroll_to(y=first, animate=False, force=True)
            return
        last = self.cursor
        below = range(last + 1, min(last + height, len(self.listing.lines)))
        if last + len(below) + 1 == len(self.listing.lines) and all(
            self.listing.lines[at].kind in {LineKind.BLANK, LineKind.HIDDEN} for at in below
        ):
            # Hidden sessions are counted below the last session, where no cursor goes.
            last += len(below)
        if last >= top + height:
            self.scroll_to(y=last - height + 1, animate=False, force=True)

    def notify_style_update(self) -> None:
        """Draws everything again for another theme."""
        super().notify_style_update()
        self._cache.clear()

    def forget_ages(self) -> None:
        """Draws the ages again, because time has passed."""
        self._cache.clear()
        self.refresh()

    # --- mouse --------------------------------------------------------------------------------------------------------

    def point(self, row: int, _x: int) -> bool:
        """Puts the cursor on a clicked line; folds a group."""
        line = self.listing.lines[row]
        if line.kind in {LineKind.BLANK, LineKind.HIDDEN}:
            return False
        self.go(row)
        if line.kind is LineKind.GROUP:
            self.post_message(self.GroupToggled(line.group))
        return line.card is not None

    # --- painting -----------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One line at the widget's width."""
        row = y + self.scroll_offset.y
        selected = row == self.cursor
        width = self.scrollable_content_region.width
        cached = self._cache.get((row, selected, width))
        if cached is not None:
            return cached
        services = services_of(self)
        styles = services.styles_now
        lines = self.listing.lines
        if row < len(lines):
            strip = self._painter(width).strip(lines[row], selected=selected)
        else:
            strip = self._empty_strip(row if not lines else -1, width, styles.bg)
        if len(self._cache) > _CACHED:
            self._cache.clear()
        self._cache[row, selected, width] = strip
        return strip

    def _painter(self, width: int) -> RowPainter:
        services = services_of(self)
        listing = self.listing
        columns = SessionColumns.of(width, agents=len(listing.stock.agents) > 1, sort=listing.view.sort)
        now = services.clock().timestamp()
        return RowPainter(listing, services.styles_now, services.glyphs, width, now, columns)

    def _empty_strip(self, row: int, width: int, ground: Ground) -> Strip:
        at = row - max(0, min(3, self.size.height // 6))
        pieces = []
        if 0 <= at < len(self._empty):
            style, text = self._empty[at]
            glyphs = services_of(self).glyphs
            if style == "path":
                line = Segment(f"  {fit_path(text, width - 6, gap=glyphs.gap)}", ground.sub)
            else:
                line = Segment(fit(text, width - 4, ellipsis=glyphs.ellipsis), getattr(ground, style))
            pieces = [Segment("   ", ground.blank), line]
        return Strip(pieces).adjust_cell_length(width, ground.blank)
