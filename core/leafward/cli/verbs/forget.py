"""`leafward doctor --forget`: drops the index of all sessions, and documents left for an import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.base.safe_text import pasted_path, safe_line
from leafward.branches.fork import left_imports
from leafward.catalogue.index import Index
from leafward.cli.output.page import emit_json, say
from leafward.cli.output.written import after
from leafward.compaction.injection.findings import kept_findings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def forget(dry_run: bool, as_json: bool) -> int:
    """`leafward doctor --forget`; the index is made again by the next listing."""
    index = Index()
    path = index.path
    documents = left_imports()
    try:
        size: int | None = path.stat().st_size
    except FileNotFoundError:
        size = None
    if not dry_run:
        path.unlink(missing_ok=True)
        kept_findings.forget()
        for document in documents:
            document.unlink(missing_ok=True)
    gone = [f"the index {path}"] if size is not None else []
    if documents:
        gone.append(f"{counted(len(documents), 'document')} in {documents[0].parent}")
    with after(f"removed {' and '.join(gone)}" if gone and not dry_run else ""):
        _report(index, size, documents, dry_run, as_json)
    return 0


def _report(index: Index, size: int | None, documents: Sequence[Path], dry_run: bool, as_json: bool) -> None:
    path = index.path
    known = len(index.cards) if index.rejected is None else None
    if as_json:
        facts = {"path": str(path), "sessions": known, "bytes": size, "damaged": index.rejected}
        emit_json(
            {
                "forgotten": facts if size is not None else None,
                "imports": list(map(str, documents)),
                "dry_run": dry_run,
                "diagnostics": [],
            }
        )
        return
    if size is None:
        say(f"there is no index: {pasted_path(str(path))}")
    else:
        what = (
            counted(known, "session")
            if known is not None
            else f"it could not be used: {safe_line(index.rejected or '', 80)}"
        )
        say(f"{'would drop' if dry_run else 'dropped'} {pasted_path(str(path))}, {size:,} bytes ({what})")
    if documents:
        done, left = "would remove" if dry_run else "removed", counted(len(documents), "document")
        say(f"{done} {left} left for an import in {pasted_path(str(documents[0].parent))}")
