"""Another agent's session for `opencode import`: prompts, replies, calls with their results.

opencode adds its own system prompt. Thinking of other models is left out.
"""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

from leafward.agents.conversation import COUNTS_LEFT
from leafward.agents.opencode.documents import TITLE, Ids, document, draft_of, injected_message
from leafward.agents.opencode.storage.database import opened
from leafward.agents.opencode.storage.sessions import OURS
from leafward.base.errors import NotASession
from leafward.session.entries import text_of
from leafward.session.headlines.session_title import title_of
from leafward.session.journal.write import WriteRemark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.conversation import Conversation, ConversationMessage
    from leafward.agents.fork_draft import ForkDraft, ForkTerms
    from leafward.agents.opencode.storage.store import Store
    from leafward.session.entries import Body

VERSION = "1.18.33"
"""The version whose message format is used."""
_NOTHING = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
_LONGEST_TITLE = 80


def converted(past: Conversation, terms: ForkTerms, database: str, store: Store) -> ForkDraft:
    """A draft of a session for the import into a database. Raises Refused where the session names no folder."""
    session = past.session
    cwd = terms.folder(session, TITLE)
    kept = sum(1 for _ in past.portable_messages())
    ids = Ids(os.urandom(16))
    name = ids.session(round(terms.now.timestamp() * 1000))
    model, remarks = _model(past, database)
    writer = _Writer(past, terms, name, cwd, ids, model)
    return draft_of(
        session=name,
        database=database,
        cwd=cwd,
        content=writer.document,
        kept=kept,
        left=past.left,
        remarks=(*remarks, *past.remarks(), COUNTS_LEFT),
        terms=terms,
        store=store,
    )


def _model(past: Conversation, database: str) -> tuple[Body, list[WriteRemark]]:
    """The model for the new session: the model of the session used last, since opencode stops at an unknown one."""
    try:
        with opened(database) as base:
            latest = base.latest_model()
    except (sqlite3.Error, OSError, NotASession):
        latest = {}
    if isinstance(latest.get("id"), str) and isinstance(latest.get("providerID"), str):
        return {"providerID": latest["providerID"], "modelID": latest["id"]}, []
    context = past.context
    model = {"providerID": context.provider or "unknown", "modelID": context.model or "unknown"}
    text = f"opencode has used no model yet: it will ask for {model['providerID']}/{model['modelID']}, or -m names another"
    return model, [WriteRemark("model", text)]


class _Writer:
    """Writes messages, one after the other."""

    def __init__(
        self, past: Conversation, terms: ForkTerms, session: str, cwd: str, ids: Ids, model: Body
    ) -> None:
        self._past, self._terms, self._session, self._cwd = past, terms, session, cwd
        self._ids, self._model = ids, model
        self._prompt = ""
        self._stamp = 0
        self._taken: set[str] = set()

    def document(self) -> Iterator[bytes]:
        """The document for the import."""
        past, now = self._past, round(self._terms.now.timestamp() * 1000)
        source = past.session
        info: Body = {
            "id": self._session,
            "slug": self._session,
            "projectID": "global",
            "directory": self._cwd,
            "title": source.name or (title_of(source) or past.opening())[:_LONGEST_TITLE] or source.id,
            "version": VERSION,
            "metadata": {OURS: {"forkedFrom": source.id, "at": source.columns.id(past.cut.end)}},
            "time": {"created": now, "updated": now},
        }
        return document(info, self._messages())

    def _messages(self) -> Iterator[Body]:
        reply: ConversationMessage | None = None
        results: dict[str, ConversationMessage] = {}
        for message in self._past.portable_messages():
            if message.role == "result":
                results[message.call] = message
                continue
            if reply is not None:
                yield from self._reply(reply, results)
            reply, results = (message, {}) if message.role == "assistant" else (None, {})
            if message.role == "user":
                yield self._user(message)
        if reply is not None:
            yield from self._reply(reply, results)
        if self._terms.injected:
            yield injected_message(self._terms, self._session, self._ids, self._model)

    def _info(self, message: ConversationMessage, role: str, parts: int) -> Body:
        # Messages are ordered by time: none is earlier than the one before it.
        self._stamp = max(self._stamp + 1, message.time)
        name = self._ids.message(self._stamp, parts)
        return {"id": name, "sessionID": self._session, "role": role, "time": {"created": self._stamp}}

    def _part(self, info: Body, **fields: object) -> Body:
        return {"id": self._ids.part(), "sessionID": self._session, "messageID": info["id"], **fields}

    def _user(self, message: ConversationMessage) -> Body:
        info = self._info(message, "user", len(message.content))
        info |= {"agent": "build", "model": self._model}
        self._prompt = info["id"]
        parts = []
        for block in message.content:
            if block.get("type") == "image":
                parts.append(self._part(info, **_file(block)))
            else:
                extra = {} if message.typed else {"synthetic": True}
                parts.append(self._part(info, type="text", text=str(block.get("text") or ""), **extra))
        return {"info": info, "parts": parts}

    def _reply(self, message: ConversationMessage, results: dict[str, ConversationMessage]) -> Iterator[Body]:
        spoken = [
            block
            for block in message.content
            if (block.get("type") == "text" and str(block.get("text") or "").strip())
            or (block.get("type") == "toolCall" and "hosted" not in block)
        ]
        if not spoken:
            return
        info = self._info(message, "assistant", len(spoken) * 2)
        calls = any(block["type"] == "toolCall" for block in spoken)
        info["time"]["completed"] = self._stamp
        info |= {
            "parentID": self._prompt or info["id"],
            "modelID": message.model or "unknown",
            "providerID": message.provider or "unknown",
            "mode": "build",
            "agent": "build",
            "path": {"cwd": self._cwd, "root": self._cwd},
            "cost": 0,
            "tokens": _NOTHING,
            "finish": "tool-calls" if calls else "stop",
        }
        parts = []
        for block in spoken:
            if block["type"] == "text":
                parts.append(self._part(info, type="text", text=str(block["text"])))
            else:
                parts.append(self._call(info, block, results.get(str(block.get("id")))))
        yield {"info": info, "parts": parts}

    def _call(self, info: Body, block: Body, result: ConversationMessage | None) -> Body:
        call_id = str(block.get("id") or "")
        name = (
            call_id
            if call_id and call_id not in self._taken
            else f"call_{self._ids.part().partition('_')[2]}"
        )
        self._taken.add(name)
        arguments = block.get("arguments")
        content = list(result.content) if result is not None else []
        text = text_of(content)
        state: Body = {"input": arguments if isinstance(arguments, dict) else {}}
        time = {"start": self._stamp, "end": self._stamp}
        if result is not None and result.failed:
            state |= {"status": "error", "error": text or "failed", "time": time}
        else:
            state |= {"status": "completed", "output": text, "title": "", "metadata": {}, "time": time}
            images = [self._part(info, **_file(one)) for one in content if one.get("type") == "image"]
            if images:
                state["attachments"] = images
        return self._part(info, type="tool", tool=str(block.get("name") or "tool"), callID=name, state=state)


def _file(block: Body) -> Body:
    mime = str(block.get("mimeType") or "image/png")
    return {
        "type": "file",
        "mime": mime,
        "filename": "image",
        "url": f"data:{mime};base64,{block.get('data') or ''}",
    }
