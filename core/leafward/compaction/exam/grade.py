"""Grades an exam without asking a model: the questions that the context after a compaction can answer.

A question counts as answered if the words that prove the answer are in the context and exclude the wrong ones. A rule must
be there, and a step must be outside of sections on finished work. A file, a command, a result or what was said must be the only
one of the answers, for a file as a changed one, or be called the last. A command that failed must be said to fail, and a file that
defines a name must be on one line with it. Other wordings are not recognised, and a model may overlook text: the share is an
estimate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward.base.gc_pause import gc_paused
from leafward.compaction.exam.questions import Question, Topic, questions, questions_read
from leafward.session.injected_block import split_enclosed
from leafward.session.messages import message_text
from leafward.summaries.facts.values import FactKind
from leafward.summaries.fates.report import is_encrypted
from leafward.summaries.survival.spans import replaced_by
from leafward.summaries.survival.text_match import FactMatch, FactText, file_names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.exam.answers import Answer
    from leafward.session.session import Session

_SAID = frozenset({FactMatch.VERBATIM, FactMatch.PARAPHRASED})
_LAST = {
    Topic.CHANGED_LAST: re.compile(
        r"(?i)\b(?:chang|edit|modif|updat|touch|writ|wrot)\w*\b[^\n]{0,40}\b(?:last|lately|most recently)\b"
        r"|\b(?:last|latest|most recent(?:ly)?)\b[^\n]{0,40}\b(?:chang|edit|modif|updat|touch|writ|wrot)\w*"
    ),
    Topic.TEST_COMMAND: re.compile(r"(?i)\b(?:last|latest|final|most recent(?:ly)?)\b"),
    Topic.CHECK: re.compile(r"(?i)\b(?:last|latest|final|most recent(?:ly)?)\b"),
    Topic.TEST_RESULT: re.compile(r"(?i)\b(?:last|latest|final|most recent)\b|\bnow (?:pass|fail)"),
    Topic.REQUEST: re.compile(r"(?i)\b(?:last|latest|current(?:ly)?|most recent(?:ly)?|at the end)\b"),
    Topic.REPORT: re.compile(r"(?i)\b(?:last|latest|most recent(?:ly)?|at the end)\b"),
    Topic.FAILURE: re.compile(r"(?i)\b(?:last|latest|current(?:ly)?|most recent(?:ly)?|now|still)\b"),
    Topic.COMMIT: re.compile(r"(?i)\b(?:last|latest|most recent(?:ly)?|HEAD)\b"),
}
"""Words that call one of several things the last."""
_FAILS = re.compile(
    r"(?i)\b(?:fail(?:s|ed|ing|ure)?|error(?:s|ed)?|broken|crash(?:es|ed)?|exit(?:s|ed)? (?:with )?(?:code |status )?[1-9]\d*|did(?: not|n['’]t) pass)\b|✗|❌"
)
"""Words of a command that failed."""
_CHANGED = re.compile(
    r"(?i)\b(?:chang|edit|modif|updat|touch|writ|wrot|creat|add|implement|fix|refactor)\w*\b|^-? ?\S+$"
)
"""A line that says that a file was changed, or that is an item of a file list."""
_GIVEN_UP = re.compile(
    r"(?i)\b(?:gave up|giv(?:e|ing|en) up|abandon|dropp|revert|undo|undid|undone|remov|declin|reject|discard|rul(?:ed|ing) out|against|instead"
    r"|(?:took|taken?) back|roll(?:ed|ing) back|(?:does|did|do|wo|should)(?: not|n['’]t)|no longer|not (?:to|going|viable|feasible|helping|allow)|refus|nope|before)\w*|\bno,|^no\b"
)
"""Words of what was given up."""
_HEADING = re.compile(r"^\s*(?:#{1,6} |\*\*)")
_DONE = re.compile(r"(?i)\b(?:done|complete[d]?|finished)\b")
_ROOT = re.compile(r"/|~|[A-Za-z]:")
_LABEL = r"[\"'`*_]{0,3} ?[:=][ \t*_`]{0,12}"
"""What stands between a word and the count that it labels: `"passed": 34`, `**Failed:** 2`."""
_NUMBER_WORD = re.compile(r"(\d[\d,]*) (\w+)")


class AnswerPlace(StrEnum):
    """Place of the right answer after a compaction."""

    SUMMARY = "summary"
    INJECTED = "injected"
    KEPT = "kept"
    NOWHERE = "nowhere"
    UNREADABLE = "unreadable"
    """Nowhere in the readable text; the encrypted summary (Codex) may hold it."""


PLACE_WORDS = {
    AnswerPlace.SUMMARY: "answer in the summary",
    AnswerPlace.INJECTED: "answer in the injected context",
    AnswerPlace.KEPT: "answer in the kept messages",
    AnswerPlace.NOWHERE: "no answer in the context",
    AnswerPlace.UNREADABLE: "no answer in what is readable; the encrypted summary may have it",
}
"""Texts for the places."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A question, and the place of its answer in the context."""

    question: Question
    place: AnswerPlace

    @property
    def answered(self) -> bool:
        """Whether the answer is certainly in the context."""
        return self.place not in (AnswerPlace.NOWHERE, AnswerPlace.UNREADABLE)


@dataclass(frozen=True, slots=True)
class Exam:
    """The graded questions about the part that a compaction replaced."""

    graded: tuple[Graded, ...]

    def count(self, topic: Topic | None = None) -> tuple[int, int]:
        """Number of questions that can be answered, and number of all questions, of a topic or in total."""
        graded = [one for one in self.graded if topic is None or one.question.topic is topic]
        return sum(one.answered for one in graded), len(graded)

    def unreadable(self, topic: Topic | None = None) -> int:
        """Number of questions whose answer may only be in an encrypted summary."""
        return sum(
            one.place is AnswerPlace.UNREADABLE
            for one in self.graded
            if topic is None or one.question.topic is topic
        )

    def share(self) -> float | None:
        """Share of questions that can be answered, 0…1; None if none was asked, or if some cannot be judged."""
        answered, total = self.count()
        return round(answered / total, 4) if total and not self.unreadable() else None


def exam(
    exam_questions: Sequence[Question], summary: str, *, injected: str = "", kept: str = "", cwd: str = ""
) -> Exam:
    """Grades questions by the texts that the model sees."""
    # Several questions may have a file among their answers.
    facts = {
        (answer.fact.kind, answer.fact.key): answer.fact for one in exam_questions for answer in one.answers
    }
    names = file_names(facts.values())
    places = [
        (AnswerPlace.SUMMARY, FactText(summary, cwd)),
        (AnswerPlace.INJECTED, FactText(injected, cwd)),
        (AnswerPlace.KEPT, FactText(kept, cwd)),
    ]
    return Exam(
        tuple(
            Graded(
                one,
                next(
                    (place for place, text in places if text.text and _answers(text, one, names)),
                    AnswerPlace.NOWHERE,
                ),
            )
            for one in exam_questions
        )
    )


def exam_of(session: Session, compaction: int, stop: Callable[[], bool] = lambda: False) -> Exam:
    """The exam of a stored compaction. Raises Refused if the entry is none, Cancelled if `stop` returns true."""
    there = replaced_by(session, compaction)
    exam_questions = questions(
        there.messages, session.cwd, there.previous, there.previous_entry, there.plan, stop, kept=there.kept
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
    return Exam(
        tuple(one if one.answered else replace(one, place=AnswerPlace.UNREADABLE) for one in found.graded)
    )


def context_after(session: Session, compaction: int) -> str:
    """The text that a model sees right after a stored compaction. Raises Refused if the entry is none."""
    there = replaced_by(session, compaction)
    kept = [message_text(spoken.message) for spoken in there.kept]
    return "\n\n".join(text for text in (there.summary, there.injected, *kept) if text)


def context_of_draft(draft: Draft) -> str:
    """The text that a model would see right after a drafted compaction."""
    return "\n\n".join(text for text in (draft.text, draft.ground.kept) if text)


def exam_of_draft(draft: Draft, stop: Callable[[], bool] = lambda: False) -> Exam:
    """The exam of a drafted compaction. Raises Cancelled if `stop` returns true."""
    ground = draft.ground
    there, reading = ground.there, ground.reading
    with gc_paused():
        if reading is not None and ground.kept_state is not None and not reading.told:
            exam_questions = questions_read(reading, ground.kept_state, ground.cwd, stop)
        else:
            # With the lines of an earlier summary in mind, a reader finds more steps done than the exam asks about.
            known = reading.reader.texts.known if reading is not None else None
            exam_questions = questions(
                there.replaced,
                ground.cwd,
                ground.previous,
                there.previous_entry,
                there.plan,
                stop,
                known,
                there.kept,
            )
    summary, injected = split_enclosed(draft.text)
    return exam(exam_questions, summary, injected=injected, kept=ground.kept, cwd=ground.cwd)


def _answers(text: FactText, question: Question, names: dict[str, int]) -> bool:
    right, topic = question.answers[question.right], question.topic
    if topic is Topic.NEXT_STEP:
        return _says(FactText(_left(text.text)), right, topic, names)
    if topic is Topic.GIVEN_UP:
        return _says(text, right, topic, names) and _says_given_up(text.text, right, names)
    if not _says(text, right, topic, names) or topic not in (*_LAST, Topic.DEFINITION):
        return _says(text, right, topic, names)
    wrong = [one for one in question.answers if one is not right]
    alone = not any(_says(text, one, topic, names) for one in wrong)
    lines = [
        line
        for line, _ in text.lines
        if _says(here := FactText(line), right, topic, names)
        and not any(_says(here, one, topic, names) for one in wrong if not _is_quoted(here, right, one))
    ]
    if topic is Topic.DEFINITION:
        return any(_names_word(line, word) for line in lines for word in right.fact.about)
    if right.fact.kind is FactKind.COMMAND and topic is Topic.FAILURE:
        return any(_FAILS.search(line.replace(right.fact.key, " ")) for line in lines)
    if alone and (topic is not Topic.CHANGED_LAST or any(_CHANGED.search(line) for line in lines)):
        return True
    return any(_LAST[topic].search(line) for line in lines)


def _is_quoted(line: FactText, right: Answer, wrong: Answer) -> bool:
    """Whether a line has the right answer word for word, and a wrong one at most in other words: these are the right one's."""
    return line.holds(right.fact) is FactMatch.VERBATIM is not line.holds(wrong.fact)


def _names_word(line: str, word: str) -> bool:
    return re.search(rf"(?<![\w$]){re.escape(word)}(?![\w$])", line) is not None


def _says_given_up(text: str, answer: Answer, names: dict[str, int]) -> bool:
    """Whether a line tells an answer and that it was given up, there or right below: in a conversation that is what came next."""
    lines = [line for line in text.split("\n") if line.strip()]
    return any(
        _GIVEN_UP.search(" ".join(lines[at : at + 2]))
        and _says(FactText(line), answer, Topic.GIVEN_UP, names)
        for at, line in enumerate(lines)
    )


def _left(text: str) -> str:
    """A text without its sections on finished work."""
    found, done = [], False
    for line in text.split("\n"):
        if _HEADING.match(line):
            done = _DONE.search(line) is not None
        if not done:
            found.append(line)
    return "\n".join(found)


def _says(text: FactText, answer: Answer, topic: Topic, names: dict[str, int]) -> bool:
    if topic is not Topic.TEST_RESULT:
        fact = answer.fact
        named = fact.kind is not FactKind.PATH or _names_file(text, fact.key)
        return named and text.holds(fact, names) in _SAID
    return all(_counts(text.text, number, word) for number, word in _NUMBER_WORD.findall(answer.text))


def _names_file(text: FactText, path: str) -> bool:
    """Whether a text names this file, by its path or an end of it, and not only another one whose path ends with its."""
    for named in text.keys[FactKind.PATH]:
        if named == path or path.endswith(f"/{named}"):
            return True
        # From the root, or as in a diff of git.
        before = named.removesuffix(f"/{path}")
        if before != named and (before in ("", "a", "b") or _ROOT.match(before)):
            return True
    return re.search(rf"(?<![\w./\\]){re.escape(path)}(?!\w)", text.flat) is not None


def _counts(text: str, number: str, word: str) -> bool:
    """Whether a text contains a count: `34 passed`, `34 tests pass`, `pass 34`, `Passed: 34`."""
    count, stem = rf"(?<![\d,.]){re.escape(number)}\b(?![.,]?\d|%)", rf"\b{re.escape(word[:4])}\w*+"
    # In `34, failed: 2` the word belongs to the count behind it.
    before = rf"{count}[^\n\d]{{0,24}}?{stem}(?!{_LABEL}\d)"
    return re.search(rf"(?i){before}|{stem}(?: run)?(?: |{_LABEL}){count}", text) is not None
