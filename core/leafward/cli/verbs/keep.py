"""The verb `keep`: a copy of a session where its agent cannot delete it, or one without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.base.safe_text import pasted_path
from leafward.catalogue.backups import keep as keep_copy
from leafward.cli.output.page import emit_json, note, say
from leafward.cli.output.written import after
from leafward.cli.selection import chosen_card
from leafward.export.clean_copy import sanitise
from leafward.redaction.redaction import listed

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.catalogue.backups import KeptCopy
    from leafward.catalogue.cards.card import Card
    from leafward.export.clean_copy import Sanitised


def keep(selector: str, dry_run: bool, as_json: bool) -> int:
    """`leafward keep`."""
    card, _ = chosen_card(selector)
    done = keep_copy(card, dry_run=dry_run)
    with after(f"{done.path} was written" if done.changed and not dry_run else ""):
        return _report_kept(card, done, dry_run, as_json)


def _report_kept(card: Card, done: KeptCopy, dry_run: bool, as_json: bool) -> int:
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
    files, path = counted(len(done.files), done.what), pasted_path(str(done.path))
    if done.changed:
        say(f"{'would keep' if dry_run else 'kept'} {files}, {done.size:,} bytes: {path}")
    else:
        say(f"already kept, {files}: {path}")
    return 0


def keep_sanitised(selector: str, folder: Path, dry_run: bool, as_json: bool) -> int:
    """`leafward keep --sanitised`."""
    card, _ = chosen_card(selector)
    done = sanitise(card, folder, dry_run=dry_run)
    with after(f"{done.path} was written" if not dry_run else ""):
        return _report_sanitised(card, done, dry_run, as_json)


def _report_sanitised(card: Card, done: Sanitised, dry_run: bool, as_json: bool) -> int:
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
    files = counted(len(done.files), "file")
    say(
        f"{'would write' if dry_run else 'wrote'} {files}, {done.size:,} bytes: {pasted_path(str(done.path))}"
    )
    note(f"redacted {listed(done.redacted)}" if done.redacted else "no secret found: the copy is the same")
    if done.untouched:
        note(f"{counted(len(done.untouched), 'file')} without text copied unchecked")
    return 0
