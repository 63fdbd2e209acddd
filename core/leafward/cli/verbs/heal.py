"""The verb `heal`: makes a new session from one that its agent or the provider refuses, and lists every change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from leafward.agents.fork_draft import ForkTerms
from leafward.agents.recognition import agent_behind
from leafward.base.errors import Refused
from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.branches import fork as forking
from leafward.branches.healing.healing import healing, new_session
from leafward.cli.output.page import emit_json, note, page, say
from leafward.cli.output.written import after
from leafward.cli.selection import opened
from leafward.cli.settings import configured
from leafward.session.journal.lines import utc_now

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.fork_draft import ForkDraft
    from leafward.branches.healing.healing import Healing
    from leafward.session.journal.write import WriteRemark
    from leafward.session.session import Session


def heal(selector: str, cwd: str | None, anyway: bool, dry_run: bool, as_json: bool) -> int:
    """`leafward heal`; with `anyway`, even if nothing has to be changed."""
    settings = configured()
    folder = forking.folder_named(cwd, os.environ) if cwd is not None else ""
    with opened(selector) as session:
        agent = agent_behind(session)
        found = healing(session, settings)
        draft = None
        if found.changes or anyway:
            draft = new_session(session, found, ForkTerms(os.environ, settings, utc_now(), cwd=folder), agent)
            if (obstacle := draft.resume.obstacle()) is not None:
                raise Refused(f"{obstacle}; --cwd FOLDER begins it in another folder")
            if draft.imported is not None:
                draft.resume.program(os.environ)
            if not dry_run:
                forking.store(session, draft)
                forking.import_now(draft, os.environ)
        new = draft if not dry_run else None
        with after(forking.stored_words(new, imported=new.imported is not None) if new is not None else ""):
            if as_json:
                emit_json(_json(session, found, draft, agent.name, dry_run=dry_run))
                return 0
            say(_text(session, found, draft, agent.title, dry_run=dry_run))
        if draft is not None or found.obstacle is not None:
            for remark in _remarks(found, draft):
                note(safe_line(remark.text))
        if dry_run:
            note("nothing was written")
    return 0


def _remarks(found: Healing, draft: ForkDraft | None) -> list[WriteRemark]:
    """Remarks to show beside the changes."""
    obstacle = [found.obstacle] if found.obstacle is not None else []
    return [*obstacle, *found.remarks, *(draft.remarks if draft is not None else ())]


def _json(
    session: Session, found: Healing, draft: ForkDraft | None, agent: str, *, dry_run: bool
) -> dict[str, Any]:
    return {
        "agent": agent,
        "path": str(draft.path) if draft is not None else None,
        "id": draft.id if draft is not None else None,
        "cwd": draft.resume.cwd if draft is not None else None,
        "resume": list(draft.resume.argv) if draft is not None else None,
        "source": {"agent": agent, "id": session.id, "path": str(session.path)},
        "changes": [
            {"code": one.code, "entry": session.columns.id_at(one.entry), "text": one.text}
            for one in found.changes
        ],
        "messages": len(found.messages),
        "file": str(draft.file) if draft is not None and draft.imported is None else None,
        "dry_run": dry_run,
        "diagnostics": [{"code": one.code, "text": one.text} for one in _remarks(found, draft)],
    }


def _text(
    session: Session, found: Healing, draft: ForkDraft | None, title: str, *, dry_run: bool
) -> Iterator[str]:
    paper = page()
    if draft is None:
        yield (
            "nothing was changed"
            if found.obstacle is not None
            else "nothing to heal: no message breaks a known rule of the providers; --anyway writes a new session"
        )
        return
    done = "would begin" if dry_run else "began"
    number = counted(len(found.changes), "change")
    yield f"{paper.style(done, 'ghost')} a session of {title} with {number}; the old one stays as it is"
    yield ""
    width = max((len(one.code) for one in found.changes), default=0)
    for one in found.changes:
        place = paper.style(f"  ({safe_line(session.columns.id_at(one.entry) or 'all', 40)})", "faint")
        yield f"{paper.style('~', 'ghost')} {one.code:<{width}}  {safe_line(one.text, 400)}{place}"
    yield ""
    yield f"{paper.style('holds    ', 'faint')}{counted(len(found.messages), 'message')}"
    yield f"{paper.style('continue ', 'faint')}{draft.resume.line()}"
