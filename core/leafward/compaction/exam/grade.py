"""What of an exam the context after a compaction can answer, without asking a model.

An answer can be given where the words that prove it stand in what the model sees and tell it from the wrong ones. A rule has to
stand there, a step outside of what is done, any command that runs tests. Of files and of results the right one has to be the only
one of the answers, for a file as one that was changed, or be called the last. What is told in other ways is not seen, and a model
may overlook what stands there: the share is an estimate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward.compaction.exam.questions import Answer, Question, Topic, questions
from leafward.files.checks import Check, check_of
from leafward.session.injected_block import split_enclosed
from leafward.session.messages import message_text
from leafward.summaries.facts import FactKind
from leafward.summaries.survival import FactMatch, Text, file_names, is_encrypted, replaced_by

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.compaction.draft import Draft
    from leafward.session.session import Session

_SAID = frozenset({FactMatch.VERBATIM, FactMatch.PARAPHRASED})
_LAST = {
    Topic.CHANGED_LAST: re.compile(
        r"(?i)\b(?:chang|edit|modif|updat|touch|writ|wrot)\w*\b[^\n]{0,40}\b(?:last|lately|most recently)\b"
        r"|\b(?:last|latest|most recent(?:ly)?)\b[^\n]{0,40}\b(?:chang|edit|modif|updat|touch|writ|wrot)\w*"
    ),
    Topic.TEST_RESULT: re.compile(r"(?i)\b(?:last|latest|final|most recent)\b|\bnow (?:pass|fail)"),
}
"""What calls one of several the last."""
_CHANGED = re.compile(
    r"(?i)\b(?:chang|edit|modif|updat|touch|writ|wrot|creat|add|implement|fix|refactor)\w*\b|^-? ?\S+$"
)
"""A line that says of a file that it was changed, or that is one of a list of files."""
_HEADING = re.compile(r"^\s*(?:#{1,6} |\*\*)")
_DONE = re.compile(r"(?i)\b(?:done|complete[d]?|finished)\b")
_NUMBER_WORD = re.compile(r"(\d[\d,]*) (\w+)")


class Place(StrEnum):
    """Where the right answer stands after a compaction."""

    SUMMARY = "summary"
    INJECTED = "injected"
    KEPT = "kept"
    NOWHERE = "nowhere"
    UNREADABLE = "unreadable"
    """Nowhere in what can be read; the summary is encrypted (Codex) and may have it."""


PLACE_WORDS = {
    Place.SUMMARY: "answer in the summary",
    Place.INJECTED: "answer in the injected context",
    Place.KEPT: "answer in the kept messages",
    Place.NOWHERE: "no answer in the context",
    Place.UNREADABLE: "no answer in what can be read; the encrypted summary may have it",
}
"""Where an answer stands, in words."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A question, and where the context answers it."""

    question: Question
    place: Place

    @property
    def answered(self) -> bool:
        """Whether it can be answered for certain."""
        return self.place not in (Place.NOWHERE, Place.UNREADABLE)


@dataclass(frozen=True, slots=True)
class Exam:
    """The questions about what a compaction replaced, graded."""

    graded: tuple[Graded, ...]

    def count(self, topic: Topic | None = None) -> tuple[int, int]:
        """How many questions of a topic, or all, can be answered, and how many there are."""
        graded = [one for one in self.graded if topic is None or one.question.topic is topic]
        return sum(one.answered for one in graded), len(graded)

    def unreadable(self, topic: Topic | None = None) -> int:
        """How many of these may be answered in a summary that is encrypted, and nowhere else."""
        return sum(
            one.place is Place.UNREADABLE
            for one in self.graded
            if topic is None or one.question.topic is topic
        )

    def share(self) -> float | None:
        """The part of all that can be answered, 0…1; None where nothing was asked, or nobody can tell of some."""
        answered, total = self.count()
        return round(answered / total, 4) if total and not self.unreadable() else None


def exam(
    exam_questions: Sequence[Question], summary: str, *, injected: str = "", kept: str = "", cwd: str = ""
) -> Exam:
    """Questions graded by the texts that the model sees."""
    names = file_names([answer.fact for one in exam_questions for answer in one.answers])
    places = [
        (Place.SUMMARY, Text(summary, cwd)),
        (Place.INJECTED, Text(injected, cwd)),
        (Place.KEPT, Text(kept, cwd)),
    ]
    return Exam(
        tuple(
            Graded(
                one,
                next(
                    (place for place, text in places if text.text and _answers(text, one, names)),
                    Place.NOWHERE,
                ),
            )
            for one in exam_questions
        )
    )


def exam_of(session: Session, compaction: int, stop: Callable[[], bool] = lambda: False) -> Exam:
    """The exam of a stored compaction. Raises Refused where the entry is none, Cancelled where `stop` turns true."""
    there = replaced_by(session, compaction)
    exam_questions = questions(
        there.messages, session.cwd, there.previous, there.previous_entry, there.plan, stop
    )
    found = exam(
        exam_questions,
        there.summary,
        injected=there.injected,
        kept="\n".join(message_text(spoken.message) for spoken in there.kept),
        cwd=session.cwd,
    )
    if not is_encrypted(session, compaction):
        return found
    return Exam(tuple(one if one.answered else replace(one, place=Place.UNREADABLE) for one in found.graded))


def context_after(session: Session, compaction: int) -> str:
    """All that a model sees right after a stored compaction, as text. Raises Refused where the entry is none."""
    there = replaced_by(session, compaction)
    kept = [message_text(spoken.message) for spoken in there.kept]
    return "\n\n".join(text for text in (there.summary, there.injected, *kept) if text)


def context_of_draft(draft: Draft) -> str:
    """All that a model would see right after a compaction that is not written, as text."""
    return "\n\n".join(text for text in (draft.text, draft.ground.kept) if text)


def exam_of_draft(draft: Draft, stop: Callable[[], bool] = lambda: False) -> Exam:
    """The exam of a compaction that is not written. Raises Cancelled where `stop` turns true."""
    there = draft.ground.there
    exam_questions = questions(
        there.replaced, draft.ground.cwd, draft.ground.previous, there.previous_entry, there.plan, stop
    )
    summary, injected = split_enclosed(draft.text)
    return exam(exam_questions, summary, injected=injected, kept=draft.ground.kept, cwd=draft.ground.cwd)


def _answers(text: Text, question: Question, names: dict[str, int]) -> bool:
    right, topic = question.answers[question.right], question.topic
    if topic is Topic.TEST_COMMAND and any(
        check_of(command) is Check.TEST for command in text.keys[FactKind.COMMAND]
    ):
        # Another way to run the tests tells this one from commands that are no test.
        return True
    if topic is Topic.NEXT_STEP:
        return _says(Text(_left(text.text)), right, topic, names)
    if topic not in _LAST:
        return _says(text, right, topic, names)
    if not _says(text, right, topic, names):
        return False
    wrong = [one for one in question.answers if one is not right]
    alone = not any(_says(text, one, topic, names) for one in wrong)
    lines = [
        line
        for line, _ in text.lines
        if _says(here := Text(line), right, topic, names)
        and not any(_says(here, one, topic, names) for one in wrong)
    ]
    if alone and (topic is Topic.TEST_RESULT or any(_CHANGED.search(line) for line in lines)):
        return True
    return any(_LAST[topic].search(line) for line in lines)


def _left(text: str) -> str:
    """A text without its sections of what is done."""
    found, done = [], False
    for line in text.split("\n"):
        if _HEADING.match(line):
            done = _DONE.search(line) is not None
        if not done:
            found.append(line)
    return "\n".join(found)


def _says(text: Text, answer: Answer, topic: Topic, names: dict[str, int]) -> bool:
    if topic is not Topic.TEST_RESULT:
        return text.holds(answer.fact, names) in _SAID
    return all(_counts(text.text, number, word) for number, word in _NUMBER_WORD.findall(answer.text))


def _counts(text: str, number: str, word: str) -> bool:
    """Whether a text has a count: `34 passed`, `34 tests pass`, `pass 34`."""
    count, stem = rf"(?<![\d,.]){re.escape(number)}\b", rf"\b{re.escape(word[:4])}\w*"
    return re.search(rf"(?i){count}[^\n\d]{{0,24}}{stem}|{stem} {count}", text) is not None
