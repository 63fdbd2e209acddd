"""Sessions of opencode's newer engine: each message one row, and the events that it was made from."""

from __future__ import annotations

import json
from typing import Any

from tests.opencode_store import START, Conversation, Database

_NEWER_ENGINE = """
CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL,
 time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
"""


class Rows:
    """Messages of the newer engine, each one row and the events that it was made from. Times go on by a second."""

    def __init__(self, store: Database, talk: Conversation) -> None:
        self._store, self._talk = store, talk
        self._seq = 0
        self.path = store.write(talk)
        store.run(_NEWER_ENGINE)

    def row(self, kind: str, *events: tuple[str, dict[str, Any]], **data: Any) -> str:
        """Appends a message with its events; returns its id."""
        talk = self._talk
        talk.time += 1000
        self._seq += 1
        name = f"msg_{talk.time * 4096 % (1 << 48):012x}{self._seq:014}"
        for what, said_there in events:
            self.event(what, {"messageID": name, "assistantMessageID": name, **said_there})
        body = {"time": {"created": talk.time}, **data}
        self._store.execute(
            "INSERT INTO session_message VALUES (?,?,?,?,?,?,?)",
            *(name, talk.id, kind, self._store.number, talk.time, talk.time, json.dumps(body)),
        )
        return name

    def event(self, what: str, data: dict[str, Any]) -> None:
        """Appends an event of the newer engine."""
        told = {"timestamp": self._talk.time, "sessionID": self._talk.id, **data}
        with self._store.opened() as base:
            self._store.event(base, self._talk.id, f"session.next.{what}.1", told)

    def ask(self, text: str, **more: Any) -> str:
        """A prompt."""
        return self.row("user", ("prompted", {"prompt": {"text": text, **more}}), text=text, **more)

    def reply(self, *content: dict[str, Any], **fields: Any) -> str:
        """One step of the model; a text stands for its part."""
        events: list[tuple[str, dict[str, Any]]] = [("step.started", {"agent": "build", "model": _PEAR})]
        for number, part in enumerate(content):
            if part["type"] == "tool":
                state = part["state"]
                call = {"callID": part["id"]}
                events.append(("tool.called", {**call, "tool": part["name"], "input": state["input"]}))
                ended = "success" if state["status"] == "completed" else "failed"
                rest = {key: state[key] for key in ("content", "structured", "error") if key in state}
                events.append((f"tool.{ended}", {**call, **rest}))
            else:
                kind = part["type"]
                part.setdefault("id", f"{kind}-{number}")
                events.insert(number + 1, (f"{kind}.started", {f"{kind}ID": part["id"]}))
                events.append((f"{kind}.ended", {f"{kind}ID": part["id"], "text": part["text"]}))
        given = {"finish": "stop", "cost": 0.25, "tokens": _TOKENS, **fields}
        events.append(("step.ended", given))
        return self.row("assistant", *events, agent="build", model=_PEAR, content=list(content), **given)

    def commit_revert(self, name: str) -> None:
        """Deletes what follows a message, as a revert that is confirmed does."""
        self._store.execute(
            "DELETE FROM session_message WHERE seq > (SELECT seq FROM session_message WHERE id = ?)", name
        )
        self.event("revert.committed", {"messageID": name})


_PEAR = {"id": "pear-1", "providerID": "grove", "variant": "default"}


_TOKENS = {"input": 100, "output": 10, "reasoning": 0, "cache": {"read": 40, "write": 0}}


def newer_call(name: str, *content: str, **fields: Any) -> dict[str, Any]:
    """A call of the newer engine with its result; `given` is its input, `structured` and `error` go into the state."""
    given = fields.pop("given", {})
    state = {
        "status": "error" if "error" in fields else "completed",
        "input": given,
        "content": [{"type": "text", "text": text} for text in content],
        "structured": {},
        **fields,
    }
    return {
        "type": "tool",
        "id": f"call_{name}-{len(str(given))}",
        "name": name,
        "provider": {"executed": False},
        "state": state,
        "time": {"created": START, "ran": START + 1, "completed": START + 5},
    }
