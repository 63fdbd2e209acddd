"""The verb `export`: a session as a document for other readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.cli.output.delivery import deliver
from leafward.cli.queries import chosen_entries
from leafward.cli.selection import opened

if TYPE_CHECKING:
    from leafward.cli.options.session_options import ExportOptions


def export(selector: str, options: ExportOptions, as_json: bool) -> int:
    """`leafward export`."""
    from leafward.export.documents.session_export import export as run

    with opened(selector) as session:
        index = session.find(options.at) if options.at is not None else None
        only = chosen_entries(session, options.select) if options.select is not None else None
        whole, secrets = options.every_branch, options.keep_secrets
        done = run(session, options.form, index, whole=whole, secrets=secrets, only=only)
        at = session.columns.id_at(session.leaf if index is None else index)
        facts = {"format": options.form, "at": at, "entries": done.entries} if as_json else None
        deliver(
            done.text,
            options.output,
            session,
            done.redacted,
            counted(done.entries, "entry", "entries"),
            facts,
        )
    return 0
