"""The verbs about whole sessions: keep, delete, archive; and forgetting the index of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.agents import agent_of as recognised_agent
from leafward.base import config as settings
from leafward.base.errors import NotFound, Refused
from leafward.base.safe_text import safe_line
from leafward.branches.fork import left_imports
from leafward.catalog import Catalogue, parents
from leafward.catalog.backups import keep as keep_copy
from leafward.catalog.index import Index
from leafward.catalog.trash import Thrown, bring_back, find_thrown, going, refuse_taken, throw_away
from leafward.cli.handing_on import listed
from leafward.cli.move import write_json
from leafward.cli.output import emit_json, note, page, plural, say
from leafward.cli.selection import configured_stores, opened, session_path
from leafward.export.clean_copy import sanitise
from leafward.session import journal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from leafward.catalog import Card


def keep(selector: str, dry_run: bool, as_json: bool) -> int:
    """`leafward keep`."""
    card, _ = _chosen(selector)
    done = keep_copy(card, dry_run=dry_run)
    if as_json:
        emit_json(
            {
                "session": card.path,
                "agent": card.agent,
                "path": str(done.path),
                "files": [str(file) for file in done.files],
                "copied": done.copied,
                "bytes": done.size,
                "changed": done.changed,
                "dry_run": dry_run,
                "diagnostics": [],
            }
        )
        return 0
    files = plural(len(done.files), done.what)
    if not done.changed:
        say(f"kept already, {files}: {safe_line(str(done.path))}")
    else:
        say(
            f"{_would(dry_run)}{'keep' if dry_run else 'kept'} {files}, {done.size:,} bytes: {safe_line(str(done.path))}"
        )
    return 0


def keep_sanitised(selector: str, folder: Path, dry_run: bool, as_json: bool) -> int:
    """`leafward keep --sanitised`."""
    card, _ = _chosen(selector)
    done = sanitise(card, folder, dry_run=dry_run)
    if as_json:
        emit_json(
            {
                "session": card.path,
                "agent": card.agent,
                "path": str(done.path),
                "files": [str(file) for file in done.files],
                "bytes": done.size,
                "redacted": dict(done.redacted),
                "untouched": [str(file) for file in done.untouched],
                "dry_run": dry_run,
                "diagnostics": [],
            }
        )
        return 0
    files = plural(len(done.files), "file")
    say(
        f"{_would(dry_run)}{'write' if dry_run else 'wrote'} {files}, {done.size:,} bytes: {safe_line(str(done.path))}"
    )
    note(f"redacted {listed(done.redacted)}" if done.redacted else "no secret found: the copy is the same")
    if done.untouched:
        note(f"{plural(len(done.untouched), 'file')} without text copied unchecked")
    return 0


def delete(selector: str, undo: bool, dry_run: bool, as_json: bool) -> int:
    """`leafward delete`."""
    if undo:
        return _bring_back(find_thrown(selector), dry_run, as_json)
    card, cards = _chosen(selector)
    goes = going(card, cards, parents(cards))
    thrown = None if dry_run else throw_away(card)
    if as_json:
        emit_json(
            {
                "session": card.path,
                "id": card.id,
                "title": card.title,
                "entries": card.entries,
                "bytes": card.size,
                "forks": [{"id": fork.id, "path": fork.path, "title": fork.title} for fork in goes.forks],
                "trash": str(thrown.file) if thrown is not None else None,
                "undo": ["leafward", "delete", "--undo", card.id],
                "dry_run": dry_run,
                "diagnostics": [],
            }
        )
        return 0
    say(
        f"{_would(dry_run)}{'move' if dry_run else 'moved'} to the trash: {card.title}"
        f"   {plural(card.entries or 0, 'entry', 'entries')}, {card.size:,} bytes"
    )
    if goes.forks:
        titles = ", ".join(fork.title for fork in goes.forks[:3])
        more = f" and {len(goes.forks) - 3} more" if len(goes.forks) > 3 else ""
        say(
            f"{plural(len(goes.forks), 'fork')} of it {'stay' if len(goes.forks) > 1 else 'stays'}: {titles}{more}"
        )
    if thrown is not None:
        say(page().style(f"leafward delete --undo {safe_line(card.id)}  brings it back", "faint"))
    return 0


def _bring_back(thrown: Thrown, dry_run: bool, as_json: bool) -> int:
    if dry_run:
        refuse_taken(thrown)
    else:
        bring_back(thrown)
    if as_json:
        emit_json(
            {
                "session": str(thrown.path),
                "id": thrown.id,
                "title": thrown.title,
                "bytes": thrown.size,
                "restored": not dry_run,
                "dry_run": dry_run,
                "diagnostics": [],
            }
        )
        return 0
    say(f"{_would(dry_run)}{'bring' if dry_run else 'brought'} back {safe_line(str(thrown.path))}")
    return 0


def archive_session(selector: str, unarchive: bool, dry_run: bool, as_json: bool) -> int:
    """`leafward archive SESSION` without an entry."""
    with opened(selector) as session:
        written = journal.archive_session(session, not unarchive, journal.Writing(dry_run=dry_run))
        if as_json:
            emit_json(write_json(session, written) | {"archived": not unarchive})
            return 0
        done, verb = ("brought back", "bring back") if unarchive else ("archived", "archive")
        if not written.changed:
            say(f"as it was already: {done}")
        else:
            say(f"{f'would {verb}' if dry_run else done} the session; the file stays where it is")
    return 0


def forget(dry_run: bool, as_json: bool) -> int:
    """`leafward doctor --forget`: drops the index of all sessions, which is made anew, and documents left for an import."""
    index = Index()
    path = index.path
    known = len(index.cards) if index.rejected is None else None
    documents = left_imports()
    try:
        size: int | None = path.stat().st_size
    except FileNotFoundError:
        size = None
    if not dry_run:
        path.unlink(missing_ok=True)
        for document in documents:
            document.unlink(missing_ok=True)
    if as_json:
        facts: dict[str, Any] = {
            "path": str(path),
            "sessions": known,
            "bytes": size,
            "damaged": index.rejected,
        }
        emit_json(
            {
                "forgotten": facts if size is not None else None,
                "imports": list(map(str, documents)),
                "dry_run": dry_run,
                "diagnostics": [],
            }
        )
        return 0
    if size is None:
        say(f"there is no index: {safe_line(str(path))}")
    else:
        what = (
            plural(known, "session")
            if known is not None
            else f"it could not be used: {safe_line(index.rejected or '', 80)}"
        )
        verb = "drop" if dry_run else "dropped"
        say(f"{_would(dry_run)}{verb} {safe_line(str(path))}, {size:,} bytes ({what})")
    if documents:
        verb = "remove" if dry_run else "removed"
        left = plural(len(documents), "document")
        say(f"{_would(dry_run)}{verb} {left} left for an import in {safe_line(str(documents[0].parent))}")
    return 0


def _would(dry_run: bool) -> str:
    return "would " if dry_run else ""


def _chosen(selector: str) -> tuple[Card, Sequence[Card]]:
    """The session a user means, and all there are."""
    path = str(session_path(selector).absolute())
    config, problems = settings.load()
    for problem in problems:
        note(str(problem))
    catalogue = Catalogue(config)
    catalogue.refresh()
    cards = catalogue.cards()
    found = next((card for card in cards if card.path == path), None)
    if found is None:
        # It lies in no agent's store.
        alone = Catalogue(config, [session_path(selector)])
        alone.refresh()
        found = alone.card(path)
    if found is None:
        raise NotFound(
            f"no session {safe_line(selector)!r} for {recognised_agent(session_path(selector), configured_stores).title}"
        )
    if found.problem is not None:
        raise Refused(f"{safe_line(path)} cannot be read as a session: {found.problem}")
    return found, cards
