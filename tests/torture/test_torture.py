"""A sample of what `make torture` does at length: calls of the system that go wrong, at every verb that writes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from leafward.doctor.litter import litter
from leafward.session.session import Session
from tests.pi_file import conversation
from tests.surroundings import THOROUGH
from tests.torture.process import Unavailable, torture

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("seed", [1, 2] if THOROUGH else [1])
def test_a_call_that_goes_wrong_loses_nothing_and_leaves_nothing_torn(seed: int) -> None:
    limit = 200 if THOROUGH else 50
    try:
        found = torture(seed, limit, 300)
    except Unavailable as error:
        pytest.skip(str(error))
    assert found["failures"] == []
    assert found["injections"] >= 0.8 * limit
    assert found["mutations"] == limit // 4
    assert set(found["by_end"]) == {"killed", "done", "refused"}


STRACE = shutil.which("strace")
_INJECTED = [
    ("write:signal=KILL:when=1", -9),
    ("write:error=ENOSPC:when=1+", 1),
    ("write:error=EIO:when=1", 1),
    ("fsync:error=EIO:when=1", 1),
    ("fsync:signal=KILL:when=1", -9),
    ("flock:error=ENOLCK:when=1", 1),
]


@pytest.mark.parametrize(("injected", "code"), _INJECTED)
def test_the_same_seen_from_outside(tmp_path: Path, injected: str, code: int) -> None:
    """The system itself lets the call go wrong, in a process that knows nothing of it."""
    file = conversation(tmp_path / "session.jsonl")
    before = file.path.read_bytes()
    if STRACE is None:
        pytest.skip("no strace here")
    command = [sys.executable, "-m", "leafward", "label", str(file.path), "#0", "a label"]
    traced = [STRACE, "-f", "-o", os.devnull, "-P", str(file.path), "-e", f"inject={injected}"]
    made = subprocess.run(
        [*traced, *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    if "PTRACE" in made.stderr or "ptrace" in made.stderr:
        pytest.skip(f"nobody may trace here: {made.stderr.strip()[:80]}")
    assert made.returncode == code, made.stderr
    after = file.path.read_bytes()
    assert after.startswith(before)
    assert after.endswith(b"\n")
    assert all(json.loads(line) for line in after.splitlines())
    if not injected.startswith("fsync"):
        assert after == before
    assert litter([str(tmp_path)]) == []
    file.leaf = "00000006"
    file.user("from the agent")
    session = Session.open(file.path)
    try:
        assert len(session) == 7 + (after != before)
    finally:
        session.close()
