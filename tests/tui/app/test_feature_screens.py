"""How the application opens the screens of features whose modules are not loaded yet."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from leafward_tui.app.screens import FeatureScreens
from tests.tui.waiting_jobs import WaitingJobs

if TYPE_CHECKING:
    import pytest
    from textual.app import App

_BLAME = "leafward_tui.blame.screen"


class Opening:
    """An application that keeps the screens it is to push; the jobs of each screen wait until they are run."""

    def __init__(self) -> None:
        self.app = self
        self.screen: object = object()
        self.asked: dict[object, WaitingJobs] = {}
        self.pushed: list[object] = []
        self.said: list[str] = []

    def jobs(self, owner: object) -> WaitingJobs:
        return self.asked.setdefault(owner, WaitingJobs())

    def say(self, text: str, *, problem: bool = False) -> None:
        self.said.append(text)

    def push_screen(self, screen: object, _done: object = None) -> None:
        self.pushed.append(screen)


def test_a_key_opens_a_screen_although_it_was_asked_for_on_one_that_closed_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, _BLAME, raising=False)
    app = Opening()
    screens = FeatureScreens(cast("App[Any]", app))
    screens.blame(Path("a.py"), None)
    # The screen that asked is gone, and its job with it.
    app.screen = object()
    screens.blame(Path("a.py"), None)
    app.asked[app.screen].run("module")
    assert len(app.pushed) == 1
    assert not app.asked[app.screen].running("module")


def test_a_key_asks_again_for_a_screen_whose_module_could_not_be_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Installed anew while it runs, say: the files of the one before are gone for a moment."""
    monkeypatch.delitem(sys.modules, _BLAME, raising=False)
    app = Opening()
    screens = FeatureScreens(cast("App[Any]", app))
    with monkeypatch.context() as patch:
        patch.setattr("leafward_tui.app.screens.import_module", _no_room)
        screens.blame(Path("a.py"), None)
        app.asked[app.screen].run("module")
    assert app.said
    screens.blame(Path("a.py"), None)
    app.asked[app.screen].run("module")
    assert len(app.pushed) == 1


def _no_room(_name: str) -> None:
    raise OSError(24, "Too many open files")
