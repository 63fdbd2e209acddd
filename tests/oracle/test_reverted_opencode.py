"""The real opencode, asked in sessions with reverts that were put into its database: it sends the context that Leafward shows.

Runs where ``LEAFWARD_OPENCODE`` names a program with a database (1.3.2 and 1.18.33 were used); skipped elsewhere.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.core.agents.opencode.test_agents_opencode_reverts import sent
from tests.opencode_reverts import REVERTS, made
from tests.opencode_store import Conversation
from tests.oracle.installed_agents import each_opencode, needs_opencode
from tests.oracle.test_fork_opencode import Yard, yard

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["yard"]

pytestmark = [needs_opencode, each_opencode]

AT = 1_788_220_800_000
"""Behind the last time that opencode's ids began again, and before now: it goes by the order of ids."""
NEW = "Thank you"
_NO_TAILS = ("1.2.27", "1.3.2")
"""Of the versions that were tried, those that keep nothing beside a summary."""


def completed(talk: Conversation) -> None:
    """Adds what opencode itself stores with each message."""
    for body, parts in talk.messages:
        body.setdefault("agent", "build")
        if body["role"] == "user":
            body.setdefault("model", {"providerID": "grove", "modelID": "pear-1"})
        body.setdefault("mode", "build")
        for part in parts:
            if part["type"] == "tool":
                part["state"] = {"title": "", "metadata": {}, **part["state"]}


def put(database: Path, talk: Conversation) -> None:
    """Puts a session into the database: its row like that of another session."""
    completed(talk)
    with closing(sqlite3.connect(database)) as base, base:
        base.row_factory = sqlite3.Row
        row = dict(base.execute("SELECT * FROM session").fetchone())
        revert = talk.info.get("revert")
        row |= {"id": talk.id, "time_created": talk.begun, "time_updated": talk.time}
        row |= {"parent_id": talk.info.get("parentID"), "revert": json.dumps(revert) if revert else None}
        _insert(base, "session", row)
        for body, parts in talk.messages:
            made_at = body["time"]["created"]
            times = {"time_created": made_at, "time_updated": made_at}
            inside = {key: value for key, value in body.items() if key not in ("id", "sessionID")}
            of_session = {"session_id": talk.id, **times}
            _insert(base, "message", {"id": body["id"], **of_session, "data": json.dumps(inside)})
            for part in parts:
                inside = {key: part[key] for key in part if key not in ("id", "sessionID", "messageID")}
                of_message = {"id": part["id"], "message_id": body["id"], **of_session}
                _insert(base, "part", {**of_message, "data": json.dumps(inside)})


def _insert(base: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    marks = ", ".join("?" * len(row))
    base.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))


def asked(request: dict[str, Any]) -> str:
    """The texts of a request, without the system prompt and the last prompt."""
    found = []
    for message in request["messages"][:-1]:
        content = message.get("content") or ""
        text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
        if message["role"] != "system":
            found.append(text)
    return " ".join(found)


def test_it_sends_what_leafward_shows(yard: Yard) -> None:
    yard.client.ask(yard.project, "Hello")
    database = yard.client.database
    if not database.exists():
        pytest.skip("it has no database")
    version = yard.client.run(yard.project, "--version").stdout.strip()
    cases = [case for case in REVERTS if version not in _NO_TAILS or case != ("tailed", 8)]
    talks = {}
    for number, case in enumerate(cases):
        talk = talks[case] = Conversation(f"ses_{number:026}", at=AT + number * 100_000)
        made(talk, *case)
        put(database, talk)
    shown = {case: sent(yard.opened(talk.id)) for case, talk in talks.items()}
    with yard.client.serving(yard.project) as post:
        real = {case: asked(yard.prompted(post, talk.id, NEW)) for case, talk in talks.items()}
    assert real == shown
