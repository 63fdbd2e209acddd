"""Sessions that versions of pi wrote in the older formats, not copies put into their shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from leafward.session.messages import message_text
from tests.acting import reading

SESSIONS = Path(__file__).parents[2] / "data" / "pi" / "versions"
SAID = [
    "compactionSummary",
    "user",
    "assistant",
    "toolResult",
    "assistant",
    "user",
    "assistant",
    "user",
    "assistant",
]
"""What pi sent last, and its reply: its own request had these messages."""


@pytest.mark.parametrize("version", ["0.30.2", "0.31.1"])
def test_the_context_behind_a_compaction_is_what_pi_sent(version: str) -> None:
    """Format 1 has no ids and names what a compaction keeps by its place, format 2 by id."""
    with reading(SESSIONS / f"{version}.jsonl") as session:
        kinds = session.columns.kind
        assert [kinds.count(kind) for kind in (Kind.COMPACTION, Kind.MALFORMED, Kind.UNKNOWN)] == [1, 0, 0]
        assert session.tree.branch_points() == []
        context = context_at(session)
        assert [one.role for one in context.messages] == SAID
        assert context.total == 120
        prompts = [
            message_text((session.body(one.entry) or {})["message"])
            for one in context.messages
            if one.role == "user"
        ]
        assert prompts == ["Write the list", "Thank you all", "Good night"]
