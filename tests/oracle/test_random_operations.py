"""The real pi after operations in any order: moves, summaries, compactions of every strategy, edits, grafts, undo and redo.

Runs where `test_resume.py` does. ``LEAFWARD_SEEDS`` is how many orders are tried with each session; without it two.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.oracle.golden import CORPORA, SESSIONS
from tests.oracle.installed_agents import needs_pi
from tests.oracle.test_compacted import assert_pi_follows
from tests.oracle.test_resume import entries_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [needs_pi]
STEPS = 5
SEEDS = int(os.environ.get("LEAFWARD_SEEDS") or 2)
SOURCES = [
    SESSIONS / f"{name}.jsonl" for name in ("branches", "compacted-twice", "edits-and-extras", "print-tools")
]
SOURCES += [CORPORA / f"{name}.jsonl" for name in ("branched", "large-session")]


def operation(rng: random.Random, path: Path) -> list[str]:
    """An operation as its command takes it."""
    count = len(entries_of(path))

    def entry() -> str:
        return f"#{rng.randrange(count)}"

    keep = str(rng.choice((0, 30, 200, 2_000, 20_000)))
    compact = ["compact", str(path), "--larger", "--accept-loss", "--keep-recent", keep]
    return rng.choice(
        (
            ["move", str(path), entry()],
            ["move", str(path), entry(), "--summary", "extractive"],
            ["move", str(path), entry(), "--before"],
            *([*compact, "--strategy", one] for one in ("pi", "codex", "opencode")),
            [*compact, "--at", entry(), "--pin", "weights stay in grams", "--inject"],
            ["edit-context", str(path), "--select", "context() & results()", "--keep", "4"],
            ["edit-context", str(path), entry(), rng.choice(("--omit", "--text=shorter"))],
            ["graft", str(path), "--select", f"turn({entry()}) - ancestors(leaf)"],
            ["label", str(path), entry(), "a mark"],
            ["undo", str(path)],
            ["redo", str(path)],
        )
    )


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_pi_sends_the_context_that_leafward_shows(source: Path, seed: int, tmp_path: Path) -> None:
    if not source.exists():
        pytest.skip("the corpora are not here")
    home, path = tmp_path / "home", tmp_path / "session.jsonl"
    home.mkdir()
    shutil.copyfile(source, path)
    rng = random.Random(f"{source.stem} {seed}")
    environment = {**os.environ, "HOME": str(home), "LEAFWARD_HOME": str(home / "leafward")}
    done: list[str] = []
    while len(done) < STEPS:
        arguments = operation(rng, path)
        before = path.read_bytes()
        ran = subprocess.run(
            [sys.executable, "-m", "leafward", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        # The first write to a file of an old version migrates it.
        old = b'"version":3' not in before.partition(b"\n")[0]
        assert old or path.read_bytes().startswith(before), arguments
        assert "Traceback" not in ran.stderr, (arguments, ran.stderr)
        # What cannot be done is refused in a line, and nothing is written.
        assert ran.returncode == 0 or path.read_bytes() == before, (arguments, ran.stderr)
        if ran.returncode == 0:
            done.append(" ".join(arguments).replace(str(path), ""))
    print(*done, sep="\n")
    assert_pi_follows(home, path)
