"""A file that begins in the middle of a conversation: what was said before is no system prompt, and no compaction keeps it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.xray.alignment import Link
from leafward.compaction.xray.xray import xray_of
from leafward.context.basis import Basis
from leafward.context.model_context import (
    BEGINS_MIDWAY,
    FILES_UNKNOWN,
    context_at,
    lacks_prompt,
    uncertainties,
)
from leafward.export.demo import demo_session
from leafward.session.entries import EntryIndex, Kind
from leafward.session.session import Session
from tests.bench.need import compactions_of, sessions
from tests.claude_transcript import Transcript
from tests.surroundings import needs_corpora

if TYPE_CHECKING:
    from pathlib import Path

NOWHERE = "0badcafe-0000-4000-8000-000000000000"
BEFORE, PROMPT = 100_000, 20_000
"""Tokens of what was said before the file begins, and of what the agent sends with every request."""


def counted(tokens: int) -> dict[str, Any]:
    return {"input_tokens": tokens, "output_tokens": 0}


def transcript(home: Path, *, midway: bool) -> Transcript:
    """Three turns of 1,000 tokens, each counted with what the file does not hold."""
    made = Transcript(home)
    size = PROMPT + (BEFORE if midway else 0)
    made.row("system", subtype="stop_hook_summary", content="", **({"parentUuid": NOWHERE} if midway else {}))
    for _ in range(3):
        made.prompt("go on " * 500)
        size += 750
        made.block(
            {"type": "text", "text": "done " * 200},
            f"msg_{made.number}",
            "end_turn",
            {"input_tokens": size, "output_tokens": 250},
        )
        size += 250
    return made


def codes(session: Session, at: int | None = None) -> list[str]:
    return [note.code for note in uncertainties(session, context_at(session, at))]


def test_what_was_said_before_is_called_so(tmp_path: Path) -> None:
    with closing(transcript(tmp_path, midway=True).opened()) as session:
        context = context_at(session)
        assert context.missing == "earlier conversation, system prompt, tools"
        assert codes(session) == [BEGINS_MIDWAY]
        assert context.ledger.recorded
        assert abs(context.ledger.not_in_file - BEFORE - PROMPT) < 100
    with closing(transcript(tmp_path, midway=False).opened()) as session:
        assert context_at(session).missing == "system prompt, tools"
        assert codes(session) == []


def test_where_the_file_holds_a_system_prompt_only_the_rest_is_missing() -> None:
    with demo_session() as path, closing(Session.open(path)) as session:
        context = context_at(session)
        assert context.ledger.system
        assert context.missing == "unrecorded system prompt, tools"


def test_no_compaction_carries_it(tmp_path: Path) -> None:
    made = transcript(tmp_path, midway=True)
    made.boundary("what happened")
    with closing(made.opened()) as session:
        compaction = session.columns.kind.index(Kind.COMPACTION)
        before, after = Basis.of(session).change(compaction)
        assert before.recorded
        assert before.total > BEFORE
        assert not after.recorded
        assert after.total < 100, "the summary alone"
        assert lacks_prompt(session, context_at(session))
        assert codes(session) == ["prompt-unknown"]
        seen = xray_of(session, compaction)
        assert seen.lacks_rest
        assert {share.link: share.after for share in seen.ledger}[Link.REST] == 0


def test_where_the_file_begins_with_the_conversation_it_is_carried(tmp_path: Path) -> None:
    made = transcript(tmp_path, midway=False)
    made.boundary("what happened")
    with closing(made.opened()) as session:
        compaction = session.columns.kind.index(Kind.COMPACTION)
        _, after = Basis.of(session).change(compaction)
        assert PROMPT - 100 < after.total < PROMPT + 200
        assert not xray_of(session, compaction).lacks_rest
        assert codes(session) == []


def test_the_next_request_tells_it(tmp_path: Path) -> None:
    made = transcript(tmp_path, midway=True)
    made.boundary("what happened")
    made.prompt("go on")
    made.block({"type": "text", "text": "done"}, "msg_last", "end_turn", counted(PROMPT + 10))
    with closing(made.opened()) as session:
        compaction = session.columns.kind.index(Kind.COMPACTION)
        _, after = Basis.of(session).change(compaction)
        assert (after.recorded, abs(after.total - PROMPT) < 20) == (True, True)
        assert abs(context_at(session).ledger.not_in_file - PROMPT) < 20
        assert codes(session) == []


@pytest.mark.parametrize("midway", [True, False])
def test_a_plan_says_that_it_is_not_among_the_tokens_afterwards(tmp_path: Path, midway: bool) -> None:
    with closing(transcript(tmp_path, midway=midway).opened()) as session:
        made = plan(measure(session), PlanSettings(keep_recent=500))
        said = BEGINS_MIDWAY in {one.code for one in made.diagnostics}
        assert said is midway
        assert (made.tokens.counted_after < 5_000) is midway
        assert (made.tokens.not_in_file > 0) is not midway


@needs_corpora
def test_real_sessions_that_begin_midway_carry_nothing_over_their_first_compaction() -> None:
    looked = 0
    for session in sessions(copies=True):
        for compaction in compactions_of(session)[:1]:
            above = context_at(session, EntryIndex(session.columns.parent[compaction]))
            if not above.begins_midway:
                continue
            looked += 1
            carry = Basis.of(session).carry(above.at)
            assert carry.not_in_file == 0
            assert 0.8 < carry.scale < 3
            assert above.ledger.not_in_file > 60_000, "which no system prompt takes"
            assert context_at(session, EntryIndex(compaction)).ledger.not_in_file < 60_000
    assert looked == 4


@pytest.mark.parametrize(
    ("version", "read", "unknown"),
    [("2.1.48", True, True), ("2.1.48", False, False), ("2.1.150", True, False), ("", True, False)],
)
def test_files_put_in_again_that_no_row_holds_are_said_to_be_missing(
    tmp_path: Path, version: str, *, read: bool, unknown: bool
) -> None:
    made = transcript(tmp_path, midway=False)
    if read:
        call = {"type": "tool_use", "id": "c1", "name": "Read", "input": {"file_path": "/orchard/pears.py"}}
        made.block(call, "msg_read", "tool_use", counted(PROMPT + 3_000))
        made.result("c1", "1 pears")
    made.defaults["version"] = version
    made.boundary("what happened")
    with closing(made.opened()) as session:
        assert codes(session) == [FILES_UNKNOWN] * unknown
        assert lacks_prompt(session, context_at(session)) == unknown
        assert Basis.of(session).lacks_prompt(session.leaf) == unknown
        assert xray_of(session, session.columns.kind.index(Kind.COMPACTION)).is_short == unknown
    made.prompt("go on")
    made.block({"type": "text", "text": "done"}, "msg_behind", "end_turn", counted(30_000))
    with closing(made.opened()) as session:
        assert codes(session) == []
        assert not Basis.of(session).lacks_prompt(EntryIndex(session.columns.kind.index(Kind.COMPACTION)))
