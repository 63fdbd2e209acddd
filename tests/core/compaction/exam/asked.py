"""What the exam of a session asks, and where its answers stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.compaction.exam.grade import AnswerPlace, Exam, exam_of
from leafward.compaction.exam.questions import Topic, questions
from leafward.summaries.survival.spans import replaced_by
from tests.acting import Acting, reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.compaction.exam.questions import Question

GUESS = "I think a single table is only slow for the jobs of many shops."
"""A remark in the session of `work`."""


def asked(file: Acting, summary: str, kept: str = "thanks") -> tuple[Sequence[Question], Exam]:
    end = file.user(kept)
    file.compacted(end, summary)
    with reading(file.path) as session:
        index = len(session) - 1
        there = replaced_by(session, index)
        return questions(there.messages, session.cwd), exam_of(session, index)


def right(found: Sequence[Question], topic: Topic) -> str:
    (one,) = rights(found, topic)
    return one


def rights(found: Sequence[Question], topic: Topic) -> list[str]:
    return [one.answers[one.right].text for one in found if one.topic is topic]


def places(found: Exam) -> dict[Topic, AnswerPlace]:
    return {one.question.topic: one.place for one in found.graded}
