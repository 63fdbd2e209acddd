"""Claude Code: every version that lies in the corpora, files of other projects, and requests that were recorded."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from leafward.agents.recognition import agent_of
from leafward.files.working_set import working_set
from leafward.session.entries import DAMAGE_CODE, Kind
from tests.claude_transcript import DATA, Recorded, agree, opened, projected
from tests.core.catalogued import cards_in
from tests.foreign_sessions import problems, read_whole
from tests.surroundings import CORPORA, needs_corpora
from tests.untouched import contents

PUBLIC = CORPORA / "public"


class Expected(NamedTuple):
    """Contents of a session of the corpora, from the specification and from looking at its rows."""

    session: str
    prompts: int
    replies: int
    branches: int = 0
    compactions: int = 0
    relation: str | None = None
    parent: str = ""
    inherited_prompts: int = 0
    name: str | None = None


EXPECTED = {
    "v2.0.65": [
        Expected("0977d252", 3, 9, 0, 1),
        Expected("38715a80", 1, 2),
        Expected("46bd280c", 2, 4, 0, 1, "inferred", "0977d252", 1),
        Expected("4fced97c", 4, 6, 0, 1),
        Expected("5a83c760", 3, 11),
        Expected("6cdc705e", 1, 3),
        Expected("a17153cf", 4, 13, 0, 0, "inferred", "5a83c760", 3),
        Expected("d73d43c3", 1, 4),
        Expected("e776025b", 1, 2),
        Expected("f89f1ebd", 4, 13, 0, 0, "inferred", "5a83c760", 3),
    ],
    "v2.1.330": [
        Expected("1dd894bd", 2, 4, 0, 1, "fork", "67ca6781", 1),
        Expected("3bc992cf", 1, 3),
        Expected("5016a1ec", 3, 9, 1, 0, name="tree-demo"),
        Expected("50299cd4", 4, 13, 0, 0, "fork", "dd0209fa", 3),
        Expected("6546aa27", 4, 7),
        Expected("67ca6781", 3, 8, 0, 1),
        Expected("7c64f94e", 4, 7, 0, 1, name="auto-compact"),
        Expected("9fbc1b4d", 1, 3),
        Expected("bb91a5aa", 1, 2),
        Expected("d379888c", 5, 14, 1, 2, "fork", "5016a1ec", 2, "recursive-branch"),
        Expected("dd0209fa", 3, 11),
        Expected("e462ea94", 3, 9, name="calc-tree"),
        Expected("f572c2ad", 1, 4, name="Named session"),
        Expected("fea435c8", 4, 13, 0, 0, "fork", "dd0209fa", 3),
    ],
}


HELPERS = {"v2.0.65": (37, {"38715a80": "af760e7"}), "v2.1.330": (1, {"3bc992cf": "a0e0388fcd36a31b3"})}
"""Sub-agents of each version, and of those that were asked something whose they are."""


@needs_corpora
@pytest.mark.parametrize("version", EXPECTED)
def test_every_session_of_the_corpora_with_its_branches(version: str, tmp_path: Path) -> None:
    before = contents(CORPORA / "claude" / version)
    cards = cards_in(CORPORA / "claude" / version / ".claude", tmp_path / "i")
    sessions = {card.id[:8]: card for card in cards if card.relation != "subagent"}
    assert sorted(sessions) == sorted(one.session for one in EXPECTED[version])
    paths = {card.path: card.id[:8] for card in cards}
    for one in EXPECTED[version]:
        card = sessions[one.session]
        assert (card.agent, card.problem, card.damage) == ("claude", None, 0), one
        assert (card.branches, card.compactions, card.relation, card.name, card.turns) == (
            one.branches,
            one.compactions,
            one.relation,
            one.name,
            one.prompts,
        ), one
        assert paths.get(card.parent or "", "") == one.parent
        session = opened(Path(card.path))
        kinds = session.columns.kind
        assert (kinds.count(Kind.USER), kinds.count(Kind.ASSISTANT)) == (one.prompts, one.replies), one
        assert kinds.count(Kind.USER, 0, session.inherited) == one.inherited_prompts, one
        assert Kind.UNKNOWN not in kinds
        assert set(problems(session)) <= {"missing-base"}, one
        assert len(list(session.tree.leaves())) == one.branches + 1
    helpers = [card for card in cards if card.relation == "subagent"]
    count, asked = HELPERS[version]
    assert len(helpers) == count
    assert all(card.problem is None and card.parent for card in helpers)
    awake = {
        Path(card.parent or "").stem[:8]: card.id.removeprefix("agent-")
        for card in helpers
        if not card.archived and not card.warm_up
    }
    assert awake == asked
    assert contents(CORPORA / "claude" / version) == before


@needs_corpora
def test_contexts_of_the_corpora_are_the_requests_that_were_recorded() -> None:
    compared = 0
    for path in sorted((CORPORA / "claude" / "v2.1.330").rglob("*.jsonl")):
        if path.name != "history.jsonl":
            compared += compare_with_requests(path)
    assert compared == 78


def compare_with_requests(path: Path) -> int:
    """Compares the context above every reply whose request was recorded with that request; returns how many there are."""
    session, recorded = opened(path), Recorded(path)
    compared = 0
    for index, kind in enumerate(session.columns.kind):
        if kind != Kind.ASSISTANT:
            continue
        reference = (session.body(index) or {})["source"].get("requestRef")
        if reference in recorded.requests:
            sent, ours = recorded.pieces(reference), projected(session, session.columns.parent[index])
            assert agree(sent, ours), (path.name, index)
            compared += 1
    return compared


def test_contexts_are_the_requests_that_were_recorded() -> None:
    paths = [path for path in sorted((DATA / "2.1.330").rglob("*.jsonl")) if path.stat().st_size]
    assert sum(map(compare_with_requests, paths)) == 38


PUBLIC_EXPECTED = {
    "jazzyalex__agent-sessions/Resources/Fixtures/stage0/agents/claude/large.jsonl": (4, 5, 0, {}),
    "jazzyalex__agent-sessions/Resources/Fixtures/stage0/agents/claude/schema_drift.jsonl": (1, 1, 0, {}),
    "daaain__claude-code-log/test/test_data/representative_messages.jsonl": (4, 5, 0, {"unterminated": 1}),
    "daaain__claude-code-log/test/test_data/todowrite_examples.jsonl": (2, 6, 0, {"unterminated": 1}),
    "daaain__claude-code-log/test/test_data/session_b.jsonl": (2, 1, 0, {"unterminated": 1}),
    "zippoxer__recall/tests/fixtures/.claude/projects/test-project/session.jsonl": (2, 2, 0, {}),
    "simonw__claude-code-transcripts/tests/sample_session.jsonl": (2, 3, 0, {}),
    "wesm__agentsview/internal/parser/testdata/claude/valid_session.jsonl": (2, 2, 0, {}),
    "kenn-io__agentsview/internal/parser/testdata/claude/truncated.jsonl": (1, 1, 0, {"malformed": 1}),
    "es617__claude-replay/test/fixture.jsonl": (3, 4, 0, {}),
    "ryoppippi__ccusage/apps/ccusage/test/fixtures/claude/projects/project-alpha/session-alpha/chat.jsonl": (
        0, 3, 0, {},
    ),
    "Dicklesworthstone__coding_agent_session_search/tests/fixtures/html_export/malformed/invalid_json.jsonl": (
        1, 2, 0, {"malformed": 2},
    ),
    "Dicklesworthstone__cross_agent_session_resumer/tests/fixtures/claude_code/cc_complex.jsonl": (1, 3, 0, {}),
    "Dicklesworthstone__cross_agent_session_resumer/tests/fixtures/claude_code/cc_malformed.jsonl": (
        2, 2, 0, {"malformed": 2},
    ),
}  # fmt: skip
"""Files of other projects: prompts, replies, branches, damage."""


@needs_corpora
@pytest.mark.parametrize("name", PUBLIC_EXPECTED)
def test_files_of_other_projects(name: str) -> None:
    prompts, replies, branches, damage = PUBLIC_EXPECTED[name]
    path = PUBLIC / name
    assert agent_of(path).name == "claude"
    session = opened(path)
    kinds = session.columns.kind
    found: dict[str, int] = {}
    for one in session.columns.damage.values():
        found[DAMAGE_CODE[one]] = found.get(DAMAGE_CODE[one], 0) + 1
    assert (kinds.count(Kind.USER), kinds.count(Kind.ASSISTANT), session.branches, found) == (
        prompts, replies, branches, damage,
    )  # fmt: skip
    problems(session)


@needs_corpora
def test_no_transcript_of_other_projects_is_too_much() -> None:
    for path in sorted(PUBLIC.rglob("*.jsonl")):
        if agent_of(path).name == "claude":
            session = opened(path)
            read_whole(session)
            working_set(session)
