"""Sessions of one title in the list that `ls` prints."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tests.tui.session_store import SessionFile

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def test_sessions_of_one_title_say_their_last_prompt(done: Run, tmp_path: Path) -> None:
    first = SessionFile(tmp_path, "/home/ada/orchard", "Fix the login of the orchard", ago=timedelta(hours=3))
    first.turn("now the tests")
    second = SessionFile(
        tmp_path, "/home/ada/orchard", "Fix the login of the orchard", ago=timedelta(hours=2)
    )
    second.turn("and the docs")
    SessionFile(tmp_path, "/home/ada/orchard", "Another", ago=timedelta(hours=1))
    lines = done("ls", tmp_path).out.splitlines()
    assert [
        line.count("last:") for line in lines if "2026" in line or "Fix" in line or "Another" in line
    ] == [0, 1, 1]
    assert any("last: and the docs" in line for line in lines)
    assert any("last: now the tests" in line for line in lines)
