"""Sessions whose file changes while a screen that relies on it is open: said, and read anew with a key."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

from leafward.base.config import Config
from leafward.session.entries import Kind
from leafward.session.journal.session_operations import rename
from leafward_tui.compare.screen import CompareScreen
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.xray.screen import XRayScreen
from tests.tui.compared import comparing, parted
from tests.tui.considered import cut_off, stored
from tests.tui.explored import exploring, note
from tests.tui.session_store import HELD, reached, shown, until
from tests.tui.sure import sure
from tests.tui.xray.test_xray import orchard, seeing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.pi_file import PiFile


def put_away(path: Path) -> Path:
    """Takes the name of a session away; returns the new one."""
    return path.rename(path.with_suffix(".away"))


def put_back(away: Path, path: Path) -> None:
    """Gives a session its name again."""
    away.rename(path)


def as_another(path: Path, other: PiFile) -> None:
    """Gives the name of a session to another one."""
    other.path.replace(path)


class TestXRay:
    async def test_a_session_that_grew_is_said_to_have_changed_and_is_seen_again(self, path: Path) -> None:
        file = orchard(path)
        async with seeing(path) as (pilot, explorer, screen):
            file.user("and now?")
            await until(pilot, lambda: "the session has changed" in shown(pilot))
            assert "ctrl+r reload" in shown(pilot)
            await pilot.press("ctrl+r")
            await until(
                pilot, lambda: isinstance(pilot.app.screen, XRayScreen) and pilot.app.screen is not screen
            )
            again = await reached(pilot, XRayScreen)
            await until(pilot, lambda: again.state.loaded.xray is not None)
            assert "has changed" not in shown(pilot)
            assert len(sure(explorer.state.session)) == len(again.state.session)

    async def test_of_another_session_in_its_place_nothing_is_shown_as_that_compaction(
        self, path: Path, tmp_path: Path
    ) -> None:
        async with seeing(orchard(path).path) as (pilot, explorer, _screen):
            as_another(path, parted(tmp_path / "other.jsonl"))
            await until(pilot, lambda: "the session has changed" in shown(pilot))
            await pilot.press("ctrl+r")
            await reached(pilot, ExplorerScreen)
            await until(pilot, lambda: "not in it any more" in note(explorer))
            assert "branch A" in shown(pilot)

    async def test_a_file_that_is_gone_is_said_to_be_so_until_it_is_back(self, path: Path) -> None:
        async with seeing(orchard(path).path) as (pilot, _explorer, _screen):
            away = put_away(path)
            await until(pilot, lambda: "the file is gone" in shown(pilot))
            put_back(away, path)
            await until(pilot, lambda: "file gone" not in shown(pilot))


class TestCompare:
    async def test_both_sides_are_read_again(self, path: Path) -> None:
        file = parted(path)
        async with comparing(path) as (pilot, explorer, screen):
            file.user("one more thing")
            await until(pilot, lambda: "the session has changed" in shown(pilot))
            await pilot.press("ctrl+r")
            await until(
                pilot, lambda: isinstance(pilot.app.screen, CompareScreen) and pilot.app.screen is not screen
            )
            again = await reached(pilot, CompareScreen)
            assert again.state.read.ends == screen.state.read.ends
            assert sure(explorer.state.session).columns.kind[-1] == Kind.USER


async def test_a_write_that_a_cut_off_file_refuses_is_said_after_the_session_was_read_again(
    path: Path,
) -> None:
    file = orchard(path)
    async with exploring(path, config=Config(follow_interval=60)) as (pilot, explorer):
        left = cut_off(file.path)
        explorer.controllers.write.start("named", lambda session, writing: rename(session, "x", writing))
        await until(pilot, lambda: len(sure(explorer.state.session)) == 2)
        assert "shrank since it was read; nothing was written: read again" in note(explorer)
        assert stored(path) == left


async def test_where_the_file_is_not_followed_a_refused_write_names_the_key_that_reads_it(path: Path) -> None:
    file = orchard(path)
    async with exploring(path) as (pilot, explorer):
        await pilot.press("F")
        file.user("and now?")
        explorer.controllers.write.start("named", lambda session, writing: rename(session, "x", writing))
        await until(pilot, lambda: "grew by 1 entry since it was read; nothing was written" in note(explorer))
        assert "F reads what is new" in note(explorer)


async def test_while_a_new_session_is_written_its_source_is_not_read_on(path: Path) -> None:
    file, written = orchard(path), Event()
    async with exploring(path, config=Config(follow_interval=60)) as (pilot, explorer):
        followed = explorer.controllers.followed
        jobs = followed._jobs
        jobs.also("write", lambda _job: written.wait(HELD), lambda _done: None)
        file.user("and now?")
        followed.look()
        assert not explorer.state.growing
        written.set()
        await until(pilot, lambda: not jobs.running("write"))
        followed.look()
        assert explorer.state.growing
