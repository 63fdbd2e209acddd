"""A store as opencode keeps one, in small: a real database, or a tree of JSON files."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from leafward.agents.registry import agent_named
from leafward.context.message_columns import message_body
from leafward.context.model_context import Context, context_at
from leafward.doctor.session_problems import check
from leafward.session.entries import NATIVE_ROLE, Kind
from leafward.session.messages import message_text
from tests.foreign_sessions import opened_by

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.session.session import Session

OPENCODE = agent_named("opencode")
START = 1_767_225_600_000
FOLDER = "/home/ada/orchard"
"""Sessions that a test opened."""

_NEWER = "path text, metadata text, cost real, agent text, model text,"
_TABLES = """
CREATE TABLE project (id text PRIMARY KEY, worktree text, time_created integer);
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text, {newer} title text,
 version text, share_url text, summary_diffs text, revert text, permission text, time_created integer, time_updated integer,
 time_compacting integer, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
CREATE INDEX part_session_idx ON part (session_id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE TABLE account (id text PRIMARY KEY, access_token text);
INSERT INTO account VALUES ('acc', 'not for anybody');
"""
_EVENTS = """
CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer);
CREATE TABLE event (id text PRIMARY KEY, aggregate_id text, seq integer, type text, data text);
"""


class Conversation:
    """The messages of one session, put together before they are written. Ids count up, times go on by a second."""

    def __init__(self, session: str = "ses_one", *, at: int = START, **info: Any) -> None:
        self.id = session
        self.time = at
        self.begun = at
        self.info = {"title": "Prune the pear trees", "directory": FOLDER, "version": "1.18.33", **info}
        self.messages: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
        self.prompt = ""

    def _id(self, kind: str, order: int | None = None) -> str:
        number = (self.time * 4096 + (order or 0)) % (1 << 48)
        return f"{kind}_{number:012x}{self.id[-6:]:0>14}"

    def message(self, role: str, parts: list[dict[str, Any]], **fields: Any) -> str:
        """Appends a message; returns its id."""
        self.time += 1000
        name = self._id("msg")
        body = {"id": name, "sessionID": self.id, "role": role, "time": {"created": self.time}, **fields}
        made = [
            {"id": self._id("prt", order), "sessionID": self.id, "messageID": name, **part}
            for order, part in enumerate(parts, start=1)
        ]
        self.messages.append((body, made))
        return name

    def ask(self, text: str, *more: dict[str, Any]) -> str:
        """A prompt that somebody typed."""
        self.prompt = self.message("user", [said(text), *more], agent="build")
        return self.prompt

    def reply(self, *parts: dict[str, Any], **fields: Any) -> str:
        """One step of the model."""
        calls = any(part["type"] == "tool" for part in parts)
        given = {
            "parentID": self.prompt,
            "modelID": "pear-1",
            "providerID": "grove",
            "path": {"cwd": FOLDER, "root": FOLDER},
            "cost": 0.25,
            "tokens": {"input": 100, "output": 10, "reasoning": 0, "cache": {"read": 40, "write": 0}},
            "finish": "tool-calls" if calls else "stop",
            "time": {"created": self.time + 1000, "completed": self.time + 1500},
            **fields,
        }
        return self.message("assistant", [{"type": "step-start"}, *parts], **given)

    def turn(self, name: str) -> str:
        """A prompt and its answer."""
        asked = self.ask(f"{name}?")
        self.reply(said(f"{name}."))
        return asked

    def compaction(self, summary: str, tail: str | None = None, *, auto: bool = False, **fields: Any) -> str:
        """A request to compact, and what came of it."""
        part: dict[str, Any] = {"type": "compaction", "auto": auto}
        if tail is not None:
            part["tail_start_id"] = tail
        request = self.message("user", [part])
        given = {"parentID": request, "summary": True, "mode": "compaction", **fields}
        return self.reply(said(summary), **given)

    def copy(self, session: str, until: str | None = None, *, at: int, **info: Any) -> Conversation:
        """Rows of a fork: the same messages with new ids in a session that does not say where it comes from."""
        made = Conversation(session, at=at, **{**self.info, **info})
        names: dict[str, str] = {}
        for body, parts in self.messages:
            if body["id"] == until:
                break
            made.time += 1
            name = names[body["id"]] = made._id("msg")
            copied = {**body, "id": name, "sessionID": session}
            if "parentID" in copied:
                copied["parentID"] = names.get(copied["parentID"], copied["parentID"])
            made.messages.append(
                (
                    copied,
                    [
                        {**part, "id": made._id("prt", order + 1), "sessionID": session, "messageID": name}
                        for order, part in enumerate(parts)
                    ],
                )
            )
        return made


def said(text: str, **fields: Any) -> dict[str, Any]:
    """A text."""
    return {"type": "text", "text": text, **fields}


def call(tool: str, output: str = "done", *, status: str = "completed", **given: Any) -> dict[str, Any]:
    """A call with its result; `compacted`, `metadata` and `error` go into the state, the rest is the input."""
    state: dict[str, Any] = {"status": status, "time": {"start": START, "end": START + 5}}
    if "compacted" in given:
        state["time"]["compacted"] = given.pop("compacted")
    for name in ("metadata", "error", "attachments"):
        if name in given:
            state[name] = given.pop(name)
    if status == "completed":
        state["output"] = output
    number = given.pop("number", None)
    state["input"] = given
    return {
        "type": "tool",
        "tool": tool,
        "callID": f"call_{number or f'{tool}-{len(str(given))}'}",
        "state": state,
    }


class Database:
    """A database of opencode."""

    def __init__(
        self, root: Path, *, name: str = "opencode.db", old: bool = False, events: bool = True
    ) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.path = root / name
        self.events = events and not old
        with self.opened() as base:
            tables = _TABLES.format(newer="" if old else _NEWER) + (_EVENTS if self.events else "")
            base.executescript(f"BEGIN; {tables} COMMIT;")
        self.number = 0

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """One transaction. Nothing here has to outlast a loss of power, so nothing waits for the disk."""
        with closing(sqlite3.connect(self.path)) as base:
            base.execute("PRAGMA synchronous = OFF")
            with base:
                yield base

    def write(self, talk: Conversation, *, keep: int | None = None) -> Path:
        """Stores a session, all of it or its first messages only; returns where it lies."""
        info = talk.info
        with self.opened() as base:
            row = {
                "id": talk.id,
                "project_id": info.get("projectID", "global"),
                "parent_id": info.get("parentID"),
                "slug": "quiet-pear",
                "directory": info["directory"],
                "title": info["title"],
                "version": info["version"],
                "revert": json.dumps(info["revert"]) if "revert" in info else None,
                "time_created": talk.begun,
                "time_updated": talk.time,
                "time_archived": info.get("archived"),
                "time_compacting": info.get("compacting"),
            }
            base.execute(
                f"INSERT OR REPLACE INTO session ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                tuple(row.values()),
            )
            for number, (body, parts) in enumerate(talk.messages):
                if keep is not None and number >= keep:
                    break
                self._put(base, talk, body, parts)
        return self.path / talk.id

    def _put(
        self, base: sqlite3.Connection, talk: Conversation, body: dict[str, Any], parts: list[dict[str, Any]]
    ) -> None:
        created = body["time"]["created"]
        without = {key: value for key, value in body.items() if key not in ("id", "sessionID")}
        base.execute(
            "INSERT OR REPLACE INTO message VALUES (?,?,?,?,?)",
            (body["id"], talk.id, created, created, json.dumps(without)),
        )
        self.event(base, talk.id, "message.updated.1", {"sessionID": talk.id, "info": body})
        for part in parts:
            rest = {key: value for key, value in part.items() if key not in ("id", "sessionID", "messageID")}
            base.execute(
                "INSERT OR REPLACE INTO part VALUES (?,?,?,?,?,?)",
                (part["id"], body["id"], talk.id, created, created, json.dumps(rest)),
            )
            self.event(
                base, talk.id, "message.part.updated.1", {"sessionID": talk.id, "part": part, "time": created}
            )

    def event(self, base: sqlite3.Connection, session: str, kind: str, data: dict[str, Any]) -> None:
        if not self.events:
            return
        self.number += 1
        base.execute(
            "INSERT INTO event VALUES (?,?,?,?,?)",
            (f"evt_{self.number:06}", session, self.number, kind, json.dumps(data)),
        )
        base.execute("INSERT OR REPLACE INTO event_sequence VALUES (?,?)", (session, self.number))

    def remove(self, talk: Conversation, *names: str) -> None:
        """Deletes messages as a revert does that somebody goes on from."""
        with self.opened() as base:
            for name in names:
                base.execute("DELETE FROM part WHERE message_id = ?", (name,))
                base.execute("DELETE FROM message WHERE id = ?", (name,))
                self.event(base, talk.id, "message.removed.1", {"sessionID": talk.id, "messageID": name})
        talk.messages = [one for one in talk.messages if one[0]["id"] not in names]

    def run(self, script: str) -> None:
        """Runs some statements."""
        with self.opened() as base:
            base.executescript(script)

    def execute(self, query: str, *values: object) -> None:
        """Changes a row."""
        with self.opened() as base:
            base.execute(query, values)


def one_turn(session: str = "ses_one") -> Conversation:
    """A session with one prompt and its reply."""
    talk = Conversation(session)
    talk.turn("one")
    return talk


def branched(store: Database) -> Conversation:
    """Stores a session that went back once, went on elsewhere, and was compacted there."""
    talk = Conversation()
    talk.turn("Plant pears")
    talk.ask("Try apples")
    talk.reply(call("write", filePath="apples.txt", content="a\n", number=1))
    store.write(talk)
    store.remove(talk, *[body["id"] for body, _ in talk.messages[2:]])
    talk.ask("Try plums")
    talk.reply(call("edit", filePath="plums.txt", oldString="a", newString="b", number=2))
    talk.compaction("Pears are planted", talk.messages[-1][0]["id"])
    talk.reply(said("Plums it is."))
    store.write(talk)
    return talk


def write_tree(root: Path, talk: Conversation, *, nested: bool = False, project: str = "global") -> Path:
    """Stores a session as JSON files of generation B, or `nested` of generation A; returns its own file."""
    storage = root / "project" / project / "storage" / "session" if nested else root / "storage"
    info = {
        "id": talk.id,
        "time": {"created": talk.begun, "updated": talk.time},
        **{key: value for key, value in talk.info.items() if not (nested and key == "directory")},
    }
    path = storage / ("info" if nested else f"session/{project}") / f"{talk.id}.json"
    _dump(path, info)
    for body, parts in talk.messages:
        _dump(storage / "message" / talk.id / f"{body['id']}.json", body)
        for part in parts:
            folder = storage / "part" / talk.id / body["id"] if nested else storage / "part" / body["id"]
            _dump(folder / f"{part['id']}.json", part)
    return path


def write_export(path: Path, talk: Conversation) -> Path:
    """Writes a session as `opencode export` prints it."""
    time = {"created": talk.begun, "updated": talk.time}
    info = {"id": talk.id, "slug": "quiet-pear", "projectID": "global", **talk.info, "time": time}
    messages = [{"info": body, "parts": parts} for body, parts in talk.messages]
    _dump(path, {"info": info, "messages": messages})
    return path


def _dump(path: Path, body: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(body, indent=2), encoding="utf-8")


def opened(path: Path) -> Session:
    """A session, closed when the test ends."""
    return opened_by(OPENCODE, path)


def texts(session: Session, context: Context | None = None) -> list[str]:
    """Messages sent to the model, one line each: role and the beginning of the text."""
    context = context or context_at(session)
    lines = []
    for message in context.messages:
        text = message_text(message_body(session, message)).replace("\n", " ")
        lines.append(f"{message.role}: {text[:60]}")
    return lines


def shape(session: Session) -> list[str]:
    """Every entry: kind, and the number of the entry it follows."""
    kinds, parents = session.columns.kind, session.columns.parent
    return [
        f"{NATIVE_ROLE.get(kind) or Kind(kind).name.lower()} {parent}"
        for kind, parent in zip(kinds, parents, strict=True)
    ]


def prompts_at(session: Session, at: int | None = None) -> list[str]:
    """The prompts that the model gets at an entry, at the leaf where none is given."""
    sent = texts(session, context_at(session, at) if at is not None else None)
    return [line.partition(": ")[2] for line in sent if line.startswith("user")]


def problems(session: Session) -> list[str]:
    """The codes of everything that is wrong with a session, a missing folder apart."""
    return [problem.code for problem in check(session) if problem.code != "cwd-missing"]


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Everything in a folder, to see that nothing was left or changed in it."""
    return {
        str(path): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
