"""Whatever fails at or behind a write, what is said of it is true: that the operation was written, or that it was not."""

from __future__ import annotations

import errno
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.doctor import litter
from tests.surroundings import REPOSITORY
from tests.torture.scenes import Scene, World, scenes
from tests.torture.worlds import Moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cli.conftest import Run

STORED = REPOSITORY / "tests" / "data" / "pi" / "sessions" / "branches.jsonl"
VERBS = (
    ("label", "#3", "a label"),
    ("move", "#1"),
    ("compact", "--keep-recent", "1", "--larger", "--accept-loss"),
)
NO_APPENDS = [one for one in scenes() if not one.appends and one.links and not one.two_disks]
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


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A home of its own, of which nothing stays in the environment."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = dict(os.environ)
    yield World(tmp_path, tmp_path)
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("form", ["--json", ""])
@pytest.mark.parametrize("scene", NO_APPENDS, ids=lambda scene: scene.name)
def test_what_is_made_or_changed_is_told_where_the_report_fails(
    run: Run, world: World, monkeypatch: pytest.MonkeyPatch, scene: Scene, form: str
) -> None:
    """New files, changed ones and removed ones: an error names one of them, or a folder that they are in."""
    world.enter()
    path = scene.session(world)
    arguments = scene.arguments(world, path)
    for call in scene.before:
        assert run(*call(world, path)).code == 0
    if form and arguments[0] != "ls":
        at = arguments.index("--") if "--" in arguments else len(arguments)
        arguments.insert(at, form)
    before = Moment.of(world.root).held
    with open("/dev/full", "w", encoding="utf-8") as full, monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", full)
        outcome = run(*arguments)
    now = Moment.of(world.root).held
    changed = {
        Path(name)
        for name in before.keys() | now.keys()
        if before.get(name) != now.get(name) and ("/cache/" not in name or name not in now)
    }
    assert outcome.code == 1
    assert outcome.err.count("\n") == 1
    said = "stdout: No space left on device\n"
    if not any(one.is_file() or before.get(str(one), [None])[0] is not None for one in changed):
        assert outcome.err == f"leafward: {said}"
        return
    assert outcome.err.endswith(f", but the report failed: {said}")
    named = [Path(word.rstrip(":,")) for word in outcome.err.split() if word.startswith(str(world.root))]
    assert named
    # A session in a database is named like a file in it.
    places = {place for one in changed for place in (one, *one.parents)}
    assert any(name in places or name.parent in changed for name in named), outcome.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_litter_that_is_cleared_is_told_too(run: Run, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.enter()
    monkeypatch.setattr(litter, "REST", 0)
    draft = world.store / "x.leafward-99999999-0123456789ab.tmp"
    draft.write_bytes(b"half")
    with open("/dev/full", "w", encoding="utf-8") as full, monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", full)
        outcome = run("doctor", "--clear-litter")
    assert not draft.exists()
    assert outcome.err.startswith(f"leafward: 1 file was removed: {draft}, but the report failed: ")


def test_a_failure_after_a_write_that_is_not_of_the_report(
    run: Run, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What follows a write may read the file again, which is no report."""

    def fails(*_given: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("leafward.cli.verbs.label.remark", fails)
    outcome = run("label", session, "#3", "a label")
    assert outcome.err == "leafward: s.jsonl was written, but what follows failed: Input/output error\n"
