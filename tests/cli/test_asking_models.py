"""`compact`, `move` and `summarize` with a model: said before it is sent, stored with its cost, cancelled without a trace."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Refused
from tests.model_endpoint import WHOLE, Endpoint, Reply
from tests.model_requests import MARKS
from tests.pi_file import last_line, lossy

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

pytestmark = [pytest.mark.slow, *MARKS]


INTERRUPTED = """
import json, sys
from leafward.cli.main import main
for arguments in json.loads(sys.argv[1]):
    code = main(arguments)
    print("code", code, file=sys.stderr, flush=True)
"""
"""One process for several commands: importing litellm is most of what one costs."""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def test_said_first_then_stored_with_its_cost(run: Run, endpoint: Endpoint, path: Path) -> None:
    options = ("--keep-recent", "2000", "--model", "openai/scripted", "--base-url", endpoint.base_url)
    outcome = run("compact", path, *options, "--pin", "never push to main", "--accept-loss", "--json")
    assert outcome.code == 0, outcome.err
    said = outcome.err.splitlines()
    assert said[0].startswith("leafward: sending ")
    assert f"to openai/scripted at {endpoint.base_url} in " in said[0]
    made, line = outcome.document, last_line(path)
    assert line["summary"] == made["summary"]
    assert made["summary"].startswith(WHOLE.partition("\n")[0])
    assert "never push to main" in made["summary"]
    assert made["summarizer"] == line["details"]["leafward"]["summarizer"] == "openai/scripted"
    assert line["usage"]["input"] == made["usage"]["input"] == 1200 * len(endpoint.asked)
    assert line["usage"]["output"] == 300 * len(endpoint.asked)
    assert any("never push to main" in asked.prompt for asked in endpoint.asked)


def test_what_a_dry_run_shows_is_what_is_sent(run: Run, endpoint: Endpoint, path: Path) -> None:
    options = ("--keep-recent", "2000", "--model", "openai/scripted", "--base-url", endpoint.base_url)
    before = path.read_bytes()
    outcome = run("compact", path, *options, "--dry-run", "--json")
    assert (outcome.code, outcome.err, endpoint.asked) == (0, "", [])
    shown = outcome.document
    assert (shown["entry"], shown["summary"], shown["dry_run"]) == (None, None, True)
    assert path.read_bytes() == before
    assert run("compact", path, *options, "--accept-loss").code == 0
    sent = {asked.prompt for asked in endpoint.asked}
    assert sent == {request["prompt"] for request in shown["outgoing"]["requests"]}


def test_a_repair_is_shown_before_a_model_is_asked_too(run: Run, endpoint: Endpoint, path: Path) -> None:
    """A dry run asked the model, and a repair said nothing of what it sent."""
    made = run("compact", path, "--keep-recent", "2000", "--accept-loss", "--json").document
    before = path.read_bytes()
    options = ("--repair", made["entry"], "--model", "openai/scripted", "--base-url", endpoint.base_url)
    outcome = run("compact", path, *options, "--dry-run", "--json")
    assert (outcome.code, outcome.err, endpoint.asked, path.read_bytes()) == (0, "", [], before)
    shown = outcome.document
    assert (shown["at"], shown["summarizer"], shown["dry_run"]) == (made["at"], "openai/scripted", True)
    repaired = run("compact", path, *options, "--accept-loss", "--json")
    assert repaired.code == 0
    assert repaired.err.startswith("leafward: sending ")
    assert repaired.document["first_kept"] == made["first_kept"]
    assert {asked.prompt for asked in endpoint.asked} == {
        one["prompt"] for one in shown["outgoing"]["requests"]
    }


def test_a_stop_at_the_gate_says_that_the_model_is_asked_again(
    run: Run, endpoint: Endpoint, tmp_path: Path
) -> None:
    compaction, path = lossy(tmp_path), tmp_path / "s.jsonl"
    options = ("--repair", compaction, "--model", "openai/scripted", "--base-url", endpoint.base_url)
    stopped = run("compact", path, *options)
    assert (stopped.code, len(endpoint.asked)) == (1, 1)
    assert "either asks the model again, which costs as much" in stopped.err
    assert "asks the model" not in run("compact", path, "--repair", compaction).err


def test_a_branch_is_left_with_a_models_summary(run: Run, endpoint: Endpoint, path: Path) -> None:
    outcome = run(
        *("move", path, "#205", "--summary", "model", "--model", "openai/scripted"),
        *("--base-url", endpoint.base_url, "--focus", "the leases", "--json"),
    )
    assert outcome.code == 0, outcome.err
    moved, line = outcome.document, last_line(path)
    assert (line["type"], line["id"]) == ("branch_summary", moved["summary_entry"])
    assert line["summary"].startswith("## Goal\nPort the parser")
    assert "the leases" in endpoint.asked[-1].prompt


def test_interrupted_it_leaves_no_trace(endpoint: Endpoint, path: Path) -> None:
    endpoint.play(Reply(end="stall", after=3))
    before = path.read_bytes()
    model = ("--model", "openai/scripted", "--base-url", endpoint.base_url)
    verbs = (
        ("compact", str(path), "--keep-recent", "2000", *model),
        ("move", str(path), "#205", "--summary", "model", *model),
        ("summarize", str(path), "--to", "#205", *model),
    )
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, json.dumps(verbs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        for verb, *_ in verbs:
            sent = len(endpoint.asked)
            said = [process.stderr.readline()]
            endpoint.wait_for(sent + 1, 60)
            process.send_signal(signal.SIGINT)
            said += [process.stderr.readline(), process.stderr.readline()]
            assert said[0].startswith("leafward: sending "), (verb, said)
            assert "cancelled" in said[1], (verb, said)
            assert said[2] == "code 130\n", (verb, said)
            assert endpoint.asked[sent].gone.wait(60), verb
            assert path.read_bytes() == before, verb
        assert (process.stdout.read(), process.stderr.read()) == ("", "")
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("nobody-knows-it", "unknown model: 'nobody-knows-it'"),
        ("anthropic/claude-haiku-4-5", "ANTHROPIC_API_KEY is not set"),
    ],
)
@pytest.mark.parametrize(
    "verb",
    [("compact", "--keep-recent", "2000"), ("summarize", "--to", "#205")],
    ids=["compact", "summarize"],
)
def test_nothing_is_said_to_be_sent_that_cannot_be(
    run: Run, verb: tuple[str, ...], model: str, said: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    before = path.read_bytes()
    outcome = run(verb[0], path, *verb[1:], "--model", model, "--json")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (1, "", 1)
    assert said in outcome.err
    assert path.read_bytes() == before


def test_a_failure_is_one_line_and_writes_nothing(run: Run, endpoint: Endpoint, path: Path) -> None:
    endpoint.play(Reply(finish="length"))
    before = path.read_bytes()
    options = ("--keep-recent", "2000", "--model", "openai/scripted", "--base-url", endpoint.base_url)
    outcome = run("compact", path, *options, "--json")
    assert (outcome.code, outcome.out) == (1, "")
    assert len(outcome.err.splitlines()) == 2
    assert path.read_bytes() == before


@pytest.mark.parametrize("step", ["accept", "_refuse_larger"])
def test_a_paid_summary_that_cannot_be_written_is_shown(
    run: Run, endpoint: Endpoint, path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    from leafward.cli.verbs import compact

    def full(*args: object) -> None:
        if args[-1] != "sent":
            raise Refused("No space left on device")

    monkeypatch.setattr(compact, step, full)
    options = ("--keep-recent", "2000", "--model", "openai/scripted", "--base-url", endpoint.base_url)
    outcome = run("compact", path, *options, "--accept-loss")
    assert outcome.code == 1
    assert WHOLE.partition("\n")[2].partition("\n")[0] in outcome.out
    assert outcome.err.endswith("No space left on device\n")
