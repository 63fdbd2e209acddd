"""Names of the places of a move in `log`, `undo` and `redo`: entries of the conversation, never Leafward's own lines."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from leafward.session.journal.operation_log import operations
from leafward.session.session import Session
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.words.operation_text import OperationText
from tests.pi_file import PiFile, conversation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run


def test_a_redo_is_told_by_the_entry_it_goes_back_to(tmp_path: Path, done: Run, run: Run) -> None:
    """A redo goes back to the line that the move wrote, which says nothing."""
    file = conversation(tmp_path / "s.jsonl")
    for verb in (("move", file.path, "#1"), ("undo", file.path), ("redo", file.path)):
        assert run(*verb).code == 0
    target = done("tree", file.path, "--json").document["entries"][1]["id"]
    out = done("log", file.path).out
    assert "leafward.leaf" not in out
    assert out.count(f"-> {target}") == 2
    last = out.rstrip("\n").splitlines()[-1]
    assert f"-> {target}" in last
    assert "redo" in last


def test_a_row_that_was_taken_back_has_one_word_in_the_log_and_on_the_screen(
    tmp_path: Path, run: Run
) -> None:
    path = tmp_path / "s.jsonl"
    file = PiFile(path)
    file.user("a prompt")
    for verb in (
        ("name", path, "One"),
        ("undo", path),
        ("redo", path),
        ("archive", path),
        ("archive", path, "--undo"),
    ):
        assert run(*verb).code == 0
    rows = [line.split() for line in run("log", path).out.splitlines()[1:]]
    assert [(row[1], row[4]) for row in rows[:2]] == [("name", "none"), ("undo", "redone")]
    assert "unarchived the session" in " ".join(rows[-1])
    with closing(Session.open(path)) as session:
        every = OperationText(session, operations(session), UNICODE)
        assert [every.doing(one).state for one in every.log] == [one.state for one in every.log]
        assert every.doing(every.log[-1]).verb == "unarchived"


def test_times_are_those_of_the_clock_here(
    tmp_path: Path, done: Run, run: Run, in_zone: Callable[[str], None]
) -> None:
    file = conversation(tmp_path / "s.jsonl")
    assert run("move", file.path, "#1").code == 0
    made = done("log", file.path, "--json").document["ops"][-1]["time"]
    in_zone("Asia/Tokyo")
    out = done("log", file.path).out
    here = datetime.fromisoformat(made).astimezone(timezone(timedelta(hours=9)))
    assert here.strftime("%Y-%m-%d %H:%M:%S") in out
