"""Texts about two branches besides their files: names, carried summaries, outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.branches.diff.contexts import ContextDifference, compare_contexts
from leafward.branches.diff.file_sets import FileSets, compare_files
from leafward.compaction.summary_comparison import compare_summaries, summary_at
from leafward.session.entries import NO_ENTRY, EntryIndex, Kind
from leafward.session.entry_headline import row_text, summarised_entries, turn_entry
from leafward_tui.compare.model.files import HUES
from leafward_tui.ui.panes.page import Span
from leafward_tui.ui.panes.pane_lines import Block, LabLine, blanks, spread
from leafward_tui.ui.text.cells import count, fit, money, right, shares, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.branches.diff.outcomes import Checked, Outcomes
    from leafward.branches.diff.sides import Side, Sides
    from leafward.branches.diff.summaries import SummaryDifference
    from leafward_tui.ui.appearance.glyphs import Glyphs

_FACTS = 2
"""Number of facts that are named as not carried over, the heaviest ones."""
_LONGEST = 300


class HeadEntry(NamedTuple):
    """One of the two entries, for the head."""

    letter: str
    words: str
    """The turn of the entry, as in the tree, safe."""
    entry: int
    entries: int
    turns: int
    edits: int
    tokens: int | None
    """Tokens of its context; None until they are known."""
    leaf: bool
    mark: bool


@dataclass(frozen=True, slots=True)
class ComparedSides:
    """The values that are shown first: the files of both entries, and their names."""

    sides: Sides
    sets: FileSets
    named: tuple[HeadEntry, HeadEntry]
    ancestor: str
    """The first words of the common ancestor, safe; empty where there is none."""

    @property
    def plain(self) -> str:
        """The special relation of the pair; empty where both have gone their own way."""
        if self.sides.a.entry == self.sides.b.entry:
            return "A and B are the same entry"
        if self.sides.ancestor < 0:
            return "they have no common ancestor"
        above = self.sides.ancestor_side
        return f"{above} is an ancestor of {'B' if above == 'A' else 'A'}" if above else ""


@dataclass(frozen=True, slots=True)
class Overall(ComparedSides):
    """All values known before a file is opened, with the outcomes of both sides."""

    contexts: ContextDifference


class CarriedSummary(NamedTuple):
    """A branch summary of one side that the other carries."""

    holder: str
    """The letter of the side that has it."""
    entry: EntryIndex
    stands_for: int
    """Number of summarised entries of the conversation."""
    missing: tuple[str, ...]
    """Facts of the branch that it lacks, the heaviest first, safe."""


def compared_sides(sides: Sides, mark: int) -> ComparedSides:
    """The values that are shown first. Decodes the first words of each side."""
    session = sides.session
    named = _named(sides, "A", sides.a, mark), _named(sides, "B", sides.b, mark)
    # Where the ancestor is bookkeeping, the entry of the conversation above it counts.
    content = session.tree.content_at(sides.ancestor) if sides.ancestor >= 0 else NO_ENTRY
    words = row_text(session, content) if content >= 0 else ""
    return ComparedSides(sides, compare_files(sides), named, words)


def looked_at(first: ComparedSides) -> Overall:
    """Both sides with their contexts and outcomes, which are decoded for it."""
    sides, (a, b) = first.sides, first.named
    contexts = compare_contexts(sides.session, sides.a.entry, sides.b.entry)
    named = a._replace(tokens=contexts.a.total), b._replace(tokens=contexts.b.total)
    for side in (sides.a, sides.b):
        # Outcomes are computed on first use: here, in the job, and not while drawing.
        _ = side.outcomes
    return Overall(sides, first.sets, named, first.ancestor, contexts)


def overall(sides: Sides, mark: int) -> Overall:
    """All values of both entries, computed in one go."""
    return looked_at(compared_sides(sides, mark))


def _named(sides: Sides, letter: str, side: Side, mark: int) -> HeadEntry:
    session = sides.session
    known_by = turn_entry(session, side.entry, NO_ENTRY if sides.ancestor_side else sides.ancestor)
    words = row_text(session, known_by) if known_by >= 0 else "before everything"
    leaf = side.entry in (session.place, session.leaf)
    return HeadEntry(
        letter,
        words,
        side.entry,
        len(side.entries),
        side.turns,
        side.edits,
        None,
        leaf,
        0 <= mark == side.entry,
    )


def carried_over(sides: Sides, stop: Callable[[], bool]) -> tuple[CarriedSummary, ...]:
    """Branch summaries of one side on the other; their missing facts are empty yet."""
    session = sides.session
    kinds = session.columns.kind
    found = []
    for holder, here, there in (("B", sides.b, sides.a), ("A", sides.a, sides.b)):
        of = set(there.entries)
        for at in here.entries:
            if kinds[at] != Kind.BRANCH_SUMMARY or stop():
                continue
            body = session.body(EntryIndex(at)) or {}
            if session.columns.index(str(body.get("fromId"))) in of:
                found.append(
                    CarriedSummary(holder, EntryIndex(at), summarised_entries(session, at, body), ())
                )
    return tuple(found)


def with_missing(
    sides: Sides, carried: Sequence[CarriedSummary], summaries: SummaryDifference
) -> tuple[CarriedSummary, ...]:
    """The carried summaries, each with the facts that it lacks out of those of its branch's own summary."""
    found = []
    for one in carried:
        summary = summaries.a.text if one.holder == "B" else summaries.b.text
        lacks = compare_summaries(
            summary, summary_at(sides.session, one.entry), sides.session.cwd
        ).only_before
        found.append(one._replace(missing=tuple(safe_line(fact.text, 200) for fact in lacks)))
    return tuple(found)


def summary_head(summaries: SummaryDifference | None, width: int, glyphs: Glyphs) -> LabLine:
    """The entries of both summaries."""
    if summaries is None:
        return LabLine((Span("making the summaries", "nothing"),))
    found: list[Span] = []
    for letter, one in (("A", summaries.a), ("B", summaries.b)):
        where = f"stored in #{one.entry:,}" if one.entry >= 0 else "none stored: extracted just now"
        words = where if one.text else "no messages since the ancestor"
        room = width // 2 - 6
        found += [
            Span(f"{letter}  ", f"strong_{HUES[letter]}"),
            Span(fit(words, room, pad=letter == "A", ellipsis=glyphs.ellipsis), "sub"),
            blanks(2),
        ]
    return LabLine(tuple(found))


# --- the right column -------------------------------------------------------------------------------------------------


def side_column(
    seen: ComparedSides,
    carried: Sequence[CarriedSummary] | None,
    width: int,
    glyphs: Glyphs,
    height: int | None = None,
    pin: str = "",
) -> Block:
    """Context, outcome and carried summaries, below each other; `pin` is the key that pins a fact.

    Where they are too high, reasons, last words and facts are shortened, so that the end of the column is visible.
    """
    lines: list[LabLine] = []
    for whys, words, facts in (
        (9, 2, _FACTS),
        (2, 2, _FACTS),
        (2, 1, _FACTS),
        (1, 1, _FACTS),
        (1, 1, 0),
        (0, 1, _FACTS),
        (0, 1, 0),
    ):
        lines = [
            *(_looked_at(seen, width, glyphs, whys, words) if isinstance(seen, Overall) else (LOOKING,)),
            LabLine(),
            *_carried(carried, width, glyphs, pin, facts),
        ]
        if height is None or len(lines) <= height:
            break
    return Block(lines)


LOOKING = LabLine((Span("reading contexts and outcomes", "nothing"),))
"""The line that stands for `Overall` until it is known."""


def _looked_at(seen: Overall, width: int, glyphs: Glyphs, whys: int, words: int) -> Iterator[LabLine]:
    yield from _context(seen.contexts, width, glyphs, whys)
    yield LabLine()
    yield from _outcomes(seen.sides, width, glyphs, words)


def _context(contexts: ContextDifference, width: int, glyphs: Glyphs, most: int) -> Iterator[LabLine]:
    shared = contexts.prefix_tokens
    largest = max(contexts.a.total, contexts.b.total, 1)
    caption = f"shared {count(shared)}" if shared else "nothing shared"
    # The bars compare both sides with each other, not each with the window as the one at the foot of the tree does:
    # nothing is free.
    scaled = f"{caption}, full bar {count(largest)}"
    caption = scaled if cell_len(scaled) + len("Context") + 2 <= width else caption
    yield spread((Span("Context", "strong"),), (Span(caption, "faint"),), width)
    cells = max(4, width - 11)
    for letter, context in (("A", contexts.a), ("B", contexts.b)):
        total = context.total
        own = max(0, total - shared)
        both, mine, free = shares((min(shared, total), own, largest - total), cells)
        bar = (
            Span(glyphs.block * both, "sub"),
            Span(glyphs.block_again * mine, HUES[letter]),
            blanks(free),
        )
        lead = Span(f"{letter}  ", f"strong_{HUES[letter]}")
        yield LabLine((lead, *bar, Span(right(count(total), width - 3 - cells), "text")))
    if contexts.why[:most]:
        yield LabLine()
    for why in contexts.why[:most]:
        sign, ink = (glyphs.compaction, "memory") if "compacted" in why else (glyphs.zero, "faint")
        for number, text in enumerate(wrap(why, width - 2, lines=3, ellipsis=glyphs.ellipsis)):
            yield LabLine((Span(f"{sign} " if not number else "  ", ink), Span(text, "sub")))


def _outcomes(sides: Sides, width: int, glyphs: Glyphs, most: int) -> Iterator[LabLine]:
    yield LabLine((Span("Outcome", "strong"),))
    for letter, side in (("A", sides.a), ("B", sides.b)):
        came = side.outcomes
        words = last_words(side, _LONGEST)
        for number, text in enumerate(wrap(words, width - 3, lines=most, ellipsis=glyphs.ellipsis)):
            lead = Span(f"{letter}  " if not number else "   ", f"strong_{HUES[letter]}")
            yield LabLine((lead, Span(text, "text" if came.last_words else "nothing")))
        if side.spoken:
            yield _came(came, width, glyphs)
        if letter == "A" and most > 1:
            yield LabLine()


def last_words(side: Side, limit: int) -> str:
    """The last words of a side, safe, or why there are none."""
    if not side.spoken:
        return "nothing after the common ancestor"
    return safe_line(side.outcomes.last_words, limit).lstrip("# ") or "no reply"


def _came(came: Outcomes, width: int, glyphs: Glyphs) -> LabLine:
    """Checks, errors and cost in one line."""
    cost = money(came.usage.cost, zero="$0") if came.costs_known else "cost not in file"
    room = width - 3 - cell_len(cost) - 2
    groups = [_checked(one, glyphs) for one in came.checks]
    if came.errors:
        # No exit code here: beside a check it would be taken for the check's own.
        groups.append([Span(counted(came.errors, "error"), "warn")])
    else:
        groups.append([Span("0 errors", "faint")])
    if sum(sum(cell_len(span.text) for span in group) + 2 for group in groups) - 2 > room:
        # Errors go before cost, which the tab Outcome shows as well.
        cost, room = "", width - 3
    left: list[Span] = [blanks(3)]
    used = 0
    for group in groups:
        cells = sum(cell_len(span.text) for span in group) + (2 if used else 0)
        if used + cells > room:
            continue
        left += [*([blanks(2)] if used else []), *group]
        used += cells
    return spread(left, (Span(cost, "faint"),), width)


def _checked(one: Checked, glyphs: Glyphs) -> list[Span]:
    sign, ink = (glyphs.ok, "leaf") if one.ok else (glyphs.error, "bad")
    return [Span(f"{sign} {one.check.value}" + ("" if one.ok else " failed"), ink)]


def pinnable(
    carried: Sequence[CarriedSummary] | None,
    summaries: SummaryDifference | None,
    named: tuple[HeadEntry, HeadEntry],
) -> tuple[str, ...]:
    """Facts of one branch that can be pinned where the other is: those that a carried summary lacks.

    Without a carried summary, those of the summary of the branch without the leaf that the other summary lacks.
    """
    if carried:
        return tuple(dict.fromkeys(fact for one in carried for fact in one.missing))
    if summaries is None:
        return ()
    facts = summaries.difference.only_after if named[0].leaf else summaries.difference.only_before
    return tuple(dict.fromkeys(safe_line(fact.text, 200) for fact in facts))


def lacking(carried: Sequence[CarriedSummary] | None, named: tuple[HeadEntry, HeadEntry]) -> str:
    """The branch that has the facts of `pinnable`, and the one that lacks them."""
    holders = {one.holder for one in carried or ()} or {"A" if named[0].leaf else "B"}
    if len(holders) > 1:
        return "that one branch has and the other lacks"
    (holder,) = holders
    return f"of {'B' if holder == 'A' else 'A'} that {holder} lacks"


def _carried(
    carried: Sequence[CarriedSummary] | None, width: int, glyphs: Glyphs, pin: str, most: int
) -> Iterator[LabLine]:
    title = "Carried over" if carried is None or carried else "Nothing carried over"
    yield LabLine((Span(fit(title, width, ellipsis=glyphs.ellipsis), "strong"),))
    if carried is None:
        yield LabLine((Span("looking for it", "nothing"),))
        return
    for one in carried:
        other = "A" if one.holder == "B" else "B"
        size = f", {counted(one.stands_for, 'entry', 'entries')}" if one.stands_for else ""
        words = f"summary of {other} in {one.holder}{size}"
        yield LabLine(
            (
                Span(f"{glyphs.branch_summary} ", "memory"),
                Span(fit(words, width - 2, ellipsis=glyphs.ellipsis), "sub"),
            ),
            entry=one.entry,
        )
        for fact in one.missing[:most]:
            tail = " is not in it"
            text = fit(fact, width - 2 - len(tail), ellipsis=glyphs.ellipsis)
            yield LabLine((Span(f"{glyphs.error} ", "bad"), Span(text, "text"), Span(tail, "faint")))
        more = len(one.missing) - most
        remark = f"{more:,} more {'is' if more == 1 else 'are'} not"
        left = [Span(f"  {remark}", "faint")]
        if not most:
            remark = f"{counted(more, 'fact')} {'is' if more == 1 else 'are'} not"
            tail = " in it" if cell_len(remark) + len(pin) + 15 <= width else ""
            left = [Span(f"{glyphs.error} ", "bad"), Span(remark + tail, "faint")]
        keys = (Span(pin, "strong"), Span(" pin", "faint")) if pin and one.missing else ()
        if more > 0 or keys:
            yield spread(left if more > 0 else (), keys, width)
