"""The results of a search: sessions and their hits in context, one line-rendered widget with a cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from leafward.base.figures import counted
from leafward.base.safe_text import safe, safe_line
from leafward.base.shown_path import project_name
from leafward_tui.search.model.finds import FindKind, FindLine, Finds, label_of
from leafward_tui.ui.panes.line_scroll import LineList, set_extent
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import age, fit, right, wrap
from leafward_tui.ui.text.hits import marked
from leafward_tui.ui.text.times import moment_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.query.search.text_match import Hit
    from leafward_tui.ui.appearance.theme import Ground

_LABEL = 22
"""Cells of the speaker; fewer in a narrow pane."""
_LABEL_NARROW = 11
_TEXT_AT = 4
"""Cells before a hit: cursor, and the indentation below its session."""
_CACHED = 512


class ResultList(LineList):
    """Lines of `Finds` with a cursor. Holds no state of the search but the cursor."""

    DEFAULT_CSS = "ResultList { scrollbar-gutter: stable; }"

    def __init__(self) -> None:
        super().__init__()
        self.finds = Finds()
        self.cursor = 0
        self._cache: dict[tuple[int, bool, int], Strip] = {}
        self._shared = 0
        """Titles that more than one session had when the lines were painted."""
        self._empty: tuple[tuple[str, str], ...] = ()

    # --- model --------------------------------------------------------------------------------------------------------

    @property
    def line(self) -> FindLine | None:
        """The line under the cursor; None where there is none."""
        return self.finds.lines[self.cursor] if 0 <= self.cursor < len(self.finds.lines) else None

    def show(self, finds: Finds, cursor: int = 0) -> None:
        """Takes other results, with the cursor on a line."""
        self.finds = finds
        self.scroll_to(y=0, animate=False, force=True)
        self.show_lines(len(finds.lines), cursor)
        self.reveal()

    def grew(self, before: int) -> None:
        """Draws added lines; `before` is the number of lines before them. A title above may no longer be the only one."""
        self.count = len(self.finds.lines)
        set_extent(self, self.count)
        if not before:
            self.put_cursor(1 if self.count > 1 else 0)
        top = self.scroll_offset.y
        shared = sum(number > 1 for number in self.finds.titles.values())
        if shared != self._shared:
            self._shared = shared
            self._cache.clear()
            self.refresh()
        elif before < top + self.size.height:
            self.refresh()

    def opened_up(self) -> None:
        """Draws the lines below the cursor again, because they changed."""
        self.measure()
        self.count = len(self.finds.lines)
        set_extent(self, self.count)
        self.refresh()
        self.post_message(self.CursorMoved())

    def say_empty(self, lines: Sequence[tuple[str, str]]) -> None:
        """Sets the text of an empty list: name of a style and text, one for each row."""
        if tuple(lines) != self._empty:
            self._empty = tuple(lines)
            self._cache.clear()
            self.refresh()

    # --- cursor -------------------------------------------------------------------------------------------------------

    def move_by(self, step: int) -> None:
        """Moves by a number of lines, over blank ones."""
        lines = self.finds.lines
        if lines:
            target = max(0, min(len(lines) - 1, self.cursor + step))
            skipped = lines[target].kind is FindKind.BLANK
            self.put_cursor(target + (1 if step > 0 else -1) * skipped)

    def move_to(self, kind: FindKind, step: int) -> None:
        """Moves to the next line of a kind in a direction."""
        lines = self.finds.lines
        target = self.cursor + step
        while 0 <= target < len(lines):
            if lines[target].kind is kind:
                self.put_cursor(target)
                return
            target += step

    def reveal(self) -> None:
        """Scrolls until the cursor is on the screen; the session of a first hit stays above it."""
        top, height = self.scroll_offset.y, self.size.height
        if height <= 0 or not self.finds.lines:
            return
        above = self.cursor and self.finds.lines[self.cursor - 1].kind is FindKind.SESSION
        first = self.cursor - 1 if above else self.cursor
        if first < top:
            self.scroll_to(y=first, animate=False, force=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, force=True)

    def measure(self) -> None:
        """Forgets painted lines."""
        self._cache.clear()

    def notify_style_update(self) -> None:
        """Draws everything again for another theme."""
        super().notify_style_update()
        self._cache.clear()

    def point(self, row: int, _x: int) -> bool:
        """Puts the cursor on a clicked line; that of hidden hits is chosen by one click."""
        kind = self.finds.lines[row].kind
        if kind is not FindKind.BLANK:
            self.put_cursor(row)
        if kind is FindKind.MORE:
            self.post_message(self.Chosen())
        return kind in {FindKind.SESSION, FindKind.HIT}

    # --- painting -----------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One line at the widget's width."""
        row = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        selected = row == self.cursor
        cached = self._cache.get((row, selected, width))
        if cached is not None:
            return cached
        styles = services_of(self).styles_now
        lines = self.finds.lines
        if row < len(lines):
            ground = styles.sel if selected else styles.bg
            pieces = self._pieces(lines[row], width, ground, selected=selected)
        else:
            ground = styles.bg
            pieces = self._said_where_empty(y, width, ground) if not lines else []
            # A row that is empty now may be a line in a moment.
            return Strip(pieces).adjust_cell_length(width, ground.blank)
        strip = Strip(pieces).adjust_cell_length(width, ground.blank)
        if len(self._cache) > _CACHED:
            self._cache.clear()
        self._cache[row, selected, width] = strip
        return strip

    def _said_where_empty(self, y: int, width: int, ground: Ground) -> list[Segment]:
        at = y - max(0, min(3, self.size.height // 6))
        rows = [(style, row) for style, text in self._empty for row in _in_columns(text, width - 4)]
        if not 0 <= at < len(rows):
            return []
        style, text = rows[at]
        return [Segment("   ", ground.blank), Segment(text, getattr(ground, style))]

    def _pieces(self, line: FindLine, width: int, ground: Ground, *, selected: bool) -> list[Segment]:
        glyphs = services_of(self).glyphs
        lead = Segment(glyphs.cursor if selected else " ", ground.leaf)
        if line.kind is FindKind.SESSION:
            return [lead, *self._session(line, width - 1, ground)]
        if line.kind is FindKind.HIT and line.hit is not None:
            return [lead, *self._hit(line.hit, width - 1, ground, selected=selected)]
        if line.kind is FindKind.MORE:
            words = f"{counted(line.more, 'more hit')} in this session"
            return [lead, Segment(" " * (_TEXT_AT - 1), ground.blank), Segment(words, ground.faint)]
        return []

    def _session(self, line: FindLine, width: int, ground: Ground) -> list[Segment]:
        services = services_of(self)
        card = line.found.card
        hits = counted(line.found.total, "hit")
        # Ages in days do not tell sessions of one title apart.
        shared = self.finds.titles[card.title] > 1
        when = moment_at(card.when) if shared else age(services.clock().timestamp() - card.when / 1000)
        project = project_name(card.project)
        tail = f"{right(hits, 9)}{right(when, max(5, cell_len(when) + 2))} "
        about = f"{project}  {safe_line(card.agent)}" if project else safe_line(card.agent)
        room = width - 1 - cell_len(tail)
        about = about if width >= 64 else safe_line(card.agent)
        title = fit(card.title, max(8, room - cell_len(about) - 4), ellipsis=services.glyphs.ellipsis)
        gap = max(1, room - cell_len(title) - 3 - cell_len(about))
        return [
            Segment(" ", ground.blank),
            Segment(title, ground.strong),
            Segment("   ", ground.blank),
            Segment(about, ground.faint),
            Segment(" " * gap, ground.blank),
            Segment(tail, ground.faint),
        ]

    def _hit(self, hit: Hit, width: int, ground: Ground, *, selected: bool) -> list[Segment]:
        glyphs = services_of(self).glyphs
        label = _LABEL if width >= 90 else _LABEL_NARROW
        who, what = label_of(hit)
        what = f" {what}" if what and label == _LABEL else ""
        who = fit(safe_line(who), label - 2 - cell_len(what), ellipsis=glyphs.ellipsis)
        sign = glyphs.malformed if hit.failed else " "
        head = [
            Segment(" " * (_TEXT_AT - 1), ground.blank),
            Segment(who, ground.sub),
            Segment(what, ground.faint),
            Segment(" " * (label - 2 - cell_len(who) - cell_len(what)), ground.blank),
            Segment(f"{sign} ", ground.bad),
        ]
        room = max(8, width - _TEXT_AT + 1 - label - 1)
        text, spans = windowed(safe(hit.text), hit.spans, room, glyphs.ellipsis)
        style = ground.strong if selected else ground.text
        mark = ground.strong_hit if selected else ground.hit
        fitted = fit(text, room, ellipsis=glyphs.ellipsis)
        return [*head, *marked(fitted, text, spans, style, mark)]


def windowed(
    text: str, spans: Sequence[tuple[int, int]], room: int, ellipsis: str
) -> tuple[str, list[tuple[int, int]]]:
    """A text cut at its beginning so that the first span is visible in `room` cells, and its spans."""
    begin = max(0, spans[0][0] - room // 3) if spans else 0
    if not begin or cell_len(text) <= room or cell_len(text[: spans[0][1]]) <= room - 6:
        return text, list(spans)
    # A truncated word is less use than none.
    space = text.find(" ", begin, spans[0][0])
    begin = space + 1 if space >= 0 else begin
    moved = len(ellipsis) - begin
    return ellipsis + text[begin:], [(start + moved, stop + moved) for start, stop in spans]


def _in_columns(text: str, width: int) -> list[str]:
    """A text in lines: what is behind a gap stays in a column of its own."""
    _, gap, behind = text.partition("  ")
    column = len(text) - len(behind.lstrip()) if gap else 0
    first, *more = wrap(text[column:], width - column) or [""]
    return [text[:column] + first, *(" " * column + line for line in more)]
