"""A transcript with the content of another agent's session (Claude Code 2.1): prompts, replies, calls and their results.

Claude Code adds its own context to the next prompt. Thinking of other models is left out: thinking is signed by its own
provider, and Anthropic accepts no other.
"""

from __future__ import annotations

import os
import re
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from leafward.agents.claude.fork import TITLE, folder_of, resume_of
from leafward.agents.claude.injection import attachment_row
from leafward.agents.claude.store import PROJECTS, SUFFIX
from leafward.agents.conversation import COUNTS_LEFT
from leafward.agents.fork_draft import ForkDraft
from leafward.agents.storage.json_text import written
from leafward.base.times import iso_time
from leafward.session.entries import EntryIndex
from leafward.session.headlines.session_title import title_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.conversation import Conversation, ConversationMessage
    from leafward.agents.fork_draft import ForkTerms
    from leafward.session.entries import Body

VERSION = "2.1.330"
"""The version whose row format is used."""
EMPTY = "(empty)"
"""Text for an empty message: Anthropic accepts no message without text."""
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_NOT_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 64
_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_NOTHING = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 0,
}


def converted(past: Conversation, terms: ForkTerms, root: Path) -> ForkDraft:
    """A draft of a transcript under a configuration folder. Raises Refused where the session names no folder."""
    cwd = terms.folder(past.session, TITLE)
    name = str(uuid4())
    path = Path(folder_of(os.path.join(root, PROJECTS), cwd)) / f"{name}{SUFFIX}"
    kept = sum(1 for _ in past.portable_messages())
    writer = _Writer(past, terms, name, cwd)
    return ForkDraft(
        agent="claude",
        id=name,
        path=path,
        file=path,
        content=writer.lines,
        resume=resume_of(path, name, cwd, terms.env),
        kept=kept,
        left=past.left,
        remarks=(*past.remarks(), COUNTS_LEFT),
    )


class _Writer:
    """Writes rows, one after the other."""

    def __init__(self, past: Conversation, terms: ForkTerms, session: str, cwd: str) -> None:
        self._past, self._terms, self._session, self._cwd = past, terms, session, cwd
        self._tip: str | None = None
        self._last: Body = {}
        self._now = round(terms.now.timestamp() * 1000)
        self._number = 0
        self._seed = UUID(session).bytes
        self._calls: dict[str, str] = {}
        """Ids of calls that wait for their result: the source's id, and ours."""
        self._taken: set[str] = set()

    def lines(self) -> Iterator[bytes]:
        """The whole transcript."""
        results: list[Body] = []
        beside: list[ConversationMessage] = []
        """Messages that nobody typed and that are not answered yet."""
        stamp = entry = last = 0
        for message in self._past.portable_messages():
            if message.role != "result" and results:
                yield self._user(results, last, entry)
                results = []
            if message.role == "user" and not message.typed:
                beside.append(message)
                continue
            for one in beside:
                yield self._user(_content(one), one.time or stamp, one.entry)
            beside = []
            stamp, entry = message.time or stamp, message.entry
            if message.role == "result":
                # A result that only says that there is none is as old as its call.
                last = max(last, stamp) if results else stamp
                results.append(self._result(message))
            elif message.role == "assistant":
                row = self._assistant(message)
                if row is not None:
                    yield row
            else:
                yield self._user(_content(message), stamp, entry)
        if results:
            yield self._user(results, last, entry)
        for text in [*map(_text, beside), self._terms.injected]:
            if text:
                self._last = attachment_row(text, self._terms, self._session, self._last)
                yield written(self._last) + b"\n"
        session = self._past.session
        if session.name:
            named: Body = {"type": "custom-title", "customTitle": session.name}
        elif title := title_of(session):
            # Nobody named the session: the title takes the place of Claude Code's own ones.
            named = {"type": "ai-title", "aiTitle": title}
        else:
            return
        yield written({**named, "sessionId": self._session}) + b"\n"

    def _row(self, kind: str, stamp: int, entry: int, **fields: Any) -> bytes:
        source = self._past.session
        row: Body = {
            "parentUuid": self._tip,
            "isSidechain": False,
            "userType": "external",
            "cwd": self._cwd,
            "sessionId": self._session,
            "version": VERSION,
            "type": kind,
            **fields,
            "uuid": str(uuid4()),
            "timestamp": iso_time(stamp or self._now) or iso_time(self._now),
            "forkedFrom": {"sessionId": source.id, "messageUuid": source.columns.id(EntryIndex(entry))},
        }
        self._tip, self._last = row["uuid"], row
        return written(row) + b"\n"

    def _user(self, content: object, stamp: int, entry: int) -> bytes:
        return self._row("user", stamp, entry, message={"role": "user", "content": content})

    def _assistant(self, converted: ConversationMessage) -> bytes | None:
        blocks: list[Body] = []
        for block in converted.content:
            if block.get("type") == "text" and str(block.get("text") or "").strip():
                blocks.append({"type": "text", "text": str(block["text"])})
            elif block.get("type") == "toolCall" and "hosted" not in block:
                blocks.append(self._call(block))
        if not blocks:
            return None
        self._number += 1
        calls = any(block["type"] == "tool_use" for block in blocks)
        message: Body = {
            "id": f"msg_{self._made(f'm{self._number}')}",
            "type": "message",
            "role": "assistant",
            "model": converted.model or "unknown",
            "content": blocks,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": _NOTHING,
        }
        return self._row("assistant", converted.time, converted.entry, message=message)

    def _call(self, block: Body) -> Body:
        call_id = str(block.get("id") or "")
        name = call_id
        if not _CALL_ID.match(call_id) or call_id in self._taken:
            name = f"toolu_{self._made(f'{call_id} {len(self._taken)}')}"
        self._taken.add(name)
        self._calls[call_id] = name
        arguments = block.get("arguments")
        tool = _NOT_NAME.sub("_", str(block.get("name") or "tool"))[:_LONGEST_NAME]
        return {
            "type": "tool_use",
            "id": name,
            "name": tool,
            "input": arguments if isinstance(arguments, dict) else {},
        }

    def _result(self, message: ConversationMessage) -> Body:
        block: Body = {
            "type": "tool_result",
            "tool_use_id": self._calls.pop(message.call, message.call),
            "content": _content(message),
        }
        return {**block, "is_error": True} if message.failed else block

    def _made(self, text: str) -> str:
        """An id derived from the session and a text."""
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12, key=self._seed).hexdigest()


def _text(message: ConversationMessage) -> str:
    """The text of a message; its images are named."""
    found = _content(message)
    if isinstance(found, str):
        return found
    return "\n".join(str(block.get("text") or "[image]") for block in found)


def _content(message: ConversationMessage) -> str | list[Body]:
    """The text as a string where there is nothing else, otherwise blocks; images that Anthropic does not accept are named."""
    texts = [str(block.get("text") or "") for block in message.content if block.get("type") == "text"]
    if len(texts) == len(message.content):
        text = "\n".join(texts)
        return text if text.strip() else EMPTY
    found: list[Body] = []
    for block in message.content:
        if block.get("type") == "image":
            kind = str(block.get("mimeType") or "")
            if kind in _IMAGES:
                source = {"type": "base64", "media_type": kind, "data": str(block.get("data") or "")}
                found.append({"type": "image", "source": source})
            else:
                found.append({"type": "text", "text": f"[image {kind}]"})
        elif str(block.get("text") or "").strip():
            found.append({"type": "text", "text": str(block["text"])})
    return found or EMPTY
