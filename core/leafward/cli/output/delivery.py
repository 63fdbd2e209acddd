"""A document for other readers, written to the file of `-o` or to stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.safe_text import pasted_path
from leafward.cli.output.page import emit_json, note, say, write_text
from leafward.cli.output.written import after
from leafward.redaction.redaction import listed

if TYPE_CHECKING:
    from collections import Counter
    from pathlib import Path

    from leafward.session.session import Session


_STDOUT = 1
"""The descriptor of stdout: `-o /dev/stdout` means `-o -`."""


def deliver(
    text: str,
    output: Path | None,
    session: Session,
    redacted: Counter[str],
    size: str,
    facts: dict[str, Any] | None,
) -> None:
    """Writes a document to the file named by `-o` or to stdout, and says so; as JSON, with these facts, where they are given.

    The session itself is never replaced. Raises LeafwardError and OSError, as `write_document` does.
    """
    from leafward.base.output_file import descriptor_of, write_document

    shown = output is None or str(output) == "-" or descriptor_of(output) == _STDOUT
    file = None if shown else output
    if file is not None:
        write_document(file, text, (session.path, session.path.parent))
    with after(f"{file} was written" if file is not None else ""):
        if facts is not None:
            path = str(file.resolve()) if file is not None else None
            shown_text = text if file is None else None
            emit_json({**facts, "path": path, "redacted": dict(redacted), "text": shown_text})
            return
        if file is None:
            write_text(text)
        else:
            say(f"wrote {pasted_path(str(file))}: {size}")
    if redacted:
        note(f"redacted {listed(redacted)}; --keep-secrets leaves them")
