"""Wrong answers of an exam have the form of the right one: who sees nothing but them answers no more than by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.compaction.exam.questions import Topic
from tests.acting import Acting, call
from tests.bench.exam_form import every_question, guessed
from tests.core.compaction.exam.asked import asked, right
from tests.surroundings import CORPORA

if TYPE_CHECKING:
    from pathlib import Path


def test_what_runs_no_tests_is_no_wrong_answer_as_its_name_says_so(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user("run them")
    commands = "pytest -q tests/a.py", "make build", "bun run typecheck", "pytest -q tests/b.py"
    for number, command in enumerate(commands):
        file.said(call("bash", f"{number}", command=command))
        file.answered(f"{number}", "bash", "done")
    found, _ = asked(file, "x")
    (tests,) = (one for one in found if one.topic is Topic.TEST_COMMAND)
    assert {answer.text for answer in tests.answers} == {"pytest -q tests/a.py", "pytest -q tests/b.py"}


def test_the_right_file_is_the_longest_no_more_often_than_others(tmp_path: Path) -> None:
    longest = 0
    for number in range(40):
        file = Acting(tmp_path / f"{number}.jsonl")
        file.user("write them")
        for length in range(12):
            file.said(call("write", f"{length}", path=f"src/{'x' * length}_{number}.py", content="a = 1"))
            file.answered(f"{length}", "write")
        last = f"src/{'y' * (number % 12)}_{number}.py"
        file.said(call("write", "last", path=last, content="a = 1"))
        file.answered("last", "write")
        found, _ = asked(file, "x")
        assert right(found, Topic.CHANGED_LAST) == last
        longest += max(len(answer.text) for answer in found[0].answers) == len(last)
    # One in four, but for the ones that are longer or shorter than any other.
    assert 5 <= longest <= 15


def test_a_question_is_no_wrong_answer_beside_a_rule_as_its_form_says_so(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user("You must keep the old API of all shops.")
    file.said("Understood.")
    file.user("Are the jobs of all shops only in one table?")
    assert Topic.LIMIT not in {one.topic for one in asked(file, "x")[0]}


@pytest.mark.skipif(not CORPORA.is_dir(), reason="needs the corpora")
def test_who_sees_nothing_but_form_answers_no_more_than_by_chance() -> None:
    """Before wrong answers had the form of right ones 59 of 106, where one draw in twenty has more than 57."""
    found = guessed(every_question())
    assert found.asked > 80
    assert found.right <= found.seldom
