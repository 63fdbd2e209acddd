"""Report of a write: its operation as JSON, the entries that it names, and remarks for the user on stderr."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.agents.recognition import agent_behind
from leafward.base.errors import LeafwardError
from leafward.base.figures import counted
from leafward.base.safe_text import excerpt_line, safe_line
from leafward.cli.output.page import note
from leafward.session.headlines.entry_headline import headline

if TYPE_CHECKING:
    from leafward.session.entries import Body
    from leafward.session.journal.write import Write
    from leafward.session.session import Session

_ID_SHOWN = 16
"""Characters shown of an id: enough for opencode's ids, which begin with the time."""
_WORDS = 100
"""Characters shown of an entry's first words."""


def place_text(session: Session, name: str | None) -> str:
    """An entry as text: its id and its headline."""
    if name is None:
        return "before the first entry"
    index = session.columns.index(name)
    text = safe_line(name[:_ID_SHOWN], _ID_SHOWN)
    return f"{text}  {excerpt_line(headline(session, index).text, _WORDS)}" if index >= 0 else text


def short_id(name: str | None) -> str:
    """An entry's id, shortened for a line; `start` for the place before all entries."""
    return "start" if name is None else safe_line(name[:_ID_SHOWN], _ID_SHOWN)


def write_json(session: Session, written: Write) -> Body:
    """An operation as JSON, the same in every verb that writes."""
    return {
        "op": written.op,
        "kind": written.kind.value,
        "from": written.from_leaf,
        "leaf": written.leaf,
        "target": written.target,
        "undoes": written.undoes,
        "entries": list(written.entries),
        "size": written.size,
        "backup": str(written.backup) if written.backup is not None else None,
        "dry_run": written.dry_run,
        "diagnostics": _diagnostics(session, written),
    }


def unwritten_json(session: Session, *, dry_run: bool) -> Body:
    """The keys of an operation that was not written, as a decision of the user is missing."""
    leaf = session.columns.id_at(session.leaf)
    empty = dict.fromkeys(("op", "kind", "target", "undoes", "backup"))
    return {
        **empty,
        "from": leaf,
        "leaf": leaf,
        "entries": [],
        "size": 0,
        "dry_run": dry_run,
        "diagnostics": [],
    }


def _diagnostics(session: Session, written: Write) -> list[Body]:
    remarks: list[Body] = [{"code": remark.code, "text": remark.text} for remark in written.remarks]
    if written.recent and written.changed and not written.dry_run:
        remarks.append({"code": "recent", "text": _recent_text(session)})
    return remarks


def _recent_text(session: Session) -> str:
    """Advice for a user whose agent is running: how to make it read the written lines."""
    agent = agent_behind(session)
    advice = f"the file changed a moment ago; restart {agent.title} to pick this up"
    try:
        command = agent.resume(session, os.environ)
    except LeafwardError:
        return advice
    return f"{advice}: {command.command()}"


def remark(session: Session, written: Write) -> None:
    """Prints remarks on a write on stderr."""
    for one in _diagnostics(session, written):
        note(str(one["text"]))
    if written.backup is not None and not written.dry_run:
        note(f"backup of the old file: {written.backup}")
    if written.dry_run and written.changed:
        note(f"nothing was written ({counted(written.size, 'byte')} would be appended)")
