"""A process that asks models: what it writes, what it leaves in its environment, how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.model_endpoint import Endpoint, Reply
from tests.model_requests import SERVED
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from pathlib import Path

ASK = """
import json, os, sys, threading, warnings
before = dict(os.environ)
filters = list(warnings.filters)
hook = sys.excepthook
hosts = set()
def heard(event, arguments):
    if event == "socket.getaddrinfo":
        hosts.add(str(arguments[0]))
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        hosts.add(str(arguments[1][0]))
sys.addaudithook(heard)
from leafward.summaries.survival.spans import SpanMessage
from leafward.summaries.summarizers.summary import Span
from leafward.summaries.summarizers.model.summarizer import Model, ModelSettings, SummaryFailed
span = Span((SpanMessage(0, {"role": "user", "content": "Port the parser."}),))
told = []
for name, base in json.loads(sys.argv[1]):
    try:
        settings = ModelSettings(name, base_url=base, attempts=2, backoff=0.01, timeout=60)
        told.append(Model(settings).summarize(span, 500).text[:7])
    except SummaryFailed as failed:
        told.append(str(failed))
assert "litellm" in sys.modules
report = {
    "told": told,
    "changed": sorted(name for name in {*before, *os.environ} if before.get(name) != os.environ.get(name)),
    "hosts": sorted(hosts),
    "threads": [thread.name for thread in threading.enumerate()],
    "errors": [kept for kept in filters if kept not in warnings.filters],
    "hook": sys.excepthook is hook,
}
with open(sys.argv[2], "w") as file:
    json.dump(report, file)
"""

HANG = """
import contextlib, sys, threading
from leafward.base.errors import Cancelled
from leafward.summaries.survival.spans import SpanMessage
from leafward.summaries.summarizers.summary import Span
from leafward.summaries.summarizers.model.summarizer import Model, ModelSettings
span = Span((SpanMessage(0, {"role": "user", "content": "x"}),))
model = Model(ModelSettings("openai/x", base_url=sys.argv[1]))
def work():
    with contextlib.suppress(Cancelled):
        model.summarize(span, 500)
threading.Thread(target=work, daemon=True).start()
sys.stdin.readline()
"""

pytestmark = pytest.mark.slow


def test_nothing_that_litellm_says_reaches_a_descriptor(endpoint: Endpoint, tmp_path: Path) -> None:
    """Answers and failures of every kind, with the loudest settings in the environment, in a folder with a `.env`."""
    kinds = [
        Reply(),
        Reply(usage=None),
        Reply(finish="length"),
        Reply(end="quiet", after=2),
        Reply(end="reset", after=2),
        Reply(status=401),
        Reply(status=429),
        Reply(status=400, error="prompt is too long"),
        Reply(status=500, error="<html>\n"),
    ]
    asked: list[tuple[str, str | None]] = []
    for name in SERVED:
        base = endpoint.base_url if name.startswith("openai") else endpoint.root
        # What each request gets depends on how many came before, of every model: each gets other kinds.
        asked += [(name, base)] * (len(kinds) if THOROUGH or not asked else 3)
    endpoint.play(*(kinds * 40))
    asked += [("nosuch/x", None), ("nosuch", None), ("openai/x", "http://127.0.0.1:9/v1"), ("gpt-4o", None)]
    asked += [("openai/llama-3-70b", endpoint.base_url)]
    (tmp_path / ".env").write_text("OPENAI_API_KEY=from-a-dotenv\nLEAKED=1\n")
    report = tmp_path / "report.json"
    done = subprocess.run(
        [sys.executable, "-c", ASK, json.dumps(asked), str(report)],
        cwd=tmp_path,
        env={**os.environ, "LITELLM_LOG": "DEBUG", "OPENAI_LOG": "debug"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=600,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    found: dict[str, Any] = json.loads(report.read_text())
    assert "## Goal" in found["told"]
    assert len({text.split(" ", 1)[-1] for text in found["told"]}) > 8
    # litellm's own, and taken out of what a resumed agent gets.
    assert set(found["changed"]) <= {"TIKTOKEN_CACHE_DIR"}
    assert found["hosts"] == ["127.0.0.1"]
    assert found["threads"].count("leafward-models") == 1
    assert not [name for name in found["threads"] if "cost-map" in name]
    assert found["errors"] == []
    assert found["hook"]


def test_a_process_ends_at_once_while_a_model_answers(endpoint: Endpoint) -> None:
    endpoint.play(Reply(end="stall", after=1))
    process = subprocess.Popen(
        [sys.executable, "-c", HANG, endpoint.base_url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    endpoint.wait_for(1, 120)
    # The model says nothing more for as long as it is not hung up on.
    output = process.communicate(b"\n", timeout=120)
    assert (process.returncode, output) == (0, (b"", b""))
    assert endpoint.asked[0].gone.wait(60)
