"""A project whose folder is not there: the catalogue says where it may be now, and begins its sessions there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from tests.acting import Acting, call
from tests.pi_file import HEADER
from tests.tui.session_store import NARROW, browsing, reached, rows, shown, until

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def stored(tmp_path: Path) -> Path:
    """Two sessions of a folder that is not there, one of them unfinished, and one of another folder of its name."""
    store, new = tmp_path / "sessions", tmp_path / "now" / "orchard"
    new.mkdir(parents=True)
    store.mkdir()
    for name, folder in (("old", "/gone/orchard"), ("unfinished", "/gone/orchard"), ("new", str(new))):
        file = Acting(store / f"{name}.jsonl", {**HEADER, "id": name, "cwd": folder})
        file.user(f"plant a {name} pear")
        if name == "unfinished":
            file.said(call("bash", "b", command="plant"))
        else:
            file.said("planted")
    return store


async def test_the_sheet_says_what_would_begin_and_a_second_look_finds_nothing_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    # Where a healed session is begun as well.
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path))
    store = stored(tmp_path)
    async with browsing(store) as (pilot, screen):
        assert not screen.enabled("project.relocate") or screen.view.line is not None
        at = next(n for n, line in enumerate(screen.sessions.listing.lines) if line.group == "/gone/orchard")
        screen.sessions.go(at)
        await until(pilot, lambda: "copy its sessions to ~/now/orchard" in "\n".join(rows(pilot.app)))
        assert "relocate" in rows(pilot.app)[-1]
        await pilot.press("L")
        await reached(pilot, ChoiceSheet)
        text = shown(pilot)
        assert "Copy 2 sessions to ~/now/orchard" in text
        assert "1 healed: a call in it has no result" in text
        before = sorted(store.rglob("*.jsonl"))
        await pilot.press("b")
        await until(pilot, lambda: len(list(store.rglob("*.jsonl"))) == len(before) + 2)
        await until(
            pilot, lambda: any("copied 2 sessions" in one.message for one in pilot.app._notifications)
        )
        await until(pilot, lambda: len(screen.sessions.listing.stock.cards) == 5)
        screen.sessions.go(
            next(n for n, line in enumerate(screen.sessions.listing.lines) if line.group == "/gone/orchard")
        )
        await pilot.pause()
        await pilot.press("L")
        await reached(pilot, ChoiceSheet)
        assert "nothing is left to copy" in shown(pilot)
        await pilot.press("escape")
    assert len(list(store.rglob("*.jsonl"))) == len(before) + 2


async def test_on_a_project_that_is_there_the_key_does_nothing(tmp_path: Path) -> None:
    async with browsing(stored(tmp_path), size=NARROW) as (pilot, screen):
        here = str(tmp_path / "now" / "orchard")
        screen.sessions.go(
            next(n for n, line in enumerate(screen.sessions.listing.lines) if line.group == here)
        )
        await until(pilot, lambda: not screen.enabled("project.relocate"))
