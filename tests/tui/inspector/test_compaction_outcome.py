"""The outcome of a compaction on its tab: questions are whole, and no two answers or repeats look the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.compaction.aftermath.aftermath import Aftermath, Repeat, Repeated
from leafward.compaction.exam.answers import Answer
from leafward.compaction.exam.grade import AnswerPlace, Exam, Graded
from leafward.compaction.exam.questions import Question, Topic
from leafward.compaction.exam.sitting import KeptExam
from leafward.session.entries import EntryIndex
from leafward.summaries.facts.values import Fact, FactKind, Voice
from leafward_tui.inspector.model import compaction_outcome
from leafward_tui.inspector.model.compaction_outcome import aftermath_lines, exam_lines
from leafward_tui.inspector.model.sheet import Sheet
from leafward_tui.inspector.page_request import PageRequest
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.appearance.glyphs import UNICODE
from tests.tui.inspector_data import single, user, write_session

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


def narrow_sheet(session: Session, width: int) -> Sheet:
    return Sheet(
        PageRequest(Tab.COMPACTION, single(session, 0), width, 40, UNICODE, Config(), frozenset({"exam"}))
    )


def page_lines(tmp_path: Path, width: int, kind: FactKind, question: str, *texts: str) -> list[str]:
    """The lines of an exam with one question, whose first answer is right."""
    answers = tuple(Answer(text, Fact(kind, text, text, EntryIndex(0), Voice.CHANGED)) for text in texts)
    asked = Question(Topic.CHANGED_LAST, question, answers, 0, EntryIndex(0))
    session = write_session(tmp_path / "s.jsonl", user("go"))
    sheet = narrow_sheet(session, width)
    exam_lines(sheet, Exam((Graded(asked, AnswerPlace.SUMMARY),)), session, EntryIndex(0))
    return [line.text for line in sheet.lines]


def test_the_wrong_answer_and_the_result_of_a_model_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sat = KeptExam("anthropic/claude-haiku-4-5", 0, 1, 0.01, (1,))
    monkeypatch.setattr(compaction_outcome, "exams_kept", lambda *_: [sat])
    texts = ("python -m pytest -q tests/core/store", "python -m pytest -q tests/core/worker")
    lines = page_lines(tmp_path, 40, FactKind.COMMAND, "Which ran last?", *texts)
    by = next(number for number, line in enumerate(lines) if "× anthropic/claude" in line)
    assert "worker" in lines[by + 1]
    assert any("0 of 1 right" in line and "$0.01" in line for line in lines)
    assert max(map(len, lines)) <= 40


@pytest.mark.parametrize("width", [30, 48, 76])
def test_a_question_is_shown_whole(tmp_path: Path, width: int) -> None:
    question = "In which of these files did the agent define `release_stale_leases`?"
    lines = page_lines(tmp_path, width, FactKind.PATH, question, "src/a.py", "src/b.py")
    assert max(map(len, lines)) <= width
    assert question in " ".join(" ".join(lines).replace("#0", "").split())


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (
            FactKind.PATH,
            ["packages/coding-agent/src/core/session.ts", "packages/coding-agent/src/core/tools.ts"],
        ),
        (FactKind.COMMAND, ["python -m pytest -q tests/core/store", "python -m pytest -q tests/core/worker"]),
    ],
)
def test_answers_that_begin_alike_are_told_apart(tmp_path: Path, kind: FactKind, texts: list[str]) -> None:
    lines = page_lines(tmp_path, 34, kind, "Which was it?", *texts)
    shown = [line.strip(" →") for line in lines if line.startswith(("  →", "    "))][:2]
    assert [text[-8:] for text in texts] == [text[-8:] for text in shown]


def test_repeats_that_begin_alike_are_told_apart(tmp_path: Path) -> None:
    folder, command = "packages/coding-agent/src/core", "python -m pytest -q tests/core"
    told = [
        *((Repeat.FILE, f"{folder}/{name}") for name in ("session.ts", "tools.ts")),
        *((Repeat.COMMAND, f"{command}/{name}") for name in ("store", "worker")),
    ]
    sheet = narrow_sheet(write_session(tmp_path / "s.jsonl", user("go")), 38)
    aftermath_lines(sheet, Aftermath(9, tuple(Repeated(*one, EntryIndex(3), 10) for one in told), None))
    lines = [line.text for line in sheet.lines][-4:]
    assert max(map(len, lines)) <= 38
    for line, ending in zip(lines, ("/session.ts", "/tools.ts", "store", "worker"), strict=True):
        assert line.removesuffix("#3").rstrip().endswith(ending)
