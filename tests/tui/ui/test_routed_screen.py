"""Keys go to controllers by the ids of intents; features open one another through the application."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from textual.screen import Screen

from leafward_tui.app import screens
from leafward_tui.app.app import LeafwardApp
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.routed_screen import Actions, RoutedScreen, Routes

if TYPE_CHECKING:
    from pathlib import Path

    from leafward_tui.ui.jobs import Job

PATIENCE = 120.0


class Sleeping(Actions):
    """Does nothing while it sleeps."""

    awake = False

    def enabled(self, intent_id: str) -> bool:
        return self.awake


class Keys(RoutedScreen[None]):
    """A screen with the keys of the log."""

    BINDINGS = [*intent_bindings("log")]  # noqa: RUF012  Textual's own form

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []
        self.sleeping = Sleeping({"find.next": lambda: self.done.append("next")})
        self.routes = Routes(Actions({"row.down": lambda: self.done.append("down")}), self.sleeping)


def test_an_intent_has_one_controller() -> None:
    with pytest.raises(ValueError, match="two controllers for row\\.down"):
        Routes(Actions({"row.down": print}), Actions({"row.down": print}))


def test_a_controller_without_a_condition_always_does_something() -> None:
    sleeping = Sleeping({"find.next": print})
    routes = Routes(SimpleNamespace(actions={"row.down": print}), sleeping)
    assert (routes.enabled("row.down"), routes.enabled("find.next")) == (True, False)
    sleeping.awake = True
    assert routes.enabled("find.next")


async def test_a_key_does_what_its_controller_does_unless_that_is_off(tmp_path: Path) -> None:
    async with LeafwardApp([tmp_path]).run_test() as pilot:
        screen = Keys()
        await pilot.app.push_screen(screen)
        await pilot.press("j", "n")
        assert screen.done == ["down"]
        assert not screen.enabled("find.next")
        screen.run_intent("find.next")
        screen.sleeping.awake = True
        await pilot.press("n")
        screen.run_intent("find.next")
        await pilot.pause()
        assert screen.done == ["down", "next", "next"]
        assert screen.enabled("app.quit"), "the application's own"


async def test_a_screen_that_a_job_closes_goes_with_what_lies_over_it(tmp_path: Path) -> None:
    async with LeafwardApp([tmp_path]).run_test() as pilot:
        first, below, over, given = pilot.app.screen, Keys(), Keys(), list[object]()
        await pilot.app.push_screen(below, given.append)
        await pilot.app.push_screen(over)
        below.dismiss(None)
        await pilot.pause()
        assert pilot.app.screen is first
        assert given == [None]


class Compared(Screen[None]):
    """Stands for the comparison."""

    def __init__(self, *_entries: object, mark: int) -> None:
        super().__init__()
        self.mark = mark


@pytest.mark.parametrize("covered", [False, True])
async def test_a_screen_opens_once_its_module_is_loaded_unless_another_lies_over_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, covered: bool
) -> None:
    gate, loads = threading.Event(), list[str]()

    def loading(names: list[str], _job: Job) -> None:
        loads.extend(names)
        assert gate.wait(PATIENCE)
        monkeypatch.setitem(
            sys.modules, "leafward_tui.compare.screen", cast("Any", SimpleNamespace(CompareScreen=Compared))
        )

    monkeypatch.setattr(screens, "_loaded", loading)
    monkeypatch.delitem(sys.modules, "leafward_tui.compare.screen", raising=False)
    async with LeafwardApp([tmp_path]).run_test() as pilot:
        app = pilot.app
        assert isinstance(app, LeafwardApp)
        for _ in range(2):
            app.screens.compare(cast("Any", None), 0, 1, -1, lambda _result: None)
        over: Screen[None] = Screen()
        if covered:
            await app.push_screen(over)
        gate.set()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert loads == ["leafward_tui.compare.screen"], "asked for twice, loaded once"
        assert app.screen is over if covered else isinstance(app.screen, Compared)
