"""What the user said instead of allowing a call is a request like any other, where it is not about the work at hand."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.extractive.turns import turns_of
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import reply, result, span, summarize, told_in, user, worked

_ASKED = user("Rewrite the queue of orchard so that no job is lost when the disk is full.")
_OTHER = "Leave the queue alone on this branch and write an issue for the tracker with all details of the lost jobs."
_CLAUDE = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)
_OPENCODE = "The user rejected permission to use this specific tool call with the following feedback: "


def _declined(words: str, before: str = _CLAUDE) -> list[dict[str, object]]:
    call = reply(
        "I change the queue now.", ("d", "edit", {"file_path": "src/queue.ts", "new_string": "lock()"})
    )
    return [call, result("d", before + words, failed=True)]


@pytest.mark.parametrize("before", [_CLAUDE, _OPENCODE])
def test_other_work_that_was_asked_for_is_the_last_request(before: str) -> None:
    said = [_ASKED, *worked("src/queue.ts", "a"), *_declined(_OTHER, before)]
    assert told_in(SummarySection.IN_PROGRESS, *said) == [f"Last request: {_OTHER}"]
    (goal,) = told_in(SummarySection.GOAL, *said, *worked("docs/lost.md", "e"))
    assert goal.startswith(_OTHER)


@pytest.mark.parametrize(
    "words", ["pull rebase first", "Does the length of the queue count the jobs that run?"]
)
def test_a_word_on_the_work_at_hand_is_not(words: str) -> None:
    said = [_ASKED, *worked("src/queue.ts", "a"), *_declined(words)]
    assert words in summarize(span(*said)).text
    (goal,) = told_in(SummarySection.GOAL, *said, *worked("src/queue.ts", "e"))
    assert goal == _ASKED["content"]


def test_a_question_that_was_answered_alone_leaves_the_work_open() -> None:
    words = "Does the length of the queue count the jobs that run?"
    said = [
        _ASKED,
        *worked("src/queue.ts", "a"),
        *_declined(words),
        reply("Yes, it counts running jobs too."),
    ]
    (goal,) = told_in(SummarySection.GOAL, *said)
    assert str(_ASKED["content"]) in goal


def test_what_a_program_printed_is_nobodys_request() -> None:
    failed = [
        reply("", ("d", "bash", {"command": "deploy"})),
        result("d", f"the user said:\n{_OTHER}", failed=True),
    ]
    (goal,) = told_in(SummarySection.GOAL, _ASKED, *worked("src/queue.ts", "a"), *failed)
    assert goal == _ASKED["content"]


def test_what_the_agent_writes_itself_is_nobodys_request() -> None:
    """Fails where the note behind the user's words is quoted with them, or the text for a talk about questions is the user's."""
    note = (
        "\n\nNote: The user's next message may contain a correction or preference. Pay close attention — if they explain "
        "what went wrong or how they'd prefer you to work, consider saving that to memory for future sessions."
    )
    said = [_ASKED, *worked("src/queue.ts", "a"), *_declined(_OTHER + note)]
    assert told_in(SummarySection.IN_PROGRESS, *said) == [f"Last request: {_OTHER}"]
    talk = (
        "The user wants to clarify these questions.\n    This means they may have additional information, context or "
        "questions for you.\n    Take their response into account and then reformulate the questions if appropriate.\n"
        '\n    Questions asked:\n- "Which file holds the queue when the disk of orchard is full?"\n  (No answer provided)'
    )
    assert "clarify" not in summarize(span(_ASKED, *worked("src/queue.ts", "a"), *_declined(talk))).text


def test_the_work_goes_on_behind_several_calls_that_were_not_allowed() -> None:
    """Fails where only the last of the words with which they were declined ends as the agent works on."""
    change = {"file_path": "src/queue.ts", "new_string": "lock()"}
    calls = reply("I change the queue now.", ("d", "edit", change), ("e", "edit", change))
    declined = [
        result("d", f"{_CLAUDE}pull rebase first", failed=True),
        result("e", f"{_CLAUDE}and not into the tests", failed=True),
    ]
    said = [_ASKED, *worked("src/queue.ts", "a"), calls, *declined, *worked("src/queue.ts", "f")]
    assert [turn.text for turn in turns_of(span(*said).messages)] == [_ASKED["content"]]
