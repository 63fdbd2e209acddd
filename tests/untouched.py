"""Whether anything below a folder was made, changed or taken away."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def contents(folder: Path) -> dict[str, tuple[str, int]]:
    """Each file and folder by its name, with what the file holds and when it was written."""
    return {
        path.relative_to(folder).as_posix(): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        if path.is_file()
        else ("folder", 0)
        for path in sorted(folder.rglob("*"))
    }
