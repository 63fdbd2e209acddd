"""The tab Outcome of two branches, as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import counted, duration
from leafward_tui.compare.model.files import HUES
from leafward_tui.compare.model.side_column import last_words
from leafward_tui.ui.panes.pane_lines import Block, SpanLine, blanks
from leafward_tui.ui.text.cells import exact, fit, money, right, wrap
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.branches.diff.sides import Side
    from leafward.files.checks import Check
    from leafward_tui.compare.model.carried_summary import CarriedSummary
    from leafward_tui.compare.model.compared_sides import Overall
    from leafward_tui.ui.appearance.glyphs import Glyphs

_TITLE = 24
"""Cells of the title of a figure."""
_LACKING = " is not in it"


def outcome_page(
    overall: Overall, width: int, glyphs: Glyphs, carried: Sequence[CarriedSummary] = ()
) -> Block:
    """Outcomes of both, one row for each figure, without judging the better one; below them all carried summaries."""
    a, b = overall.sides.a, overall.sides.b
    lines = [*_figure_lines((a, b), width, glyphs)]
    for letter, side in (("A", a), ("B", b)):
        lines += [SpanLine(), _heading(letter, "ends with")]
        for text in wrap(last_words(side, 2_000), width - 3, lines=4, ellipsis=glyphs.ellipsis):
            lines.append(
                SpanLine((blanks(3), Span(text, "text")), f"last:{letter}", side.outcomes.last_reply)
            )
    for one in carried:
        lines += [SpanLine(), _heading(one.holder, "carries"), *_carried_lines(one, width, glyphs)]
    return Block(lines)


def _heading(letter: str, words: str) -> SpanLine:
    return SpanLine((Span(f"{letter}  ", f"strong_{HUES[letter]}"), Span(words, "faint")))


def _figure_lines(both: tuple[Side, Side], width: int, glyphs: Glyphs) -> Iterator[SpanLine]:
    """A head, and a row for each figure."""
    cells = max(14, min(34, (width - _TITLE) // 2))
    yield SpanLine(
        (blanks(_TITLE), *(Span(right(letter, cells), f"strong_{HUES[letter]}") for letter in "AB"))
    )
    for title, *values in figures(both, glyphs):
        spans = [
            Span(
                right(value, cells),
                "edge" if value == glyphs.zero else "bad" if value.startswith(glyphs.error) else "text",
            )
            for value in values
        ]
        yield SpanLine((Span(fit(title, _TITLE, pad=True), "faint"), *spans), f"figure:{title}")


def _carried_lines(carried: CarriedSummary, width: int, glyphs: Glyphs) -> Iterator[SpanLine]:
    """The summary of the other branch that a branch carries, and the facts that it lacks."""
    other = "A" if carried.holder == "B" else "B"
    rows = [
        (
            glyphs.branch_summary,
            "memory",
            f"summary of {other}, {counted(carried.stands_for, 'message')}",
        )
    ]
    room = width - 3 - cell_len(_LACKING)
    rows += [
        (glyphs.error, "bad", fit(fact, room, ellipsis=glyphs.ellipsis) + _LACKING)
        for fact in carried.missing
    ]
    for number, (sign, ink, text) in enumerate(rows):
        spans = (Span(f"{sign}  ", ink), Span(fit(text, width - 3, ellipsis=glyphs.ellipsis), "text"))
        yield SpanLine(spans, f"carried:{carried.entry}:{number}", carried.entry)


_NUMBERS: tuple[tuple[str, Callable[[Side], int | None]], ...] = (
    ("commands", lambda side: side.outcomes.commands),
    ("failed commands", lambda side: side.outcomes.failed_commands),
    ("errors", lambda side: side.outcomes.errors),
    ("tool calls", lambda side: side.outcomes.calls),
    ("replies", lambda side: side.outcomes.replies),
    ("turns", lambda side: side.turns),
    ("changes of files", lambda side: side.edits),
    ("entries", lambda side: len(side.entries)),
    ("aborted", lambda side: side.outcomes.aborted),
    ("tokens of all requests", lambda side: side.outcomes.usage.total),
    ("output tokens", lambda side: side.outcomes.usage.output),
)


def figures(both: tuple[Side, Side], glyphs: Glyphs) -> list[tuple[str, str, str]]:
    """A title, and the values of A and of B. Aborted replies have a row only where there are some."""
    a, b = both
    checks = dict.fromkeys(one.check for side in both for one in side.outcomes.checks)
    rows = [(check.value, _result(a, check, glyphs), _result(b, check, glyphs)) for check in checks]
    for title, take in _NUMBERS:
        if title != "aborted" or take(a) or take(b):
            rows.append((title, _number(take(a), glyphs), _number(take(b), glyphs)))
    return [*rows, ("cost", _cost(a), _cost(b)), ("duration", _duration(a, glyphs), _duration(b, glyphs))]


def _result(side: Side, check: Check, glyphs: Glyphs) -> str:
    """The result of a check on a branch, with its runs."""
    one = next((one for one in side.outcomes.checks if one.check is check), None)
    if one is None:
        return "not run"
    failed = f", {one.failed:,} failed" if one.failed and one.runs > 1 else ""
    sign, word = (glyphs.ok, "ok") if one.ok else (glyphs.error, "failed")
    return f"{sign} {word}, {counted(one.runs, 'run')}{failed}"


def _number(number: int | None, glyphs: Glyphs) -> str:
    return glyphs.zero if number == 0 else "not known" if number is None else exact(number)


def _cost(side: Side) -> str:
    return money(side.outcomes.usage.cost, zero="$0") if side.outcomes.costs_known else "not in file"


def _duration(side: Side, glyphs: Glyphs) -> str:
    return duration(side.outcomes.seconds) if side.spoken else glyphs.zero
