"""The exam of a compaction: closed-book questions about the replaced part, graded by the context afterwards."""

from __future__ import annotations

from leafward.compaction.exam.grade import (
    PLACE_WORDS,
    Exam,
    Graded,
    Place,
    exam,
    exam_of,
    exam_of_draft,
)
from leafward.compaction.exam.questions import Question, Topic, questions

__all__ = [
    "PLACE_WORDS",
    "Exam",
    "Graded",
    "Place",
    "Question",
    "Topic",
    "exam",
    "exam_of",
    "exam_of_draft",
    "questions",
]
