"""Sessions of one title in the list that `ls` prints."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tests.tui.session_store import SessionFile

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

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


def test_what_a_session_is_stays_where_its_title_is_cut(done: Run, tmp_path: Path) -> None:
    title = "Fix the login of the orchard, and all that hangs on it, before the harvest begins"
    first = SessionFile(tmp_path, "/home/ada/orchard", title, ago=timedelta(hours=3))
    first.turn("now the tests")
    second = SessionFile(tmp_path, "/home/ada/orchard", title, ago=timedelta(hours=2), parent=first)
    second.turn("and the docs, whatever else is to be said of them in the end")
    done("archive", second.path)
    for wide in (False, True):
        row = next(line for line in done("ls", tmp_path).out.splitlines() if "fork" in line)
        assert "  fork" in row
        assert "  archived" in row
        if not wide:
            other = SessionFile(
                tmp_path, "/home/ada/a-project-with-a-long-name", title, ago=timedelta(hours=1)
            )
            other.turn("nothing else")


def test_rows_fit_in_a_terminal_of_eighty_columns(
    done: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leafward.cli.output.page.PIPE_WIDTH", 80)
    title = "Fix the login of the orchard, and all that hangs on it"
    first = SessionFile(tmp_path, "/home/ada/a-project-with-a-long-name", title, ago=timedelta(hours=3))
    second = SessionFile(
        tmp_path, "/home/ada/a-project-with-a-long-name", title, ago=timedelta(hours=2), parent=first
    )
    second.turn("and the docs")
    done("archive", second.path)
    lines = done("ls", tmp_path).out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("  fork  archived" in line for line in lines)
    assert all("a-proj" in line for line in lines[1:-1])


def test_a_copy_and_a_sub_agent_are_called_what_the_screen_calls_them(done: Run, tmp_path: Path) -> None:
    first = SessionFile(tmp_path, "/home/ada/orchard", "Fix the login", ago=timedelta(hours=3))
    copy = tmp_path / "copy.jsonl"
    lines = first.path.read_bytes().splitlines(keepends=True)
    copy.write_bytes(lines[0].replace(first.id.encode(), b"another-id") + b"".join(lines[1:]))
    rows = done("ls", tmp_path).out.splitlines()
    assert sum("  copy" in row for row in rows) == 1
