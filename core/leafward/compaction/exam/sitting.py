"""A model sits the exam of a compaction, stored or drafted: what it is sent, and what of its answers is kept with the compaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.errors import Cancelled
from leafward.compaction.exam.grade import context_after, context_of_draft, exam_of, exam_of_draft
from leafward.compaction.exam.oral import marked, work_for_exam
from leafward.session.entries import Usage
from leafward.session.journal.verbs import kept_exams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.compaction.draft import Draft
    from leafward.compaction.exam.grade import Exam
    from leafward.compaction.exam.oral import Marked
    from leafward.session.entries import Body, EntryIndex
    from leafward.session.session import Session
    from leafward.summaries.summarizers.model import Model
    from leafward.summaries.summarizers.requests import Work
    from leafward.summaries.summarizers.settings import ModelSettings


@dataclass(frozen=True, slots=True)
class Sitting:
    """The exam of a compaction, and the request that asks a model all of it."""

    exam: Exam
    work: Work


@dataclass(frozen=True, slots=True)
class ExamAnswers:
    """What a model answered."""

    result: Body
    """What `session.journal.verbs.keep_exam` keeps: `model`, `right`, `asked`, `answers`, `usage`, `cost`."""
    answers: tuple[Marked, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptExam:
    """What a model answered before."""

    model: str
    """Text of the file."""
    right: int
    asked: int
    cost: float | None
    """US dollars; None where that is not known."""
    answers: tuple[int | None, ...] = ()
    """The index of the answer that it chose, question by question; None where it chose none."""

    def answers_to(self, found: Exam) -> tuple[int | None, ...]:
        """The same where these are the questions of an exam; empty where an earlier version asked others."""
        graded = found.graded
        if not len(self.answers) == self.asked == len(graded):
            return ()
        right = sum(answer == one.question.right for answer, one in zip(self.answers, graded, strict=True))
        return self.answers if right == self.right else ()


def sitting(
    session: Session,
    compaction: EntryIndex,
    settings: ModelSettings,
    stop: Callable[[], bool] = lambda: False,
) -> Sitting | None:
    """The exam of a compaction for a model, None where there is nothing to ask. Nothing is sent.

    Raises Refused where the entry is no compaction, Cancelled where `stop` turns true.
    """
    found = exam_of(session, compaction, stop)
    return _asking(found, context_after(session, compaction), settings)


def sitting_of_draft(
    draft: Draft, settings: ModelSettings, stop: Callable[[], bool] = lambda: False
) -> Sitting | None:
    """The same of a compaction that is not written. Raises Cancelled where `stop` turns true."""
    return _asking(exam_of_draft(draft, stop), context_of_draft(draft), settings)


def _asking(found: Exam, context: str, settings: ModelSettings) -> Sitting | None:
    if not found.graded:
        return None
    return Sitting(found, work_for_exam([one.question for one in found.graded], context, settings))


def sit(
    prepared: Sitting,
    model: Model,
    progress: Callable[[str], object] = lambda _text: None,
    stop: Callable[[], bool] = lambda: False,
) -> ExamAnswers:
    """Asks a model and grades what it answers; nothing is written. Blocks. Raises SummaryFailed, Cancelled."""
    reply = model.answer(prepared.work, progress, stop)
    if stop():
        raise Cancelled("cancelled; nothing was written")
    answers = marked([one.question for one in prepared.exam.graded], reply.text)
    used = reply.usage if reply.usage is not None else Usage()
    result: Body = {
        "model": model.name,
        "right": sum(one.right for one in answers),
        "asked": len(answers),
        "answers": [one.answer for one in answers],
        "usage": {
            "input": used.input,
            "output": used.output,
            "cache_read": used.cache_read,
            "cache_write": used.cache_write,
            "total": used.total,
            "cost": used.cost,
        },
        "cost": reply.cost,
    }
    return ExamAnswers(result, answers, reply.remarks)


def kept_as(answers: ExamAnswers) -> KeptExam:
    """What a model answered just now, as it is told of earlier ones."""
    result = answers.result
    return KeptExam(
        str(result["model"]),
        int(result["right"]),
        int(result["asked"]),
        result["cost"],
        tuple(result["answers"]),
    )


def exams_kept(session: Session, compaction: EntryIndex) -> Iterator[KeptExam]:
    """What models answered before, in the order of the file; what does not fit is left out."""
    for one in kept_exams(session, compaction):
        right, total, cost = one.get("right"), one.get("asked"), one.get("cost")
        if isinstance(right, int) and isinstance(total, int):
            dollars = float(cost) if isinstance(cost, (int, float)) and not isinstance(cost, bool) else None
            listed = one.get("answers")
            answers = tuple(
                answer if isinstance(answer, int) else None
                for answer in (listed if isinstance(listed, list) else ())
            )
            yield KeptExam(str(one.get("model")), right, total, dollars, answers)
