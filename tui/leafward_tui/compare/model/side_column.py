"""The right column of a comparison: contexts, outcomes and carried summaries, below each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward_tui.compare.model.compared_sides import Overall, size_of
from leafward_tui.compare.model.files import HUES
from leafward_tui.ui.panes.pane_lines import Block, SpanLine, blanks, spread
from leafward_tui.ui.text.cells import count, fit, money, right, shares, wrap
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.branches.diff.contexts import ContextDifference
    from leafward.branches.diff.outcomes import Checked, Outcomes
    from leafward.branches.diff.sides import Side, Sides
    from leafward_tui.compare.model.carried_summary import CarriedSummary
    from leafward_tui.compare.model.compared_sides import ComparedSides
    from leafward_tui.ui.appearance.glyphs import Glyphs

_FACTS = 2
"""Number of facts that are named as not carried over, the heaviest ones."""
_LONGEST = 300


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
    lines: list[SpanLine] = []
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
            SpanLine(),
            *_carried(carried, width, glyphs, pin, facts),
        ]
        if height is None or len(lines) <= height:
            break
    return Block(lines)


LOOKING = SpanLine((Span("reading contexts and outcomes", "nothing"),))
"""The line that stands for `Overall` until it is known."""


def _looked_at(seen: Overall, width: int, glyphs: Glyphs, whys: int, words: int) -> Iterator[SpanLine]:
    yield from _context(seen.contexts, width, glyphs, whys)
    yield SpanLine()
    yield from _outcomes(seen.sides, width, glyphs, words)


def _context(contexts: ContextDifference, width: int, glyphs: Glyphs, most: int) -> Iterator[SpanLine]:
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
        yield SpanLine((lead, *bar, Span(right(size_of(context), width - 3 - cells), "text")))
    if contexts.why[:most]:
        yield SpanLine()
    for why in contexts.why[:most]:
        sign, ink = (glyphs.compaction, "memory") if "compacted" in why else (glyphs.zero, "faint")
        for number, text in enumerate(wrap(why, width - 2, lines=3, ellipsis=glyphs.ellipsis)):
            yield SpanLine((Span(f"{sign} " if not number else "  ", ink), Span(text, "sub")))


def _outcomes(sides: Sides, width: int, glyphs: Glyphs, most: int) -> Iterator[SpanLine]:
    yield SpanLine((Span("Outcome", "strong"),))
    for letter, side in (("A", sides.a), ("B", sides.b)):
        came = side.outcomes
        words = last_words(side, _LONGEST)
        for number, text in enumerate(wrap(words, width - 3, lines=most, ellipsis=glyphs.ellipsis)):
            lead = Span(f"{letter}  " if not number else "   ", f"strong_{HUES[letter]}")
            yield SpanLine((lead, Span(text, "text" if came.last_words else "nothing")))
        if side.spoken:
            yield _came(came, width, glyphs)
        if letter == "A" and most > 1:
            yield SpanLine()


def last_words(side: Side, limit: int) -> str:
    """The last words of a side, safe, or why there are none."""
    if not side.spoken:
        return "nothing after the common ancestor"
    return safe_line(side.outcomes.last_words, limit).lstrip("# ") or "no reply"


def _came(came: Outcomes, width: int, glyphs: Glyphs) -> SpanLine:
    """Checks, errors and cost in one line."""
    cost = money(came.usage.cost, zero="$0") if came.costs_known else "cost not in file"
    room = width - 3 - cell_len(cost) - 2
    groups = [_checked(one, glyphs) for one in came.checks]
    # No exit code here: beside a check it would be taken for the check's own.
    errors = Span(counted(came.errors, "error"), "warn" if came.errors else "faint")
    if came.errors or _cells([*groups, [errors]]) <= room:
        groups.append([errors])
    if _cells(groups) > room:
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


def _cells(groups: Sequence[Sequence[Span]]) -> int:
    """The cells of some groups, two apart."""
    return sum(sum(cell_len(span.text) for span in group) + 2 for group in groups) - 2


def _checked(one: Checked, glyphs: Glyphs) -> list[Span]:
    sign, ink = (glyphs.ok, "leaf") if one.ok else (glyphs.error, "bad")
    return [Span(f"{sign} {one.check.value}" + ("" if one.ok else " failed"), ink)]


def _carried(
    carried: Sequence[CarriedSummary] | None, width: int, glyphs: Glyphs, pin: str, most: int
) -> Iterator[SpanLine]:
    title = "Carried over" if carried is None or carried else "Nothing carried over"
    yield SpanLine((Span(fit(title, width, ellipsis=glyphs.ellipsis), "strong"),))
    if carried is None:
        yield SpanLine((Span("looking for it", "nothing"),))
        return
    for one in carried:
        other = "A" if one.holder == "B" else "B"
        size = f", {counted(one.stands_for, 'message')}" if one.stands_for else ""
        words = f"summary of {other} in {one.holder}{size}"
        yield SpanLine(
            (
                Span(f"{glyphs.branch_summary} ", "memory"),
                Span(fit(words, width - 2, ellipsis=glyphs.ellipsis), "sub"),
            ),
            entry=one.entry,
        )
        for fact in one.missing[:most]:
            tail = " is not in it"
            text = fit(fact, width - 2 - len(tail), ellipsis=glyphs.ellipsis)
            yield SpanLine((Span(f"{glyphs.error} ", "bad"), Span(text, "text"), Span(tail, "faint")))
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
