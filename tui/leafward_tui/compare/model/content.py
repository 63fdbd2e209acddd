"""The contents of one file at two entries as lines: side by side, below each other, or three columns with the ancestor."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.base.safe_text import safe
from leafward.branches.diff.contents import lines_of
from leafward.files.file_replay.knowledge import CALL_BASES, KNOWN, Certainty
from leafward.files.line_diff import DiffBlock, compare_lines, rows, word_changes
from leafward_tui.ui.text.cells import expand_tabs
from leafward_tui.ui.text.code import MOST_HIGHLIGHTED, highlighted
from leafward_tui.ui.text.spans import Span, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from leafward.branches.diff.contents import ContentDifference
    from leafward.files.file_replay.replay import Rebuilt

LEAST_TWO = 92
"""Cells from which two contents stand side by side."""
_CONTEXT = 3
"""Unchanged lines that stay visible beside a change."""
_MOST_COLOURED = 200_000
"""The most characters of a file whose syntax is coloured; a longer one stays plain."""
LONGEST = 1_000
"""The most characters shown of one line."""


class Show(StrEnum):
    """The contents that are compared."""

    SIDES = "A and B"
    FROM_ANCESTOR = "ancestor and B"
    THREE_WAY = "ancestor, A and B"


@dataclass(frozen=True, slots=True)
class ContentRequest:
    """One file laid out in one way: the key of a layout."""

    path: str
    show: Show
    fold: bool
    opened: frozenset[int]
    based: bool
    """Whether contents of the workspace may be the base of the file."""


class ContentRow(NamedTuple):
    """A line of the arrangement."""

    kind: str
    """`same`, `changed`, `fold`, `text` (words of ours), `known` (a line of a content known in part); three-way: `a`, `b`,
    `both`, `conflict`."""
    old: int = -1
    new: int = -1
    """Indexes of the lines in their contents, from 0; -1 for none. Of a fold, those of its first line."""
    base: int = -1
    hidden: int = 0
    block: int = -1
    words: str = ""
    ink: str = "nothing"


@dataclass(slots=True)
class Shown:
    """One file as it is drawn, for any width."""

    difference: ContentDifference
    show: Show
    letters: tuple[str, str]
    """The names of the two columns: A and B, or the ancestor (`=`) and B."""
    texts: tuple[list[list[Span]], list[list[Span]], list[list[Span]]]
    """Lines of the two contents, and of the ancestor, coloured."""
    rows: list[ContentRow]
    changes: list[int]
    """Rows at which a change begins."""
    words: dict[int, tuple[list[tuple[int, int]], list[tuple[int, int]]] | None] = field(default_factory=dict)
    """Results of `words_that_differ` so far, by row."""
    plain: tuple[Sequence[str], Sequence[str], Sequence[str]] = ((), (), ())
    """The unchanged lines of the two contents and of the ancestor."""
    mixed: bool = False
    """Whether some of these lines end in CRLF and some do not."""
    based: bool = False
    """Whether contents of the workspace were tried as the base of the file."""


def rests_on(file: Rebuilt, *, based: bool = False) -> str:
    """The certainty of a content and its base, in words; `based` where contents of the workspace were tried."""
    if file.certainty is Certainty.ABSENT:
        return "not there"
    why = next((remark.words for _, remark in reversed(file.remarks)), "")
    why = why or ("never read as a whole" if file.reads or file.changes else "no call up to here touched it")
    if based:
        why += ", and nothing in the workspace fits"
    if file.certainty is Certainty.UNKNOWN:
        return f"not known: {why}"
    if file.certainty is Certainty.PARTIAL:
        return f"known in part: {why}"
    parts = [
        counted(number, word) for number, word in ((file.reads, "read"), (file.changes, "edit")) if number
    ]
    if file.base not in CALL_BASES:
        changes = f", {counted(file.changes, 'edit')} later" if file.changes else ""
        return f"rests on {'the file ' if file.base == 'on disk' else ''}{file.base}{changes}"
    words = f"rebuilt from {' and '.join(parts)}" if parts else "rebuilt"
    words += ", with the calls of other branches" if file.every_branch else ""
    return words if file.ends else f"{words}, line ends are not recorded"


def _coloured(text: str, path: str) -> list[list[Span]]:
    """The lines of a content, safe and coloured; in pieces, because colouring long texts at once takes too long."""
    lines = [expand_tabs(shown(line[:LONGEST].rstrip("\r"))) for line in safe(text).split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    if sum(map(len, lines)) > _MOST_COLOURED:
        return [[Span(line)] for line in lines]
    found: list[list[Span]] = []
    part: list[str] = []
    size = 0
    for line in lines:
        if size + len(line) + 1 > MOST_HIGHLIGHTED and part:
            found += highlighted("\n".join(part), filename=path)[: len(part)]
            part, size = [], 0
        part.append(line)
        size += len(line) + 1
    if part:
        found += highlighted("\n".join(part), filename=path)[: len(part)]
    return found


def arranged_content(
    difference: ContentDifference,
    show: Show = Show.SIDES,
    opened: Collection[int] = (),
    *,
    fold: bool = True,
    based: bool = False,
) -> Shown:
    """Lays one file out. `opened` are blocks of same lines that are shown whole; without `fold`, all are.

    Takes as long as a comparison and the colouring: for a worker.
    """
    a, b, base = difference.a, difference.b, difference.base
    left = base if show is Show.FROM_ANCESTOR else a
    letters = ("=", "B") if show is Show.FROM_ANCESTOR else ("A", "B")
    compared = [left, b, *([base] if show is Show.THREE_WAY else [])]
    known = all(one.certainty in KNOWN for one in compared)
    unseen = _unseen(difference, compared) if known else []
    if unseen:
        return Shown(difference, show, letters, ([], [], []), unseen, [], based=based)
    of_left, of_b, of_base = (_coloured(one.text or "", difference.path) for one in (left, b, base))
    plain = lines_of(left), lines_of(b), lines_of(base)
    laid = Shown(difference, show, letters, (of_left, of_b, of_base), [], [], plain=plain, based=based)
    if not known:
        laid.rows = _in_part([("A", a), ("B", b), ("ancestor", base)], based=based)
        return laid
    laid.mixed = len(set().union(*(_ends(one.text or "") for one in compared))) > 1
    if show is Show.THREE_WAY:
        _three(laid, set(opened), fold=fold)
    else:
        _two(laid, compare_lines(*plain[:2]), set(opened), fold=fold)
    if not laid.rows:
        both = left.certainty is b.certainty is Certainty.ABSENT
        laid.rows.append(
            ContentRow("text", words="not there on either side" if both else "empty on both sides")
        )
    return laid


def _unseen(difference: ContentDifference, compared: Sequence[Rebuilt]) -> list[ContentRow]:
    """Rows in place of lines that are not shown: of a binary file, or of one that is too large."""
    if any("\0" in (one.text or "") for one in compared):
        return [
            ContentRow("text", words=f"{name}: binary, {len((one.text or '').encode()):,} bytes", ink="sub")
            for name, one in (("A", difference.a), ("B", difference.b))
        ]
    return [ContentRow("text", words=difference.obstacle, ink="sub")] if difference.obstacle else []


def _kept(size: int, first: bool, last: bool) -> tuple[int, int]:
    """Numbers of same lines that stay visible after the change above and before the one below."""
    return (0 if first else min(_CONTEXT, size), 0 if last else min(_CONTEXT, size))


def _ends(text: str) -> set[bool]:
    """Whether lines end in CRLF: both values for mixed ends."""
    crlf, all_of_them = text.count("\r\n"), text.count("\n")
    return {kind for kind, there in ((True, crlf), (False, all_of_them - crlf)) if there}


def _drawn(laid: Shown, half: int, place: int) -> str:
    """A line as it is drawn: differing words are looked for in the visible text."""
    lines = laid.texts[half]
    return "".join(span.text for span in lines[place]) if place < len(lines) else ""


def words_that_differ(laid: Shown, at: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]] | None:
    """The parts of two lines, as they are drawn, that differ; three-way, the parts of A and B that the ancestor lacks.

    Computed once for each row, when it is drawn.
    """
    if at not in laid.words:
        laid.words[at] = _words(laid, laid.rows[at])
    return laid.words[at]


def _words(laid: Shown, row: ContentRow) -> tuple[list[tuple[int, int]], list[tuple[int, int]]] | None:
    if row.kind == "changed":
        return (
            word_changes(_drawn(laid, 0, row.old), _drawn(laid, 1, row.new))
            if min(row.old, row.new) >= 0
            else None
        )
    if row.base < 0:
        return None
    was = _drawn(laid, 2, row.base)
    changed = [
        word_changes(was, _drawn(laid, half, place)) if place >= 0 and row.kind != other else None
        for half, place, other in ((0, row.old, "b"), (1, row.new, "a"))
    ]
    return (_newer(changed[0]), _newer(changed[1])) if any(changed) else None


def _newer(words: tuple[list[tuple[int, int]], list[tuple[int, int]]] | None) -> list[tuple[int, int]]:
    return words[1] if words is not None else []


def _two(laid: Shown, blocks: Sequence[DiffBlock], opened: Collection[int], *, fold: bool) -> None:
    found = laid.rows
    # Without a difference there is nothing to find between folds.
    fold = fold and any(not block.same for block in blocks)
    for place, block in enumerate(blocks):
        if not block.same:
            laid.changes.append(len(found))
            for row in rows([block]):
                old = row.old - 1 if row.old is not None else -1
                new = row.new - 1 if row.new is not None else -1
                found.append(ContentRow("changed", old, new))
            continue
        size = block.old_to - block.old_from
        above, below = _kept(size, place == 0, place == len(blocks) - 1)
        hidden = size - above - below
        if not fold or place in opened or hidden <= 2:
            above, hidden, below = size, 0, 0
        found += [ContentRow("same", block.old_from + at, block.new_from + at) for at in range(above)]
        if hidden:
            first = block.old_from + above, block.new_from + above
            found.append(ContentRow("fold", *first, hidden=hidden, block=place))
        found += [ContentRow("same", block.old_to - at, block.new_to - at) for at in range(below, 0, -1)]


def _three(laid: Shown, opened: Collection[int], *, fold: bool) -> None:
    found = laid.rows
    regions = laid.difference.regions()
    fold = fold and any(region.kind != "same" for region in regions)
    for place, region in enumerate(regions):
        size = region.base[1] - region.base[0]
        if region.kind == "same":
            above, below = _kept(size, place == 0, place == len(regions) - 1)
            hidden = size - above - below
            if not fold or place in opened or hidden <= 2:
                above, hidden, below = size, 0, 0
            spots = [*range(above), *([-1] if hidden else []), *range(size - below, size)]
            for at in spots:
                if at < 0:
                    first = region.a[0] + above, region.b[0] + above
                    found.append(ContentRow("fold", *first, hidden=hidden, block=place))
                else:
                    found.append(ContentRow("same", region.a[0] + at, region.b[0] + at, region.base[0] + at))
            continue
        laid.changes.append(len(found))
        sizes = [stop - start for start, stop in (region.a, region.b, region.base)]
        for at in range(max(sizes)):
            old, new, base = (
                start + at if at < stop - start else -1 for start, stop in (region.a, region.b, region.base)
            )
            found.append(ContentRow(region.kind, old, new, base))


def _in_part(contents: Sequence[tuple[str, Rebuilt]], *, based: bool) -> list[ContentRow]:
    """The known part of each content: lines with their numbers, texts of unknown place, or nothing."""
    found: list[ContentRow] = []
    for name, file in contents:
        if found:
            found.append(ContentRow("text"))
        found.append(ContentRow("text", words=f"{name}   {rests_on(file, based=based)}", ink="strong"))
        if file.text is not None:
            lines = lines_of(file)
            found += [
                ContentRow("known", at + 1, words=line.rstrip("\n"))
                for at, line in enumerate(lines[: _CONTEXT * 4])
            ]
            if len(lines) > _CONTEXT * 4:
                found.append(
                    ContentRow("text", words=f"{counted(len(lines) - _CONTEXT * 4, 'more line')} known")
                )
        after = 1
        for span in file.spans:
            if span.first > after:
                found.append(ContentRow("text", words=f"{counted(span.first - after, 'line')} not known"))
            found += [ContentRow("known", span.first + at, words=line) for at, line in enumerate(span.lines)]
            after = span.after
        if file.spans and file.total is not None and file.total >= after:
            found.append(ContentRow("text", words=f"{counted(file.total - after + 1, 'line')} not known"))
        for number, piece in enumerate(file.pieces):
            words = "somewhere in it:" if number == 0 else "and somewhere:"
            found.append(ContentRow("text", words=words))
            found += [ContentRow("known", words=line) for line in piece.split("\n")]
    return found
