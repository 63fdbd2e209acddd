"""Text fitted into terminal cells, and the one form each kind of number has.

Pure functions, called for every visible row. Widths are cells, never characters: a CJK character or an emoji takes two,
a combining mark none, and none of them is ever split. Texts are expected to be safe already: this module measures, it
does not sanitise; a tab or line break that is still there counts, and is written, as one space.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len, split_graphemes

from leafward.base import figures
from leafward.base.figures import short
from leafward.base.shown_path import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta


ZERO = "·"
"""Zero in a column of numbers: a quiet dot, so that a missing value never looks like one."""

_CONTROLS = dict.fromkeys((*range(32), *range(127, 160), 0x2028, 0x2029), " ")
_DANGLING = " ,;:([{-–—\u200d"
"""Characters that never stand before an ellipsis at the end of a word."""
_JOINER = "\u200d"
_IDLE_JOINER = r"\u200d+(?=[\x00-\x7f]|$)|(?:^|(?<=[\x00-\x7f]))\u200d+|(?<=\u200d)\u200d+"
"""A zero-width joiner with nothing to join: Rich would count what follows it, our padding too, as part of it."""


def _flat(text: str) -> str:
    """`text` with every control character turned into a space, so that the measured text is the drawn one."""
    if text.isprintable():
        return text
    text = text.translate(_CONTROLS)
    return re.sub(_IDLE_JOINER, "", text) if _JOINER in text else text


def expand_tabs(text: str) -> str:
    """`text`, one line of it, with tabs filled up to the next multiple of four cells."""
    if "\t" not in text:
        return text
    parts = text.split("\t")
    line = parts[0]
    width = cell_len(line)
    for part in parts[1:]:
        step = 4 - width % 4
        line += " " * step + part
        width += step + cell_len(part)
    return line


def _head(text: str, width: int) -> tuple[str, int, bool]:
    """The longest beginning of `text` within `width` cells: itself, its width, and whether it is all of it."""
    if width <= 0:
        return "", 0, not text
    if text.isascii():
        return text[:width], min(len(text), width), len(text) <= width
    # A row shows the beginning of a text that may be long: measure no more of it than may be needed.
    length = width * 2 + 16
    while True:
        part = text[:length]
        spans, total = split_graphemes(part)
        if total > width or length >= len(text):
            break
        length *= 2
    if total <= width:
        return part, total, True
    cells = 0
    end = 0
    for _, stop, size in spans:
        if cells + size > width:
            break
        cells += size
        end = stop
    return text[:end], cells, False


def fit(text: str, width: int, *, pad: bool = False, ellipsis: str = "…") -> str:
    """`text` in at most `width` cells, exactly `width` with `pad`.

    A text that is too long ends in `ellipsis`, after a whole word where that costs at most a quarter of the room.
    """
    if width <= 0:
        return ""
    text = _flat(text)
    head, cells, whole = _head(text, width)
    if not whole:
        head, cells = _cut(text, width, ellipsis)
    return head + " " * (width - cells) if pad and cells < width else head


def _cut(text: str, width: int, ellipsis: str) -> tuple[str, int]:
    """A beginning of `text` with `ellipsis`, and its width; `text` is known not to fit."""
    mark = cell_len(ellipsis)
    if mark > width:
        return "", 0
    head, _, _ = _head(text, width - mark)
    following = text[len(head) : len(head) + 1]
    if head and following.isalnum() and head[-1].isascii() and head[-1].isalnum():
        space = head.rfind(" ")
        if space > 0 and cell_len(head[space:]) <= min(12, width // 4):
            head = head[:space]
    head = head.rstrip(_DANGLING) or head.rstrip(" \u200d")
    return head + ellipsis, cell_len(head) + mark


def fit_apart(texts: Sequence[str], width: int, *, ellipsis: str = "…") -> list[str]:
    """Each text in at most `width` cells; what texts that would be cut to the same share at their beginning is left out.

    Such a text begins with `ellipsis`, then about the word in which it differs. The same text twice stays the same.
    """
    starts = [0] * len(texts)
    while True:
        shown = [
            fit(ellipsis + text[start:] if start else text, width, ellipsis=ellipsis)
            for text, start in zip(texts, starts, strict=True)
        ]
        alike: dict[str, list[int]] = {}
        for number, text in enumerate(shown):
            alike.setdefault(text, []).append(number)
        moved = False
        for group in alike.values():
            if len(different := {texts[number] for number in group}) > 1:
                # What the first and the last in order share at their beginning, all share.
                pair = enumerate(zip(min(different), max(different), strict=False))
                shared = min(different)[: next((at for at, (one, other) in pair if one != other), None)]
                end = shared.rfind(" ") + 1
                # A short word before it stays: `git log` says more than `log`.
                before = shared.rfind(" ", 0, max(0, end - 1)) + 1
                start = before if end - before <= width // 4 else end
                if start <= min(starts[number] for number in group):
                    # They differ far inside one long word, such as a URL.
                    start = max(shared.rfind("/") + 1, len(shared) - width // 2)
                for number in group:
                    moved = moved or start > starts[number]
                    starts[number] = max(start, starts[number])
        if not moved:
            return shown


def right(text: str, width: int, *, ellipsis: str = "…") -> str:
    """`text` at the right edge of exactly `width` cells; a text that is too long is shortened as in `fit`."""
    fitted = fit(text, width, ellipsis=ellipsis)
    return " " * (max(width, 0) - cell_len(fitted)) + fitted


def _tail(text: str, width: int) -> str:
    """The longest end of `text` within `width` cells."""
    if text.isascii():
        return text[max(0, len(text) - width) :] if width > 0 else ""
    spans, _ = split_graphemes(text)
    start = len(text)
    for begin, _, size in reversed(spans):
        if size > width:
            break
        width -= size
        start = begin
    return text[start:]


def fit_path(path: str, width: int, *, pad: bool = False, gap: str = "…") -> str:
    """`path` in at most `width` cells: it gives up its middle, then its folders; the file name stays.

    A name that does not fit alone loses its own middle and keeps its ending. `gap` stands for what was left out.
    """
    if width <= 0:
        return ""
    path = _flat(path)
    fitted = shortened(path, width, cell_len, gap)
    if cell_len(fitted) > width:
        fitted = _shorter_name(fitted, width, gap)
    return fitted + " " * (width - cell_len(fitted)) if pad else fitted


def _shorter_name(name: str, width: int, gap: str) -> str:
    mark = cell_len(gap)
    # The end is worth as much as the beginning: `tool_request.rs` and `tool_request_set.rs` begin alike.
    if width <= mark:
        return _head(name, width)[0]
    dot = name.rfind(".")
    ending = name[dot:] if dot > 0 and cell_len(name[dot:]) <= (width - mark) // 2 else ""
    tail = _tail(name, max(cell_len(ending), (width - mark) // 2))
    head, _, _ = _head(name, width - mark - cell_len(tail))
    return head + gap + tail


def wrap(
    text: str, width: int, *, lines: int | None = None, ellipsis: str = "…", paths: bool = False
) -> list[str]:
    """`text` in lines of at most `width` cells, broken at spaces where it can; its own line breaks stay.

    With `paths` a path that is longer than a line is broken between its parts, so that its name stays whole.
    With `lines` at most that many, the last one ending in `ellipsis` when something follows. Linear in `text`.
    """
    if width <= 0 or lines == 0:
        return []
    found: list[str] = []
    for paragraph in re.split(r"\r\n|[\n\r\u2028\u2029]", text):
        line = _flat(expand_tabs(paragraph))
        start = 0
        while start < len(line) or start == 0:
            if lines is not None and len(found) == lines:
                last = found[-1]
                fits = cell_len(last) + cell_len(ellipsis) <= width
                found[-1] = last + ellipsis if fits else _cut(last, width, ellipsis)[0]
                return found
            end, drawn = _break(line, start, width, paths=paths)
            found.append(drawn if cell_len(drawn) <= width else ellipsis[:width])
            while end < len(line) and line[end] == " ":
                end += 1
            start = max(end, 1)
    return found


def _break(line: str, start: int, width: int, *, paths: bool) -> tuple[int, str]:
    """The end of the piece of `line` that begins at `start` and fits `width` cells, and the text of the piece.

    Looks no further ahead than it needs. A character wider than `width` makes a piece of its own.
    """
    length = width * 2 + 16
    while True:
        ahead = line[start : start + length]
        head, _, whole = _head(ahead, width)
        if not whole or start + length >= len(line):
            break
        length *= 2
    if not whole:
        if not head:
            spans, _ = split_graphemes(ahead)
            head = ahead[: max(spans[0][1], 1)]
        elif ahead[len(head)] != " ":
            space = head.rfind(" ")
            if space > 0 and head[:space].strip():
                head = head[: space + 1]
            elif paths and (slash := head.rfind("/") + 1) > len(head) // 2:
                head = head[:slash]
    return start + len(head), head.rstrip()


def shares(amounts: Sequence[float], width: int, *, each: bool = True) -> list[int]:
    """Cells for each of `amounts` in a bar of `width`; they add up to `width` (to 0 when every amount is 0).

    With `each` an amount above zero gets a cell of its own as long as there are enough of them; the rest goes by largest remainder.
    """
    total = sum(amount for amount in amounts if amount > 0)
    if total <= 0 or width <= 0:
        return [0] * len(amounts)
    exact_cells = [max(amount, 0) * width / total for amount in amounts]
    cells = [int(want) for want in exact_cells]
    by_remainder = sorted(range(len(exact_cells)), key=lambda i: (cells[i] - exact_cells[i], i))
    for index in by_remainder[: width - sum(cells)]:
        cells[index] += 1
    for index, amount in enumerate(amounts):
        if each and amount > 0 and cells[index] == 0:
            largest = max(range(len(cells)), key=cells.__getitem__)
            if cells[largest] > 1:
                cells[largest] -= 1
                cells[index] = 1
    return cells


def filled(parts: Sequence[float], free: float, width: int) -> list[int]:
    """Cells for each of `parts` in a bar of `width`, and then the cells left `free`.

    The parts together get their share of the bar, at least one cell. Within it, a part too small for a cell gets none:
    in a short bar all parts would look alike otherwise.
    """
    taken, left = shares([sum(max(0, part) for part in parts), free], width)
    return [*shares(parts, taken, each=False), left]


def count(number: int | None, *, zero: str = ZERO) -> str:
    """A number in a column: `371`, `14.0k`, `1.2M`; `zero` for 0 and nothing for a number not known. ≤ 6 cells."""
    if number is None:
        return ""
    return short(number) if number else zero


def limit(number: int) -> str:
    """A round number that others are measured by, such as a window: `200k`, `1M`, `16.4k`."""
    return count(number, zero="0").replace(".0", "")


def exact(number: int) -> str:
    """All digits, with separators: `1,204`."""
    return f"{number:,}"


def signed(number: int, *, zero: str = ZERO) -> str:
    """A difference: `+4`, `-1`, `+1.2k`; `zero` for 0."""
    return zero if number == 0 else ("+" if number > 0 else "") + count(number)


def byte_size(size: int) -> str:
    """A number of bytes, in a column as in a sentence: `812 B`, `34 KB`, `1.2 MB`, `120 MB`. ≤ 7 cells."""
    if size < 1_000:
        return f"{size} B"
    if size < 999_500:
        return f"{size / 1e3:.0f} KB"
    number, unit = (size / 1e6, "MB") if size < 999_500_000 else (size / 1e9, "GB")
    return f"{number:.1f} {unit}" if number < 99.95 else f"{number:.0f} {unit}"


def money(dollars: float | None, *, zero: str = ZERO) -> str:
    """A price, as `figures.money` writes it, with the sign of a column for nothing; empty when not known."""
    return figures.money(dollars, zero=zero) if dollars is not None else ""


def estimated_price(dollars: float) -> str:
    """The price of a request whose tokens are estimated: `about $0.36`."""
    return f"about {money(dollars)}"


_MINUTE, _HOUR, _DAY, _WEEK, _YEAR = 60, 3_600, 86_400, 604_800, 31_557_600


def age(delta: timedelta | float) -> str:
    """A time ago, `delta` or so many seconds: `now`, `2m`, `1h`, `3d`, `5w`, `2y`. At most 3 cells.

    Days go up to 13, weeks up to a year. A time to come (two clocks that differ) is `now`.
    """
    seconds = int(delta if isinstance(delta, (int, float)) else delta.total_seconds())
    if seconds < _MINUTE:
        return "now"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}m"
    if seconds < _DAY:
        return f"{seconds // _HOUR}h"
    if seconds < 2 * _WEEK:
        return f"{seconds // _DAY}d"
    if seconds < _YEAR:
        return f"{seconds // _WEEK}w"
    return f"{seconds // _YEAR}y"
