"""What a write did: its operation as JSON, the entries that it names, and what a user should know of it on stderr."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.base.errors import LeafwardError
from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.cli.output import note
from leafward.cli.selection import agent_behind
from leafward.session.entry_headline import headline

if TYPE_CHECKING:
    from leafward.session.entries import Body
    from leafward.session.journal import Write
    from leafward.session.session import Session

_ID_SHOWN = 16
"""Characters of an id in a line: as many as tell those of opencode apart, which begin with the time."""


def place_text(session: Session, name: str | None) -> str:
    """An entry as a person knows it: its id and what it says."""
    if name is None:
        return "before the first entry"
    index = session.columns.index(name)
    text = safe_line(name[:_ID_SHOWN], _ID_SHOWN)
    return f"{text}  {safe_line(headline(session, index).text, 100)}" if index >= 0 else text


def short_id(name: str | None) -> str:
    """An entry's id as it stands in a line; `start` before everything."""
    return "start" if name is None else safe_line(name[:_ID_SHOWN], _ID_SHOWN)


def write_json(session: Session, written: Write) -> Body:
    """An operation as every verb that writes puts it into its document."""
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


def _diagnostics(session: Session, written: Write) -> list[Body]:
    remarks: list[Body] = [{"code": remark.code, "text": remark.text} for remark in written.remarks]
    if written.recent and written.changed and not written.dry_run:
        remarks.append({"code": "recent", "text": _recent_text(session)})
    return remarks


def _recent_text(session: Session) -> str:
    """The advice for a user whose agent is running: how the agent gets to see the write."""
    agent = agent_behind(session)
    advice = f"the file changed a moment ago; restart {agent.title} to pick this up"
    try:
        command = agent.resume(session, os.environ)
    except LeafwardError:
        return advice
    return f"{advice}: {command.command()}"


def remark(session: Session, written: Write) -> None:
    """Says on stderr what a user should know of a write."""
    for one in _diagnostics(session, written):
        note(str(one["text"]))
    if written.backup is not None and not written.dry_run:
        note(f"the file as it was: {written.backup}")
    if written.dry_run and written.changed:
        note(f"nothing was written ({counted(written.size, 'byte')} would be appended)")
