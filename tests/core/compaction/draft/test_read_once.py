"""A span is read once for its summary, its survival and its exam; the results are as if each read it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from leafward.agents.recognition import agent_of
from leafward.compaction.draft.draft_assembly import draft, prepared
from leafward.compaction.exam.grade import exam, exam_of_draft
from leafward.compaction.exam.questions import questions
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.session.injected_block import split_enclosed
from leafward.session.session import Session
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.fates.report import facts_of, reading_of
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from tests.bench.generate import write_session
from tests.surroundings import CORPORA, THOROUGH

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.entries import Body

REAL = sorted(CORPORA.glob("real/*/*.jsonl")) + sorted(CORPORA.glob("pi/*.jsonl"))


def test_each_message_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    read = FactReader.read

    def counting(reader: FactReader, entry: int, message: Body) -> object:
        counted.append(entry)
        return read(reader, entry, message)  # type: ignore[arg-type]

    monkeypatch.setattr(FactReader, "read", counting)
    path = tmp_path / "session.jsonl"
    write_session(path, 300, branch_every=0, compact_every=0)
    with closing(Session.open(path)) as session:
        made = draft(session, plan(measure(session), PlanSettings(keep_recent=2000)), Extractive())
    exam_of_draft(made)
    span = {one.entry for one in made.ground.there.replaced}
    counted = [entry for entry in counted if entry in span]
    assert len(counted) > 200
    assert len(set(counted)) == len(counted)


@pytest.mark.parametrize(
    ("path", "at"),
    [
        pytest.param(path, at, id=f"{path.stem}-{at}")
        for number, path in enumerate(REAL)
        for at in ((None, 150) if THOROUGH else (150 if number % 2 else None,))
    ],
)
def test_it_comes_out_as_if_each_read_it(path: Path, at: int | None) -> None:
    with closing(agent_of(path).open(path)) as session:
        where = session.leaf if at is None else min(at, len(session.columns.kind) - 1)
        planned = plan(measure(session, where), PlanSettings(keep_recent=3000))
        if planned.nothing:
            pytest.skip("nothing to compact")
        span, budget = prepared(session, planned)
        made = draft(session, planned, Extractive())
        ground = made.ground
        there, previous = ground.there, ground.previous
        before, listed = there.previous_entry, there.plan
        reading = reading_of(there.replaced, session.cwd, previous, before, plan=listed)
        alone = Extractive().summarize(span, budget)
        assert Extractive().summarize(replace(span, read=lambda: reading), budget) == alone
        assert ground.facts == facts_of(
            there.replaced, session.cwd, previous, before, plan=listed, kept=there.kept
        )
        asked = questions(there.replaced, session.cwd, previous, before, listed, kept=there.kept)
        text, injected = split_enclosed(made.text)
        assert exam_of_draft(made) == exam(asked, text, injected=injected, kept=ground.kept, cwd=session.cwd)


def test_a_secret_is_read_by_nobody_who_quotes(tmp_path: Path) -> None:
    """What was read with its secrets is not what a summary is made of."""
    path = tmp_path / "session.jsonl"
    write_session(path, 300, branch_every=0, compact_every=0)
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    text = path.read_text("utf-8")
    said = '"content":[{"type":"text","text":"'
    at = text.index(said) + len(said)
    path.write_text(f"{text[:at]}We decided to use {token} because it works. {text[at:]}", "utf-8")
    with closing(Session.open(path)) as session:
        made = draft(session, plan(measure(session), PlanSettings(keep_recent=2000)), Extractive())
    assert made.summary.redacted
    assert token not in made.text
