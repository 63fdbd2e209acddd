"""What `log`, `undo` and `redo` call the places of a move: entries of the conversation, never Leafward's own lines."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from tests.pi_file import conversation

if TYPE_CHECKING:
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


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be changed here")
def test_times_are_those_of_the_clock_here(
    tmp_path: Path, done: Run, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = conversation(tmp_path / "s.jsonl")
    assert run("move", file.path, "#1").code == 0
    made = done("log", file.path, "--json").document["ops"][-1]["time"]
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        out = done("log", file.path).out
    time.tzset()
    here = datetime.fromisoformat(made).astimezone(timezone(timedelta(hours=9)))
    assert here.strftime("%Y-%m-%d %H:%M:%S") in out
