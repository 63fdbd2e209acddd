"""Stores that may not be read, or that something else lies in the place of: one clear line, and nobody waits."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.opencode_store import Database, one_turn

if TYPE_CHECKING:
    from tests.cli.conftest import Run

needs_fifos = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")


def closed(monkeypatch: pytest.MonkeyPatch, refused: Path) -> None:
    """The system refuses everything at and below a path, as it does to another user; root would be let in."""
    for name in ("open", "scandir", "listdir"):
        real = getattr(os, name)

        def refusing(path: object, *given: object, real: object = real, **more: object) -> object:
            if isinstance(path, (str, os.PathLike)) and os.fspath(path).startswith(str(refused)):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *given, **more)  # type: ignore[operator]

        monkeypatch.setattr(os, name, refusing)


@needs_fifos
@pytest.mark.parametrize("name", [".pi/agent/sessions", ".codex/sessions", ".claude/projects"])
def test_a_fifo_in_the_place_of_a_store_keeps_nobody_waiting(run: Run, name: str) -> None:
    home = Path.home()
    place = home / name
    place.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(place)
    assert run("ls").code == 0
    os.unlink(place)
    os.mkfifo(other := place.parent / "other")
    assert run("ls", other).code in (0, 1)


def test_a_store_of_opencode_that_may_not_be_listed_is_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path.home()
    root = home / ".local/share/opencode"
    Database(root).write(one_turn())
    closed(monkeypatch, root)
    assert run("ls").err.splitlines() == [f"leafward: {root}: Permission denied"]


def test_a_session_in_a_database_that_cannot_be_read_says_so(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path.home()
    base = Database(home / ".local/share/opencode")
    base.write(one_turn())
    outcome = run("tree", base.path / "ses_two")
    assert (outcome.code, outcome.err) == (
        1,
        f"leafward: no session 'ses_two' in {base.path}; `leafward ls` lists those that can be read\n",
    )
    base.path.write_bytes(base.path.read_bytes()[:100])
    closed(monkeypatch, base.path)
    outcome = run("tree", base.path / "ses_one")
    assert (outcome.code, outcome.err) == (1, f"leafward: cannot read {base.path}: Permission denied\n")
