"""The explorer and the catalogue on sessions of every other agent: nothing of theirs is written."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from tests import claude_transcript, codex_rollout, opencode_store
from tests.acting import Acting
from tests.tui.explored import Named, exploring, note, tree
from tests.tui.session_store import app_over, browsing, listed, reached, rows, shown, until
from tests.tui.sure import sure
from tests.untouched import contents

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = ("x", "w", "c", "escape", "tab", "j", "J", "{", "o", "escape", "u", "l", "enter", "escape")
"""Tabs, the lab, rows and branches, the log, and what would write to a session of pi."""


@dataclass(frozen=True)
class Kept:
    """A store of an agent, a session in it, and what is read of them."""

    root: Path
    session: Path
    said: tuple[str, ...]
    """Stands in the explorer on that session."""
    listed: tuple[str, ...]
    """Stands in the catalogue; the first of them comes last."""
    branches: int


def claude(root: Path) -> Kept:
    shutil.copytree(claude_transcript.DATA / "2.1.330", root)
    said = (
        "Add a mul function to src/calc.py",
        "Try the recursive approach",
        "Write a README",
        "What is left to do?",
        "recursive-branch",
    )
    named = ("auto-compact", "tree-demo", "sub-agent: SUBAGENT", "Delegate a survey of the repo to a helper")
    return Kept(root, next(root.rglob("d379888c*.jsonl")), said, named, 1)


def codex(root: Path) -> Kept:
    shutil.copytree(codex_rollout.DATA / "0.169", root)
    said = (
        "Explain what src/calc.py does",
        "Write a README",
        "Try the recursive approach",
        "Run a command that fails",
        "Try the iterative approach",
        "Twice reverted",
    )
    named = (
        "Twice reverted",
        "Delegate a survey of the repo to a helper",
        "sub-agent: SUBAGENT",
        "What is left to do?",
    )
    return Kept(root, codex_rollout.thread_in(root, "cb54"), said, named, 2)


def opencode(root: Path) -> Kept:
    store = opencode_store.Database(root)
    opencode_store.branched(store)
    other = opencode_store.Conversation("ses_two", at=opencode_store.START + 90_000, title="Harvest")
    other.turn("two")
    store.write(other)
    said = ("Plant pears", "Try apples", "Try plums", "Prune the pear trees")
    return Kept(root, store.path / "ses_one", said, ("Harvest", "Prune the pear trees"), 1)


@pytest.fixture(params=[claude, codex, opencode], ids=lambda agent: agent.__name__)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    made = request.param(tmp_path / f".{request.param.__name__}")
    assert isinstance(made, Kept)
    return made


async def test_a_session_is_explored_and_never_written(kept: Kept) -> None:
    before = contents(kept.root)
    async with exploring(kept.session) as (pilot, screen):
        shown = "\n".join(rows(pilot.app))
        assert [text for text in kept.said if text not in shown] == []
        # Reminders and attachments begin no rows of their own between turns.
        assert not any("total_tokens" in line.partition("│")[0] for line in shown.splitlines())
        for key in KEYS:
            await pilot.press(key)
            await pilot.pause()
        assert sure(screen.state.session).branches == kept.branches
    assert contents(kept.root) == before


async def test_the_catalogue_lists_sessions_with_forks_and_sub_agents(kept: Kept) -> None:
    async with browsing(kept.root, config=Config(), size=(120, 32)) as (pilot, _):
        await until(pilot, lambda: kept.listed[0] in "\n".join(rows(pilot.app)))
        shown = "\n".join(rows(pilot.app))
        assert [text for text in kept.listed if text not in shown] == []


def delegating(root: Path) -> Kept:
    """A session of opencode, and that of its sub-agent."""
    store = opencode_store.Database(root)
    above = opencode_store.Conversation("ses_one", title="Delegate a survey of the repo")
    above.turn("survey it")
    store.write(above)
    below = opencode_store.Conversation(
        "ses_two", at=opencode_store.START + 90_000, title="Survey the repo", parentID="ses_one"
    )
    below.turn("look around")
    store.write(below)
    return Kept(root, store.path / "ses_two", (), (), 0)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
@pytest.mark.parametrize("agent", [claude, codex, delegating], ids=lambda agent: agent.__name__)
async def test_a_sub_agents_session_says_whose_it_is_and_leads_there(
    agent: Callable[[Path], Kept], size: tuple[int, int], tmp_path: Path
) -> None:
    root = agent(tmp_path / f".{agent.__name__}").root
    async with browsing(root, config=Config(), size=(120, 32)) as (pilot, screen):
        cards = screen.state.list.stock.cards
    path = next(Path(card.path) for card in cards if card.relation == "subagent" and card.parent)
    async with exploring(path, size) as (pilot, explorer):
        await until(pilot, lambda: "sub-agent of Delegate" in rows(pilot.app)[0])
        assert "^ parent" in rows(pilot.app)[-1]
        await pilot.press("^")
        parent = await reached(pilot, ExplorerScreen)
        await until(pilot, lambda: pilot.app.screen is not explorer)
        parent = await reached(pilot, ExplorerScreen)
        await until(pilot, lambda: parent.state.session is not None)
        await until(pilot, lambda: "Delegate a survey" in rows(pilot.app)[0])
        assert "sub-agent of" not in rows(pilot.app)[0]
        await pilot.press("^")
        await until(pilot, lambda: "it is not known which session this one came from" in note(parent))
        await pilot.press("q")
        await until(pilot, lambda: pilot.app.screen is explorer)


def delegated(root: Path) -> Path:
    """A session of Claude Code, whose one call started a sub-agent."""
    return next(claude(root).root.rglob("3bc992cf*.jsonl"))


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_row_of_a_call_that_made_a_sub_agent_leads_there(
    size: tuple[int, int], tmp_path: Path
) -> None:
    async with exploring(delegated(tmp_path / ".claude"), size) as (pilot, explorer):
        await until(pilot, lambda: sum("sub-agent" in line for line in tree(explorer)) == 1)
        await pilot.press("_")
        await until(pilot, lambda: "no call of this row started a known sub-agent" in note(explorer))
        await pilot.press("g")
        await until(pilot, lambda: "_ sub-agent" in rows(pilot.app)[-1])
        if size[0] > 100:
            await until(pilot, lambda: any("sub-agent: SUBAGENT: list the" in row for row in rows(pilot.app)))
        await pilot.press("_")
        await until(pilot, lambda: pilot.app.screen is not explorer)
        await until(pilot, lambda: "sub-agent of Delegate" in rows(pilot.app)[0])
        await pilot.press("q")
        await until(pilot, lambda: pilot.app.screen is explorer)


async def test_of_several_sub_agents_of_a_row_one_is_chosen(tmp_path: Path) -> None:
    transcript = claude_transcript.Transcript(tmp_path / ".claude")
    transcript.prompt("survey it")
    for name in ("apples", "pears"):
        transcript.call("Task", name, description=name, prompt=name)
        transcript.result(name, toolUseResult={"agentId": name, "status": "completed"})
        below = transcript.path.with_name(f"agent-{name}.jsonl")
        below.write_text(
            transcript.path.read_text().splitlines()[0].replace("survey it", f"look at {name}") + "\n"
        )
    transcript.reply("done")
    async with exploring(transcript.path) as (pilot, explorer):
        await until(pilot, lambda: sum("2 sub-agents" in line for line in tree(explorer)) == 1)
        await pilot.press("_")
        await reached(pilot, ChoiceSheet)
        assert "look at apples" in shown(pilot)
        await pilot.press("b")
        await until(pilot, lambda: "look at pears" in rows(pilot.app)[0])


def codex_fork(root: Path) -> tuple[Path, str, str]:
    """A fork of a thread, what its source is called, and the prompt that it begins with."""
    shutil.copytree(codex_rollout.DATA / "0.169", root)
    return codex_rollout.thread_in(root, "cda2"), "Twice reverted", "What is left to do?"


def pi_fork(root: Path) -> tuple[Path, str, str]:
    """As pi forks a session: the entries of the path, then its own."""
    root.mkdir()
    source = Named(root / "source.jsonl")
    source.turn("a")
    source.turn("b")
    header, *lines = source.path.read_text().splitlines()
    fork = Acting(
        root / "fork.jsonl", {**json.loads(header), "id": "fork", "parentSession": str(source.path)}
    )
    for line in lines[:2]:
        fork.raw(line)
    fork.leaf, fork.count = json.loads(lines[1])["id"], 100
    fork.user("own prompt")
    fork.said("own answer")
    return fork.path, "a prompt", "own prompt"


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
@pytest.mark.parametrize("fork", [codex_fork, pi_fork])
async def test_a_fork_says_of_what_and_where_it_begins_and_leads_there(
    fork: Callable[[Path], tuple[Path, str, str]], size: tuple[int, int], tmp_path: Path
) -> None:
    path, source, own = fork(tmp_path / "store")
    async with exploring(path, size) as (pilot, explorer):
        await until(pilot, lambda: f"fork of {source[:8]}" in rows(pilot.app)[0])
        await until(pilot, lambda: sum("fork begins" in line for line in tree(explorer)) == 1)
        assert own in next(line for line in tree(explorer) if "fork begins" in line)
        assert "^ parent" in rows(pilot.app)[-1]
        await pilot.press("^")
        await until(pilot, lambda: pilot.app.screen is not explorer)
        parent = await reached(pilot, ExplorerScreen)
        await until(pilot, lambda: parent.state.session is not None)
        await until(pilot, lambda: source in rows(pilot.app)[0])
        assert "fork of" not in rows(pilot.app)[0]


async def test_the_catalogue_says_what_comes_on_top_of_a_size_as_the_explorer_does(tmp_path: Path) -> None:
    transcript = claude_transcript.Transcript(tmp_path / ".claude")
    transcript.turn("one", "first")
    transcript.boundary("short")
    app = app_over(tmp_path / ".claude", config=Config())
    async with app.run_test(size=(120, 32)) as pilot:
        await listed(pilot)
        await until(pilot, lambda: "Context" in "\n".join(rows(app)))
        assert " + not in file / " not in "\n".join(rows(app))
    transcript.path.unlink()
    transcript = claude_transcript.Transcript(tmp_path / ".claude")
    transcript.prompt("one")
    transcript.reply("first", usage=claude_transcript.NO_USAGE)
    transcript.boundary("short", preTokens=0)
    app = app_over(tmp_path / ".claude", config=Config())
    async with app.run_test(size=(120, 32)) as pilot:
        await listed(pilot)
        await until(pilot, lambda: " + not in file / " in "\n".join(rows(app)))


async def test_a_fork_has_one_title_everywhere(tmp_path: Path) -> None:
    source = claude_transcript.Transcript(tmp_path / ".claude")
    source.turn("the first of all", "first")
    fork = claude_transcript.Transcript(tmp_path / ".claude", claude_transcript.IDS[1])
    for line in source.path.read_text("utf-8").splitlines():
        fork.raw(line.encode() + b"\n")
    fork.tip, fork.number = source.tip, 100
    fork.turn("its own beginning", "second")
    fork.turn("and more", "third")
    async with browsing(tmp_path / ".claude", config=Config(), size=(120, 32)) as (pilot, _):
        await until(pilot, lambda: "its own beginning" in "\n".join(rows(pilot.app)))
    async with exploring(fork.path) as (_, screen):
        assert "its own beginning" in rows(screen.app)[0]


async def test_the_title_line_names_the_agent_before_it_counts_nothing(tmp_path: Path) -> None:
    transcript = claude_transcript.Transcript(tmp_path / ".claude")
    transcript.turn("Explain what the calculator does with numbers that are not there at all", "fine")
    transcript.boundary("short")
    transcript.turn("two", "second")
    async with exploring(transcript.path) as (_, screen):
        head = rows(screen.app)[0]
        assert "claude" in head
        assert "0 branches" not in head
