"""Runs the driver in a process of its own, with the library of faults preloaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.surroundings import REPOSITORY
from tests.torture.faults import LIBRARY, build

if TYPE_CHECKING:
    from collections.abc import Iterator

_IN_MEMORY = Path("/dev/shm")


class Unavailable(Exception):
    """This machine has no way to let calls of the system go wrong."""


def torture(seed: int, limit: int, seconds: float) -> dict[str, Any]:
    """At most so many injections, and a quarter as many mutations, within about so many seconds. Raises Unavailable."""
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="torture-")))
        library = build(scratch)
        if library is None:
            raise Unavailable(
                "no C compiler here, or nothing is preloaded on this system or from this folder"
            )
        # Two file systems where there are two; the one in memory has no disk to wait for.
        above = _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else scratch
        world = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="torture-", dir=above)))
        other = scratch / "other"
        other.mkdir()
        environment = {
            **os.environ,
            "LD_PRELOAD": str(library),
            LIBRARY: str(library),
            "PYTHONPATH": os.pathsep.join(_import_paths()),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        made = subprocess.run(
            [
                sys.executable,
                "-m",
                "tests.torture.driver",
                *map(str, (world, other, seed, limit, seconds)),
            ],
            cwd=REPOSITORY,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds + 120,
            check=False,
        )
        if made.returncode:
            raise RuntimeError(f"the driver ended with {made.returncode}: {made.stderr[-2000:]}")
        found: dict[str, Any] = json.loads(made.stdout.splitlines()[-1])
        return found


def _import_paths() -> Iterator[str]:
    """As this process imports the packages and the tests."""
    yield str(REPOSITORY)
    yield from (path for path in sys.path if path)
