"""A new session from an earlier turn of one in opencode's database: its messages with fresh ids, for `opencode import`.

The import silently skips ids that exist already, so none of the source's ids is in the document. We write nothing to the
database.
"""

from __future__ import annotations

import os
import re
import sqlite3
from typing import TYPE_CHECKING, Any

from leafward.agents.authorship import own_cut
from leafward.agents.opencode.documents import TITLE, Ids, document, draft_of, injected_message
from leafward.agents.opencode.entries.parts import steps_in
from leafward.agents.opencode.storage import newer_engine as newer
from leafward.agents.opencode.storage.database import opened
from leafward.agents.opencode.storage.records import object_in
from leafward.agents.opencode.storage.sessions import OURS
from leafward.agents.opencode.transcript import OpenCodeReader, merged
from leafward.base.errors import NotASession, Refused
from leafward.context.model_context import context_at
from leafward.session.entries import BOOKKEEPING, EntryIndex, Kind, object_at, text_at
from leafward.session.foreign import reader_of
from leafward.session.headlines.session_title import title_of
from leafward.session.journal.write import WriteRemark
from leafward.session.lines.line_decoding import decode_line
from leafward.session.messages import EDIT_TARGETS, trusted_usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.authorship import OwnCut
    from leafward.agents.fork_draft import ForkDraft, ForkPoint, ForkTerms
    from leafward.agents.opencode.storage.database import Database
    from leafward.agents.opencode.storage.records import MessageRecord, StoredRow
    from leafward.agents.opencode.storage.store import Store
    from leafward.session.entries import Body
    from leafward.session.session import Session

FORKED = " (fork)"
_LOOKED_AT = 64
"""Entries below a place that are searched for an automatic compaction."""
_HIDDEN = "-hidden"
_MADE = re.compile(r"(?:-pruned|-dropped|-system|-hidden)?(?:@\d+)?\Z")
"""Suffixes of ids of entries that do not stand for a message or part alone."""


def fork(
    session: Session, cut: ForkPoint, terms: ForkTerms, database: str, into: str, store: Store
) -> ForkDraft:
    """A draft of a session with the messages of a path, from one database `into` another. Raises Refused without a folder."""
    reader = reader_of(session)
    if not isinstance(reader, OpenCodeReader):
        raise Refused(f"{session.path.name} is not a session of opencode")
    cwd = terms.folder(session, TITLE)
    own = own_cut(session, reader.translation.columns, cut)
    copy = _Copy(session, reader, own, database, cwd)
    ids = Ids(os.urandom(16))
    name = ids.session(round(terms.now.timestamp() * 1000))
    return draft_of(
        session=name,
        database=into,
        cwd=cwd,
        content=lambda: copy.document(name, ids, terms),
        kept=copy.held,
        left=copy.left + own.passed,
        remarks=(*own.remarks(), *copy.remarks()),
        terms=terms,
        store=store,
    )


class _Copy:
    """The copied part of a session."""

    def __init__(
        self, session: Session, reader: OpenCodeReader, cut: OwnCut, database: str, cwd: str
    ) -> None:
        self._session, self._database, self._cwd = session, database, cwd
        columns = reader.translation.columns
        self._at = columns.id(cut.end)
        self._prompt = columns.id(cut.prompt) if cut.prompt >= 0 else ""
        self._entries: set[str] = set()
        self._records: set[str] = set()
        """Ids of messages, and of parts that are entries."""
        self._pruned: set[str] = set()
        """Results that are cleared on the path."""
        self.held = self.left = 0
        self._recounted = _recounted(session, cut.end)
        at = cut.last(columns)
        while at >= 0:
            name = columns.id(at)
            if columns.kind[at] in (Kind.SYSTEM, Kind.UNKNOWN):
                self.left += 1
            else:
                self.held += 1
            self._entries.add(name)
            self._records.add(_MADE.sub("", name, count=1))
            if columns.kind[at] == Kind.CONTEXT_EDIT:
                self._pruned.update((reader.translation.body(at) or {}).get(EDIT_TARGETS, ()))
            at = columns.parent[at]

    def remarks(self) -> tuple[WriteRemark, ...]:
        """Remarks on the copy."""
        if self._recounted is None:
            return ()
        _, recorded, size = self._recounted
        if size < recorded:
            text = (
                f"opencode compacted here at {recorded:,} tokens: the last reply of the copy carries the estimate of"
                f" what is sent here (~{size:,}), so that it is not compacted before the next prompt"
            )
            return (WriteRemark("recounted", text),)
        text = f"opencode compacted here at {recorded:,} tokens, and does so again before the next prompt"
        return (WriteRemark("compacts-again", text),)

    def document(self, name: str, ids: Ids, terms: ForkTerms) -> Iterator[bytes]:
        """The document for the import. Raises Refused where the database has become unreadable."""
        try:
            with opened(self._database) as base:
                row = base.row(self._session.id)
                if not row:
                    raise Refused(f"{self._session.id} is no longer in {self._database}")
                info = self._info(row, name, terms)
                yield from document(info, self._messages(base, row, name, ids, terms))
        except (sqlite3.Error, OSError, NotASession) as error:
            raise Refused(f"cannot read {self._database}: {error}") from error

    def _info(self, row: dict[str, Any], name: str, terms: ForkTerms) -> Body:
        now = round(terms.now.timestamp() * 1000)
        title = title_of(self._session) or (text_at(row, "title") or name)
        info: Body = {
            "id": name,
            "slug": text_at(row, "slug") or name,
            "projectID": text_at(row, "project_id") or "global",
            "directory": self._cwd,
            "title": title if title.endswith(FORKED) else title + FORKED,
            "version": text_at(row, "version") or "1.2.0",
        }
        # A relative path belongs to the project's folder.
        for field in ("agent", "path") if self._cwd == self._session.cwd else ("agent",):
            if isinstance(row.get(field), str):
                info[field] = row[field]
        for field in ("model", "permission"):
            text = row.get(field)
            known = _value(text) if isinstance(text, str) else None
            if known:
                info[field] = known
        lineage = {"forkedFrom": self._session.id, "at": self._at}
        info["metadata"] = {**object_in(str(row.get("metadata") or "")), OURS: lineage}
        info["time"] = {"created": now, "updated": now}
        return info

    def _messages(
        self, base: Database, row: dict[str, Any], name: str, ids: Ids, terms: ForkTerms
    ) -> Iterator[Body]:
        revert = object_in(str(row.get("revert") or ""))
        renamed: dict[str, str] = {}
        prompt = latest = ""
        model: Body = {}
        for record in merged(base, self._session.id, self._database, _refuse, []):
            if record.message.id == self._prompt or not self._holds(record):
                continue
            for held, body in _usual(record):
                old, parts = held.message.id, held.parts
                if old == text_at(revert, "messageID") and old + _HIDDEN not in self._entries:
                    parts = parts[: _place(held, text_at(revert, "partID"))]
                parts = parts[: self._end(parts)]
                created = object_at(body, "time").get("created")
                stamp = created if isinstance(created, int) else held.message.created
                new = renamed[old] = ids.message(stamp, len(parts) * 2)
                message: Body = {**body, "id": new, "sessionID": name}
                if body.get("role") == "user":
                    prompt = new
                    model = object_at(body, "model") or model
                elif "parentID" in body:
                    message["parentID"] = renamed.get(text_at(body, "parentID"), prompt or new)
                latest = new
                if self._recounted is not None and old == self._recounted[0]:
                    message["tokens"] = _counts(min(self._recounted[1:]), object_at(body, "tokens"))
                copied = (
                    self._part(decode_line(part.data), part.id, new, name, ids, renamed) for part in parts
                )
                yield {"info": message, "parts": [part for part in copied if part is not None]}
        if terms.injected and latest:
            yield injected_message(terms, name, ids, model)

    def _holds(self, record: MessageRecord) -> bool:
        return record.message.id in self._records or any(part.id in self._records for part in record.parts)

    def _end(self, parts: list[StoredRow]) -> int:
        """The number of parts that are copied of a message: all, or those before the first step that is behind the place."""
        for begin in steps_in([decode_line(part.data) for part in parts])[1:]:
            if parts[begin].id not in self._records:
                return begin
        return len(parts)

    def _part(
        self, body: Body | None, old: str, message: str, session: str, ids: Ids, renamed: dict[str, str]
    ) -> Body | None:
        """A part under its new names; an output that was cleared after the cut is whole again."""
        if body is None:
            return None
        part: Body = {**body, "id": ids.part(), "sessionID": session, "messageID": message}
        if body.get("type") == "compaction" and "tail_start_id" in body:
            tail = text_at(body, "tail_start_id")
            part["tail_start_id"] = renamed.get(tail, tail)
        state = object_at(body, "state")
        if body.get("type") == "tool" and state:
            part["state"] = state = dict(state)
            time = object_at(state, "time")
            if "compacted" in time and old not in self._pruned:
                state["time"] = {key: value for key, value in time.items() if key != "compacted"}
            attached = state.get("attachments")
            if isinstance(attached, list):
                state["attachments"] = [_attachment(one, message, session, ids) for one in attached]
        return part


def _recounted(session: Session, end: int) -> tuple[str, int, int] | None:
    """The last reply at a place behind which opencode compacted by itself; None elsewhere.

    The id of its message, the tokens recorded there, and the estimate of the context sent there. opencode checks the count of its last
    reply before it sends the next prompt (1.18).
    """
    if not _compacts_next(session, end):
        return None
    context = context_at(session, end)
    messages = context.messages
    for position in range(len(messages) - 1, -1, -1):
        entry = messages.entry[position]
        if session.columns.kind[entry] == Kind.ASSISTANT:
            usage = trusted_usage((session.body(entry) or {}).get("message") or {})
            if usage is None:
                continue
            return (
                _MADE.sub("", session.columns.id(EntryIndex(entry)), count=1),
                usage.total,
                sum(messages.tokens),
            )
    return None


def _compacts_next(session: Session, end: int) -> bool:
    """Whether the next event below an entry is an automatic compaction."""
    tree, kinds = session.tree, session.columns.kind
    waiting = list(tree.children(end))
    for _ in range(_LOOKED_AT):
        if not waiting:
            break
        at = waiting.pop()
        details = (session.body(at) or {}).get("details") if kinds[at] not in BOOKKEEPING else None
        if isinstance(details, dict) and details.get("auto") is True:
            return True
        if kinds[at] not in (Kind.ASSISTANT, Kind.COMPACTION):
            waiting.extend(tree.children(at))
    return False


def _counts(size: int, recorded: Body) -> Body:
    """Counts of a reply, in the fields of the recorded ones."""
    counts: Body = {"input": size, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    return {**counts, "total": size} if "total" in recorded else counts


def _usual(record: MessageRecord) -> Iterator[tuple[MessageRecord, Body]]:
    """A message in the form of the engine for which an import writes; none where it is broken."""
    body = decode_line(record.message.data)
    if body is not None:
        yield from newer.as_usual(record, body)


def _attachment(one: object, message: str, session: str, ids: Ids) -> object:
    if not isinstance(one, dict) or "id" not in one:
        return one
    return {**one, "id": ids.part(), "sessionID": session, "messageID": message}


def _place(record: MessageRecord, part: str) -> int:
    return next((place for place, one in enumerate(record.parts) if one.id == part), len(record.parts))


def _refuse(name: str, error: Exception) -> None:
    raise Refused(f"{name} cannot be read: {error}")


def _value(text: str) -> Any:
    """A JSON value of any type; None for invalid text."""
    found = decode_line(b'{"value":' + text.encode("utf-8", "surrogatepass") + b"}")
    return found.get("value") if found is not None else None
