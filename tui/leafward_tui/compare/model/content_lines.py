"""A laid out file as lines for a width: side by side, below each other, or in three columns."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.base.shown_path import split_path
from leafward.branches.diff.contents import Merge
from leafward.files.file_replay.knowledge import KNOWN
from leafward_tui.compare.model.content import (
    LEAST_TWO,
    LONGEST,
    ContentRow,
    Show,
    Shown,
    rests_on,
    words_that_differ,
)
from leafward_tui.compare.model.files import HUES
from leafward_tui.ui.panes.pane_lines import MadeLines, SpanLine, blanks
from leafward_tui.ui.text.cells import expand_tabs, fit, fit_path
from leafward_tui.ui.text.spans import Span, cut, padded, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward_tui.ui.appearance.glyphs import Glyphs

_NAMES = {"=": "ancestor"}
_QUIET = {"text": "sub", "strong": "sub", "sub": "faint", "leaf": "sub", "bad": "sub"}


def _signs(laid: Shown, ancestor: str, glyphs: Glyphs) -> tuple[str, str, str]:
    """The signs of changed lines, of the left and the right content and of the ancestor.

    `+` and `-` are added and removed since the common ancestor, as in the list of files. Where neither content is the
    ancestor's, a line of only one content may be added there or removed from the other, so it gets that side's letter.
    """
    if laid.show is Show.FROM_ANCESTOR or (laid.show is Show.SIDES and ancestor == "A"):
        return glyphs.minus, "+", "="
    if laid.show is Show.SIDES and ancestor == "B":
        return "+", glyphs.minus, "="
    return "A", "B", "="


class ContentLines(MadeLines):
    """The lines of a laid out file for a width; each is made when it is drawn."""

    def __init__(self, laid: Shown, width: int, glyphs: Glyphs, ancestor: str = "") -> None:
        """`ancestor` is the letter of the side that is an ancestor of the other; empty where neither is."""
        self.laid = laid
        self._signs = _signs(laid, ancestor, glyphs)
        self._width = width
        self._glyphs = glyphs
        self._three = laid.show is Show.THREE_WAY and bool(laid.changes)
        self._two = width >= LEAST_TWO
        self._digits = max(3, len(str(max(map(len, laid.texts)))))
        self._lines: list[tuple[int, int]] = []
        """The row of each line, and the half of it on the line: -1 for both."""
        self._at: dict[int, int] = {}
        self._fill()

    def _fill(self) -> None:
        single = not self._two
        begins = frozenset(self.laid.changes)
        run: list[int] = []
        for at, row in enumerate(self.laid.rows):
            if single and row.kind in ("changed", "a", "b", "both", "conflict"):
                run.append(at)
                following = at + 1
                ends = (
                    following >= len(self.laid.rows)
                    or self.laid.rows[following].kind != row.kind
                    or following in begins
                )
                if ends:
                    self._unroll(run)
                    run = []
                continue
            self._at[at] = len(self._lines)
            self._lines.append((at, -1))
        for at in self.laid.changes:
            self._at.setdefault(at, max(0, len(self._lines) - 1))

    def _unroll(self, run: list[int]) -> None:
        """Adds a change with its halves below each other: removed lines, then added ones."""
        self._at[run[0]] = len(self._lines)
        halves = (2, 0, 1) if self._three else (1, 0) if self._signs[0] == "+" else (0, 1)
        for half in halves:
            for at in run:
                row = self.laid.rows[at]
                if (row.old, row.new, row.base)[half] >= 0:
                    self._lines.append((at, half))

    def __len__(self) -> int:
        return len(self._lines)

    def find(self, key: str) -> int:
        """The line with a key; -1 where there is none."""
        kind, _, number = key.partition(":")
        if kind == "line" and number.isdigit() and int(number) < len(self):
            return int(number)
        return -1

    def changes(self) -> list[int]:
        """Lines at which a change begins, in order."""
        return [self._at[row] for row in self.laid.changes]

    def block(self, y: int) -> int:
        """The block of same lines that is folded at a line; -1 where none is."""
        return self.laid.rows[self._lines[y][0]].block if 0 <= y < len(self) else -1

    def spot(self, y: int) -> tuple[int, int]:
        """The indexes of a line in the left and the right content; -1 where it has none."""
        row = self.laid.rows[self._lines[y][0]]
        return row.old, row.new

    def nearest(self, spot: tuple[int, int]) -> int:
        """The line with these indexes in the contents, else the last one before them."""
        old, new = spot
        found = 0
        for y, (at, _) in enumerate(self._lines):
            row = self.laid.rows[at]
            if new >= 0 and row.new >= 0:
                if row.new > new:
                    break
                found = y
                if row.new == new:
                    break
            elif new < 0 and row.old >= 0:
                if row.old > old:
                    break
                found = y
                if row.old == old:
                    break
        return found

    def folds(self) -> Iterator[tuple[int, int, int]]:
        """Line, block and number of hidden lines of each fold."""
        for y, (at, _) in enumerate(self._lines):
            row = self.laid.rows[at]
            if row.kind == "fold":
                yield y, row.block, row.hidden

    def holding(self, words: str, stop: Callable[[], bool] = lambda: False) -> tuple[list[int], set[int]]:
        """The lines with hits on either side, case ignored, and the folds that hide such lines.

        Searches the whole file: for a worker. Returns a part once `stop` turns true.
        """
        lowered = words.lower()
        hits: list[int] = []
        hidden: set[int] = set()
        for y, (at, half) in enumerate(self._lines):
            if not y % 1_000 and stop():
                break
            row = self.laid.rows[at]
            if row.kind == "fold":
                if any(lowered in self._plain(1, row.new + more) for more in range(row.hidden)):
                    hidden.add(row.block)
            elif row.kind in ("text", "known"):
                if lowered in row.words.lower():
                    hits.append(y)
            else:
                places = (row.old, row.new, row.base)
                halves = (half,) if half >= 0 else (0, 1, 2) if self._three else (0, 1)
                if any(lowered in self._plain(one, places[one]) for one in halves):
                    hits.append(y)
        return hits, hidden

    def whole(self, y: int) -> list[tuple[str, str]]:
        """A line in full: for each content that has it, the name with the number, and the text; not safe to show."""
        row, half = self.laid.rows[self._lines[y][0]], self._lines[y][1]
        if row.kind == "known":
            return [(f"line {row.old}" if row.old > 0 else "", row.words)]
        if row.kind in ("text", "fold"):
            return []
        contents = self.laid.plain
        names = (*(_NAMES.get(letter, letter) for letter in self.laid.letters), "ancestor")
        places = (row.old, row.new, row.base)
        return [
            (f"{names[one]} {places[one] + 1}", contents[one][places[one]].rstrip("\r\n"))
            for one in ((half,) if half >= 0 else (2, 0, 1) if self._three else (0, 1))
            if 0 <= places[one] < len(contents[one])
        ]

    def _plain(self, side: int, place: int) -> str:
        """A line as it is drawn, in lower case."""
        return "".join(span.text for span in self._text(side, place)).lower()

    def _line(self, y: int) -> SpanLine:
        at, half = self._lines[y]
        row = self.laid.rows[at]
        key = f"line:{y}"
        width = self._width
        if row.kind == "text":
            return SpanLine((Span(fit(row.words, width, ellipsis=self._glyphs.ellipsis), row.ink),), key)
        if row.kind == "known":
            number = f"{row.old:>{self._digits}}" if row.old > 0 else " " * self._digits
            text = expand_tabs(shown(row.words[:LONGEST].rstrip("\r")))
            spans = cut([Span(f"{number}   ", "faint"), Span(text, "sub")], width, self._glyphs.ellipsis)
            return SpanLine(tuple(spans), key)
        if row.kind == "fold":
            return SpanLine(tuple(self._fold(row.hidden)), key)
        if half >= 0:
            return SpanLine(tuple(self._single(at, row, half)), key)
        if self._three and self._two:
            return SpanLine(tuple(self._columns(at, row)), key)
        if self._two:
            cells = (width - 3) // 2
            divider = Span(f" {self._glyphs.divider} ", "line")
            return SpanLine(
                (*self._half(at, row, 0, cells), divider, *self._half(at, row, 1, width - 3 - cells)), key
            )
        return SpanLine(tuple(self._both_numbers(row)), key)

    def _fold(self, hidden: int) -> list[Span]:
        dash = self._glyphs.dashes
        words = f" {counted(hidden, 'line')} the same "
        rest = max(0, self._width - cell_len(words) - 4)
        return [Span(dash * 4, "line"), Span(words, "faint"), Span(dash * rest, "line")]

    def _both_numbers(self, row: ContentRow) -> list[Span]:
        """A same line, where contents stand below each other."""
        numbers = f"{row.old + 1:>{self._digits}} {row.new + 1:>{self._digits}}   "
        text = [span._replace(ink=_QUIET.get(span.ink, span.ink)) for span in self._text(1, row.new)]
        return cut([Span(numbers, "faint"), *text], self._width, self._glyphs.ellipsis)

    def _text(self, side: int, place: int) -> list[Span]:
        lines = self.laid.texts[side]
        return lines[place] if 0 <= place < len(lines) else []

    def _single(self, at: int, row: ContentRow, half: int) -> list[Span]:
        """A line of a change, where contents stand below each other."""
        digits = self._digits
        place = (row.old, row.new, row.base)[half]
        hue = self._hue(half, row)
        ground = f"{hue}_tint" if hue else ""
        numbers = (
            f"{place + 1:>{digits}} {'':>{digits}}" if half != 1 else f"{'':>{digits}} {place + 1:>{digits}}"
        )
        sign = self._signs[half]
        lead = [
            Span(numbers, "faint", ground),
            Span(f" {sign} ", f"strong_{hue}" if hue else "faint", ground),
        ]
        text = self._marked(at, half, place, hue, ground)
        return padded(cut([*lead, *text], self._width, self._glyphs.ellipsis), self._width, ground)

    def _hue(self, half: int, row: ContentRow) -> str:
        if half == 2 or (half == 0 and self.laid.letters[0] == "="):
            return "bad" if half == 0 else ""
        if self._three and row.kind == "conflict":
            return "warn"
        if self._three and row.kind not in ("both", "ab"[half]):
            return ""
        return HUES["AB"[half]]

    def _marked(self, at: int, half: int, place: int, hue: str, ground: str) -> list[Span]:
        """The words of a changed line; those that differ from the line beside it stand out."""
        spans = [span._replace(ground=ground) for span in self._text(half, place)]
        ends = self._end(half, place) or self._unseen(self.laid.rows[at])
        tail = [Span(f"  {ends}", "sub", ground)] if ends else []
        words = words_that_differ(self.laid, at) if hue and half < 2 else None
        if words is None:
            return [*spans, *tail]
        found: list[Span] = []
        edges = sorted({edge for part in words[half] for edge in part})
        begin = 0
        for span in spans:
            end = begin + len(span.text)
            cuts = [begin, *(edge for edge in edges if begin < edge < end), end]
            for start, stop in pairwise(cuts):
                changed = any(first <= start < last for first, last in words[half])
                piece = span._replace(text=span.text[start - begin : stop - begin])
                found.append(piece._replace(ink=f"strong_{hue}") if changed else piece)
            begin = end
        return [*found, *tail]

    def _end(self, half: int, place: int) -> str:
        """The line's end, where it is invisible and may be the only difference."""
        lines = self.laid.plain[half]
        line = lines[place] if place < len(lines) else "\n"
        if not line.endswith("\n"):
            return "no newline"
        return "CRLF" if self.laid.mixed and line.endswith("\r\n") else ""

    def _unseen(self, row: ContentRow) -> str:
        """The invisible difference of two lines that are drawn alike: spaces at the end, or tabs."""
        old, new = ("".join(span.text for span in self._text(*one)) for one in ((0, row.old), (1, row.new)))
        if row.kind != "changed" or min(row.old, row.new) < 0 or old.rstrip() != new.rstrip():
            return ""
        before, after = self.laid.plain[0][row.old], self.laid.plain[1][row.new]
        same = before.rstrip("\r\n") == after.rstrip("\r\n") or before.split() != after.split()
        return "" if same else "other spaces"

    def _half(self, at: int, row: ContentRow, half: int, cells: int) -> list[Span]:
        """One side of a line, in exactly `cells` cells."""
        place = (row.old, row.new)[half]
        if place < 0:
            return [blanks(cells)]
        number = f"{place + 1:>{self._digits}}"
        if row.kind == "same":
            text = [span._replace(ink=_QUIET.get(span.ink, span.ink)) for span in self._text(half, place)]
            return padded(cut([Span(f"{number}   ", "faint"), *text], cells, self._glyphs.ellipsis), cells)
        hue = self._hue(half, row)
        ground = f"{hue}_tint" if hue else ""
        lead = [Span(number, "faint", ground), Span(f" {self._signs[half]} ", f"strong_{hue}", ground)]
        text = self._marked(at, half, place, hue, ground)
        return padded(cut([*lead, *text], cells, self._glyphs.ellipsis), cells, ground)

    def _columns(self, at: int, row: ContentRow) -> list[Span]:
        """Ancestor, A and B beside each other; the letter shows which side changed the region."""
        letter = {"a": "A", "b": "B", "both": "=", "conflict": self._glyphs.malformed}.get(row.kind, " ")
        ink = {"a": "strong_ghost", "b": "strong_leaf", "conflict": "strong_warn"}.get(row.kind, "faint")
        cells = (self._width - 8) // 3
        widths = (cells, cells, self._width - 8 - 2 * cells)
        found = [Span(f"{letter} ", ink)]
        for number, (half, width) in enumerate(zip((2, 0, 1), widths, strict=True)):
            if number:
                found.append(Span(f" {self._glyphs.divider} ", "line"))
            place = (row.old, row.new, row.base)[half]
            if place < 0:
                found.append(blanks(width))
                continue
            hue = "" if row.kind == "same" else self._hue(half, row)
            ground = f"{hue}_tint" if hue else ""
            text = [
                span._replace(ink=span.ink if hue else _QUIET.get(span.ink, span.ink))
                for span in self._marked(at, half, place, hue, ground)
            ]
            lead = Span(f"{place + 1:>{self._digits}} ", "faint", ground)
            found += padded(cut([lead, *text], width, self._glyphs.ellipsis), width, ground)
        return found


def content_head(path: str, laid: Shown | None, width: int, glyphs: Glyphs) -> SpanLine:
    """Path, bases of the contents, and the number of lines of each."""
    sizes: list[Span] = []
    rests, apart = "", False
    if laid is not None:
        difference = laid.difference
        named = {"ancestor": difference.base, "A": difference.a, "B": difference.b}
        names = {Show.SIDES: "AB", Show.FROM_ANCESTOR: ("ancestor", "B")}.get(
            laid.show, ("ancestor", "A", "B")
        )
        for name in names:
            one = named[name]
            text = one.text
            size = counted(len(text.splitlines()), "line") if text is not None else one.certainty.value
            sizes += [
                blanks(3),
                Span(name, f"strong_{HUES[name]}" if name in HUES else "strong"),
                Span(f" {size}", "faint"),
            ]
        both = {letter: rests_on(named[letter], based=laid.based) for letter in "AB"}
        # Different bases are named with their sides; where part of the contents is not known, the lines below show it
        # for each.
        apart = len(set(both.values())) > 1
        if not apart:
            rests = both["B"]
        elif all(one.certainty in KNOWN for one in (difference.a, difference.b)):
            rests = "; ".join(f"{letter} {words}" for letter, words in both.items())
    cells = sum(cell_len(span.text) for span in sizes)
    if cells > width // 2:
        sizes, cells = [], 0
    room = width - cells - 1
    shown_path = fit_path(safe_line(path, LONGEST), max(8, min(room, max(20, room * 3 // 5))), gap=glyphs.gap)
    folder, name = split_path(shown_path)
    left = room - cell_len(shown_path) - 3
    if laid is not None and cell_len(rests) > left:
        # A truncated text about two sides would be taken for both; for exact contents it can be left out.
        rests = "" if apart and laid.difference.exact else rests.partition(",")[0]
    rests = fit(rests, left, ellipsis=glyphs.ellipsis) if left >= 12 else ""
    gap = room - cell_len(shown_path) - (cell_len(rests) + 3 if rests else 0)
    middle = (blanks(3), Span(rests, "sub")) if rests else ()
    return SpanLine((Span(folder, "faint"), Span(name, "strong"), *middle, blanks(gap), *sizes))


_INKS = {Merge.CONFLICT: "warn", Merge.UNKNOWN: "warn", Merge.CLEAN: "leaf", Merge.ONE_SIDE: "leaf"}


def sentence(
    lines: ContentLines, cursor: int, width: int, ellipsis: str, flags: Sequence[str] = ()
) -> SpanLine:
    """The number of the change at the cursor, a remark on both sides, and flags of the file where they fit."""
    laid = lines.laid
    place = ""
    changes = lines.changes()
    if changes:
        at = sum(1 for one in changes if one <= cursor)
        place = f"{max(1, at)} of {counted(len(changes), 'change')}"
    if laid.show is not Show.SIDES:
        place = f"{laid.show.value}   {place}".rstrip()
    gap = 3 if place else 0
    words = fit(laid.difference.sentence, max(8, width - cell_len(place) - gap), ellipsis=ellipsis)
    spans = [Span(place, "sub"), blanks(gap), Span(words, _INKS.get(laid.difference.merge, "sub"))]
    room = width - cell_len(place) - gap - cell_len(words) - 4
    remarks = ", ".join(flags)
    if remarks and cell_len(remarks) <= room:
        spans += [blanks(room + 3 - cell_len(remarks)), Span(remarks, "warn")]
    return SpanLine(tuple(spans))
