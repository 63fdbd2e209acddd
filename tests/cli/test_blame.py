"""`leafward blame` and `leafward why`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from leafward.query.blame import Blame, blame
from tests.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that two turns of an agent wrote, and a line by hand."""
    agent = Workbench(tmp_path / "s.jsonl", tmp_path / "work", 1)
    agent.file.user("Begin with \x1b[31m the parser")
    agent.write("app.py", "def parse(text):\n    return text.split()\n")
    agent.file.said("We decided to use split instead of a regular expression.")
    agent.file.user("Count the words as well")
    agent.file.said("I count them in a function of its own.")
    agent.edit(
        "app.py",
        "return text.split()",
        "return text.split()\n\ndef count(text):\n    return len(parse(text))",
    )
    agent.ran("pytest -q || true")
    path = tmp_path / "work" / "app.py"
    path.write_text(path.read_text() + "# by a person, after all\n")
    return path


def test_the_document(file: Path, tmp_path: Path, done: Run) -> None:
    found = done("blame", str(file), "--among", str(tmp_path), "--json").document
    assert [line["by"] for line in found["lines"]] == ["turn"] * 5 + ["hand"]
    assert [line["author"] for line in found["lines"]] == [0, 0, 1, 1, 1, None]
    assert [one["turn"] for one in found["authors"]] == [2, 3]
    assert found["authors"][1]["request"] == "Count the words as well"
    assert (found["sessions"], found["claimed"], found["unread"]) == (1, 5, [])
    assert found["diagnostics"] == []


@pytest.mark.parametrize("verb", ["blame", "why"])
def test_sessions_that_cannot_be_read_are_told(
    verb: str, file: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_one(*arguments: Any, **options: Any) -> Blame:
        return replace(blame(*arguments, **options), unread=("gone.jsonl: no such file",))

    monkeypatch.setattr("leafward.cli.verbs.blame.blame", without_one)
    text = run(verb, f"{file}:1", "--among", str(tmp_path))
    document = run(verb, f"{file}:1", "--among", str(tmp_path), "--json")
    assert (text.code, document.code, document.err) == (0, 0, "")
    (remark,) = document.document["diagnostics"]
    assert remark["code"] == "unreadable"
    assert text.err == f"leafward: {remark['text']}\n"


def test_what_people_read(file: Path, tmp_path: Path, done: Run) -> None:
    lines = done("blame", str(file), "--among", str(tmp_path)).out.splitlines()
    assert lines[0] == "pi bench-1 turn 2  1  def parse(text):"
    assert lines[4] == "                   5      return len(parse(text))"
    assert lines[5] == "by hand            6  # by a person, after all"
    assert lines[7].endswith("Begin with ␛[31m the parser")
    assert lines[-1] == "5 lines by 2 turns, 1 line by hand, 1 session touched the file"


def test_some_lines_only(file: Path, tmp_path: Path, done: Run) -> None:
    found = done("blame", f"{file}:4-5", "--among", str(tmp_path), "--json").document
    assert [line["line"] for line in found["lines"]] == [4, 5]


def test_why_shows_the_request_the_decision_and_the_checks(file: Path, tmp_path: Path, done: Run) -> None:
    found = done("why", f"{file}:5", "--among", str(tmp_path), "--json").document["why"]
    assert found["request"] == "Count the words as well"
    assert found["said"] == "I count them in a function of its own."
    assert found["decisions"] == ["We decided to use split instead of a regular expression."]
    assert [one["check"] for one in found["checks"]] == ["test"]
    text = done("why", f"{file}:5", "--among", str(tmp_path)).out
    assert "I count them in a function of its own." in text
    assert "decided\n  We decided to use split" in text
    assert "by hand" in done("why", f"{file}:6", "--among", str(tmp_path)).out


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("{}:99", "has 6 lines"),
        ("{}:0", "lines count from 1"),
        ("{}:3-2", "lines count from 1"),
        ("{}.gone", "no file or folder"),
        ("{}:2-9", ""),
        ("{}:" + "9" * 5000, "File name too long"),
    ],
)
def test_lines_that_are_not_there(file: Path, tmp_path: Path, run: Run, place: str, says: str) -> None:
    outcome = run("blame", place.format(file), "--among", str(tmp_path))
    assert says in outcome.err
    assert bool(outcome.code) == bool(says)


@pytest.mark.parametrize("verb", ["blame", "why"])
def test_an_empty_file_has_no_line(file: Path, tmp_path: Path, run: Run, verb: str) -> None:
    file.write_text("")
    outcome = run(verb, f"{file}:1", "--among", str(tmp_path))
    assert outcome.code == 1
    assert "has 0 lines" in outcome.err
    assert run("blame", file, "--among", str(tmp_path)).code == 0


def test_a_file_that_is_no_text(file: Path, tmp_path: Path, run: Run) -> None:
    file.write_bytes(b"\xff\xfe\x00")
    outcome = run("blame", str(file), "--among", str(tmp_path))
    assert outcome.code
    assert "is not UTF-8 text" in outcome.err


def test_why_wants_one_line(file: Path, run: Run) -> None:
    outcome = run("why", str(file))
    assert outcome.code
    assert "FILE:LINE" in outcome.err
