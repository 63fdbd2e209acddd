"""Rollouts of Codex as it left them: every thread with its branches, and what other projects hold."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from leafward.agents.recognition import agent_of
from leafward.files.working_set import working_set
from leafward.session.entries import Kind
from tests.codex_rollout import CODEX, opened
from tests.core.catalogued import cards_in
from tests.foreign_sessions import problems, read_whole, said
from tests.surroundings import CORPORA, needs_corpora
from tests.untouched import contents

PUBLIC = CORPORA / "public"


class Expected(NamedTuple):
    """Contents of a thread of the corpora, from the specification and from looking at its lines."""

    thread: str
    prompts: int
    branches: int
    compactions: int
    relation: str | None = None
    inherited_prompts: int = 0
    name: str | None = None


EXPECTED = {
    "v0.80.0": [
        Expected("9c65", 3, 0, 0),
        Expected("9e15", 1, 0, 0),
        Expected("9e8f", 1, 0, 0),
        Expected("9ef8", 0, 0, 0),
        Expected("9f21", 3, 0, 1),
    ],
    "v0.125.0": [
        Expected("a063", 3, 0, 0),
        Expected("a38f", 1, 0, 0),
        Expected("a485", 1, 0, 0),
        Expected("a550", 3, 0, 1),
    ],
    "v0.169.0": [
        Expected("3454", 3, 0, 0),
        Expected("ff7c", 4, 0, 0, "fork", 3),
        Expected("004c", 4, 0, 0, "fork", 3),
        Expected("0101", 1, 0, 0),
        Expected("0201", 1, 0, 0),
        Expected("02f4", 1, 0, 0),
        Expected("039f", 1, 0, 0),
        Expected("044d", 3, 0, 1),
        Expected("c1f8", 4, 0, 1, None, 0, "Demo main line"),
        Expected("c610", 3, 0, 0, "fork", 2, "Iterative branch"),
        Expected("c669", 4, 0, 0, "fork", 3, "Iterative branch"),
        Expected("c70c", 3, 0, 0, "fork", 2, "Demo main line"),
        Expected("c76c", 3, 1, 0),
        Expected("c8b4", 1, 0, 0),
        Expected("c8e0", 1, 0, 0, "subagent"),
        Expected("cb54", 5, 2, 0, None, 0, "Twice reverted"),
        Expected("cda2", 3, 0, 0, "fork", 2),
    ],
}
"""Threads by the second group of their ids."""


@needs_corpora
@pytest.mark.parametrize("version", EXPECTED)
def test_every_thread_of_the_corpora_is_one_session_with_its_branches(version: str, tmp_path: Path) -> None:
    before = contents(CORPORA / "codex" / version)
    cards = {
        card.id.split("-")[1]: card
        for card in cards_in(CORPORA / "codex" / version / ".codex", tmp_path / "i")
    }
    assert sorted(cards) == sorted(one.thread for one in EXPECTED[version])
    for one in EXPECTED[version]:
        card = cards[one.thread]
        assert (card.agent, card.problem, card.damage) == ("codex", None, 0), one
        assert (card.branches, card.compactions, card.relation, card.name) == (
            one.branches,
            one.compactions,
            one.relation,
            one.name,
        ), one
        session = opened(Path(card.path))
        kinds = session.columns.kind
        assert kinds.count(Kind.USER) == one.prompts, one
        assert kinds.count(Kind.USER, 0, session.inherited) == one.inherited_prompts, one
        assert Kind.UNKNOWN not in kinds
        assert set(problems(session)) <= {"dangling-call"}, one
        session.close()
    assert contents(CORPORA / "codex" / version) == before


@needs_corpora
def test_no_public_sample_ends_in_an_error() -> None:
    samples = [path for path in PUBLIC.rglob("*.jsonl") if "codex" in str(path).lower()]
    assert len(samples) > 20
    read = 0
    for path in samples:
        if agent_of(path) is not CODEX:
            continue
        session = opened(path)
        read_whole(session)
        read += 1
        session.close()
    assert read > 15


@needs_corpora
def test_what_an_old_sample_says_is_found_in_events_and_items() -> None:
    session = opened(
        PUBLIC / "Dicklesworthstone__cross_agent_session_resumer/tests/fixtures/codex/codex_reasoning.jsonl"
    )
    assert [role for role, _ in said(session)][:3] == ["user", "assistant", "user"]
    session = opened(PUBLIC / "es617__claude-replay/test/fixture-codex-patch.jsonl")
    files = working_set(session)
    assert "/src/app.js" in {use.path for use in files.modified}


@needs_corpora
@pytest.mark.parametrize(("version", "thread"), [("v0.80.0", "9c65"), ("v0.125.0", "a063")])
def test_a_warning_stays_between_the_call_and_its_result(version: str, thread: str) -> None:
    """Codex puts it into the history while the call runs, and sends it there: the file and the context have its order."""
    (path,) = (CORPORA / "codex" / version).rglob(f"*01a1ffe8-{thread}-*.jsonl")
    session = opened(path)
    roles = said(session)
    places = [
        at for at, (_, text) in enumerate(roles) if text.startswith("Warning: apply_patch was requested")
    ]
    assert len(places) == 2
    for at in places:
        assert [role for role, _ in roles[at - 1 : at + 2]] == ["assistant", "custom", "toolResult"]
    session.close()
