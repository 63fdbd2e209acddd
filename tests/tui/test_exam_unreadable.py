"""The exam in the tab of a compaction whose summary is encrypted."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from leafward.agents.recognition import agent_of
from leafward.base.config import Config
from leafward.compaction.exam.grade import exam_of
from leafward.session.entries import EntryIndex, Kind
from leafward_tui.inspector.model.compaction_outcome import exam_lines
from leafward_tui.inspector.model.sheet import Sheet
from leafward_tui.inspector.page_request import PageRequest
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.panes.inspector_tab import Tab
from tests.tui.inspector_data import single

if TYPE_CHECKING:
    from pathlib import Path


def test_questions_that_only_an_encrypted_summary_may_answer_are_told_apart(corpora: Path) -> None:
    (path,) = (corpora / "real" / "codex").glob("jdx__mise__*.jsonl")
    with closing(agent_of(path).open(path)) as session:
        index = EntryIndex(session.columns.kind.index(Kind.COMPACTION))
        found = exam_of(session, index)
        folded, opened = (
            Sheet(PageRequest(Tab.COMPACTION, single(session, index), 70, 40, UNICODE, Config(), toggled))
            for toggled in (frozenset[str](), frozenset({"exam"}))
        )
        for sheet in (folded, opened):
            exam_lines(sheet, found, session, index)
    assert any("0 of 3 questions, 3 unreadable" in line.text for line in folded.lines)
    lines = [line.text for line in opened.lines]
    assert any("the summary is encrypted and may answer the rest" in line for line in lines)
    assert sum(line.startswith("? ") for line in lines) == 3
