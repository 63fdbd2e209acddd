"""Sessions that versions of Claude Code recorded whose rows have other shapes: in one piece, each call with its result."""

from __future__ import annotations

from contextlib import closing

import pytest

from leafward.agents.registry import agent_named
from leafward.context.model_context import context_at
from leafward.session.entries import Kind, tool_calls
from leafward.session.headlines.entry_headline import headline
from tests.claude_transcript import DATA

SAID = ["Hello there", "Compare the fruit", "Look at the picture", "Write the list", "Thank you all"]


@pytest.mark.parametrize(
    ("version", "compactions", "last"),
    [
        # 1.0 writes a prompt as a list of blocks, and a title ahead of all rows.
        ("1.0.98", 0, ["Good night"]),
        # A compaction that was asked for, and the last turn taken back.
        ("2.1.42", 1, ["Hello again", "Good morning"]),
    ],
)
def test_a_recorded_session_is_in_one_piece(version: str, compactions: int, last: list[str]) -> None:
    (path,) = (DATA / version).rglob("*.jsonl")
    with closing(agent_named("claude").open(path)) as session:
        kinds = session.columns.kind
        assert [kinds.count(kind) for kind in (Kind.COMPACTION, Kind.MALFORMED)] == [compactions, 0]
        assert len(session.tree.branch_points()) == compactions, "the turn that was taken back, no compaction"
        on_path = session.tree.path(session.leaf)
        prompts = [headline(session, at).text for at in on_path if kinds[at] == Kind.USER]
        assert prompts == [*SAID, *last]
        calls: list[str] = []
        for at in on_path:
            message = (session.body(at) or {}).get("message") or {}
            if kinds[at] == Kind.ASSISTANT:
                calls += [call.id for call in tool_calls(message)]
            elif kinds[at] == Kind.TOOL_RESULT:
                calls.remove(message["toolCallId"])
        assert calls == []
        context = context_at(session)
        assert context.total == 120, "as the model counted it"
        said = [one.role for one in context.messages if one.sent]
        assert said.count("user") == (len(last) + 1 if compactions else len(SAID) + len(last))
