"""The exam of a draft in a narrow pane: what stands in its first line is whole."""

from __future__ import annotations

import pytest

from leafward.compaction.exam.answers import Answer
from leafward.compaction.exam.grade import AnswerPlace, Exam, Graded
from leafward.compaction.exam.questions import Question, Topic
from leafward.compaction.exam.sitting import KeptExam
from leafward.session.entries import EntryIndex
from leafward.summaries.facts.values import Fact, FactKind, Voice
from leafward_tui.lab.model.exam_lines import exam_lines
from leafward_tui.ui.appearance.glyphs import UNICODE


@pytest.mark.parametrize(
    ("width", "words"),
    [(80, "1 of 1 question can be answered"), (34, "1 of 1 question answerable"), (22, "1 of 1 question")],
)
def test_the_share_is_whole_beside_the_count(width: int, words: str) -> None:
    answers = tuple(
        Answer(name, Fact(FactKind.PATH, name, name, EntryIndex(3), Voice.CHANGED))
        for name in ("a.py", "b.py")
    )
    asked = Question(Topic.CHANGED_LAST, "Which was changed last?", answers, 0, EntryIndex(3))
    block = exam_lines(Exam((Graded(asked, AnswerPlace.SUMMARY),)), (), width, UNICODE)
    first = "".join(span.text for span in block[0].spans)
    assert first.startswith(words)
    assert first.endswith(" 100 %")
    assert len(first) <= width


def test_files_of_one_folder_are_told_apart() -> None:
    names = ("frontend/src/components/ContextTreeView.tsx", "frontend/src/components/ContextTab.tsx")
    answers = tuple(
        Answer(name, Fact(FactKind.PATH, name, name, EntryIndex(3), Voice.CHANGED)) for name in names
    )
    asked = Question(Topic.CHANGED_LAST, "Which was changed last?", answers, 0, EntryIndex(3))
    block = exam_lines(Exam((Graded(asked, AnswerPlace.SUMMARY),)), (), 36, UNICODE)
    text = "\n".join("".join(span.text for span in line.spans) for line in block)
    assert "/ContextTreeView.tsx" in text
    assert "/ContextTab.tsx" in text


def test_commands_that_begin_alike_are_told_apart() -> None:
    commands = ("python -m pytest -q tests/core/store", "python -m pytest -q tests/core/worker")
    answers = tuple(
        Answer(text, Fact(FactKind.COMMAND, text, text, EntryIndex(3), Voice.CALL)) for text in commands
    )
    asked = Question(Topic.TEST_COMMAND, "Which ran last?", answers, 0, EntryIndex(3))
    block = exam_lines(Exam((Graded(asked, AnswerPlace.SUMMARY),)), (), 34, UNICODE)
    text = "\n".join("".join(span.text for span in line.spans) for line in block)
    assert "store" in text
    assert "worker" in text


def test_the_wrong_answer_of_a_model_is_told_from_the_others() -> None:
    commands = ("python -m pytest -q tests/core/store", "python -m pytest -q tests/core/worker")
    answers = tuple(
        Answer(text, Fact(FactKind.COMMAND, text, text, EntryIndex(3), Voice.CALL)) for text in commands
    )
    asked = Question(Topic.TEST_COMMAND, "Which ran last?", answers, 0, EntryIndex(3))
    sat = KeptExam("anthropic/claude-haiku-4-5", 0, 1, None, (1,))
    block = exam_lines(Exam((Graded(asked, AnswerPlace.SUMMARY),)), (sat,), 34, UNICODE)
    lines = ["".join(span.text for span in line.spans) for line in block]
    by = next(number for number, line in enumerate(lines) if "× anthropic/claude" in line)
    assert "worker" in lines[by + 1]
    assert max(map(len, lines)) <= 34
