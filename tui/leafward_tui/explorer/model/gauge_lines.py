"""The lines of the gauge: how full the context is, now and after the proposed move, on the same scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from leafward.base.figures import counted, percent
from leafward_tui.ui.bars.price_line import Piece, length
from leafward_tui.ui.text.cells import count, limit
from leafward_tui.ui.words.onset_words import compacts_at, compacts_in, compacts_now

if TYPE_CHECKING:
    from leafward.compaction.plan.onset import Onset
    from leafward_tui.ui.appearance.glyphs import Glyphs

_VALUE_ENDS = 15
"""The cell where right-aligned sizes end, beside their label."""
_LEAST_BAR = 4
_BAR_GAP = 2


class Load(NamedTuple):
    """The size of a context, in tokens."""

    total: int
    again: int = 0
    """Tokens sent at full price: no cache has them."""
    entered: int = 0
    """Part of the tokens at full price: the entries that the move adds."""
    lacks_prompt: bool = False
    """Whether the agent's own prompt comes on top, with a size that its session does not record."""
    estimated: bool = False
    """Whether no provider counted the total, so that it carries `~`."""
    unsent: int = 0
    """Tokens of the total that are not sent: pi counts replies that were aborted or failed."""


class Forecast(NamedTuple):
    """The effect of the next compaction, by the rules of the session's agent."""

    agent: str = ""
    """The agent, as it is written in a sentence."""
    nothing: bool = False
    """Whether there is nothing to compact."""
    lost: int | None = None
    """Facts that it would lose with our summary in place of the model's; None where they are not counted."""

    why: str = ""
    """Why the facts are not counted."""

    @property
    def words(self) -> str:
        """`pi loses ~27 facts`."""
        if self.lost is None:
            return self.why
        return f"{self.agent} loses ~{counted(self.lost, 'fact')}"


class Reading(NamedTuple):
    """The values of the gauge. A load that is not known yet is None."""

    now: Load | None = None
    window: int = 0
    """The model's, in tokens; 0 before a session is read, or where it cannot be."""
    onset: Onset | None = None
    """The size at which the agent compacts."""
    moving: bool = False
    """Whether a move is proposed."""
    moved: Load | None = None
    live: bool = False
    """Whether the session grows: the distance to the onset stands instead of the window."""
    forecast: Forecast | None = None
    """The effect of that compaction; None while it is not known."""


def gauge_lines(width: int, height: int, glyphs: Glyphs, reading: Reading) -> list[list[Piece]]:
    """The gauge's lines, each exactly `width` cells: a size and a bar for now and for the move, or both in one."""
    if width <= 0 or height <= 0:
        return []
    now, window, onset, moving, moved, live, forecast = reading
    gauge = _Gauge(width, glyphs, window, onset)
    # Where the tokens on top are not known, neither is the distance to the onset.
    known = onset is not None and not onset.off
    if live and not moving and now is not None and onset is not None and known and not now.lacks_prompt:
        return gauge.forecast(now, onset, forecast)[:height] + [_blank(width)] * (height - 2)
    if height == 1:
        return [gauge.one_line(now, moved, moving=moving)]
    if height < 4 and moving:
        return [gauge.both(now, moved), gauge.bar(moved, width, moved=True)] + [_blank(width)] * (height - 2)
    lines = [gauge.head("now", now, moved=False), gauge.bar(now, width, moved=False)]
    if moving:
        lines += [gauge.head("here", moved, moved=True), gauge.bar(moved, width, moved=True)]
    lines += [_blank(width)] * (height - len(lines))
    return lines


def _value(load: Load | None) -> str:
    sign = "~" if load is not None and load.estimated else ""
    return f"{sign}{count(load.total, zero='0')}" if load is not None else ""


def _rest(load: Load | None) -> list[Piece]:
    """The words for an unknown part on top of a load."""
    return [(" + not in file", "faint")] if load is not None and load.lacks_prompt else []


def _blank(width: int) -> list[Piece]:
    return [(" " * width, "blank")]


class _Gauge:
    """Makes the parts of the lines, for one width and one window."""

    def __init__(self, width: int, glyphs: Glyphs, window: int, onset: Onset | None) -> None:
        self.width = width
        self.glyphs = glyphs
        self.window = window
        self.onset = onset

    def over(self, load: Load | None) -> bool:
        """Whether the agent would compact now."""
        return load is not None and self.onset is not None and self.onset.reached(load.total)

    def warning(self) -> str:
        return compacts_at(self.onset) if self.onset is not None else ""

    def warnings(self) -> list[list[Piece]]:
        """The warning, and shorter forms of it."""
        if self.onset is None:
            return []
        return [[(compacts_at(self.onset), "warn")], [(compacts_at(self.onset, short=True), "warn")]]

    def bar(self, load: Load | None, width: int, *, moved: bool) -> list[Piece]:
        """Bar of `width` cells for the window: cached, at full price, free."""
        glyphs = self.glyphs
        if load is None or width <= 0:
            return [(glyphs.block_free * max(0, width), "edge")]
        ends = [
            self._cells(size, width)
            for size in (load.total - load.again, load.total - min(load.entered, load.again), load.total)
        ]
        over = self.over(load)
        there = "warn" if over else "leaf"
        parts = [
            (glyphs.block * ends[0], there),
            (glyphs.block_again * (ends[1] - ends[0]), "warn" if over and not moved else "ghost"),
            (glyphs.block * (ends[2] - ends[1]), "ghost"),
            (glyphs.block_free * (width - ends[2]), "edge"),
        ]
        pieces = [part for part in parts if part[0]]
        if over and self.onset is not None:
            pieces = _with_tick(pieces, min(width - 1, self._cells(self.onset.tokens, width)), glyphs.tick)
        return pieces

    def _cells(self, size: int, width: int) -> int:
        """Cells of a size: at least one for any tokens, and all only for a full window."""
        if size <= 0 or self.window <= 0:
            return 0
        cells = round(size * width / self.window)
        most = width if size >= self.window else width - 1
        return max(1, min(cells, most))

    def head(self, label: str, load: Load | None, *, moved: bool) -> list[Piece]:
        """`now   40.6k / 200k   20 %`; over the threshold the words instead of the window."""
        over = self.over(load)
        value = _value(load)
        room = max(0, _VALUE_ENDS - len(label) - len(value))
        ink = "strong_warn" if over else "strong"
        share = self._share(load)
        window = f" / {limit(self.window)}"
        rest = _rest(load)
        spare = self.width - len(label) - len(value) - length(rest) - len(window)
        room = max(1, min(room, spare)) if rest else room
        unsent = f" · {count(load.unsent)} not sent" if load is not None and load.unsent and not over else ""
        spare -= cell_len(unsent) + 1 + len(share)
        if unsent and spare > 0:
            room = min(room, spare)
        else:
            unsent = ""
        pieces: list[Piece] = [(label, "ghost" if moved else "faint"), (" " * room, "blank"), (value, ink)]
        pieces += rest
        if not over:
            ending: list[Piece] = [(share, "sub")] if share else []
            pieces += [(" /", "faint"), (window[2:], "sub")]
            if unsent:
                pieces.append((unsent, "faint"))
            return self._spread(pieces, ending)
        warning: list[Piece] = [(self.warning(), "warn")]
        for right in ([*warning, ("   ", "blank"), (share, "sub")], warning):
            if length(pieces) + 2 + length(right) <= self.width:
                return self._spread(pieces, right)
        return self._spread_whole([(value, ink)], self.warnings())

    def forecast(self, now: Load, onset: Onset, forecast: Forecast | None) -> list[list[Piece]]:
        """`now 64.9k   compacts in 118.7k tokens`, and below it the facts it would lose beside the bar."""
        over = self.over(now)
        left = compacts_in(onset, now.total)
        head: list[Piece] = [
            ("now ", "faint"),
            (_value(now), "strong_warn" if over else "strong"),
        ]
        fits = length(head) + 1 + cell_len(f"{left} tokens") <= self.width
        when = f"{left} tokens" if fits else left
        if over:
            # Until it is known whether there is anything to compact, only the size is shown.
            idle = forecast is not None and forecast.nothing
            when = "nothing to compact" if idle else compacts_now(onset) if forecast else self.warning()
        what = forecast.words if forecast is not None else ""
        room = self.width - (cell_len(what) + _BAR_GAP if what else 0)
        bar = self.bar(now, room, moved=False)
        told = [(when, "warn" if over else "sub")]
        shorter = self.warnings()[1:] if when == self.warning() else []
        return [
            self._spread_whole(head, [told, *shorter]),
            self._spread(bar, [(what, "sub")] if what else []),
        ]

    def both(self, now: Load | None, moved: Load | None) -> list[Piece]:
        """`40.6k → 102.3k / 200k   51 %`."""
        pieces = self._change(now, moved)
        if self.over(moved):
            return self._spread_whole(pieces, self.warnings(), pieces[1:])
        share = self._share(moved)
        window = self._of_window()
        if length(pieces) + length(window) <= self.width:
            pieces += window
        return self._spread(pieces, [(share, "sub")] if share else [])

    def _share(self, load: Load | None) -> str:
        """The full share of the window; empty where that is not known."""
        return percent(load.total, self.window) if load is not None and not load.lacks_prompt else ""

    def _of_window(self) -> list[Piece]:
        return [(" / ", "faint"), (limit(self.window), "sub")]

    def _change(self, now: Load | None, moved: Load | None) -> list[Piece]:
        value = _value(moved) if moved is not None else " " * 6
        return [
            (_value(now) if now is not None else " " * 5, "text"),
            (f" {self.glyphs.arrow} ", "faint"),
            (value, "strong_warn" if self.over(moved) else "strong_ghost"),
            *_rest(moved),
        ]

    def one_line(self, now: Load | None, moved: Load | None, *, moving: bool) -> list[Piece]:
        """A short bar, then the sizes at the right."""
        load = moved if moving else now
        over = self.over(load)
        if moving:
            words = self._change(now, moved)
        else:
            value = _value(now)
            words = [(value, "strong_warn" if over else "strong"), *_rest(now)]
        if over:
            words = self._spoken(words, load)
        else:
            words += self._of_window()
            if not moving:
                words.append((f"  {self._share(load):>4}", "sub"))
        # The bar keeps its length while sizes change.
        room = min(self.width - length(words) - _BAR_GAP, max(_LEAST_BAR, self.width - _ONE_LINE_WORDS))
        bar = self.bar(load, room, moved=moving) if room >= _LEAST_BAR else []
        return self._spread(bar, words)

    def _spoken(self, sizes: list[Piece], load: Load | None) -> list[Piece]:
        """Sizes with the warning beside them, shortened where they are too long; the warning goes before it is cut."""
        least: list[Piece] = [(_value(load), "strong_warn")]
        for left in (sizes, least):
            for warning in self.warnings():
                words: list[Piece] = [*left, ("  ", "blank"), *warning]
                if length(words) <= self.width:
                    return words
        return least

    def _spread_whole(
        self, left: list[Piece], rights: list[list[Piece]], less: list[Piece] | None = None
    ) -> list[Piece]:
        """The first of some right ends that fits beside `left`, else beside `less`: half a figure would be a wrong one."""
        for beside in (left, less if less is not None else left):
            for right in rights:
                if length(beside) + 1 + length(right) <= self.width:
                    return self._spread(beside, right)
        return self._spread(left, [])

    def _spread(self, left: list[Piece], right: list[Piece]) -> list[Piece]:
        """Both ends of a line, with the cells between them blank; a line that is too long is cut at the right."""
        gap = self.width - length(left) - length(right)
        return _cut(
            [*left, (" " * max(1 if left and right and length(right) else 0, gap), "blank"), *right],
            self.width,
        )


_ONE_LINE_WORDS = 24
"""Cells that `40.6k → 102.3k / 200k` takes, with the gap."""


def _cut(pieces: list[Piece], width: int) -> list[Piece]:
    found: list[Piece] = []
    for text, ink in pieces:
        text = text[:width]
        width -= len(text)
        if text:
            found.append((text, ink))
    if width > 0:
        found.append((" " * width, "blank"))
    return found


def _with_tick(pieces: list[Piece], at: int, tick: str) -> list[Piece]:
    """A bar with the sign of the threshold in one of its cells."""
    found: list[Piece] = []
    for text, ink in pieces:
        if 0 <= at < len(text):
            found += [(text[:at], ink), (tick, "text"), (text[at + 1 :], ink)]
        else:
            found.append((text, ink))
        at -= len(text)
    return [piece for piece in found if piece[0]]
