"""Forks of Claude Code drafted in tests, and their rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from leafward.agents.registry import agent_named
from leafward.branches import fork as forking
from leafward.session.entries import Kind
from leafward.session.messages import message_text
from tests.claude_transcript import CLAUDE, Transcript, opened
from tests.forks import at_home

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.agents.fork_draft import ForkTerms
    from leafward.session.session import Session


def draft(
    session: Session, entry: int, given: ForkTerms | None = None, *, source: str = "claude"
) -> forking.Fork:
    return forking.fork(session, entry, CLAUDE, given or at_home(), agent_named(source))


def rows_of(made: forking.Fork) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(made.draft.content()).splitlines()]


def uuids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["uuid"] for row in rows if "uuid" in row]


def written(made: forking.Fork, folder: Path) -> Session:
    """A fork in another folder, so that the source's is left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / made.draft.path.name
    path.write_bytes(b"".join(made.draft.content()))
    return opened(path)


def prompt(session: Session, text: str) -> int:
    """The prompt that says a text."""
    for index, kind in enumerate(session.columns.kind):
        if kind == Kind.USER and text in message_text((session.body(index) or {})["message"]):
            return index
    raise LookupError(text)


def parallel(talk: Transcript) -> list[str]:
    """A reply with three calls whose results hang each on its own row, and the reply behind them."""
    talk.prompt("Look at all three")
    blocks: list[dict[str, Any]] = [{"type": "text", "text": "All at once."}]
    blocks += [
        {"type": "tool_use", "id": f"toolu_{n}", "name": "Read", "input": {"file_path": f"/{n}"}}
        for n in "abc"
    ]
    rows = [talk.block(block, "msg_three") for block in blocks]
    results = [
        talk.result(f"toolu_{n}", n * 3, parentUuid=row) for n, row in zip("abc", rows[1:], strict=True)
    ]
    return [*rows, *results, talk.reply("All the same.")]
