"""Whatever fails at or behind a write, what is said of it is true: that the operation was written, or that it was not."""

from __future__ import annotations

import errno
import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.surroundings import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run

STORED = REPOSITORY / "tests" / "data" / "pi" / "sessions" / "branches.jsonl"
VERBS = (
    ("label", "#3", "a label"),
    ("move", "#1"),
    ("compact", "--keep-recent", "1", "--larger", "--accept-loss"),
)
CALLS = ("pread", "fstat", "lseek", "fsync")
MOST = 200


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(STORED.read_bytes())
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


class Failing:
    """A call of the system of which one fails."""

    def __init__(self, call: Callable[..., object], number: int) -> None:
        self.call = call
        self.left = number

    def __call__(self, *given: object, **named: object) -> object:
        self.left -= 1
        if not self.left:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return self.call(*given, **named)


@pytest.mark.skipif(not hasattr(os, "pread"), reason="files are read another way here")
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
@pytest.mark.parametrize("name", CALLS)
def test_whichever_call_fails_what_is_said_is_true(
    run: Run, session: Path, monkeypatch: pytest.MonkeyPatch, name: str, verb: tuple[str, ...]
) -> None:
    before, call = session.read_bytes(), getattr(os, name)
    run(verb[0], session, "--dry-run", *verb[1:])
    for number in range(1, MOST):
        with monkeypatch.context() as patched:
            failing = Failing(call, number)
            patched.setattr(os, name, failing)
            outcome = run(verb[0], session, *verb[1:])
        now = session.read_bytes()
        assert now.startswith(before)
        added = now[len(before) :]
        assert added[-1:] in (b"", b"\n")
        if outcome.code:
            said = re.search(r"(?<!nothing )was written|written, but", outcome.err) is not None
            assert said == bool(added), outcome.err
            assert session.name in outcome.err, outcome.err
        session.write_bytes(before)
        os.utime(session, (1_700_000_000, 1_700_000_000))
        if failing.left > 0:
            return
    raise AssertionError("more calls than expected")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_an_output_that_takes_no_report(session: Path, verb: tuple[str, ...]) -> None:
    before = session.read_bytes()
    words = " ".join(shlex.quote(word) for word in (verb[0], str(session), *verb[1:]))
    line = f"{shlex.quote(sys.executable)} -m leafward {words} >/dev/full"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert session.read_bytes() != before
    assert re.search(
        r"s\.jsonl was written, but the report failed: stdout: No space left on device\n\Z", done.stderr
    )
