"""Costs after a compaction on the command line: of one, and added up."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from leafward.cli.aftermath_totals import aftermath_text
from leafward.cli.output.page import Page
from leafward.compaction.aftermath.aftermath import Repeat
from leafward.compaction.aftermath.aftermath_totals import OWN, AftermathSum, Maker
from tests.compacted_session import Compacted
from tests.pi_file import conversation

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

ONCE = {"file": 1, "command": 1, "error": 1, "request": 1}


def test_survival_tells_what_was_repeated(done: Run, tmp_path: Path) -> None:
    file = Compacted(tmp_path / "s.jsonl")
    assert "no tool call came after it" in done("survival", file.path).out
    file.repeats()
    found = done("survival", file.path, "--json").document["aftermath"]
    assert (found["calls"], found["counts"]) == (3, ONCE)
    assert [one["kind"] for one in found["repeated"]] == list(ONCE)
    assert found["tokens"] == sum(one["tokens"] for one in found["repeated"])
    text = done("survival", file.path).out
    assert "in the next 3 tool calls  1 file read again, 1 command run again" in text
    assert "leases.py" in text


def test_totals_add_it_up_by_agent_model_and_strategy(done: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    file = Compacted(folder / "s.jsonl")
    file.repeats()
    # A copy shares the compaction: it counts once.
    shutil.copy(file.path, folder / "copy.jsonl")
    (found,) = done("ls", folder, "--totals", "--by", "compaction", "--json").document["aftermath"]
    assert (found["agent"], found["model"], found["strategy"]) == ("pi", "local/scripted-1", "agent's own")
    assert (found["compactions"], found["calls"], found["counts"]) == (1, 3, ONCE)
    assert found["cost"] == file.aftermath().dollars
    text = done("ls", folder, "--totals", "--by", "compaction").out
    assert text.splitlines()[0].split()[4:8] == ["reads", "commands", "errors", "requests"]
    assert text.splitlines()[1].split()[4:9] == ["1", "1", "1", "1", "1"]
    assert "repeated in 3 tool calls: at most the next 24 after each compaction" in text


@pytest.mark.parametrize("width", [64, 80, 100, 120])
def test_names_and_figures_are_whole_in_every_width(width: int) -> None:
    """It fails where a line is wider than the terminal, or a name or figure gives way."""
    models = ("anthropic/claude-opus-4-5-20251101", "claude-opus-4-6-20260205", "gpt-5.5")
    sums = [
        (
            Maker("claude", model, OWN),
            AftermathSum(1_234, 1, dict.fromkeys(Repeat, 4_321), 123_456_789, 1234.5, 1),
        )
        for model in models
    ]
    rows = list(aftermath_text(sums, Page(width)))
    assert max(map(len, rows)) <= max(width, 76)
    text = "\n".join(rows)
    for model in models:
        assert model.rpartition("/")[2] in text
    for word in ("compactions", "reads", "commands", "errors", "requests", "tokens", "cost"):
        assert word in text
    assert text.count("4,321") == 4 * 3
    assert text.count("$1,234+") == 3


def test_without_a_compaction_there_is_nothing_to_add_up(done: Run, tmp_path: Path) -> None:
    conversation(tmp_path / "plain.jsonl")
    assert done("ls", tmp_path / "plain.jsonl", "--totals", "--by", "compaction").out == "no compactions\n"


def test_a_session_that_can_be_read_no_more_has_the_code_of_other_verbs(
    done: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Compacted(tmp_path / "s.jsonl").path

    def gone(_: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("leafward.cli.aftermath_totals.opened", gone)
    (remark,) = done("ls", path, "--totals", "--by", "compaction", "--json").document["diagnostics"]
    assert remark == {"code": "unreadable", "text": f"Permission denied: '{path}'"}
