"""The catalogue while sessions grow: what is live, what moves up, and how often it looks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout
from tests.opencode_store import Conversation, Database
from tests.tui.explored import exploring
from tests.tui.session_store import (
    NOW_MS,
    browsing,
    rows,
    shows,
    titles,
    until,
)
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import Callable


async def test_a_session_that_grows_moves_up_by_itself(mixed: Path) -> None:
    async with browsing(mixed / "pi") as (pilot, screen):
        assert titles(screen.sessions.listing)[0] == "Port the selectors to the theme system"
        late = next(
            Path(line.card.path)
            for line in screen.sessions.listing.lines
            if line.card is not None and line.card.title == "Dark theme for the reading view"
        )
        message = {"role": "user", "content": "one more", "timestamp": NOW_MS - 1000}
        entry = {"type": "message", "id": "ffffffff", "parentId": "00000002", "message": message}
        with late.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        screen.stores.rested = 0.0
        await shows(pilot, screen, lambda listing: titles(listing)[0] == "Dark theme for the reading view")
        line = next(line for line in screen.sessions.listing.lines if line.card is not None)
        assert sure(line.card).turns == 2


async def test_looking_again_rests_much_longer_than_it_looked(
    mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with browsing(mixed) as (_, screen):
        asked: list[int] = []
        monkeypatch.setattr(screen.stores, "look_around", lambda: asked.append(1))
        screen.stores.rested = float("inf")
        screen.stores.look_in_time()
        assert asked == []
        screen.stores.rested = 0.0
        screen.stores.look_in_time()
        assert asked == [1]


def growing_codex(root: Path) -> tuple[Path, Callable[[], object]]:
    rollout = Rollout(root / ".codex")
    rollout.turn("Plant pears", "Planted.")
    return rollout.path, lambda: rollout.turn("and plums", "Plums too.")


def growing_claude(root: Path) -> tuple[Path, Callable[[], object]]:
    talk = Transcript(root / ".claude")
    talk.turn("Plant pears", "Planted.")
    return talk.path, lambda: talk.turn("and plums", "Plums too.")


def growing_opencode(root: Path) -> tuple[Path, Callable[[], object]]:
    base, talk = Database(root / "opencode"), Conversation()
    talk.turn("Plant pears")
    base.write(talk)

    def grow() -> None:
        talk.turn("and plums")
        base.write(talk)

    return base.path / "ses_one", grow


@pytest.mark.parametrize("agent", [growing_codex, growing_claude, growing_opencode])
async def test_a_session_of_any_agent_is_followed(
    agent: Callable[[Path], tuple[Path, Callable[[], object]]], tmp_path: Path
) -> None:
    path, grow = agent(tmp_path)
    async with exploring(path) as (pilot, screen):
        assert "Plant pears" in "\n".join(rows(pilot.app))
        assert screen.state.following
        assert screen.state.session is not None
        known = len(screen.state.session)
        grow()
        await until(pilot, lambda: "and plums" in "\n".join(rows(pilot.app)))
        assert len(screen.state.session) > known
