"""The real Claude Code after rewinds: it goes on where Leafward shows the place of the conversation.

Runs where ``LEAFWARD_CLAUDE`` names the program (2.1.165 or later), or several with colons between them; skipped elsewhere.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests import claude_places
from tests.claude_transcript import Transcript
from tests.core.agents.claude.test_agents_claude_rewinds import NEW, PLACES, pointer
from tests.foreign_sessions import said
from tests.oracle.installed_agents import each_claude, needs_claude
from tests.oracle.test_fork_claude import Yard, made, yard
from tests.oracle.test_kept_claude import rows_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["yard"]

pytestmark = [needs_claude, each_claude]

PROMPTS = ("Hello there", "Good day", "Well then")


def turn(rows: list[dict[str, Any]], at: str) -> list[dict[str, Any]]:
    """A copy of the last turn with another prompt, below the row `at`."""
    reply = next(row for row in reversed(rows) if row["type"] == "assistant")
    prompt = next(row for row in reversed(rows) if row["type"] == "user")
    asked, answered = str(uuid4()), str(uuid4())
    times = {"timestamp": "2027-01-01T00:00:00.000Z"}
    return [
        prompt | times | {"uuid": asked, "parentUuid": at, "message": {"role": "user", "content": NEW}},
        reply
        | times
        | {"uuid": answered, "parentUuid": asked, "message": {**reply["message"], "id": "msg_new"}},
    ]


def rewrite(path: Path, behind: list[dict[str, object] | str]) -> None:
    """Puts rows about the place, and turns below the first reply, behind a transcript that has none."""
    rows = [row for row in rows_of(path) if row["type"] != "last-prompt"]
    replies = [row["uuid"] for row in rows if row["type"] == "assistant"]
    for row in behind:
        if isinstance(row, str):
            rows += turn(rows, replies[0])
        else:
            leaf = row.get("leafUuid")
            named = {"leafUuid": replies[leaf - 1]} if isinstance(leaf, int) else {}
            rows.append({"type": "last-prompt", **row, **named, "sessionId": path.stem})
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), "utf-8")


def heard(texts: list[str]) -> list[str]:
    return [
        prompt
        for prompt in (*PROMPTS, NEW, "continued from a previous")
        if any(prompt in text for text in texts)
    ]


@pytest.mark.parametrize("case", PLACES)
def test_it_goes_on_where_leafward_shows_the_place(yard: Yard, case: str) -> None:
    session, _ = made(yard, *PROMPTS)
    rewrite(yard.folder / f"{session}.jsonl", PLACES[case][0])
    shown = heard([text for _, text in said(yard.opened(session))])
    body = yard.client.ask(yard.project, "Thank you", "--resume", session).first
    assert heard([json.dumps(message["content"]) for message in body["messages"]]) == shown


@pytest.mark.parametrize("sketch", claude_places.PLACES)
def test_beside_a_compaction_it_goes_on_where_leafward_shows_the_place(yard: Yard, sketch: str) -> None:
    transcript = Transcript(yard.folder.parent.parent, folder=f"projects/{yard.folder.name}")
    transcript.defaults = {"cwd": str(yard.project), "version": "2.1.332", "userType": "external"}
    claude_places.write(transcript, sketch)
    body = yard.client.ask(yard.project, "Thank you", "--resume", transcript.session).first
    sent = [json.dumps(message["content"]) for message in body["messages"]]
    assert claude_places.numbers(sent) == claude_places.PLACES[sketch]


def test_it_does_not_go_back_behind_a_compaction(yard: Yard) -> None:
    session, _ = made(yard, *PROMPTS, "/compact")
    rewrite(yard.folder / f"{session}.jsonl", [pointer(1, explicit=True)])
    shown = heard([text for _, text in said(yard.opened(session))])
    body = yard.client.ask(yard.project, "Thank you", "--resume", session).first
    assert (
        heard([json.dumps(message["content"]) for message in body["messages"]])
        == shown
        == ["continued from a previous"]
    )
