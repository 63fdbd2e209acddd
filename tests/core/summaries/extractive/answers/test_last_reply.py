"""While a request is open, the last reply is quoted with the plan that it announces."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import reply, result, told_in, user

_ASKED = user("Let the crate list of orchard show the weight of each crate.")
_LOOK = ("a", "read", {"path": "src/crates.py"})


def _last(*said: dict[str, object]) -> list[str]:
    told = told_in(SummarySection.CONTEXT, _ASKED, *said)
    return [line.removeprefix("Last reply: ") for line in told if line.startswith("Last reply: ")]


@pytest.mark.parametrize(
    "said",
    [
        "The scale is out of order, so I'm taking the weights out of the delivery notes in `notes/` instead.",
        "I'll keep the list as it is and add the weight in three steps: the column, the sum, and the head of the table.",
        "The hook refuses the table. The house rules forbid to pass by it; I'll mend the table in the file itself.",
    ],
)
def test_the_plan_that_the_last_reply_announces_is_told(said: str) -> None:
    assert _last(reply(said, _LOOK), result("a", "crates = []")) == [said]


@pytest.mark.parametrize("said", ["Let me look at the crates.", "I'll read the notes of the last week now:"])
def test_a_word_on_the_next_call_alone_is_not(said: str) -> None:
    assert _last(reply(said, _LOOK), result("a", "crates = []")) == []


def test_of_a_long_reply_what_is_found_comes_before_what_is_done_next() -> None:
    found = "The weights in `notes/` are in pounds, and the table of the valley counts each crate in kilograms alone."
    plan = "I'm comparing the delivery notes of the last two weeks with the table of the valley, one crate after the other."
    other = (
        "No crate of the north valley has a note, so that its weight cannot be known from any of the files."
    )
    assert _last(reply(f"{plan} {found} {other}", _LOOK), result("a", "x")) == [f"{found} {other}"]


@pytest.mark.parametrize(
    ("heading", "told"),
    [
        ("Lane Goal Order", False),
        ("Lanes:", False),
        ("Perfeito!", False),
        ("Parfait !", False),
        ("先画果园的路线再测试", True),
    ],
)
def test_a_heading_or_an_exclamation_is_no_last_reply(heading: str, told: bool) -> None:
    """Fails where the heading of a list that leads to nothing is told as what was said last."""
    said = [
        user("Draw the lanes of the orchard."),
        reply(f"{heading}\n\n| a | b |\n|---|---|", ("a", "bash", {"command": "make lanes"})),
    ]
    lines = told_in(SummarySection.CONTEXT, *said, result("a", "ok"))
    assert any(heading.rstrip(":! ") in one for one in lines if one.startswith("Last reply")) == told


def test_a_trouble_that_the_calls_behind_it_mend_is_no_last_reply() -> None:
    """Fails where the edit that the reply led to is no sign that the trouble is over."""
    trouble = "The selector of the crates is missing a bracket."
    given = {"path": "src/crates.py", "oldText": "x", "newText": "y"}
    assert _last(reply(trouble, ("a", "edit", given)), result("a", "ok")) == []
    assert _last(reply(trouble, ("a", "bash", {"command": "cat src/crates.py"})), result("a", "ok")) == [
        trouble
    ]
