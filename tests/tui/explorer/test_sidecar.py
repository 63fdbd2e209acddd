"""The explorer changes sessions of other agents beside their files, and says what is a preview."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.codex.agent import Codex
from leafward.base.config import Config
from leafward.context.model_context import context_at
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.log.screen import LogScreen
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from tests.claude_transcript import NO_USAGE, Transcript
from tests.foreign_stores import Store, make, watched
from tests.tui.considered import considering, follow
from tests.tui.explored import NARROW, chosen, exploring, note, tree, written
from tests.tui.session_store import reached, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.agents.base import Listing
    from leafward.session.session import Session


@pytest.fixture(params=["claude", "opencode"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with watched(request.param, tmp_path / "store") as made:
        yield made


def session_of(screen: ExplorerScreen) -> Session:
    return sure(screen.state.session)


def row_of(screen: ExplorerScreen, text: str) -> str:
    return next(row for row in tree(screen) if text in row)


def row_in(text: str, words: str) -> str:
    return next(row for row in text.split("\n") if words in row).rstrip()


async def test_an_edit_says_first_that_the_agent_reads_on_as_before(store: Store) -> None:
    async with exploring(store.path, NARROW) as (pilot, screen):
        await chosen(pilot, "E")
        shown = "\n".join(rows(screen.app))
        assert "only in Leafward: the agent itself still reads the entries as they are" in shown
        assert "to Leafward's own file" in shown


async def test_label_move_undo_and_redo(store: Store) -> None:
    async with exploring(store.path) as (pilot, screen):
        total = len(session_of(screen))
        assert "read only" not in rows(screen.app)[0]
        assert "preview leaf" not in "\n".join(rows(screen.app))
        await pilot.press("K")
        await chosen(pilot, "l", *"here", "enter")
        await written(pilot, screen, total + 1)
        assert "[here]" in row_of(screen, "two?")
        await chosen(pilot, "enter")
        shown = "\n".join(rows(screen.app))
        assert "append 1 line to Leafward's own file" in shown
        # What it does not do is said before it is done.
        assert "only Leafward shows it: the agent itself stays at #" in shown
        assert row_in(shown, "Move the leaf here").endswith(f"stays at #{session_of(screen).place}")
        assert "resume in the agent" not in shown, "it would go on elsewhere"
        assert "New session from here" in shown
        await pilot.press("m")
        await written(pilot, screen, total + 2)
        assert "preview leaf" in row_of(screen, "two?")
        assert "agent's leaf" in row_of(screen, "three?")
        assert "preview leaf" in rows(screen.app)[0]
        assert "b new session" in note(screen)
        await pilot.press("u")
        await written(pilot, screen, total + 3)
        assert "preview leaf" not in "\n".join(tree(screen))
        assert "preview leaf" not in rows(screen.app)[0]
        assert row_of(screen, "three?").split().count("leaf") == 1
        await pilot.press("U")
        await written(pilot, screen, total + 4)
        assert "preview leaf" in row_of(screen, "two?")


async def test_what_matters_of_a_what_if_is_said_on_a_narrow_screen(store: Store) -> None:
    async with exploring(store.path, NARROW) as (pilot, screen):
        total = len(session_of(screen))
        await pilot.press("K")
        await chosen(pilot, "enter", "m")
        await written(pilot, screen, total + 1)
        (said,) = [row for row in rows(screen.app) if "moved to" in row]
        assert "only in Leafward" in said
        assert "u undo" in said
        assert "b new session" in said


async def test_the_log_takes_a_what_if_back(store: Store) -> None:
    async with exploring(store.path) as (pilot, screen):
        total = len(session_of(screen))
        await pilot.press("K")
        await chosen(pilot, "enter", "m")
        await written(pilot, screen, total + 1)
        await pilot.press("o")
        await reached(pilot, LogScreen)
        await until(pilot, lambda: "kept by Leafward beside the agent's files" in "\n".join(rows(pilot.app)))
        await chosen(pilot, "u")
        assert "append 1 line to Leafward's own file" in "\n".join(rows(pilot.app))
        await pilot.press("enter")
        await until(pilot, lambda: len(session_of(screen)) == total + 2)
        await reached(pilot, LogScreen)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        await until(pilot, lambda: "preview leaf" not in "\n".join(tree(screen)))


async def test_what_is_kept_stays_when_the_agent_goes_on(tmp_path: Path) -> None:
    store = make("claude", tmp_path / "store")
    async with exploring(store.path) as (pilot, screen):
        total = len(session_of(screen))
        await pilot.press("K")
        await chosen(pilot, "enter", "m")
        await written(pilot, screen, total + 1)
        store.grow("four")
        await written(pilot, screen, total + 3)
        assert row_of(screen, "four?").split().count("leaf") == 1
        assert "preview leaf" not in "\n".join(tree(screen))
        assert "reloaded" not in note(screen)


async def test_resuming_at_a_what_if_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make("claude", tmp_path / "store")
    ran: list[object] = []
    async with exploring(store.path) as (pilot, screen):
        monkeypatch.setattr(screen.panes, "hand_over", ran.append)
        monkeypatch.setattr("leafward.agents.resume.Resume.obstacle", lambda _command: None)
        screen.action_intent("agent.resume")
        assert len(ran) == 1
        total = len(session_of(screen))
        await chosen(pilot, "enter", "r")
        await until(pilot, lambda: len(ran) == 2)
        assert len(session_of(screen)) == total, "the agent is there already: nothing is appended"
        ran.pop()
        await pilot.press("K")
        await chosen(pilot, "enter", "m")
        await written(pilot, screen, len(session_of(screen)))
        screen.action_intent("agent.resume")
        await reached(pilot, ChoiceSheet)
        await until(pilot, lambda: "a preview that only Leafward knows" in "\n".join(rows(screen.app)))
        await pilot.press("escape")
        await until(pilot, lambda: len(ran) == 1)
        await pilot.press("j")
        await chosen(pilot, "enter")
        assert "Move here and resume" in "\n".join(rows(screen.app))
        await pilot.press("r")
        await until(pilot, lambda: len(ran) == 2)
        assert not session_of(screen).what_if


async def test_right_after_a_compaction_the_gauge_says_what_comes_on_top(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / ".claude")
    transcript.prompt("one")
    transcript.reply("first", usage=NO_USAGE)
    transcript.boundary("short", preTokens=0)
    async with exploring(transcript.path) as (pilot, screen):
        shown = "\n".join(rows(screen.app))
        assert " + not in file / " in shown
        transcript.turn("two", "second")
        await until(pilot, lambda: " + not in file / " not in "\n".join(rows(screen.app)))


async def test_no_store_is_searched_while_somebody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with a broken first line is known by the store it lies in, which is listed once, in a worker."""
    store = make("codex", tmp_path / "store")
    content = store.path.read_bytes()
    store.path.write_bytes(content[40:])
    listed: list[threading.Thread] = []
    discover = Codex.discover

    def counted(self: Codex, *given: Any) -> Iterator[Listing]:
        listed.append(threading.current_thread())
        return discover(self, *given)

    monkeypatch.setattr(Codex, "discover", counted)
    async with exploring(store.path) as (pilot, screen):
        assert "codex" in rows(screen.app)[0]
        await chosen(pilot, "l", *"here", "enter")
        await until(pilot, lambda: "[here]" in "\n".join(tree(screen)))
        screen.action_intent("agent.resume")
        assert "folder" in note(screen), "which folder it belongs to stood in the line that is broken"
        await pilot.press("o")
        await reached(pilot, LogScreen)
        await pilot.press("escape")
        await chosen(pilot, "b")
        assert "Codex" in "\n".join(rows(screen.app))
    assert len(listed) == 1
    assert listed[0] is not threading.main_thread()


async def test_a_compaction_is_accepted_beside_it(store: Store) -> None:
    async with considering(store.path, config=Config(keep_recent=1, follow_interval=0.02)) as (pilot, lab):
        assert "read only" not in rows(pilot.app)[0]
        # So short a session is not compacted by a summary with all its headings: that would make its context larger.
        await follow(pilot, lab, "i")
        lab.controllers.drafts.set_text("two turns")
        await until(pilot, lambda: lab.state.draft is not None and lab.state.draft.changed)
        draft = sure(lab.state.draft)
        assert not draft.growth
        await pilot.press("ctrl+s")
        await reached(pilot, ChoiceSheet)
        assert "append 1 line to Leafward's own file" in "\n".join(rows(pilot.app))
        assert "only in Leafward: the agent goes on" in "\n".join(rows(pilot.app))
        await pilot.press("enter")
        screen = await reached(pilot, ExplorerScreen)
        await until(pilot, lambda: "compacted" in note(screen))
        assert "preview leaf" in row_of(screen, "compaction")
        assert context_at(session_of(screen)).size.total == draft.tokens_after
        await pilot.press("u")
        await until(pilot, lambda: "undid" in note(screen))
        assert "preview leaf" not in rows(screen.app)[0]
