"""A transcript as Claude Code writes one, row by row, and what its recorded requests say, for tests."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.agents.registry import agent_named
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import NATIVE_ROLE, Kind
from tests.foreign_sessions import opened_by

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.context.message_columns import ContextMessage
    from leafward.session.entries import Body
    from leafward.session.session import Session

DATA = Path(__file__).parent / "data" / "claude"
CLAUDE = agent_named("claude")
IDS = [f"{number:08x}-0000-4000-8000-00000000beef" for number in range(1, 20)]
"""Ids of sessions."""


def opened(path: Path) -> Session:
    """A session, closed when the test ends."""
    return opened_by(CLAUDE, path)


NO_USAGE: Body = {"input_tokens": 0, "output_tokens": 0}
"""Of a reply that nothing was counted for."""


class Transcript:
    """Appends rows; each hangs on the one before it unless another is named."""

    def __init__(
        self, home: Path, session: str = IDS[0], *, folder: str = "projects/-home-ada-orchard"
    ) -> None:
        self.path = home / folder / f"{session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(b"")
        self.session = session
        self.tip: str | None = None
        self.number = 0
        self.defaults: dict[str, Any] = {}

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    @property
    def stamp(self) -> str:
        return f"2026-11-21T10:{self.number // 60:02}:{self.number % 60:02}.000Z"

    def raw(self, data: bytes) -> int:
        """Appends bytes and says where they begin."""
        at = self.size
        with self.path.open("ab") as file:
            file.write(data)
        return at

    def text_of(self, type_: str, **fields: Any) -> str:
        self.number += 1
        row: dict[str, Any] = {
            "isSidechain": False,
            "type": type_,
            "timestamp": self.stamp,
            "cwd": "/home/ada/orchard",
            "sessionId": self.session,
            "version": "2.1.0",
            **self.defaults,
        }
        if type_ in ("user", "assistant", "system", "attachment", "progress"):
            row = {"parentUuid": self.tip, **row, "uuid": self.id_of(self.number)}
        row.update(fields)
        if "uuid" in row:
            self.tip = row["uuid"]
        return json.dumps(row, separators=(",", ":"), ensure_ascii=False)

    def id_of(self, number: int) -> str:
        """The id of the row with a number, counted from 1."""
        digest = hashlib.sha256(f"{self.path.stem}{number}".encode()).hexdigest()
        return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"

    def row(self, type_: str, **fields: Any) -> str:
        """Appends a row; returns its id, or that of the last one that has one."""
        self.raw(self.text_of(type_, **fields).encode("utf-8", "surrogatepass") + b"\n")
        return self.tip or ""

    def prompt(self, text: str, **fields: Any) -> str:
        return self.row("user", message={"role": "user", "content": text}, **fields)

    def reply(self, text: str, message: str | None = None, **fields: Any) -> str:
        return self.block(
            {"type": "text", "text": text}, message or f"msg_{self.number}", "end_turn", **fields
        )

    def block(
        self,
        block: Body,
        message: str,
        stop: str | None = "tool_use",
        usage: Body | None = None,
        **fields: Any,
    ) -> str:
        said = {
            "id": message,
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [block],
            "stop_reason": stop,
            "usage": usage or {"input_tokens": 10, "output_tokens": 5},
        }
        return self.row("assistant", message=said, **fields)

    def call(self, name: str, call: str, message: str | None = None, **given: Any) -> str:
        block = {"type": "tool_use", "id": call, "name": name, "input": given}
        return self.block(block, message or f"msg_{self.number}")

    def result(self, call: str, text: str = "done", *, failed: bool = False, **fields: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}
        return self.row("user", message={"role": "user", "content": [block]}, **fields)

    def attachment(self, text: str, kind: str = "environment", **fields: Any) -> str:
        return self.row("attachment", attachment={"type": kind}, rendered=[{"content": text}], **fields)

    def turn(self, prompt: str, reply: str) -> str:
        self.prompt(prompt)
        return self.reply(reply)

    def boundary(self, summary: str, after: str | None = None, **said: Any) -> str:
        """A compaction of what lies above a row; what the boundary keeps is said with `said`."""
        at = after or self.tip
        self.row(
            "system",
            subtype="compact_boundary",
            content="compacted",
            parentUuid=None,
            logicalParentUuid=at,
            compactMetadata={"trigger": "manual", "preTokens": 900, **said},
        )
        return self.prompt(summary, isCompactSummary=True)

    def opened(self) -> Session:
        return opened(self.path)


def shape(session: Session) -> list[tuple[str, str | None]]:
    """Every entry that says something, with the prompt or reply it hangs below."""
    names = {index: str(session.columns.id(index)) for index in range(len(session))}
    found = []
    for index, kind in enumerate(session.columns.kind):
        parent = session.tree.content_at(session.columns.parent[index])
        if session.tree.content_at(index) == index:
            found.append((NATIVE_ROLE.get(kind, Kind(kind).name), names.get(parent)))
    return found


# --- recorded requests ---

Pieces = list[tuple[str, str]]


class Recorded:
    """The requests that a transcript of 2.1.3xx recorded, rebuilt from their hashes."""

    def __init__(self, path: Path) -> None:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        self.requests = {row["id"]: row for row in rows if row["type"] == "api-request"}
        self.messages = {row["hash"]: row["message"] for row in rows if row["type"] == "api-request-blob"}
        replies: dict[str, list[Any]] = {}
        for row in rows:
            if row["type"] == "assistant":
                replies.setdefault(row["message"]["id"], []).extend(row["message"]["content"])
        for content in replies.values():
            message = {"content": content, "role": "assistant"}
            text = json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            self.messages[hashlib.sha256(text.encode()).hexdigest()] = message

    def hashes(self, request: str) -> list[str]:
        row = self.requests[request]
        base = self.hashes(row["base"])[: row["keep"]] if row.get("base") else []
        tail: list[str] = row["tail"]
        return base + tail

    def pieces(self, request: str) -> Pieces:
        """Messages sent: consecutive texts of a side joined, calls and results by their ids."""
        return joined(pieces_sent(self.messages[digest] for digest in self.hashes(request)))


def pieces_sent(messages: Iterable[Body]) -> Pieces:
    """Messages of a request, one after the other: texts, calls and results by their ids."""
    found: Pieces = []
    for message in messages:
        side = "assistant" if message["role"] == "assistant" else "user"
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] == "text":
                found.append((side, block["text"]))
            elif block["type"] == "tool_use":
                found.append(("call", block["id"]))
            elif block["type"] == "tool_result":
                inner = block["content"]
                text = inner if isinstance(inner, str) else "".join(one.get("text", "") for one in inner)
                found += [("result", block["tool_use_id"]), ("user", text)]
    return found


def projected(session: Session, at: int) -> Pieces:
    """The messages sent, according to our context."""
    return joined(pieces_of(session, context_at(session, at).messages))


def pieces_of(session: Session, messages: Iterable[ContextMessage]) -> Pieces:
    """Messages of a context, in the form of a request."""
    found: Pieces = []
    for message in messages:
        body = message_body(session, message)
        if message.role == "compactionSummary":
            found.append(("user", body["summary"]))
            continue
        side = "assistant" if message.role == "assistant" else "user"
        if message.role == "toolResult":
            found.append(("result", body["toolCallId"]))
        for block in body["content"]:
            if block["type"] == "text":
                found.append((side, block["text"]))
            elif block["type"] == "toolCall":
                found.append(("call", block["id"]))
    return found


_REDACTED = re.compile(r"\[redacted(?:\d+chars)?\]")


def joined(pieces: Pieces) -> Pieces:
    found: Pieces = []
    for side, text in pieces:
        if side not in ("call", "result"):
            text = _REDACTED.sub("\0", re.sub(r"\s+", "", text))
        if found and found[-1][0] == side and side in ("user", "assistant"):
            found[-1] = side, found[-1][1] + text
        else:
            found.append((side, text))
    return found


def agree(sent: Pieces, ours: Pieces) -> bool:
    """Whether two contexts are equal, as far as what was redacted for the corpora lets one see."""
    if [side for side, _ in sent] != [side for side, _ in ours]:
        return False
    for (_, one), (_, other) in zip(sent, ours, strict=True):
        known = [[part for part in text.split("\0") if part] for text in (one, other)]
        if one != other and not (
            all(part in other for part in known[0]) or all(part in one for part in known[1])
        ):
            return False
    return True


def in_one_piece(session: Session) -> None:
    """Fails unless everything hangs on one first entry and nothing branches."""
    roots = [index for index, parent in enumerate(session.columns.parent) if parent < 0]
    assert roots == [0]
    assert session.branches == 0
    assert session.tree.branch_points() == []


def compactions(session: Session) -> list[int]:
    """Indexes of the compactions, in the order of the file."""
    return [index for index, kind in enumerate(session.columns.kind) if kind == Kind.COMPACTION]


NOWHERE = "0badcafe-0000-4000-8000-000000000000"
"""The id of a row that was never written."""


def boundary(transcript: Transcript, summary: str = "what happened", **fields: Any) -> None:
    """A compaction as it is written where what it follows is not named, or named by a row that is not there."""
    given = {"parentUuid": None, "compactMetadata": {"trigger": "auto", "preTokens": 900}, **fields}
    transcript.row("system", subtype="compact_boundary", content="compacted", **given)
    transcript.prompt(summary, isCompactSummary=True)
