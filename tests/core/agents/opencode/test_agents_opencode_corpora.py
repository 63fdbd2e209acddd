"""Stores of opencode as it left them: every session with its branches, forks, compactions and files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from leafward.base.config import Config
from leafward.catalogue.listing import Catalogue
from leafward.context.basis import Basis
from leafward.context.model_context import context_at
from leafward.files.working_set import working_set
from leafward.session.entries import Kind
from tests.core.catalogued import cards_in
from tests.opencode_store import (
    OPENCODE,
    files_of,
    opened,
    problems,
    texts,
)
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from leafward.agents.base import Listing

NEWEST = CORPORA / "opencode" / "v1.18.33" / "opencode"


OLDER = CORPORA / "opencode" / "v1.0.185" / "opencode"


class Expected(NamedTuple):
    """Contents of a session of the corpora, from the specification and from looking at its rows."""

    session: str
    prompts: int
    branches: int = 0
    compactions: int = 0
    relation: str | None = None
    inherited_prompts: int = 0
    edits: int = 0
    archived: bool = False


EXPECTED = {
    NEWEST: [
        Expected("ses_e0019d59", 3),
        Expected("ses_e0019b66", 4, relation="inferred", inherited_prompts=3),
        Expected("ses_e0019ad1", 4, relation="inferred", inherited_prompts=3),
        Expected("ses_e0019a3a", 1),
        Expected("ses_e0019948", 1),
        Expected("ses_e001983f", 1),
        Expected("ses_e00197c8", 1, relation="subagent"),
        Expected("ses_e001974a", 1),
        Expected("ses_e0019672", 3, compactions=1),
        Expected("ses_e0019387", 6, compactions=2),
        Expected("ses_e0019264", 2, relation="inferred", inherited_prompts=1),
        Expected("ses_e0019257", 7, compactions=2, relation="inferred", inherited_prompts=6),
        Expected("ses_e0019245", 3, branches=1),
        Expected("ses_e0019204", 3, branches=1),
        Expected("ses_e00191d7", 1, archived=True),
        Expected("ses_e00191c9", 2),
        Expected("ses_e00191ad", 4, edits=1),
        Expected("ses_e0018a69", 4, compactions=1, edits=1),
    ],
    OLDER: [
        Expected("ses_e0016bdf", 3),
        Expected("ses_e0016b51", 1),
        Expected("ses_e0016b4d", 1, relation="subagent"),
        Expected("ses_e0016b22", 1),
        Expected("ses_e0016af1", 3, compactions=1),
    ],
}


def session_in(place: Path, name: str) -> Path:
    found = [Path(one.folder, file) for one in _listed(place) for file in one.files if file.startswith(name)]
    assert len(found) == 1
    return found[0]


def _listed(*roots: Path) -> list[Listing]:
    return list(OPENCODE.discover(roots, lambda: False, []))


@needs_corpora
@pytest.mark.parametrize("store", EXPECTED)
def test_every_session_of_the_corpora_with_its_branches(store: Path, tmp_path: Path) -> None:
    before = files_of(store)
    cards = {card.id[:12]: card for card in cards_in(store, tmp_path / "index")}
    assert sorted(cards) == sorted(one.session for one in EXPECTED[store])
    for one in EXPECTED[store]:
        card = cards[one.session]
        assert (card.agent, card.problem, card.damage) == ("opencode", None, 0), one
        assert (card.branches, card.compactions, card.turns) == (
            one.branches,
            one.compactions,
            one.prompts,
        ), one
        assert (card.relation, card.archived) == (one.relation, one.archived), one
        assert card.size > 0
        session = opened(Path(card.path))
        kinds = session.columns.kind
        assert kinds.count(Kind.USER) == one.prompts, one
        assert kinds.count(Kind.USER, 0, session.inherited) == one.inherited_prompts, one
        assert kinds.count(Kind.CONTEXT_EDIT) == one.edits, one
        assert problems(session) == [], one
        for index in range(len(session)):
            assert session.entry(index).body
    assert files_of(store) == before


@needs_corpora
def test_forks_and_subagents_name_the_session_they_come_from(tmp_path: Path) -> None:
    cards = {card.id[:12]: card for card in cards_in(NEWEST, tmp_path / "index")}

    def above(session: str) -> str:
        return Path(str(cards[session].parent)).name[:12]

    assert above("ses_e0019b66") == above("ses_e0019ad1") == "ses_e0019d59"
    assert above("ses_e0019264") == above("ses_e0019257") == "ses_e0019387"
    assert above("ses_e00197c8") == "ses_e001983f"


@needs_corpora
def test_the_kept_tail_follows_the_summary() -> None:
    sent = texts(opened(session_in(NEWEST, "ses_e0018a69")))
    assert sent[0] == "custom: What did we do so far?"
    assert sent[1].startswith("compactionSummary: ## Objective")
    assert sent[2].startswith("assistant: bash(")
    assert sent[3].startswith("toolResult: log 0")
    assert [line for line in sent if line.startswith("user")] == [
        "user: Explain what src/calc.py does",
        "user: What is left to do?",
        "user: Try the recursive approach to factorial",
    ]


@needs_corpora
def test_a_summary_without_a_tail_stands_for_everything_before_it() -> None:
    for place, session in ((NEWEST, "ses_e0019672"), (OLDER, "ses_e0016af1")):
        sent = texts(opened(session_in(place, session)))
        assert sent[0] == "custom: What did we do so far?"
        assert sent[1].startswith("compactionSummary: ## ")
        assert sent[2].startswith("custom: Continue if you have next steps")
        assert not any("Fill the context" in line for line in sent)


@needs_corpora
def test_pruned_outputs_are_cleared_from_when_they_were_pruned() -> None:
    session = opened(session_in(NEWEST, "ses_e00191ad"))
    cleared = [line for line in texts(session) if line.startswith("toolResult: [Old tool result")]
    assert len(cleared) == 5
    first_edit = session.columns.kind.index(Kind.CONTEXT_EDIT)
    assert not any("[Old tool" in line for line in texts(session, context_at(session, first_edit - 1)))


@needs_corpora
def test_a_count_from_before_outputs_were_pruned_is_no_size_of_what_was_compacted() -> None:
    """Its last reply counted 91k; 57k of them were pruned before the summary was asked for."""
    session = opened(session_in(NEWEST, "ses_e0018a69"))
    compaction = session.columns.kind.find(Kind.COMPACTION)
    before, _ = Basis.of(session).change(compaction)
    assert before.total == context_at(session, session.columns.parent[compaction]).total < 40_000


@needs_corpora
def test_files_of_the_corpora() -> None:
    used = working_set(opened(session_in(NEWEST, "ses_e0019a3a")))
    assert not used.modified
    assert "does_not_exist.py" not in [one.path for one in used.read]
    used = working_set(opened(session_in(NEWEST, "ses_e0019d59")))
    assert [one.path for one in used.modified] == ["README.md", "src/calc.py"]


@needs_corpora
def test_public_samples_open(tmp_path: Path) -> None:
    samples = {
        "jazzyalex__agent-sessions/Resources/Fixtures/stage0/agents/opencode": 3,
        "Dicklesworthstone__coding_agent_session_search/tests/fixtures/opencode_json": 1,
    }
    for name, count in samples.items():
        catalogue = Catalogue(Config(), [CORPORA / "public" / name], index_path=tmp_path / name)
        catalogue.refresh()
        cards = catalogue.cards()
        assert [card.agent for card in cards] == ["opencode"] * count
        for card in cards:
            session = opened(Path(card.path))
            assert len(session) >= 2
            assert (context_at(session).size.total > 0) == ("drift" not in card.id)
            problems(session)
