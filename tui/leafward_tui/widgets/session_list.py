"""The list of sessions: one line-rendered widget and its head, which share their columns."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from leafward.catalog import Card, Sort
from leafward.safe_text import safe_line
from leafward.search import matches
from leafward_tui.cells import age, cell_len, count, counted, exact, fit, fit_path, right, split_path
from leafward_tui.listing import EMPTY, LineKind, Listing, ListLine
from leafward_tui.shell import shell_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style
    from textual import events

    from leafward_tui.glyphs import Glyphs
    from leafward_tui.theme import Ground, Styles

__all__ = ["Columns", "ListHead", "SessionList", "tilde"]

LIVE_SECONDS = 120
"""A session that spoke this recently is being written."""

_LEAST_TEXT = 40
_TEXT_AT = 5
_CACHED = 512


def tilde(path: str) -> str:
    """A path made safe, with the home folder as ``~``."""
    home = os.path.expanduser("~")
    shown = safe_line(path)
    return "~" + shown[len(home) :] if home and (shown == home or shown.startswith(home + os.sep)) else shown


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns there is room for, from left to right, each with its width and the gap before it."""

    text: int
    shown: tuple[tuple[str, int, int], ...]
    """Name, width, gap."""

    @classmethod
    def of(cls, width: int, *, agents: bool) -> Columns:
        """The columns of a list of ``width`` cells, its scroll bar not counted; ``agents`` when there is more than one agent to tell apart.

        The text keeps 40 cells as long as a column can go; what tells least goes first.
        """
        wanted = [("agent", 8, 2)] if agents else []
        wanted += [("turns", 5, 2), ("branches", 8, 1), ("compact", 7, 1), ("tokens", 6, 1), ("when", 4, 2)]
        room = width - _TEXT_AT
        for going in ("compact", "branches", "agent", "turns", "tokens"):
            if room - sum(size + gap for _, size, gap in wanted) >= _LEAST_TEXT:
                break
            wanted = [column for column in wanted if column[0] != going]
        return cls(max(0, room - sum(size + gap for _, size, gap in wanted)), tuple(wanted))


_SORTED = {"tokens": Sort.TOKENS, "when": Sort.WHEN, "turns": Sort.TURNS}
"""The column that shows what a sort goes by."""


class ListHead(Widget):
    """``Sessions`` with the headings of the columns, and the rule whose heavy part is the focus. Two rows."""

    DEFAULT_CSS = "ListHead { height: 2; width: 1fr; }"

    @dataclass
    class SortPressed(Message):
        """A heading was clicked."""

        sort: Sort

    def __init__(self) -> None:
        super().__init__()
        self._sort = Sort.WHEN
        self._agents = False
        self._lit = True
        self._bare = True

    def show(self, sort: Sort, *, agents: bool, lit: bool, bare: bool = False) -> None:
        """``lit`` while the list has the focus; ``bare`` leaves out the headings, as there are no rows to head."""
        wanted = (sort, agents, lit, bare)
        if wanted != (self._sort, self._agents, self._lit, self._bare):
            self._sort, self._agents, self._lit, self._bare = wanted
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Headings, then the rule."""
        shell = shell_of(self)
        ground = shell.styles_now.bg
        width = self.size.width
        if y == 1:
            heavy = min(10, width - 2)
            lit = ground.leaf if self._lit else ground.edge
            return Strip(
                [
                    Segment(" ", ground.blank),
                    Segment(shell.glyphs.heavy * heavy, lit),
                    Segment(shell.glyphs.hairline * max(0, width - heavy - 2), ground.line),
                ]
            ).adjust_cell_length(width, ground.blank)
        columns = Columns.of(width - 1, agents=self._agents)
        pieces = [
            Segment(" ", ground.blank),
            Segment(
                fit("Sessions", _TEXT_AT + columns.text - 1, pad=True),
                ground.strong if self._lit else ground.faint,
            ),
        ]
        for name, size, gap in columns.shown:
            heading = "" if name == "agent" or self._bare else name
            style = ground.text if _SORTED.get(name) is self._sort else ground.faint
            pieces += [Segment(" " * gap, ground.blank), Segment(right(heading, size), style)]
        return Strip(pieces).adjust_cell_length(width, ground.blank)

    def on_click(self, event: events.Click) -> None:
        """Sorts by the column that was clicked; by name on the text."""
        columns = Columns.of(self.size.width - 1, agents=self._agents)
        end = _TEXT_AT + columns.text
        if event.x < end:
            self.post_message(self.SortPressed(Sort.NAME))
            return
        for name, size, gap in columns.shown:
            if end <= event.x < end + gap + size and name in _SORTED:
                self.post_message(self.SortPressed(_SORTED[name]))
            end += gap + size


class SessionList(ScrollView, inherit_bindings=False, can_focus=True):
    """Lines of a ``Listing`` with a cursor. Holds no state of the catalogue but the cursor."""

    DEFAULT_CSS = "SessionList { width: 1fr; height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-gutter: stable; }"

    @dataclass
    class CursorMoved(Message):
        """The cursor stands on another line now; ``path`` is None on a group."""

        path: str | None

        @property
        def can_replace_earlier(self) -> bool:
            """Only the last place matters."""
            return True

        def can_replace(self, message: Message) -> bool:
            """Only the last place matters."""
            return isinstance(message, SessionList.CursorMoved)

    @dataclass
    class Opened(Message):
        """A session was double-clicked."""

        path: str

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
        """The line under the cursor."""
        lines = self.listing.lines
        return lines[self.cursor] if self.cursor < len(lines) else None

    @property
    def card(self) -> Card | None:
        """The session under the cursor."""
        return self.line.card if self.line is not None else None

    def show(self, listing: Listing) -> None:
        """Takes new lines; the cursor stays on its session, and the session on its row of the screen."""
        before, offset = self.line, self.cursor - self.scroll_offset.y
        same_query = listing.view.text == self.listing.view.text
        self.listing = listing
        self._cache.clear()
        place = self._place_of(before) if self._touched or not same_query else None
        self.cursor = self._first() if place is None else place
        self.virtual_size = Size(0, len(listing.lines))
        if place is not None and same_query:
            self.scroll_to(y=max(0, place - offset), animate=False, force=True)
        else:
            self.scroll_to(y=0, animate=False, force=True)
        self._keep_in_view()
        self.refresh()
        self.post_message(self.CursorMoved(self.card.path if self.card else None))

    def _place_of(self, line: ListLine | None) -> int | None:
        if line is None:
            return None
        at = self.listing.at
        if line.card is not None and line.card.path in at:
            return at[line.card.path]
        return at.get(f"group:{line.group}")

    def _first(self) -> int:
        lines = self.listing.lines
        return next((number for number, line in enumerate(lines[:200]) if line.kind is LineKind.SESSION), 0)

    def say_empty(self, lines: Sequence[tuple[str, str]]) -> None:
        """What stands where there are no lines: name of a style and text, one a row."""
        if tuple(lines) != self._empty:
            self._empty = tuple(lines)
            self.refresh()

    # --- cursor -------------------------------------------------------------------------------------------------------

    def move(self, by: int) -> None:
        """Moves by so many lines, over blank ones."""
        lines = self.listing.lines
        if not lines:
            return
        target = max(0, min(len(lines) - 1, self.cursor + by))
        step = 1 if by > 0 else -1
        while 0 <= target < len(lines) and lines[target].kind in {LineKind.BLANK, LineKind.HIDDEN}:
            target += step
        if not 0 <= target < len(lines):
            target = max(0, min(len(lines) - 1, self.cursor + by))
            while 0 < target and lines[target].kind in {LineKind.BLANK, LineKind.HIDDEN}:
                target -= 1
        self.go(target)

    def move_to_session(self, step: int) -> None:
        """The next session in a direction, over groups."""
        lines = self.listing.lines
        target = self.cursor + step
        while 0 <= target < len(lines):
            if lines[target].kind is LineKind.SESSION:
                self.go(target)
                return
            target += step

    def go(self, target: int) -> None:
        """Puts the cursor on a line; repaints two lines, or all where it scrolls."""
        self._touched = True
        if target == self.cursor or not 0 <= target < len(self.listing.lines):
            return
        old, self.cursor = self.cursor, target
        self.refresh_line(old)
        self.refresh_line(target)
        self._keep_in_view()
        self.post_message(self.CursorMoved(self.card.path if self.card else None))

    def _keep_in_view(self) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if height <= 0:
            return
        first = self.cursor
        if first == 1 and self.listing.lines[0].kind is LineKind.GROUP:
            first = 0
        if first < top:
            self.scroll_to(y=first, animate=False, force=True)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False, force=True)

    def on_resize(self) -> None:
        """Columns follow the width."""
        self._keep_in_view()

    def notify_style_update(self) -> None:
        """Another theme."""
        super().notify_style_update()
        self._cache.clear()

    def forget_ages(self) -> None:
        """Time has passed: ages are made anew."""
        self._cache.clear()
        self.refresh()

    # --- mouse --------------------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """One click selects, a second opens; on a group it folds."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        row = offset.y + self.scroll_offset.y
        lines = self.listing.lines
        if row >= len(lines) or lines[row].kind in {LineKind.BLANK, LineKind.HIDDEN}:
            return
        self.focus()
        self.go(row)
        line = lines[row]
        if line.kind is LineKind.GROUP:
            self.post_message(self.GroupToggled(line.group))
        elif event.chain > 1 and line.card is not None:
            self.post_message(self.Opened(line.card.path))

    # --- painting -----------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """One line at the widget's width."""
        row = y + self.scroll_offset.y
        selected = row == self.cursor
        width = self.scrollable_content_region.width
        cached = self._cache.get((row, selected, width))
        if cached is not None:
            return cached
        shell = shell_of(self)
        styles = shell.styles_now
        lines = self.listing.lines
        if row < len(lines):
            strip = self._strip(lines[row], width, styles, shell.glyphs, selected=selected)
        else:
            strip = self._empty_strip(row if not lines else -1, width, styles.bg)
        if len(self._cache) > _CACHED:
            self._cache.clear()
        self._cache[row, selected, width] = strip
        return strip

    def _empty_strip(self, row: int, width: int, ground: Ground) -> Strip:
        at = row - max(0, min(3, self.size.height // 6))
        pieces = []
        if 0 <= at < len(self._empty):
            style, text = self._empty[at]
            pieces = [Segment("   ", ground.blank), Segment(fit(text, width - 4), getattr(ground, style))]
        return Strip(pieces).adjust_cell_length(width, ground.blank)

    def _strip(self, line: ListLine, width: int, styles: Styles, glyphs: Glyphs, *, selected: bool) -> Strip:
        ground = styles.sel if selected else styles.bg
        lead = Segment(glyphs.cursor if selected else " ", ground.leaf)
        if line.kind is LineKind.GROUP:
            pieces = self._group(line, width, ground, glyphs)
        elif line.kind is LineKind.SESSION and line.card is not None:
            pieces = self._session(line, line.card, width, ground, glyphs, selected=selected)
        elif line.kind is LineKind.HIDDEN:
            pieces = _hidden(line, ground)
        else:
            pieces = []
        return Strip([lead, *pieces]).adjust_cell_length(width, ground.blank)

    def _columns(self, width: int) -> Columns:
        return Columns.of(width, agents=len(self.listing.stock.agents) > 1)

    def _group(self, line: ListLine, width: int, ground: Ground, glyphs: Glyphs) -> list[Segment]:
        columns = self._columns(width)
        shown = (
            f"{exact(line.shown)} of {exact(line.total)}" if line.shown != line.total else exact(line.total)
        )
        room = columns.text + 2 - cell_len(shown) - 3
        path = fit_path(tilde(line.group) or "no project", room, gap=glyphs.gap)
        folder, name = split_path(path)
        used = cell_len(path) + 3 + cell_len(shown)
        pieces = [
            Segment(f"{glyphs.folded if line.folded else glyphs.unfolded} ", ground.faint),
            Segment(folder, ground.faint),
            Segment(name, ground.strong),
            Segment(f"   {shown}", ground.faint),
            Segment(" " * max(0, columns.text + 2 - used), ground.blank),
        ]
        cells = {
            "tokens": (count(line.tokens) if line.tokens else "", ground.faint),
            "when": (self._age(line.modified), ground.faint),
        }
        return pieces + _cells(columns, cells, ground)

    def _session(
        self, line: ListLine, card: Card, width: int, ground: Ground, glyphs: Glyphs, *, selected: bool
    ) -> list[Segment]:
        columns = self._columns(width)
        live = card.problem is None and self._seconds(card.modified) < LIVE_SECONDS
        pieces = [
            Segment("  ", ground.blank),
            Segment(f"{glyphs.dot if live else ' '} ", ground.leaf),
        ]
        if card.problem is not None:
            return pieces + self._problem(card, columns, ground, glyphs)
        nest = _nest(line.nest, glyphs)
        found = matches(card, self.listing.query) if self.listing.query.words else None
        chips = self._chips(card)
        chip = f"  {chips}" if chips else ""
        room = max(4, columns.text - cell_len(nest) - cell_len(chip))
        title = card.title
        spans = found.spans.get("title", ()) if found is not None else ()
        if card.relation == "subagent":
            title, spans = f"sub-agent: {title}", tuple((start + 11, end + 11) for start, end in spans)
        style = ground.faint if card.archived else ground.sub if line.nest else ground.text
        base = ground.strong if selected else style
        mark = ground.strong_hit if selected else ground.hit
        text = fit(title, room, pad=True, ellipsis=glyphs.ellipsis)
        pieces.append(Segment(nest, ground.faint))
        pieces += _marked(text, title, spans, base, mark)
        if chip:
            damaged = card.damage > 0
            pieces.append(Segment(chip, ground.warn if damaged else ground.faint))
        zero = ground.edge

        def number(value: int | None) -> tuple[str, Style]:
            return count(value), zero if value == 0 else ground.sub

        cells = {
            "agent": (fit(card.agent, 8, pad=True), ground.faint),
            "turns": number(card.turns),
            "branches": number(card.branches),
            "compact": number(card.compactions),
            "tokens": number(card.tokens),
            "when": (self._age(card.modified), ground.text if selected else ground.faint),
        }
        return pieces + _cells(columns, cells, ground)

    def _problem(self, card: Card, columns: Columns, ground: Ground, glyphs: Glyphs) -> list[Segment]:
        """A file that is no session: sign, name and reason over the columns, its age at the end."""
        tail = [column for column in columns.shown if column[0] == "when"]
        room = columns.text + sum(size + gap for name, size, gap in columns.shown if name != "when")
        name = fit(card.title, min(40, room // 2), ellipsis=glyphs.ellipsis)
        reason = fit(card.problem or "", max(0, room - cell_len(name) - 5), ellipsis=glyphs.ellipsis)
        used = 2 + cell_len(name) + 3 + cell_len(reason)
        return [
            Segment(f"{glyphs.malformed} ", ground.bad),
            Segment(name, ground.sub),
            Segment(f"   {reason}", ground.faint),
            Segment(" " * max(0, room - used), ground.blank),
            *_cells(Columns(0, tuple(tail)), {"when": (self._age(card.modified), ground.faint)}, ground),
        ]

    def _chips(self, card: Card) -> str:
        if card.damage:
            return f"! {exact(card.damage)} damaged"
        if card.archived:
            return "archived"
        files = self.listing.files_found(card.path)
        return fit(split_path(files[0])[1], 18) if files else ""

    def _seconds(self, milliseconds: int) -> float:
        return shell_of(self).clock().timestamp() - milliseconds / 1000

    def _age(self, milliseconds: int) -> str:
        return age(self._seconds(milliseconds))


def _nest(levels: tuple[bool, ...], glyphs: Glyphs) -> str:
    """The sign of a fork: a line for every level above that goes on, then its own branch."""
    if not levels:
        return ""
    above = "".join(f"{glyphs.nest_side}  " if follows else "   " for follows in levels[:-1][-4:])
    return f"{above}{glyphs.nest if levels[-1] else glyphs.nest_last}{glyphs.nest_arm} "


def _cells(columns: Columns, cells: dict[str, tuple[str, Style]], ground: Ground) -> list[Segment]:
    pieces = []
    for name, size, gap in columns.shown:
        text, style = cells.get(name, ("", ground.blank))
        pieces += [Segment(" " * gap, ground.blank), Segment(right(text, size), style)]
    return pieces


def _hidden(line: ListLine, ground: Ground) -> list[Segment]:
    where = f" in {counted(line.total, 'other project')}" if line.total else ""
    return [Segment(f"  {counted(line.shown, 'session')}{where} {line.words}", ground.nothing)]


def _marked(
    text: str, whole: str, spans: Sequence[tuple[int, int]], base: Style, mark: Style
) -> list[Segment]:
    """``text``, the fitted form of ``whole``, with the hits in it marked."""
    if not spans:
        return [Segment(text, base)]
    same = len(os.path.commonprefix((text, whole)))
    pieces = []
    at = 0
    for start, end in spans:
        start, end = min(start, same), min(end, same)
        if end > start:
            pieces += [Segment(text[at:start], base), Segment(text[start:end], mark)]
            at = end
    return [*pieces, Segment(text[at:], base)]
