"""Choices with their reasons that no answer tells: those that the agent names between its calls, and those of an agreed plan."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, result, told_in, user, worked

_ASKED = user("Make the frost table of orchard sort its rows by day.")
_WAY = "The cleanest fix is to sort in `read_rows`, so that the writer never sees loose rows."


def chosen(said: str, *after: dict[str, object]) -> list[str]:
    acted = [reply(said, ("a", "edit", {"path": "src/frost.py", "oldText": "x", "newText": "y"}))]
    return told_in(SummarySection.DECISIONS, _ASKED, *acted, result("a", "ok"), *after)


@pytest.mark.parametrize(
    "said",
    [
        _WAY,
        "The crates are nested in the table now, so they shouldn't have a frame of their own (a frame in a frame).",
        "The counting should be in the reader since it is specific to the format of the valley.",
    ],
)
def test_a_choice_between_calls_is_told_with_its_reason(said: str) -> None:
    assert chosen(said) == [said]


def test_a_choice_from_before_another_request_is_no_decision() -> None:
    later = [user("now print the crates of the orchard by weight"), *worked("src/crates.py", "b")]
    answered = [reply("Done. The rows are sorted by day."), *later]
    assert chosen(_WAY, *answered) == []
    acted = [reply(_WAY, ("a", "edit", {"path": "src/frost.py", "oldText": "x", "newText": "y"}))]
    assert _WAY in told_in(SummarySection.CONTEXT, _ASKED, *acted, result("a", "ok"), *answered)


@pytest.mark.parametrize(
    "said",
    [
        "The simplest fix is to show no counts for the loose rows of the valley:",
        "Is the right way to sort the rows of the valley by their day of the month?",
        "You're right - the table is the better way to hold the rows of the valley.",
        "The closures take the name of the table, so they should work when the valley changes.",
        "Let me look for the best way to sort the rows of the valley by day.",
    ],
)
def test_what_only_leads_to_a_call_is_no_choice(said: str) -> None:
    assert chosen(said) == []


_PLAN = """Implement the following plan:

# Plan: rows by day

## Context

The frost table of orchard prints its rows in the order in which the valleys reported them. The readers of the table look for
a day, and they find it only with a search, because the valleys report when they have a line. The rows are to be sorted by day
wherever they are printed, in the table of frosts, in the one of crates, and in the letters to the growers.

The letters go out on the first of each month. Each grower gets the frosts of their own valley and those of the two beside it,
since cold air comes down from there in the morning. What was reported after the letter was printed stands in the next one, under
a heading of its own. The table of crates is printed by another program, which reads what ours writes.

- Wrap only the frost table in a `SortedRows` to avoid a second order in the writer
- Add `day` to the rows
"""


def test_reasons_of_an_agreed_plan_are_told_while_it_is_worked_on() -> None:
    """A summary's goal has no room for a plan."""
    reason = (
        "From the plan: Wrap only the frost table in a `SortedRows` to avoid a second order in the writer"
    )
    begun = [user(_PLAN), *worked("src/frost.py", "a")]
    assert told_in(SummarySection.DECISIONS, *begun) == [reason]
    over = [
        reply("Done. The rows are sorted."),
        user("now print the crates by weight"),
        *worked("src/c.py", "b"),
    ]
    assert told_in(SummarySection.DECISIONS, *begun, *over) == []


def test_an_item_of_a_plan_that_tells_how_things_are_is_no_choice() -> None:
    shown = _PLAN.replace("- Wrap only the", "- The loose rows come from the").replace(
        "to avoid", "because of"
    )
    assert told_in(SummarySection.DECISIONS, user(shown), *worked("src/frost.py", "a")) == []


@pytest.mark.parametrize(
    ("begin", "plan"),
    [
        ("<proposed_plan>\n# Frost table", True),
        ("# Plan for the frost table", True),
        ("**Implementierungsplan: Plan der Frosttabelle**", True),
        ("Here's my plan for the table:", True),
        ("# 霜表の計画", True),
        ("# Frost table", False),
        ("# Plan executed", False),
    ],
)
def test_what_a_plan_says_is_told_as_of_the_plan(begin: str, plan: bool) -> None:
    line = "A failure of `read_rows` shows a message in the row of the valley, and no empty page."
    rows = "The crates stay in `write_rows`, sorted by their weight and by the day of the harvest."
    said = [_ASKED, *ran("a", "cat src/frost.py"), reply(f"{begin}\n\n{rows}\n\n## Failures\n\n{line}")]
    told = told_in(SummarySection.CONTEXT, *said, user("Implement it"))
    (found,) = [one for one in told if line in one and not one.startswith("Asked before: ")]
    assert found.startswith("From the plan: ") == plan
