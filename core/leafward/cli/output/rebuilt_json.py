"""A rebuilt file as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.branches.diff.contents import lines_of

if TYPE_CHECKING:
    from leafward.files.file_replay.replay import Rebuilt
    from leafward.session.session import Session


def rebuilt_json(session: Session, file: Rebuilt) -> dict[str, Any]:
    """A rebuilt file, as JSON."""
    return {
        "path": file.path,
        "certainty": file.certainty.value,
        "text": file.text,
        "lines": file.total if file.text is None else len(lines_of(file)),
        "spans": [{"first": span.first, "lines": list(span.lines)} for span in file.spans],
        "pieces": list(file.pieces),
        "base": file.base,
        "every_branch": file.every_branch,
        "ends_known": file.ends,
        "remarks": [
            {"entry": session.columns.id_at(entry), "remark": what.value} for entry, what in file.remarks
        ],
    }
