"""File systems of their own for tests: small ones, full ones and such that cannot be written to."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
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
    with filler.open("wb", buffering=0) as other:
        _fill(other)
    return filler


def _fill(file: BinaryIO) -> None:
    while True:
        try:
            file.write(b"\0" * 4096)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            return


@contextmanager
def read_only(disk: Path) -> Iterator[None]:
    """A mounted disk that nobody writes to meanwhile; skips where that cannot be had."""
    mount = shutil.which("mount")
    assert mount is not None
    frozen = subprocess.run([mount, "-o", "remount,ro", str(disk)], capture_output=True, check=False)
    if frozen.returncode:
        pytest.skip("no file system can be made read-only here")
    try:
        yield
    finally:
        subprocess.run([mount, "-o", "remount,rw", str(disk)], check=True)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes: the call fails, since Python ignores the signal.

    No bytecode is written meanwhile: Python 3.11 takes no notice of a short write there, and every later process
    would fail at the import.
    """
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        sys.dont_write_bytecode = written
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def failing(code: int) -> Callable[..., None]:
    """A call of the system that fails with an error number, in the place of one."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return refuse
