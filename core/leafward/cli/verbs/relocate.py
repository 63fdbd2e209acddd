"""The verb `relocate`: begins the sessions of a renamed project folder again in its new place."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from leafward.agents.base import expanded
from leafward.agents.registry import agent_named
from leafward.base.figures import counted, first_few
from leafward.base.safe_text import safe_line
from leafward.branches.fork import folder_named
from leafward.branches.relocation import RelocationOutcome, moved_sessions, relocate
from leafward.catalogue.listing import Catalogue
from leafward.catalogue.namesakes import short_ids
from leafward.cli.output.page import emit_json, note, page, say, table
from leafward.cli.output.written import after
from leafward.cli.settings import configured

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from leafward.branches.relocation import Relocation

_PATH = 4000
"""Most characters shown of a path."""
_TITLE = 24
"""The fewest cells of the titles, by which a reader knows the sessions."""


def relocate_sessions(old: str, new: str, dry_run: bool, as_json: bool) -> int:
    """`leafward relocate`. Returns 1 if a session is refused."""
    settings = configured()
    folder = folder_named(new, os.environ)
    gone = str(expanded(old, os.environ))
    catalogue = Catalogue(settings)
    catalogue.refresh()
    ids = short_ids(catalogue.cards())
    found = moved_sessions(catalogue.cards(), gone, folder)
    diagnostics = [
        {"code": "unreadable-folder", "text": f"{one.path}: {one.reason}"} for one in catalogue.trouble
    ]
    if os.path.isdir(gone):
        diagnostics.append({"code": "old-folder", "text": f"{gone} still exists; its sessions stay there"})
    done: list[Relocation] = []
    try:
        done.extend(relocate(found, settings, os.environ, write=not dry_run))
    except KeyboardInterrupt:
        if not as_json:
            say(_text(done, folder, ids, dry_run=dry_run))
            note(f"stopped with {counted(len(found) - len(done), 'session')} left; run it again to continue")
        raise
    made = [one.path for one in done if one.outcome is RelocationOutcome.MADE and not dry_run]
    wrote = counted(len(made), "session was", "sessions were")
    with after(f"{wrote} copied to {folder}: {first_few(made, 3)}" if made else ""):
        if as_json:
            emit_json(
                {
                    "old": gone,
                    "new": folder,
                    "sessions": [_json(one, dry_run=dry_run) for one in done],
                    "totals": _totals(done),
                    "dry_run": dry_run,
                    "diagnostics": diagnostics,
                }
            )
        else:
            say(_text(done, folder, ids, dry_run=dry_run))
            for one in diagnostics:
                note(one["text"])
            if dry_run:
                note("nothing was written")
    return int(any(one.outcome is RelocationOutcome.REFUSED for one in done))


def _totals(done: Sequence[Relocation]) -> dict[str, int]:
    return {outcome.value: sum(one.outcome is outcome for one in done) for outcome in RelocationOutcome}


def _json(one: Relocation, *, dry_run: bool) -> dict[str, Any]:
    card, draft = one.moved.card, one.draft
    # A draft that is not written has an id, a file and a command that will never exist.
    named = draft if not dry_run else None
    return {
        "agent": card.agent,
        "id": card.id,
        "path": card.path,
        "title": card.title,
        "project": card.project,
        "cwd": one.moved.folder,
        "outcome": one.outcome.value,
        "reason": one.reason,
        "new": (one.path or None) if named is not None or one.outcome is RelocationOutcome.THERE else None,
        "new_id": named.id if named is not None else None,
        "kept": draft.kept if draft is not None else None,
        "resume": list(named.resume.argv) if named is not None else None,
        "diagnostics": [{"code": remark.code, "text": remark.text} for remark in one.remarks],
    }


def _text(done: Sequence[Relocation], folder: str, ids: Mapping[str, str], *, dry_run: bool) -> Iterator[str]:
    paper, totals = page(), _totals(done)
    verb = "would copy" if dry_run else "copied"
    made = counted(totals["made"], "session")
    yield f"{paper.style(f'{verb} {made}', 'ghost')} to {safe_line(folder, _PATH)}; the old ones stay as they are"
    counts = [f"{totals[outcome]:,} {word}" for outcome, word in _LEFT.items() if totals[outcome]]
    if counts:
        yield ", ".join(counts)
    if not done:
        return
    yield ""
    rows = [
        (
            _LEFT.get(one.outcome, verb),
            agent_named(one.moved.card.agent).title,
            safe_line(ids[one.moved.card.id], 36),
            one.moved.card.title,
            safe_line(_detail(one, folder, dry_run=dry_run), _PATH),
        )
        for one in done
    ]
    # One long reason must not take the titles of all rows.
    yield from table(("", "agent", "id", "title", ""), rows, paper, grow=3, least=_TITLE)


_LEFT = {
    RelocationOutcome.THERE: "already there",
    RelocationOutcome.SKIPPED: "skipped",
    RelocationOutcome.REFUSED: "not possible",
}
"""The outcomes for which no session is written, in words."""


def _detail(one: Relocation, folder: str, *, dry_run: bool) -> str:
    """The reason, or the id of the new session, and its folder if that is below the new one.

    A dry run shows no id, as each run makes up another one.
    """
    notable = [remark.text for remark in one.remarks if remark.code in _NOTABLE]
    below = f"in {os.path.relpath(one.moved.folder, folder)}" if one.moved.folder != folder else ""
    made = one.draft if one.outcome is RelocationOutcome.MADE and not dry_run else None
    new = f"as {made.id}" if made is not None else ""
    return "; ".join(part for part in (one.reason, new, below, *notable) if part)


_NOTABLE = frozenset({"before-prompt", "healed", "kept-beside"})
"""Codes of remarks that a new session differs from the old one."""
