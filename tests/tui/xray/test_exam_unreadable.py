"""A compaction whose summary is encrypted: its exam in the inspector, and its X-ray."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from leafward.agents.recognition import agent_of
from leafward.base.config import Config
from leafward.compaction.exam.grade import exam_of
from leafward.compaction.xray.xray import xray_of
from leafward.session.entries import EntryIndex, Kind
from leafward.summaries.facts.values import Fact, FactKind, Voice
from leafward.summaries.fates.report import Fate, Status
from leafward_tui.inspector.model.compaction_outcome import exam_lines
from leafward_tui.inspector.model.sheet import Sheet
from leafward_tui.inspector.page_request import PageRequest
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.xray.hints import title_facts
from leafward_tui.xray.model.about import about
from leafward_tui.xray.model.arrangement import Piece, Side
from leafward_tui.xray.model.captions import Teller
from leafward_tui.xray.model.fates import Fates
from leafward_tui.xray.state import Loaded, XRayState
from tests.tui.inspector_data import single
from tests.tui.sure import sure

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
    assert any("0 of 6 questions, 6 unreadable" in line.text for line in folded.lines)
    lines = [line.text for line in opened.lines]
    assert any("the summary is encrypted and may answer the rest" in line for line in lines)
    assert sum(line.startswith("? ") for line in lines) == 6


def test_facts_that_an_encrypted_summary_may_hold_are_called_so_in_its_x_ray(corpora: Path) -> None:
    (path,) = (corpora / "real" / "codex").glob("jdx__mise__*.jsonl")
    with closing(agent_of(path).open(path)) as session:
        index = EntryIndex(session.columns.kind.index(Kind.COMPACTION))
        lost = Fate(Fact(FactKind.PATH, "src/a.rs", "src/a.rs", EntryIndex(0), Voice.USER), Status.LOST)
        state = XRayState(session, index, loaded=Loaded(fates=Fates({}, (lost,), unreadable=True)))
        assert any("1 fact may be lost" in str(fact) for fact in title_facts(state, None, UNICODE))
        xray = xray_of(session, index)
        xray.origins.fill(lambda: False)
        line = next(at for at, row in enumerate(xray.rows) if row.after is not None and row.after.line >= 0)
        cell = sure(xray.rows[line].after)
        told = about(Teller(xray, UNICODE), Piece((line,), cell, 0), Side.AFTER, xray.rows[line].link, None)
    assert "only the provider can tell what is in it" in str(told)
