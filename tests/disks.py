"""File systems of their own for tests: small ones, full ones and such that cannot be written to."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def small_disk(folder: Path, size: str = "64k") -> Iterator[Path]:
    """A file system of that size; skips where this machine lets nobody make one."""
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    folder.mkdir()
    if (
        mount is None
        or unmount is None
        or subprocess.run(
            [mount, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
            capture_output=True,
            check=False,
        ).returncode
    ):
        pytest.skip("no small file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run([unmount, "-l", str(folder)], check=True)


def filled(disk: Path) -> Path:
    """Leaves no room on a disk; the file that takes it, to be removed when there is to be room again."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as other, pytest.raises(OSError, match="No space"):
        while True:
            other.write(b"\0" * 4096)
    return filler
