"""Reasons that the agent gave between its calls are told until an answer tells them."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import reply, result, span, summarize, told_in, user, worked

_ASKED = user("Make the frost table of orchard sort its rows by day.")
_CAUSE = "The second run failed because `test_frost` writes into a home that all runs share."
_WAY = "I'm going to change `sort_rows` itself rather than patching each caller."


def _said(text: str, key: str = "a") -> list[dict[str, object]]:
    edit = {"path": f"src/{key}.py", "oldText": "x", "newText": "y"}
    return [reply(text, (key, "edit", edit)), result(key, "ok")]


@pytest.mark.parametrize(
    "said",
    [
        _CAUSE,
        "The abort came from two runs at once: `conftest.py` changes a home that both share.",
        "The lint failure is external: `make msrv` hit HTTP 429 behind a clean build.",
        "`Frost` compares its day alone, so the new mark changes no order.",
        "The `Rows` class has no `clear()`. So when the table is drawn again, it keeps its old lines.",
    ],
)
def test_a_cause_that_was_found_between_calls_is_told_as_said_then(said: str) -> None:
    text = summarize(span(_ASKED, *_said(said), *_said("Now the writer.", "b"))).text
    assert f"- {said}" in text.partition("### As replies said it then")[2]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (_WAY, _WAY),
        (
            f"{_WAY} That keeps the letters and the table of the valley consistent.",
            f"{_WAY} That keeps the letters and the table of the valley consistent.",
        ),
        (
            "I'm adding a mark to `Frost` only for dry runs, and the order stays as it is.",
            "I'm adding a mark to `Frost` only for dry runs, and the order stays as it is.",
        ),
    ],
)
def test_the_way_that_was_taken_is_a_decision_with_its_reason(said: str, told: str) -> None:
    assert told_in(SummarySection.DECISIONS, _ASKED, *_said(said), *_said("Now the writer.", "b")) == [told]


@pytest.mark.parametrize(
    "said",
    [
        "I'll keep watching `make check` rather than guessing.",
        "Let me look at `sort_rows` because it may be the cause.",
        "The error is likely in `sort_rows`, so the table may be wrong.",
        "The lint is still running, so the state of `make check` is open.",
        "Is it that `Frost` compares its day alone, so the order changes?",
        "The issue is the type.",
        "The rows get mixed up because `sort_rows` and `read_rows` share one buffer...",
    ],
)
def test_a_guess_or_a_word_on_the_next_call_is_no_reason(said: str) -> None:
    text = summarize(span(_ASKED, *_said(said), *_said("Now the writer.", "b"))).text
    assert said not in text


def test_what_the_agent_took_back_is_no_reason() -> None:
    again = "But wait, the homes differ. The run fails because `rows.csv` is missing."
    text = summarize(span(_ASKED, *_said(_CAUSE), *_said(again, "b"), *_said("Now the writer.", "c"))).text
    assert _CAUSE not in text
    assert "The run fails because `rows.csv` is missing." in text


def test_an_answered_turn_has_its_reasons_in_the_answer() -> None:
    answered = [_ASKED, *_said(f"{_CAUSE} {_WAY}"), reply("Done. The rows are sorted by day.")]
    text = summarize(span(*answered, user("now print the crates by weight"), *worked("src/c.py", "b"))).text
    assert _CAUSE not in text
    assert _WAY not in text


def test_a_sentence_of_one_word_and_a_comma_follows_from_nothing() -> None:
    told = told_in(
        SummarySection.CONTEXT, _ASKED, *_said("The `Rows` class has no `clear()`.\n- So , , , , ,")
    )
    assert "Last reply: The `Rows` class has no `clear()`." in told


_SO = "The rows of `frost.csv` are sorted by hand, so I'm keeping their order and sorting only what is shown."


def test_a_way_with_its_reason_before_it_is_a_decision() -> None:
    assert told_in(SummarySection.DECISIONS, _ASKED, *_said(_SO), *_said("Now the writer.", "b")) == [_SO]
    looks = "The rows of `frost.csv` are sorted by hand, so I'm reading the notes of the last frost."
    assert told_in(SummarySection.DECISIONS, _ASKED, *_said(looks), *_said("Now the writer.", "b")) == []


def test_a_weighed_way_is_told_until_other_work_is_asked_for() -> None:
    plain = "I'll add a column to `rows.py` to avoid a second pass."
    answered = [
        _ASKED,
        *_said(_SO),
        *_said(_WAY, "b"),
        *_said(plain, "c"),
        reply("Done. The rows are sorted."),
    ]
    assert told_in(SummarySection.DECISIONS, *answered) == [_SO, _WAY]
    other = [user("now print the crates by weight"), *worked("src/c.py", "d")]
    assert told_in(SummarySection.DECISIONS, *answered, *other) == []
