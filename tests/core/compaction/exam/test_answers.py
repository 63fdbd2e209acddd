"""Where the answers to the questions of an exam stand in what the model sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.compaction.exam.grade import AnswerPlace
from leafward.compaction.exam.questions import Topic
from tests.core.compaction.exam.asked import GUESS, asked, places

if TYPE_CHECKING:
    from tests.acting import Acting


def test_an_empty_summary_answers_nothing(work: Acting) -> None:
    _, found = asked(work, "nothing of note")
    assert set(places(found).values()) == {AnswerPlace.NOWHERE}
    assert (found.count(), found.share()) == ((0, 12), 0.0)


def test_a_summary_that_says_it_answers_it(work: Acting) -> None:
    _, found = asked(
        work,
        "## Constraints\n- Never use more than 3 workers for an import.\n## Decisions\n"
        "- We decided against threads because SQLite locks the whole file.\n"
        "## Done\n- src/queue.py\n- `python -m pytest -q`: 2 passed, at the last run\n"
        "- src/store.py was changed last\n- `keep_result` in src/store.py\n- `take_one` in src/queue.py\n"
        "- `python -m pytest tests/test_queue.py` still fails\n- Last commit: Store what a job gives\n"
        f"- Last request: {GUESS}\n- Last report: `keep_result` stores what a job gives.\n## Next\n- [ ] Add retries to the queue",
    )
    assert set(places(found).values()) == {AnswerPlace.SUMMARY}


def test_a_step_among_the_finished_ones_is_not_told_as_left(work: Acting) -> None:
    _, found = asked(work, "## Done\n- Add retries to the queue\n## Next\n- ask for a review")
    assert places(found)[Topic.NEXT_STEP] is AnswerPlace.NOWHERE


def test_two_files_side_by_side_do_not_say_which_was_last(work: Acting) -> None:
    _, found = asked(work, "- src/queue.py\n- src/store.py\n- 1 failed, 1 passed\n- 2 passed")
    assert places(found)[Topic.CHANGED_LAST] is AnswerPlace.NOWHERE
    assert places(found)[Topic.TEST_RESULT] is AnswerPlace.NOWHERE


@pytest.mark.parametrize(
    ("named", "is_it"),
    [
        ("./lib/src/store.py", False),
        ("lib/src/store.py", False),
        ("../src/store.py", False),
        ("lib/store.py", False),
        ("old_src/store.py", False),
        ("src/store.pyi", False),
        ("src/store.py", True),
        ("./src/store.py:12", True),
        ("store.py", True),
        ("/home/ada/shop/src/store.py", True),
        ("~/shop/src/store.py", True),
        ("`src/store.py`, not lib/src/store.py", True),
        ("diff --git a/src/store.py b/src/store.py, updated", True),
    ],
)
def test_another_file_whose_path_ends_alike_is_no_answer(named: str, is_it: bool, work: Acting) -> None:
    _, found = asked(work, f"Changed last: {named}")
    assert (places(found)[Topic.CHANGED_LAST] is AnswerPlace.SUMMARY) == is_it


@pytest.mark.parametrize(
    ("said", "is_it"),
    [
        ("passed: 2", True),
        ("Passed: 2, failed: 0", True),
        ("**Passed:** 2", True),
        ('{"failed": 0, "passed": 2}', True),
        ("2 tests, all passing", True),
        ("passed = 2", True),
        ("passed: 12", False),
        ("passed: 2.5", False),
        ("failed: 2, passed: 0", False),
        # The 2 is that of the failed ones.
        ("failed: 2, passed: 12", False),
        ("passed:\n2", False),
    ],
)
def test_a_count_behind_its_word_is_the_count_of_that_word(said: str, is_it: bool, work: Acting) -> None:
    _, found = asked(work, said)
    assert (places(found)[Topic.TEST_RESULT] is AnswerPlace.SUMMARY) == is_it


def test_what_stays_answers_too(work: Acting) -> None:
    _, found = asked(work, "nothing of note", kept="Now add retries to the queue, in src/store.py.")
    assert places(found)[Topic.NEXT_STEP] is AnswerPlace.KEPT
    assert places(found)[Topic.CHANGED_LAST] is AnswerPlace.KEPT


@pytest.mark.parametrize(
    ("said", "is_it"),
    [
        ("Run `python -m pytest -q` before each commit.", True),
        ("Run `python -m pytest tests/test_queue.py`.", False),
        ("`python -m pytest tests/test_queue.py` failed.\n`python -m pytest -q` passed.", False),
        ("`python -m pytest tests/test_queue.py` failed.\n`python -m pytest -q` passed at last.", True),
    ],
)
def test_the_command_that_ran_tests_last_is_the_only_one_or_called_the_last(
    said: str, is_it: bool, work: Acting
) -> None:
    _, found = asked(work, said)
    assert (places(found)[Topic.TEST_COMMAND] is AnswerPlace.SUMMARY) == is_it
