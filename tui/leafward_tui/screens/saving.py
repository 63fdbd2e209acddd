"""Files that are written on request: beside what is there, and for their owner only."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["free_path", "private"]


def free_path(stem: str, suffix: str) -> Path:
    """A name in the current folder that no file has."""
    folder = Path.cwd()
    path = folder / f"{stem}.{suffix}"
    number = 2
    while path.exists():
        path = folder / f"{stem}-{number}.{suffix}"
        number += 1
    return path


def private(path: str, flags: int) -> int:
    """Opens a file that only its owner reads: what a session says is for nobody else."""
    return os.open(path, flags, 0o600)
