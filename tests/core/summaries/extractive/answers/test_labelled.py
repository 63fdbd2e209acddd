"""What an answer itself calls the cause, or the answer in short, is what is told of it."""

from __future__ import annotations

import pytest

from leafward.summaries.facts.sentences.labels import concludes, names_cause
from leafward.summaries.summarizers.extractive.candidates import quoted
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, told_in, user, worked

_CAUSE = "Root cause: `strokes.py` adds the stroke of the valve to the one of the pump before it counts."
_ASKED = [user("Why does the pump of the orchard count its strokes twice?"), *ran("a", "cat strokes.py")]


@pytest.mark.parametrize("short", ["Short answer: the valve counts as well, as it strokes too.", _CAUSE])
def test_the_labelled_sentence_is_the_outcome_of_a_question(short: str) -> None:
    said = [
        *_ASKED,
        reply(f"You are right to wonder about the pump.\n\nThe valve was added in May.\n\n{short}"),
    ]
    (done,) = told_in(SummarySection.DONE, *said)
    assert done.partition(" → ")[2].startswith(quoted(short[:60])[:-1])


def test_a_cause_is_told_when_its_code_was_mended_and_other_work_was_done() -> None:
    said = [*_ASKED, reply(f"I read the code.\n\n{_CAUSE}"), user("mend it please, only there")]
    said += [*worked("strokes.py", "strokes"), reply("Fixed the count of the pump.")]
    for number in (1, 2):
        said += [
            user(f"now print the strokes of day {number}"),
            *worked(f"day_{number}.py", "d"),
            reply("Added it."),
        ]
    every = [line for section in SummarySection for line in told_in(section, *said)]
    assert any("adds the stroke of the valve" in line for line in every)


@pytest.mark.parametrize(
    "said",
    [
        "The root cause is the valve.",
        "**Ursache:** das Ventil zählt mit.",
        "La cause: la vanne.",
        "根本原因：阀门也被计数。",
        "원인은 밸브입니다.",
    ],
)
def test_causes_are_called_so_in_several_languages(said: str) -> None:
    assert names_cause(said)
    assert not concludes(said)


@pytest.mark.parametrize(
    "said", ["Because of the valve it counts twice.", "The causes differ from day to day."]
)
def test_a_word_for_a_cause_alone_calls_nothing_one(said: str) -> None:
    assert not names_cause(said)
