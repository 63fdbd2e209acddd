"""Text fits the terminal: rows are cut, and what Leafward says itself is wrapped; only a session's own text keeps its lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from leafward.cli.output.page import PIPE_WIDTH, Page, cells, fact_lines, led, wrapped
from leafward.cli.output.progress_line import ProgressLine
from tests.acting import Acting
from tests.pi_file import PiFile

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

VERBS = {
    "tree": [],
    "context": [],
    "plan": [],
    "plan of all strategies": ["--strategy", "all"],
    "files": [],
    "survival": [],
    "exam": [],
    "log": [],
}


@pytest.mark.parametrize("columns", [60, 80, 120, None])
@pytest.mark.parametrize("verb", VERBS)
def test_no_line_is_wider_than_the_terminal(
    verb: str, columns: int | None, path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(columns))
    lines = run(verb.split(maxsplit=1)[0], path, *VERBS[verb]).out.splitlines()
    assert [line for line in lines if cells(line) > (columns or PIPE_WIDTH)] == []


def test_advice_to_heal_is_wrapped_and_its_command_stays_whole(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.chdir(tmp_path)
    file = PiFile(tmp_path / "s.jsonl")
    file.user("Count the orchards")
    file.result("a call that nobody made")
    file.user("Count the pears")
    lines = run("doctor", "s.jsonl").out.splitlines()
    assert max(map(cells, lines)) <= 60
    assert lines[-1].startswith("leafward heal s.jsonl --dry-run ")


def test_a_session_that_begins_midway_says_so_in_lines_of_the_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    file = Acting(tmp_path / "s.jsonl")
    file.user("Count the orchards")
    file.said("Two.")
    whole = file.path.read_bytes()
    file.path.write_bytes(whole + b'{"type":"message","id":"half')
    lines = run("tree", file.path).out.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("! "))
    assert " ".join(" ".join(lines[begin:]).split()) == (
        f"! the last line is not complete yet: 28 bytes at byte {len(whole):,}"
    )
    assert max(map(cells, lines)) <= 60


def test_a_word_that_may_be_a_path_stays_whole() -> None:
    path = "/home/ada/" + "orchard/" * 12
    assert wrapped(f"not read: {path}", Page(width=60)) == ["not read:", f"  {path}"]


def test_facts_are_broken_between_each_other() -> None:
    assert fact_lines(["one fact", "", "another fact"], Page(width=20)) == ["one fact", "another fact"]
    assert fact_lines(["one fact", "another fact"], Page(width=23)) == ["one fact   another fact"]


def test_a_lead_alone_has_its_style() -> None:
    assert led("compaction", "bold", "one two", Page(width=16, colour=True)) == [
        "\x1b[1mcompaction\x1b[0m  one",
        "  two",
    ]


@pytest.mark.parametrize(("term", "shown"), [("xterm", True), ("dumb", False)])
def test_progress_is_a_line_only_where_a_terminal_can_clear_it(
    term: str, *, shown: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another one shows the control sequences as text."""
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with ProgressLine() as line:
        line.show("searching", 3, 12)
    assert ("searching 3 / 12" in capsys.readouterr().err) == shown
