"""`leafward exam`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.acting import Acting, call

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    """Two files changed, tests run, two compactions in a row."""
    made = Acting(tmp_path / "s.jsonl")
    made.user("Build the queue for the shop first.")
    for number, name in enumerate(("src/queue.py", "src/\x1b[31mstore.py")):
        made.said(call("write", f"w{number}", path=name, content="a = 1\n"))
        made.answered(f"w{number}", "write")
    made.said(call("bash", "b", command="make build"))
    made.answered("b", "bash", "done")
    made.said(call("bash", "t", command="python -m pytest -q"))
    made.answered("t", "bash", "2 passed in 0.1s")
    made.compacted(made.user("go on"), "The tests run with `python -m pytest -q`.")
    return made


def test_the_document(file: Acting, done: Run) -> None:
    found = done("exam", file.path, "--json").document
    assert (found["answered"], found["asked"], found["share"]) == (1, 2, 0.5)
    assert found["topics"] == {"last file": {"answered": 0, "asked": 1}, "tests": {"answered": 1, "asked": 1}}
    last, tests = found["questions"]
    assert last["answers"][last["right"]] == "src/␛[31mstore.py"
    assert (tests["topic"], tests["place"]) == ("tests", "summary")


def test_what_people_read(file: Acting, done: Run) -> None:
    lines = done("exam", file.path).out.splitlines()
    assert lines[0].endswith("1 of 2 questions can be answered from what the model sees afterwards")
    assert any("✗ Which of these files was changed last before the cut?  nowhere" in line for line in lines)
    assert any("→ python -m pytest -q" in line for line in lines)


def test_beside_another(file: Acting, done: Run) -> None:
    first = done("exam", file.path, "--json").document["compaction"]
    file.user("more")
    file.compacted(file.user("go on"), "nothing")
    found = done("exam", file.path, "--against", first, "--json").document
    assert (found["asked"], found["against"]["compaction"]) == (0, first)
    lines = done("exam", file.path, "--against", first).out.splitlines()
    assert "nothing to ask" in lines[0]
    assert lines[3].split() == ["last", "file", "none", "0", "of", "1"]


def test_a_draft_has_its_exam(file: Acting, done: Run) -> None:
    file.user("and then?")
    file.said("That is all.")
    file.user("go on")
    draft = done("compact", file.path, "--keep-recent", "0", "--dry-run", "--json").document
    assert draft["exam"].keys() >= {"answered", "asked", "questions"}


def test_what_is_no_compaction(file: Acting, run: Run) -> None:
    outcome = run("exam", file.path, "#1")
    assert outcome.code
    assert "is no compaction" in outcome.err
