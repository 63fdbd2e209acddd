"""The verb `exam`: closed-book questions about what a compaction replaced, and which of them the context still answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.safe_text import safe, safe_line
from leafward.cli.facts import id_of
from leafward.cli.output import Page, emit_json, fit, pad, page, plural, say
from leafward.cli.selection import opened, verify
from leafward.cli.survival import compaction_at
from leafward.compaction.exam import PLACE_WORDS, Exam, Graded, Topic, exam_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_LETTERS = "ABCD"


def exam(selector: str, compaction: str | None, against: str | None, as_json: bool) -> int:
    """`leafward exam`."""
    with opened(selector) as session:
        verify(session)
        index = compaction_at(session, compaction)
        other = compaction_at(session, against) if against is not None else None
        found = exam_of(session, index)
        beside = exam_of(session, other) if other is not None else None
        if as_json:
            document = {"compaction": id_of(session, index), **exam_json(session, found)}
            if other is not None and beside is not None:
                document["against"] = {"compaction": id_of(session, other), **exam_json(session, beside)}
            emit_json(document)
        elif other is not None and beside is not None:
            say(_compared(session, (index, other), (found, beside), page()))
        else:
            say(_text(session, index, found, page()))
    return 0


def exam_json(session: Session, found: Exam) -> dict[str, Any]:
    """An exam as JSON."""
    answered, asked = found.count()
    return {
        "answered": answered,
        "asked": asked,
        "share": found.share(),
        "topics": {
            str(topic): dict(zip(("answered", "asked"), found.count(topic), strict=True))
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
                "entry": id_of(session, one.question.entry),
            }
            for one in found.graded
        ],
    }


def _head(session: Session, index: EntryIndex, found: Exam, page: Page) -> str:
    name = page.style(f"compaction {safe_line(id_of(session, index) or '', 40)}", "bold")
    answered, asked = found.count()
    if not asked:
        return f"{name}  nothing to ask: what it replaced has no file, test, rule or step with a wrong answer beside it"
    return f"{name}  {answered} of {plural(asked, 'question')} can be answered from what the model sees afterwards"


def _text(session: Session, index: EntryIndex, found: Exam, page: Page) -> Iterator[str]:
    yield _head(session, index, found, page)
    for one in found.graded:
        yield ""
        yield from _question(session, one, page)


def _question(session: Session, one: Graded, page: Page) -> Iterator[str]:
    place = PLACE_WORDS[one.place]
    mark = ("✓" if page.unicode else "+") if one.answered else ("✗" if page.unicode else "-")
    entry = safe_line(id_of(session, one.question.entry) or "", 12)
    yield f"{page.style(mark, 'leaf' if one.answered else 'bad')} {page.style(one.question.text, 'bold')}  {page.style(f'{place}, entry {entry}', 'faint')}"
    mark_of_right = "→" if page.unicode else ">"
    for number, answer in enumerate(one.question.answers):
        right = number == one.question.right
        text = fit(safe_line(answer.text, 300), max(20, page.width - 7), unicode=page.unicode)
        line = f"  {_LETTERS[number]} {mark_of_right if right else ' '} {text}"
        yield line if right else page.style(line, "faint")


def _compared(
    session: Session, indices: tuple[EntryIndex, EntryIndex], exams: tuple[Exam, Exam], page: Page
) -> Iterator[str]:
    """Two exams side by side, topic by topic."""
    for index, found in zip(indices, exams, strict=True):
        yield _head(session, index, found, page)
    yield ""
    for topic in Topic:
        cells = []
        for found in exams:
            answered, asked = found.count(topic)
            cells.append(pad(f"{answered} of {asked}" if asked else "none", 12))
        if any(found.count(topic)[1] for found in exams):
            yield f"  {pad(str(topic), 12)}{''.join(cells)}".rstrip()
