"""The rows of an X-ray as lines of a screen: two sides, folded runs, separate bands. Pure.

The sides of a band fold independently, since the messages on one are not the lines on the other; only where both show
the same messages do they fold together.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from leafward.compaction.xray.alignment import Link, What

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.compaction.xray.alignment import Band, Cell, XRay

LEAST_LINES = 12
"""Lines of a side of a band above which its middle is folded."""

_LANDMARKS = frozenset({"user", "bashExecution", "system"})
"""Roles that are never part of a folded run of one turn."""
_SUMMARIES = frozenset({"compactionSummary", "branchSummary"})
"""Roles that no fold hides."""
_HEADS = frozenset({What.FILES, What.SECTION})
TELLS = frozenset({What.HEADING, What.LINE})
"""Cells that the text of a summary consists of."""
_BELOW = frozenset({What.FILE, What.ADDED})


class Side(StrEnum):
    """A column."""

    BEFORE = "Before"
    AFTER = "After"

    @property
    def other(self) -> Side:
        """The column across."""
        return Side.AFTER if self is Side.BEFORE else Side.BEFORE


@dataclass(frozen=True, slots=True)
class Piece:
    """One side of a line: a cell, or several folded into one."""

    rows: tuple[int, ...]
    """Rows of the X-ray that it shows."""
    cell: Cell
    """The cell, or the first of the folded ones."""
    tokens: int
    fold: str = ""
    """The key of the fold that enter opens or closes here; empty for none."""
    opened: bool = False
    turns: int = 0
    """Turns of a folded run; 0 where it is part of one turn."""
    inside: str = ""
    """The key of the opened fold that it is in."""

    @property
    def folded(self) -> bool:
        """Whether it stands for several messages."""
        return bool(self.fold) and self.cell.what not in _HEADS


@dataclass(frozen=True, slots=True)
class XRayLine:
    """One line: both sides of it. A line without a band separates two bands."""

    band: int = -1
    link: Link | None = None
    before: Piece | None = None
    after: Piece | None = None
    hidden: int = 0
    """Rows of a band that the filter hides."""

    def side(self, side: Side) -> Piece | None:
        """The piece on a side; None where there is none."""
        return self.before if side is Side.BEFORE else self.after


@dataclass(frozen=True, slots=True)
class _Item:
    """A message, or a run of them within one turn."""

    rows: tuple[int, ...]
    summary: bool
    """Whether no fold hides it: a summary, or a message that the shown context edits are about."""


class Ends(NamedTuple):
    """Lines of one band; -1 where there is none."""

    first_before: int
    last_before: int
    last_after: int
    last_of_summary: int
    """The last line of the summary itself, not of a list."""
    summary_tokens: int
    """Tokens of all lines of the summary itself."""


class Arrangement:
    """The lines of an X-ray under some opened folds, of all bands or of one kind only."""

    def __init__(
        self,
        xray: XRay,
        opened: frozenset[str] = frozenset(),
        only: Link | None = None,
        *,
        fold_kept: bool = False,
    ) -> None:
        self.xray = xray
        self.opened = opened
        self.only = only
        self.fold_kept = fold_kept
        self.lines: list[XRayLine] = []
        self.spans: list[range] = []
        """The lines of each band."""
        for number, band in enumerate(xray.bands):
            if self.lines:
                self.lines.append(XRayLine())
            start = len(self.lines)
            if only is not None and band.link is not only:
                self.lines.append(XRayLine(number, band.link, hidden=band.stop - band.start))
            else:
                self.lines += self._band(number, band)
            self.spans.append(range(start, len(self.lines)))
        self.ends = [self._ends(span) for span in self.spans]
        """The ends of the sides of each band."""
        self._line_of: dict[tuple[Side, int], int] = {}
        for at, line in enumerate(self.lines):
            for side in Side:
                piece = line.side(side)
                for row in piece.rows if piece is not None else ():
                    # The head of an open list shows only itself there.
                    self._line_of.setdefault((side, row), at)

    def __len__(self) -> int:
        return len(self.lines)

    def line_of(self, side: Side, row: int) -> int:
        """The line that shows a row, or the fold it is in; -1 where the filter hides it."""
        return self._line_of.get((side, row), -1)

    def fold_over(self, side: Side, row: int) -> str:
        """The key of the fold that hides a row; empty for none, or where the filter hides it."""
        at = self.line_of(side, row)
        piece = self.lines[at].side(side) if at >= 0 else None
        hides = piece is not None and piece.fold and not piece.opened and len(piece.rows) > 1
        return piece.fold if piece is not None and hides and piece.rows != (row,) else ""

    def lines_of(self, side: Side, rows: Sequence[int]) -> frozenset[int]:
        """The lines that show some rows."""
        return frozenset(at for row in rows if (at := self.line_of(side, row)) >= 0)

    def nearest(self, side: Side, at: int) -> int:
        """The line nearest to another one with content on a side; -1 where there is none."""
        for away in range(len(self.lines) + abs(at)):
            for line in (at - away, at + away):
                if 0 <= line < len(self.lines) and self.stops(side, line):
                    return line
        return -1

    def stops(self, side: Side, at: int) -> bool:
        """Whether the cursor can be on a line."""
        line = self.lines[at]
        return line.side(side) is not None or line.hidden > 0

    def step(self, side: Side, at: int, by: int) -> int:
        """The line `by` stops further; the last stop where there are fewer."""
        found = at
        direction = 1 if by > 0 else -1
        left = abs(by)
        here = at + direction
        while left and 0 <= here < len(self.lines):
            if self.stops(side, here):
                found, left = here, left - 1
            here += direction
        return found

    def change(self, side: Side, at: int, direction: int) -> int:
        """The first line of the next band, or of the one before, that is not simply kept; the same line for none.

        For context edits, the next line of a message that they change.
        """
        if self.xray.of_edits:
            ahead = range(at + 1, len(self.lines)) if direction > 0 else range(at - 1, -1, -1)
            return next((line for line in ahead if self._edits(line)), at)
        here = self.lines[at].band if 0 <= at < len(self.lines) else -1
        bands = range(here + 1, len(self.spans)) if direction > 0 else range(here - 1, -1, -1)
        for band in bands:
            if self.xray.bands[band].link in (Link.SYSTEM, Link.KEPT, Link.REST, Link.ERROR):
                continue
            found = next((line for line in self.spans[band] if self.stops(side, line)), -1)
            if found >= 0:
                return found
            return self.spans[band].start
        return at

    def differs(self, at: int) -> bool:
        """Whether a kept line shows a message that is different after: edited, or cut short."""
        piece = self.lines[at].before
        rows = (self.xray.rows[row] for row in (piece.rows if piece is not None else ()))
        return any(
            row.before is not None
            and row.after is not None
            and (row.cut > 0 or row.before.edited != row.after.edited)
            for row in rows
        )

    def _edits(self, at: int) -> bool:
        line = self.lines[at]
        piece = line.before if line.before is not None else line.after
        return piece is not None and (line.link is Link.INJECTED or any(map(self._edited, piece.rows)))

    def _edited(self, row: int) -> bool:
        """Whether the context edits on show leave a message out, or change it."""
        one = self.xray.rows[row]
        if not self.xray.of_edits or one.link is Link.CUT:
            return self.xray.of_edits
        return one.before is not None and one.after is not None and one.before.edited != one.after.edited

    def _ends(self, span: range) -> Ends:
        before = [at for at in span if self.lines[at].before is not None]
        after = [(at, piece) for at in span if (piece := self.lines[at].after) is not None]
        own = [(at, piece.tokens) for at, piece in after if piece.cell.what in TELLS]
        return Ends(
            before[0] if before else -1,
            before[-1] if before else -1,
            after[-1][0] if after else -1,
            own[-1][0] if own else -1,
            sum(tokens for _, tokens in own),
        )

    # --- bands --------------------------------------------------------------------------------------------------------

    def _band(self, number: int, band: Band) -> Iterator[XRayLine]:
        rows = range(band.start, band.stop)
        xray = self.xray
        after = [row for row in rows if xray.rows[row].after is not None]
        before = [row for row in rows if xray.rows[row].before is not None]
        if band.link in (Link.SYSTEM, Link.KEPT):
            paired = list(self._kept(number, before))
            for piece in paired:
                yield XRayLine(number, band.link, piece, self._across(piece))
            return
        right = list(self._summary_lines(after))
        left = list(self._messages(number, before, max(LEAST_LINES, len(right))))
        for was, now in zip_longest(left, right):
            yield XRayLine(number, band.link, was, now)

    def _across(self, piece: Piece) -> Piece:
        """The messages of a piece on the side after."""
        cells = [self.xray.rows[row].after for row in piece.rows]
        tokens = sum(cell.tokens for cell in cells if cell is not None)
        first = cells[0] if cells[0] is not None else piece.cell
        return Piece(piece.rows, first, tokens, piece.fold, piece.opened, piece.turns, piece.inside)

    def _kept(self, number: int, rows: list[int]) -> Iterator[Piece]:
        apart = [row for row in rows if self._cell(row).what is not What.MESSAGE]
        yield from (self._single(row) for row in apart)
        messages = rows[len(apart) :]
        key = f"kept:{number}"
        if self.fold_kept and len(messages) > 1:
            if key not in self.opened:
                yield self._fold(key, messages, turns=True)
                return
            yield from self._messages(number, messages, len(messages), key)
            return
        yield from self._messages(number, messages, LEAST_LINES)

    def _cell(self, row: int) -> Cell:
        found = self.xray.rows[row].before
        cell = found if found is not None else self.xray.rows[row].after
        if cell is None:
            raise IndexError(row)
        return cell

    def _single(self, row: int, inside: str = "") -> Piece:
        cell = self._cell(row)
        return Piece((row,), cell, cell.tokens, inside=inside)

    def _fold(self, key: str, rows: Sequence[int], *, turns: bool) -> Piece:
        counted = 0
        if turns:
            counted = max(1, sum(1 for row in rows if self._cell(row).role in _LANDMARKS))
        tokens = sum(self._cell(row).tokens for row in rows)
        return Piece(tuple(rows), self._cell(rows[0]), tokens, key, key in self.opened, counted)

    def _messages(self, number: int, rows: Sequence[int], limit: int, inside: str = "") -> Iterator[Piece]:
        """Messages, the runs between landmarks folded; beyond the limit, the middle is folded."""
        items = list(self._items(rows))
        if len(items) <= limit:
            for item in items:
                yield from self._item(number, item, inside)
            return
        head = limit * 2 // 5
        tail = limit - head - 1
        middle = items[head : len(items) - tail]
        for item in items[:head]:
            yield from self._item(number, item)
        waiting: list[_Item] = []
        for item in middle:
            if item.summary:
                yield from self._middle(number, waiting)
                waiting = []
                yield from self._item(number, item)
            else:
                waiting.append(item)
        yield from self._middle(number, waiting)
        for item in items[len(items) - tail :]:
            yield from self._item(number, item)

    def _middle(self, number: int, items: list[_Item]) -> Iterator[Piece]:
        if len(items) < 3:
            for item in items:
                yield from self._item(number, item)
            return
        rows = [row for item in items for row in item.rows]
        key = f"middle:{number}:{rows[0]}"
        if key not in self.opened:
            yield self._fold(key, rows, turns=True)
            return
        for item in items:
            yield from self._item(number, item, key)

    def _items(self, rows: Sequence[int]) -> Iterator[_Item]:
        run: list[int] = []
        for row in rows:
            role = self._cell(row).role
            summary = role in _SUMMARIES or self._edited(row)
            if role in _LANDMARKS or summary or self._cell(row).what is not What.MESSAGE:
                if run:
                    yield _Item(tuple(run), summary=False)
                    run = []
                yield _Item((row,), summary)
            else:
                run.append(row)
        if run:
            yield _Item(tuple(run), summary=False)

    def _item(self, number: int, item: _Item, inside: str = "") -> Iterator[Piece]:
        key = f"run:{number}:{item.rows[0]}"
        if len(item.rows) < 3 or key in self.opened:
            within = key if key in self.opened else inside
            yield from (self._single(row, within) for row in item.rows)
        else:
            yield self._fold(key, item.rows, turns=False)

    def _summary_lines(self, rows: Sequence[int]) -> Iterator[Piece]:
        """Lines of the summary and of the injected context; lists are folded below their heads."""
        head, opened = "", False
        for row in rows:
            cell = self.xray.rows[row].after
            if cell is None:
                continue
            if cell.what in _HEADS:
                head = f"list:{row}"
                opened = head in self.opened
                mine = [row, *self._listed(row)]
                tokens = sum(self._after_tokens(one) for one in mine)
                yield Piece((row,) if opened else tuple(mine), cell, tokens, head, opened)
            elif cell.what not in _BELOW:
                head = ""
                yield Piece((row,), cell, cell.tokens)
            elif opened or not head:
                yield Piece((row,), cell, cell.tokens, inside=head)

    def _after_tokens(self, row: int) -> int:
        cell = self.xray.rows[row].after
        return cell.tokens if cell is not None else 0

    def _listed(self, head: int) -> Iterator[int]:
        """The rows below the head of a list."""
        rows = self.xray.rows
        for row in range(head + 1, len(rows)):
            cell = rows[row].after
            if cell is None or cell.what not in _BELOW:
                return
            yield row
