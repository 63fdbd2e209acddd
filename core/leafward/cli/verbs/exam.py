"""The verb `exam`: closed-book questions about the part that a compaction replaced, and those that the context still answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from leafward.base.errors import LeafwardError, Refused
from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.cli.model_request import (
    cancellable,
    chosen,
    cost_text,
    outgoing_json,
    progress,
    request_text,
    tell_outgoing,
)
from leafward.cli.output.entry_ids import shown_ids
from leafward.cli.output.exam_json import exam_json
from leafward.cli.output.page import Page, cells, emit_json, faint, led, pad, page, say, wrapped
from leafward.cli.selection import compaction_at, opened
from leafward.cli.settings import configured
from leafward.compaction.exam.grade import PLACE_WORDS, AnswerPlace, Exam, Graded, exam_of
from leafward.compaction.exam.questions import Topic
from leafward.compaction.exam.sitting import LETTERS, exams_kept, keep_exam, kept_as, kept_exams, sit, sitting
from leafward.session.journal.lock import busy
from leafward.session.journal.open_file import refuse_unwritable
from leafward.session.journal.write import Writing
from leafward.session.session import verify
from leafward.summaries.summarizers.extractive.summarizer import Extractive

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.cli.options.compaction_options import ExamOptions
    from leafward.compaction.exam.sitting import ExamAnswers, KeptExam
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


def exam(selector: str, compaction: str | None, options: ExamOptions, dry_run: bool, as_json: bool) -> int:
    """`leafward exam`."""
    if options.model is not None and options.against is not None:
        raise click.UsageError(
            "a model sits the exam of one compaction: --model and --against exclude each other"
        )
    if options.model == Extractive.name:
        raise click.UsageError("extractive is not a model; without --model no model is asked")
    if options.model is None and (dry_run or options.base_url is not None):
        raise click.UsageError("--dry-run and --base-url need --model")
    with opened(selector) as session:
        verify(session)
        index = compaction_at(session, compaction)
        if options.model is not None:
            return _oral(selector, session, index, options, dry_run, as_json)
        against = options.against
        other = compaction_at(session, against) if against is not None else None
        found = exam_of(session, index)
        beside = exam_of(session, other) if other is not None else None
        if as_json:
            document = {"compaction": session.columns.id_at(index), **exam_json(session, found)}
            document["models"] = kept_exams(session, index)
            if other is not None and beside is not None:
                document["against"] = {
                    "compaction": session.columns.id_at(other),
                    **exam_json(session, beside),
                }
            emit_json(document)
        elif other is not None and beside is not None:
            say(_compared(session, (index, other), (found, beside), page()))
        else:
            answers = _given(session, index, found)
            here = page()
            say([*_text(session, index, found, here, answers), *_kept_text(session, index, here)])
    return 0


def _oral(
    selector: str, session: Session, index: EntryIndex, options: ExamOptions, dry_run: bool, as_json: bool
) -> int:
    """Lets a model take the exam."""
    from leafward.summaries.summarizers.model.summarizer import Model

    settings = configured()
    model = chosen(options.model, settings, options.base_url)
    if not isinstance(model, Model):
        raise click.UsageError("--model names no model")
    prepared = sitting(session, index, model.settings)
    found = prepared.exam if prepared is not None else Exam(())
    document = {"compaction": session.columns.id_at(index), **exam_json(session, found)}
    if prepared is None:
        if as_json:
            emit_json({**document, "model": None, "dry_run": dry_run, "diagnostics": []})
        else:
            say(_text(session, index, found, page()))
        return 0
    going = prepared.work.outgoing()
    if dry_run:
        if as_json:
            emit_json(
                {
                    **document,
                    "model": None,
                    "outgoing": outgoing_json(going),
                    "dry_run": True,
                    "diagnostics": [],
                }
            )
        else:
            tell_outgoing(model, going, would=True)
            say(request_text(going))
        return 0
    refuse_unwritable(session)
    given = _given(session, index, found)
    problem: Exception | None = None
    with busy(session.path, "an exam") as claim, cancellable() as stop:
        tell_outgoing(model, going)
        with progress("answers") as show:
            sat = sit(prepared, model, show, stop)
        try:
            op = _kept(selector, session, index, sat, Writing(claim=claim))
        except (LeafwardError, OSError) as error:
            # The answers were paid for: they are shown all the same.
            problem, op = error, None
    if as_json:
        remarks = [{"code": "model", "text": text} for text in sat.remarks]
        emit_json({**document, "model": sat.result, "op": op, "dry_run": False, "diagnostics": remarks})
    else:
        (result,) = kept_as([sat.result])
        here = page()
        given.append((result.model, result.answers))
        say([*_text(session, index, found, here, given), *_result_text(result, here)])
    if problem is not None:
        raise Refused(f"the answers are not kept: {problem}") from problem
    return 0


def _kept(
    selector: str, session: Session, index: EntryIndex, sat: ExamAnswers, writing: Writing
) -> str | None:
    """Stores the answers, also where the agent went on while the model answered; the operation's id."""
    if not session.changed_on_disk():
        return keep_exam(session, index, sat.result, writing).op
    with opened(selector) as grown:
        place = compaction_at(grown, session.columns.id_at(index))
        return keep_exam(grown, place, sat.result, writing).op


def _given(session: Session, index: EntryIndex, found: Exam) -> list[tuple[str, tuple[int | None, ...]]]:
    """Each model's name and its answers."""
    return [(one.model, one.answers_to(found)) for one in exams_kept(session, index)]


def _kept_text(session: Session, index: EntryIndex, page: Page) -> Iterator[str]:
    """Results of earlier exams."""
    for one in exams_kept(session, index):
        yield from _result_text(one, page)


def _result_text(one: KeptExam, page: Page) -> Iterator[str]:
    yield ""
    right = f"{one.right} of {counted(one.asked, 'question')} right"
    yield from wrapped(f"{safe_line(one.model, 60)} answered {right}, {cost_text(one.cost)}", page)


def _head(session: Session, index: EntryIndex, found: Exam, page: Page) -> list[str]:
    answered, total = found.count()
    can = f"{answered} of {counted(total, 'question')} can be answered from what"
    if not total:
        text = "nothing to ask: what it replaced has no question with a right and a wrong answer"
    elif unreadable := found.unreadable():
        text = f"{can} is readable; {unreadable} unreadable: the summary is encrypted"
    else:
        text = f"{can} the model sees afterwards"
    return led(f"compaction {safe_line(session.columns.id_at(index) or '', 40)}", "bold", text, page)


def _text(
    session: Session,
    index: EntryIndex,
    found: Exam,
    page: Page,
    answers: Sequence[tuple[str, tuple[int | None, ...]]] = (),
) -> Iterator[str]:
    yield from _head(session, index, found, page)
    names = shown_ids(session, (one.question.entry for one in found.graded))
    for number, one in enumerate(found.graded):
        yield ""
        given = [(model, chosen[number]) for model, chosen in answers if chosen]
        yield from _question(one, names.get(one.question.entry, ""), page, given)


def _question(one: Graded, entry: str, page: Page, given: Sequence[tuple[str, int | None]]) -> Iterator[str]:
    """A question about an entry and its answers, each followed by the models that gave it."""
    place = PLACE_WORDS[one.place]
    unread = one.place is AnswerPlace.UNREADABLE
    mark = ("✓" if page.unicode else "+") if one.answered else ("✗" if page.unicode else "-")
    mark = "?" if unread else mark
    ink = "leaf" if one.answered else "faint" if unread else "bad"
    where = f"{place}, entry {entry}"
    asked = wrapped(one.question.text, page, first="  ")
    lines = [f"{page.style(mark, ink)} {page.style(asked[0][2:], 'bold')}"]
    lines += [page.style(line, "bold") for line in asked[1:]]
    if cells(asked[-1]) + 2 + cells(where) <= page.width:
        yield from lines[:-1]
        yield f"{lines[-1]}  {page.style(where, 'faint')}"
    else:
        yield from lines
        yield from faint(wrapped(where, page, first="  "), page)
    mark_of_right = "→" if page.unicode else ">"
    for number, answer in enumerate(one.question.answers):
        right = number == one.question.right
        by = ", ".join(dict.fromkeys(safe_line(model, 60) for model, chosen in given if chosen == number))
        by = f"  (answer of {by})" if by else ""
        text = page.fit(safe_line(answer.text, 300), max(20, page.width - 7 - len(by))) + by
        line = f"  {LETTERS[number]} {mark_of_right if right else ' '} {text}"
        yield line if right else page.style(line, "faint")


def _compared(
    session: Session, indices: tuple[EntryIndex, EntryIndex], exams: tuple[Exam, Exam], page: Page
) -> Iterator[str]:
    """Two exams side by side, topic by topic."""
    for index, found in zip(indices, exams, strict=True):
        yield from _head(session, index, found, page)
    yield ""
    width = 28 if any(found.unreadable() for found in exams) else 12
    heads = "".join(
        pad(safe_line((session.columns.id_at(index) or "")[: width - 2], width), width) for index in indices
    )
    yield page.style(f"  {pad('', 12)}{heads}".rstrip(), "faint")
    for topic in Topic:
        columns = []
        for found in exams:
            answered, total = found.count(topic)
            unreadable = f", {found.unreadable(topic)} unreadable" if found.unreadable(topic) else ""
            columns.append(pad(f"{answered} of {total}{unreadable}" if total else "not asked", width))
        if any(found.count(topic)[1] for found in exams):
            yield f"  {pad(str(topic), 12)}{''.join(columns)}".rstrip()
