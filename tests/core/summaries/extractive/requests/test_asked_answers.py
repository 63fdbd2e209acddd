"""What the user answered to questions that a tool of the agent's asked."""

from __future__ import annotations

import json

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import lines_of, reply, result, span, summarize, told_in, user

_FIRST = "How deep do the hoses go, given that the spade hits clay at 30 cm?"
_SECOND = "Which beds come first?"
_QUESTIONS = [
    {"id": "depth", "question": _FIRST, "header": "Depth", "options": [{"label": "20 cm, and a mat above"}]},
    {"id": "beds", "question": _SECOND, "options": [{"label": 'The "north" beds'}, {"label": "All"}]},
]
_ASKED = (
    user("Plan the hoses of the garden"),
    reply("", ("a", "AskUserQuestion", {"questions": _QUESTIONS})),
)
_PRINTED = (
    f'User has answered your questions: "{_FIRST}"="20 cm, and a mat above", "{_SECOND}"="The "north" beds". '
    "You can now continue with the user's answers in mind."
)
_GIVEN = json.dumps(
    {"answers": {"depth": {"answers": ["20 cm, and a mat above"]}, "beds": {"answers": ['The "north" beds']}}}
)
_TOLD = [
    f"Answered by the user: 20 cm, and a mat above (asked: {_FIRST})",
    f'Answered by the user: The "north" beds (asked: {_SECOND})',
]


@pytest.mark.parametrize("printed", [_PRINTED, _GIVEN])
def test_an_answer_is_told_with_its_question(printed: str) -> None:
    assert told_in(SummarySection.DECISIONS, *_ASKED, result("a", printed)) == _TOLD


@pytest.mark.parametrize(
    ("printed", "failed"),
    [
        ("The user wants to clarify these questions.", True),
        (_PRINTED, True),
        (f'"{_FIRST}"="Unanswered", "{_SECOND}"="Unanswered". ', False),
        ("{}", False),
        ('{"answers": {"depth": null, "beds": [], "other": {"answers": ["x"]}}}', False),
    ],
)
def test_a_question_without_an_answer_is_not_told(printed: str, failed: bool) -> None:
    assert told_in(SummarySection.DECISIONS, *_ASKED, result("a", printed, failed)) == []


def test_of_a_question_that_was_asked_again_the_last_answer_holds() -> None:
    again = {"questions": _QUESTIONS[1:]}
    said = [
        *_ASKED,
        result("a", _PRINTED),
        reply("", ("b", "AskUserQuestion", again)),
        result("b", f'User has answered your questions: "{_SECOND}"="All". You can now continue.'),
    ]
    assert told_in(SummarySection.DECISIONS, *said) == [
        _TOLD[0],
        f"Answered by the user: All (asked: {_SECOND})",
    ]


def test_an_answer_that_hands_the_choice_back_is_none() -> None:
    printed = f'User has answered your questions: "{_FIRST}"="What do you recommend?", "{_SECOND}"="All". You can now continue.'
    assert told_in(SummarySection.DECISIONS, *_ASKED, result("a", printed)) == [
        f"Answered by the user: All (asked: {_SECOND})"
    ]


def test_of_many_answers_the_last_ones_are_told() -> None:
    said = list(_ASKED[:1])
    asked = [
        f"Which of the seven hoses feeds bed number {number} of the lower garden?" for number in range(9)
    ]
    for number, question in enumerate(asked):
        said += [
            reply("", (f"a{number}", "AskUserQuestion", {"questions": [{"question": question}]})),
            result(f"a{number}", f'User has answered your questions: "{question}"="Hose {number}". '),
        ]
    decided = [
        text for section, text in lines_of(summarize(span(*said), 500)) if section is SummarySection.DECISIONS
    ]
    told = [number for number in range(9) if any(f"Hose {number} " in line for line in decided)]
    assert told
    assert len(told) < 9
    assert told == list(range(9 - len(told), 9))


def test_an_answer_about_what_is_not_committed_stays_whole_behind_the_commit() -> None:
    asked = "There is an uncommitted list of beds (a draft). What should happen to it?"
    given = {"questions": [{"question": asked}]}
    commit = {"command": 'git commit -m "Draw the hoses"'}
    said = [
        user("Plan the hoses of the garden"),
        reply("", ("a", "AskUserQuestion", given)),
        result("a", f'User has answered your questions: "{asked}"="Drop it". You can now continue.'),
        reply("", ("b", "bash", commit)),
        result("b", "[main 1234567] Draw the hoses"),
    ]
    assert told_in(SummarySection.DECISIONS, *said) == [f"Answered by the user: Drop it (asked: {asked})"]
