"""An exam as JSON: what `exam` says of a compaction and `compact` of a draft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.safe_text import safe
from leafward.compaction.exam.questions import Topic

if TYPE_CHECKING:
    from leafward.compaction.exam.grade import Exam
    from leafward.session.session import Session


def exam_json(session: Session, found: Exam) -> dict[str, Any]:
    """An exam as JSON."""
    answered, total = found.count()
    return {
        "answered": answered,
        "asked": total,
        "unreadable": found.unreadable(),
        "share": found.share(),
        "topics": {
            str(topic): {
                **dict(zip(("answered", "asked"), found.count(topic), strict=True)),
                "unreadable": found.unreadable(topic),
            }
            for topic in Topic
            if found.count(topic)[1]
        },
        "questions": [
            {
                "topic": str(one.question.topic),
                "question": one.question.text,
                "answers": [safe(answer.text) for answer in one.question.answers],
                "right": one.question.right,
                "place": str(one.place),
                "entry": session.columns.id_at(one.question.entry),
            }
            for one in found.graded
        ],
    }
