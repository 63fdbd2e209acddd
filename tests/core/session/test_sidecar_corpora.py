"""Every real session of the other agents takes what is kept beside it, compactions above all; its files stay as they are."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.base.errors import Refused
from leafward.catalogue.listing import Catalogue
from leafward.compaction.draft.draft import accept
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.xray.xray import xray_of
from leafward.context.estimators import Estimator
from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from leafward.session.journal.session_operations import label, move, undo
from leafward.summaries.fates.report import survival_of
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from tests.core.compacted import repair
from tests.surroundings import CORPORA, THOROUGH, needs_corpora
from tests.untouched import contents

if TYPE_CHECKING:
    from leafward.session.session import Session

STORES = sorted(
    (agent, store)
    for agent in ("claude", "codex", "opencode")
    for store in (CORPORA / agent).glob("v*")
    if store.is_dir()
)
LARGE = 5000
"""Entries from which on a session is too much for a test."""


@needs_corpora
@pytest.mark.parametrize(("agent", "store"), STORES, ids=lambda value: getattr(value, "name", value))
def test_every_session_takes_what_is_kept(agent: str, store: Path, tmp_path: Path) -> None:
    before = contents(store)
    catalogue = Catalogue(Config(), [store], index_path=tmp_path / "index")
    catalogue.refresh()
    paths = [Path(card.path) for card in catalogue.cards() if card.agent == agent and card.problem is None]
    assert paths
    books: dict[Path, Path] = {}
    for path in paths if THOROUGH else paths[::3]:
        with closing(agent_named(agent).open(path)) as session:
            assert books.setdefault(session.book_path, path) == path
            if 0 < len(session) < LARGE:
                _take(session)
                with closing(agent_named(agent).open(path)) as anew:
                    assert anew.columns == session.columns
                    assert (anew.leaf, anew.labels) == (session.leaf, session.labels)
                    assert context_at(anew).size == context_at(session).size
    assert contents(store) == before


def _take(session: Session) -> None:
    own, kinds = session.place, session.columns.kind
    said = [index for index in range(len(session)) if kinds[index] in (Kind.USER, Kind.ASSISTANT)]
    if not said:
        return
    for at in {own, said[len(said) // 2]} - {-1}:
        try:
            made = draft(
                session,
                plan(measure(session, at, estimators=tuple(Estimator)), PlanSettings(keep_recent=200)),
                Extractive(),
            )
        except Refused:
            continue
        done = accept(session, made)
        compaction = int(session.columns.index(done.op or ""))
        assert (session.place, session.what_if) == (compaction, True)
        assert context_at(session).size.total == made.tokens_after
        mended = repair(session, compaction, pins=["the orchard"])
        place = accept(session, mended).op
        assert context_at(session).size.total == mended.tokens_after
        assert str(session.columns.id(session.place)) == place
        undo(session)
        xray_of(session, compaction)
        survival_of(session, compaction)
        undo(session)
        assert (session.place, session.what_if) == (own, False)
    label(session, said[0], "here")
    move(session, said[-1])
    assert session.place == said[-1]
