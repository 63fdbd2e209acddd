"""A long span is redacted in another process, which reads outputs too; what comes out is the same as without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.bench.generate import write_session

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")

# A process of its own: one that runs tests has threads, and then nothing is forked.
_BOTH = """
import json, os, signal, sys
from contextlib import closing
from pathlib import Path
from leafward.base.forked import Forked
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.session.session import Session
from leafward.summaries.facts.text_facts import TextFacts
from leafward.summaries.summarizers.extractive import redacted_span, summarizer
from leafward.summaries.summarizers.extractive.summarizer import Extractive

forks, before = [], redacted_span.forked

def forked(work):
    child = before(work)
    forks.append(child is not None)
    if child is not None and sys.argv[2] == "dies":
        os.kill(child.pid, signal.SIGKILL)
    return child

# It waits for the outputs, and where the child is not late for what comes next.
took, take = [], Forked.take

def taken(child):
    piece = take(child)
    took.append(piece if isinstance(piece, str) else "")
    return piece

def is_ready(child):
    return not (sys.argv[2] == "late" and redacted_span._LOOKS in took) and bool(child._pipe.peek(1))

Forked.take = taken
Forked.is_ready = is_ready
collected, collect = [], summarizer.collect

def counted(*given):
    collected[-1] += 1
    return collect(*given)

summarizer.collect = counted
outputs, read = [], TextFacts._in_print

def in_print(texts, *given):
    outputs[-1] += 1
    return read(texts, *given)

TextFacts._in_print = in_print

def made(cores):
    outputs.append(0)
    collected.append(0)
    redacted_span.cores, redacted_span.forked = lambda: cores, forked
    with closing(Session.open(Path(sys.argv[1]))) as session:
        one = draft(session, plan(measure(session)), Extractive())
    return [one.text, one.summary.redacted, [line.sources for line in one.summary.lines]]

alone, beside = made(1), made(2)
try:
    os.waitpid(-1, os.WNOHANG)
    left = True
except ChildProcessError:
    left = False
print(json.dumps({"same": alone == beside, "forks": forks, "outputs": outputs, "collected": collected, "text": alone[0], "redacted": alone[1], "left": left}))
"""
_TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
_PASSWORD = "Xk9-" + "vTr42pLm"


@pytest.mark.parametrize("secrets", [True, False], ids=["secrets", "no secrets"])
@pytest.mark.parametrize("child", ["lives", "late", "dies"])
def test_it_is_the_same_as_in_this_process(tmp_path: Path, child: str, *, secrets: bool) -> None:
    path = tmp_path / "session.jsonl"
    write_session(path, 2_000, branch_every=0, compact_every=0)
    if secrets:
        lines = path.read_text("utf-8").splitlines()
        begin = '"content":[{"type":"text","text":"'
        told = [at for at, line in enumerate(lines) if '"role":"user"' in line and begin in line]
        for at, words in (
            # It has no name yet when it is first said.
            (told[0], f"Always open the base with {_PASSWORD}. "),
            (told[3], f"Never print the token {_TOKEN}. "),
            (told[5], f"DB_PASSWORD={_PASSWORD} is what the server asks for. "),
        ):
            lines[at] = lines[at].replace(begin, begin + words)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _BOTH, str(path), child],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    found = json.loads(done.stdout)
    assert found["same"]
    assert found["forks"] == [True]
    assert not found["left"]
    alone, beside = found["outputs"]
    assert beside == alone if child == "dies" else 0 < beside < alone / 2
    # What was collected of messages that hold secrets does not count.
    assert found["collected"] == [1, 2 if secrets and child != "lives" else 1]
    assert bool(found["redacted"]) == secrets
    assert _TOKEN not in found["text"]
    assert _PASSWORD not in found["text"]
