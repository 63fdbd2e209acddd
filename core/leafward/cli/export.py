"""The verb `export`: a session as a document for other readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.redact.redaction import listed
from leafward.base.safe_text import safe_line
from leafward.cli.output.page import emit_json, note, say, write_text
from leafward.cli.selection import chosen_entries, opened

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.cli.declarations.session_options import ExportOptions

_STDOUT = 1
"""The descriptor of stdout: `-o /dev/stdout` means `-o -`."""


def export(selector: str, options: ExportOptions, as_json: bool) -> int:
    """`leafward export`."""
    from leafward.export.session_export import export as run

    with opened(selector) as session:
        index = session.find(options.at) if options.at is not None else None
        only = chosen_entries(session, options.select) if options.select is not None else None
        done = run(
            session,
            options.form,
            index,
            whole=options.every_branch,
            secrets=options.keep_secrets,
            only=only,
        )
        output = written(options.output, done.text, session.path)
        if as_json:
            emit_json(
                {
                    "format": options.form,
                    "at": session.columns.id_at(session.leaf if index is None else index),
                    "path": str(output.resolve()) if output is not None else None,
                    "entries": done.entries,
                    "redacted": dict(done.redacted),
                    "text": done.text if output is None else None,
                }
            )
            return 0
        if output is None:
            write_text(done.text)
        else:
            say(f"wrote {safe_line(str(output))}: {done.entries:,} entries")
        if done.redacted:
            note(f"redacted {listed(done.redacted)}; --keep-secrets leaves them")
    return 0


def written(output: Path | None, text: str, session: Path) -> Path | None:
    """Writes a document to the file named by `-o` and returns its path; None if it is for stdout.

    The session itself is never replaced. Raises LeafwardError and OSError, as `write_document` does.
    """
    from leafward.export.output_file import descriptor_of, write_document

    if output is None or str(output) == "-" or descriptor_of(output) == _STDOUT:
        return None
    write_document(output, text, (session, session.parent))
    return output
