"""Forks of opencode drafted in tests: their documents, and what an import makes of one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from leafward.agents.registry import agent_named
from leafward.branches import fork as forking
from leafward.session.entries import Kind
from leafward.session.messages import message_text
from tests.forks import at_home
from tests.opencode_store import FOLDER, OPENCODE, Conversation, Database, call, opened, said

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.agents.fork_draft import ForkTerms
    from leafward.session.session import Session

ID = re.compile(r"(ses|msg|prt)_[0-9a-f]{12}[0-9A-Za-z]{14}\Z")
"""How opencode's ids look."""


def draft(
    session: Session, entry: int, given: ForkTerms | None = None, *, source: str = "opencode"
) -> forking.Fork:
    return forking.fork(session, entry, OPENCODE, given or at_home(), agent_named(source))


def document(made: forking.Fork) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(b"".join(made.draft.content()))
    return found


def imported(body: dict[str, Any], root: Path) -> Session:
    """The session that the import makes of a document."""
    talk = Conversation(body["info"]["id"], at=body["info"]["time"]["created"])
    talk.info = {"directory": FOLDER, "title": body["info"]["title"], "version": body["info"]["version"]}
    talk.messages = [(one["info"], one["parts"]) for one in body["messages"]]
    return opened(Database(root).write(talk))


def at(session: Session, text: str, kind: Kind = Kind.USER) -> int:
    for index, found in enumerate(session.columns.kind):
        if found == kind and text in message_text((session.body(index) or {}).get("message", {})):
            return index
    raise LookupError(text)


def busy() -> Conversation:
    """A session with calls made together, a compaction that keeps a tail, and turns behind it."""
    talk = Conversation()
    talk.ask(
        "Look at both", {"type": "file", "mime": "text/plain", "url": "data:text/plain,hi", "filename": "a"}
    )
    talk.reply(
        said("Both."),
        call("read", "aaa", number=1, filePath="/a"),
        call("read", "bbb", number=2, filePath="/b", attachments=[{"id": "prt_x", "messageID": "m", "sessionID": "s", "type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"}]),
    )  # fmt: skip
    talk.reply(said("Seen."))
    tail = talk.turn("Keep")
    talk.compaction("So far: both.", tail)
    talk.turn("After")
    talk.turn("Last")
    return talk
