"""Fixtures of the application's tests."""

from __future__ import annotations

import shutil
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from textual._compositor import Compositor
from textual.css.stylesheet import Stylesheet

from leafward.compaction import branch_summary as branches
from leafward.export.demo import demo_session
from leafward.session.session import Session
from tests.pi_file import PiFile
from tests.tui.compared import compared, parted
from tests.tui.considered import working
from tests.tui.explored import Named, forked
from tests.tui.idle_wait import wait_after_key, wait_in_pause
from tests.tui.logged import Hands
from tests.tui.session_store import mixed_store, small_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.css.model import RuleSet

    from leafward_tui.compare.model.compared_sides import Overall


@pytest.fixture(autouse=True, scope="session")
def finer_waits() -> Iterator[None]:
    """Keys and pauses wait for the application in finer steps than Textual's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textual.app.wait_for_idle", wait_after_key)
        patch.setattr("textual.pilot.wait_for_idle", wait_in_pause)
        yield


@pytest.fixture(autouse=True, scope="session")
def _styles_parsed_once() -> Iterator[None]:
    """Textual's styles and ours are parsed once for each theme, not again for each application that a test starts."""
    really = Stylesheet._parse_rules
    parsed: dict[object, list[RuleSet]] = {}

    def remembered(self: Stylesheet, css: str, **how: Any) -> list[RuleSet]:
        key = css, *how.items(), *self._variables.items()
        if key not in parsed:
            parsed[key] = really(self, css, **how)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", remembered)
        yield


@pytest.fixture(autouse=True)
def _frames_nobody_looks_at(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame is drawn when a test reads the screen, not each time that it changes, except in tests that count frames.

    No terminal is there to show what is drawn in between: it took two fifths of the processor.
    """
    if request.node.get_closest_marker("frames") is not None:
        return
    really = Compositor.render_update

    def when_asked(self: Compositor, full: bool = False, **how: Any) -> object:
        if full:
            return really(self, full, **how)
        self._dirty_regions.clear()
        return None

    monkeypatch.setattr(Compositor, "render_update", when_asked)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder of small sessions, for the catalogue."""
    root = tmp_path / "sessions"
    small_store(root)
    return root


@pytest.fixture
def mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """pi's sessions, a fork of one in another project, and one that Claude Code deletes soon."""
    monkeypatch.setenv("HOME", "/home/ada")
    root = tmp_path / "all"
    mixed_store(root)
    return root


@pytest.fixture
def file(tmp_path: Path) -> Named:
    """A session with three branches, for the explorer."""
    return forked(tmp_path / "session.jsonl")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A session of twenty turns that did some work, for the compaction lab."""
    return working(tmp_path / "session.jsonl", 20).path


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Summaries write half of their text, and the rest once the gate is open or they are stopped."""
    opened = threading.Event()
    made = branches.summarize_branch

    def held(branch: branches.LeftBranch, summarizer: Any, **how: Any) -> branches.BranchDraft:
        how["progress"]("## Goal\n- half of it")
        while not opened.wait(0.01) and not how["stop"]():
            pass
        return made(branch, summarizer, **how)

    monkeypatch.setattr("leafward.compaction.branch_summary.summarize_branch", held)
    yield opened
    opened.set()


@pytest.fixture
def fork(tmp_path: Path) -> Iterator[Session]:
    """Prompts 0 1, then three ways from 1: 2 3, 4 5 and 6 7, which is the path."""
    file = PiFile(tmp_path / "fork.jsonl")
    file.user("0")
    point = file.user("1")
    for first in (2, 4, 6):
        file.user(str(first), point)
        file.user(str(first + 1))
    with closing(Session.open(file.path)) as session:
        yield session


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """The bundled session, copied to a file whose name never changes: it is seen in pictures."""
    path = tmp_path / "demo.jsonl"
    with demo_session() as bundled:
        shutil.copyfile(bundled, path)
    return path


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Overall]:
    """Two branches compared."""
    found = compared(parted(tmp_path / "s.jsonl").path)
    yield found
    found.sides.session.close()


@pytest.fixture
def hands(tmp_path: Path) -> Iterator[Hands]:
    """A session with three branches, to do things to."""
    file = forked(tmp_path / "session.jsonl", cwd=tmp_path)
    made = Hands(file)
    with closing(made.session):
        yield made
