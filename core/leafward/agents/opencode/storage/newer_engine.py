"""Messages of opencode's newer engine in the form of its usual one: a message, and its parts.

The newer engine (behind `/api` of the server in 1.18) stores a whole message in one row of `session_message`; `seq` orders them.
Its differences are handled here: the form of results and failures, the text that continues a compacted conversation, rows that
switch agents and models, and staged reverts, which hide nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from leafward.agents.opencode.storage.records import NEVER, MessageRecord, StoredRow, dumped, object_in
from leafward.session.entries import object_at, text_at
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.session.entries import Body

ENGINE = "engine"
NEWER = "newer"
"""The field of a message, and its value, that mark the newer engine's messages."""
BESIDE = "beside"
"""The field of a message that is not a turn of its own: the kind of its row."""
SYSTEM = "system"
AGENT_SWITCHED, MODEL_SWITCHED, SHELL = "agent-switched", "model-switched", "shell"
_EVENTS = "session.next."


class Teller:
    """Converts the rows of one session, in order."""

    def __init__(self, path: str, root: str, model: Body) -> None:
        """`path`: the database. `root`: the folder to which file names of snapshots are relative. `model`: of the session's row."""
        self._path, self._root = path, root
        self._where = {"path": {"cwd": root, "root": root}}
        self._agent = "build"
        self._model = _model(model)
        self._prompt = ""

    def records(self, name: str, kind: str, created: int, row: int, data: bytes) -> Iterator[MessageRecord]:
        """A row as a message, or as two where it holds two; a row of invalid JSON as it is."""
        body = decode_line(data)
        stored = StoredRow(name, created, data, self._path, row)
        if body is None:
            yield MessageRecord(stored, [])
            return
        parts: list[Body] = []
        message: Body = {"agent": self._agent, "model": self._model, ENGINE: NEWER}
        message["time"] = {"created": created, **object_at(body, "time")}
        if kind in ("user", "synthetic", SYSTEM):
            message["role"] = "user"
            parts = _prompt_parts(body, synthetic=kind != "user")
            if kind == "user":
                self._prompt = name
            elif kind == SYSTEM:
                message[BESIDE] = kind
        elif kind == "assistant":
            message |= self._reply(body)
            parts = self._content(body)
        elif kind == "compaction":
            message |= {"role": "assistant", "summary": True, "finish": "stop", "mode": "compaction"}
            message |= {"parentID": self._prompt, "reason": body.get("reason"), **self._model, **self._where}
            parts = [{"type": "text", "text": text_at(body, "summary")}]
        else:
            message |= {**body, "role": kind}
            self._switch(kind, body)
        yield self._as_record(stored, message, parts)
        if kind == "compaction" and text_at(body, "recent"):
            recent = {**_prompted(message), BESIDE: kind}
            part = {"type": "text", "text": text_at(body, "recent"), "synthetic": True}
            yield self._as_record(stored._replace(id=f"{name}-recent"), recent, [part])

    def _as_record(self, stored: StoredRow, message: Body, parts: list[Body]) -> MessageRecord:
        made = [
            StoredRow(f"{stored.id}-{number}", stored.created, dumped(part), self._path, stored.row)
            for number, part in enumerate(parts, start=1)
        ]
        return MessageRecord(stored._replace(data=dumped(message)), made, stored=stored)

    def _switch(self, kind: str, body: Body) -> None:
        if kind == AGENT_SWITCHED:
            self._agent = text_at(body, "agent") or self._agent
        elif kind == MODEL_SWITCHED:
            self._model = _model(object_at(body, "model")) or self._model

    def _reply(self, body: Body) -> Body:
        made: Body = {"role": "assistant", "parentID": self._prompt, "mode": text_at(body, "agent")}
        made |= {"agent": text_at(body, "agent"), **_model(object_at(body, "model"))}
        made |= {key: body[key] for key in ("cost", "tokens", "finish") if key in body}
        made |= self._where
        error = object_at(body, "error")
        if error:
            # The newer engine does not distinguish kinds of errors; this is the usual engine's name for such.
            made["error"] = {"name": "UnknownError", "data": {"message": text_at(error, "message")}}
        return made

    def _content(self, body: Body) -> list[Body]:
        content = body.get("content")
        blocks = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
        created = object_at(body, "time").get("created")
        parts = [_call(one) if one.get("type") == "tool" else _spoken(one, created) for one in blocks]
        snapshot = object_at(body, "snapshot")
        files = snapshot.get("files")
        named = [one for one in files if isinstance(one, str)] if isinstance(files, list) else []
        if named:
            paths = [os.path.join(self._root, one) for one in named]
            parts.append({"type": "patch", "hash": text_at(snapshot, "end"), "files": paths})
        return parts


def _model(found: Body) -> Body:
    """A model in the usual engine's form; empty without one."""
    model = {"providerID": text_at(found, "providerID"), "modelID": text_at(found, "id")}
    return model if any(model.values()) else {}


def _spoken(part: Body, created: object) -> Body:
    """A part without its name, with the times under the usual engine's names."""
    made = {key: value for key, value in part.items() if key not in ("id", "time", "providerMetadata")}
    if made.get("type") == "reasoning":
        time = object_at(part, "time")
        begun = time.get("created", created)
        made["time"] = {"start": begun, "end": time.get("completed", begun)}
    return made


def _prompt_parts(body: Body, *, synthetic: bool) -> list[Body]:
    text: Body = {"type": "text", "text": text_at(body, "text")}
    if synthetic:
        text["synthetic"] = True
    parts = [text]
    files = body.get("files")
    parts += [_file(one) for one in files if isinstance(one, dict)] if isinstance(files, list) else []
    agents = body.get("agents")
    parts += (
        [{"type": "agent", **one} for one in agents if isinstance(one, dict)]
        if isinstance(agents, list)
        else []
    )
    return parts


def _file(one: dict[str, Any]) -> Body:
    return {
        "type": "file",
        "mime": text_at(one, "mime"),
        "url": text_at(one, "uri"),
        "filename": text_at(one, "name"),
    }


def _call(part: Body) -> Body:
    """A call with its result. A result without content is sent as its fields in JSON (opencode 1.18.33)."""
    state, time = object_at(part, "state"), object_at(part, "time")
    status = text_at(state, "status")
    arguments = state.get("input")
    structured = object_at(state, "structured")
    made: Body = {
        "status": status,
        "input": object_in(arguments) if isinstance(arguments, str) else object_at(state, "input"),
    }
    made["time"] = {
        name: time[key]
        for name, key in (("start", "ran"), ("end", "completed"), ("compacted", "pruned"))
        if key in time
    }
    made["time"].setdefault("start", time.get("created"))
    made["metadata"] = {**structured, **_diff(structured)}
    content = state.get("content")
    blocks = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    if status == "completed":
        texts = [text_at(one, "text") for one in blocks if one.get("type") == "text"]
        made["output"] = "\n".join(texts) if blocks else dumped(structured).decode("utf-8", "replace")
        made["title"] = ""
        files = [_file(one) for one in blocks if one.get("type") == "file"]
        if files:
            made["attachments"] = files
    elif status == "error":
        made["error"] = text_at(object_at(state, "error"), "message")
    return {"type": "tool", "callID": text_at(part, "id"), "tool": text_at(part, "name"), "state": made}


def _diff(structured: Body) -> Body:
    """The patch of a call that changed one file."""
    files = structured.get("files")
    one = files[0] if isinstance(files, list) and len(files) == 1 else None
    patch = one.get("patch") if isinstance(one, dict) else None
    return {"diff": patch} if isinstance(patch, str) else {}


def _prompted(message: Body) -> Body:
    """A message of the user at the time of another one."""
    return {"role": "user", **{key: message[key] for key in ("time", "agent", "model", ENGINE)}}


_UNCOUNTED: dict[str, Any] = {
    "cost": 0,
    "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
}
"""The usual engine's counts for a reply without cost."""


def as_usual(record: MessageRecord, message: Body) -> Iterator[tuple[MessageRecord, Body]]:
    """The messages that the usual engine would hold: a request before a compaction, the text sent for a command, none for a switch."""
    role = message.get("role")
    if message.get(ENGINE) != NEWER:
        yield record, message
    elif role == SHELL:
        text = f"Shell command: {text_at(message, 'command')}\n\n{text_at(message, 'output')}"
        part = record.message._replace(data=dumped({"type": "text", "text": text, "synthetic": True}))
        yield record._replace(parts=[part]), _plain(_prompted(message))
    elif message.get("summary") is True:
        name = f"{record.message.id}-request"
        request_body: Body = {"type": "compaction", "auto": message.get("reason") == "auto"}
        part = record.message._replace(data=dumped(request_body))
        request = record._replace(message=record.message._replace(id=name), parts=[part])
        yield request, _plain(_prompted(message))
        yield record, {**_UNCOUNTED, **_plain(message), "parentID": name}
    elif role == "assistant":
        yield record, {**_UNCOUNTED, **_plain(message)}
    elif role == "user":
        yield record, _plain(message)


def _plain(message: Body) -> Body:
    return {key: value for key, value in message.items() if key not in (ENGINE, BESIDE, "reason")}


# --- deleted messages ---

Event = tuple[int, int, str, "Body"]
"""Number, row, type, data."""


def removed(events: Iterable[Event], kept: set[str], teller: Teller) -> list[MessageRecord]:
    """Messages that a revert deleted, from the events before it, by their numbers. `kept`: ids of the remaining messages."""
    made: dict[str, _Gone] = {}
    gone: dict[str, tuple[_Gone, int]] = {}
    for number, row, kind, data in events:
        what = kind.removeprefix(_EVENTS).rpartition(".")[0]
        if what == "revert.committed":
            for name, one in made.items():
                if name not in kept:
                    gone.setdefault(name, (one, number))
            continue
        name = text_at(data, "assistantMessageID") or text_at(data, "messageID")
        if name and name not in kept and name not in gone:
            one = made.setdefault(name, _Gone(name, number, row, data))
            one.hear(what, data)
    found: list[MessageRecord] = []
    for one, number in gone.values():
        records = (
            teller.records(one.name, one.kind, one.created, one.row, dumped(one.body)) if one.kind else ()
        )
        found += [message._replace(begun=one.begun, removed=min(number, NEVER)) for message in records]
    return found


class _Gone:
    """A deleted message, put together from its events."""

    def __init__(self, name: str, begun: int, row: int, data: Body) -> None:
        self.name, self.begun, self.row = name, begun, row
        stamp = data.get("timestamp")
        self.created = stamp if isinstance(stamp, int) else 0
        self.kind = ""
        self.body: Body = {"time": {"created": self.created}}
        self._parts: dict[str, Body] = {}

    def hear(self, what: str, data: Body) -> None:
        """Adds the content of an event."""
        if what in ("prompted", "synthetic", "context.updated"):
            self.kind = {"prompted": "user", "synthetic": "synthetic"}.get(what, "system")
            self.body |= object_at(data, "prompt") or {"text": text_at(data, "text")}
        elif what == "step.started":
            self.kind = "assistant"
            self.body |= {key: data[key] for key in ("agent", "model") if key in data}
            self.body["content"] = []
        elif what in ("step.ended", "step.failed"):
            self.body |= {key: data[key] for key in ("finish", "cost", "tokens", "error") if key in data}
            self.body["snapshot"] = {"files": data.get("files")}
        elif what == "compaction.ended":
            self.kind = "compaction"
            self.body |= {
                "summary": text_at(data, "text"),
                "recent": text_at(data, "recent"),
                "reason": data.get("reason"),
            }
        elif what.startswith(("text.", "reasoning.")):
            kind = what.partition(".")[0]
            part = self._part(f"{kind} {text_at(data, f'{kind}ID')}", {"type": kind})
            part["text"] = text_at(data, "text")
        elif what.startswith("tool."):
            self._call(what, data)

    def _part(self, name: str, new: Body) -> Body:
        """A part of the content, at the place where it began."""
        if name not in self._parts:
            self._parts[name] = new
            self.body.setdefault("content", []).append(new)
        return self._parts[name]

    def _call(self, what: str, data: Body) -> None:
        name, stamp = text_at(data, "callID"), data.get("timestamp")
        part = self._part(f"tool {name}", {"type": "tool", "id": name, "time": {"created": stamp}})
        state: Body = part.setdefault("state", {"status": "pending", "input": ""})
        if what == "tool.input.started":
            part["name"] = text_at(data, "name")
        elif what == "tool.called":
            part["name"] = text_at(data, "tool")
            part["time"]["ran"] = stamp
            state |= {"status": "running", "input": data.get("input")}
        elif what in ("tool.success", "tool.failed"):
            part["time"]["completed"] = stamp
            state["status"] = "completed" if what == "tool.success" else "error"
            state |= {key: data[key] for key in ("content", "structured", "error") if key in data}
