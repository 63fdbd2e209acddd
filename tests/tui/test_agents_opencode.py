"""The explorer and the catalogue on sessions of opencode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.config import Config
from leafward_tui.app import LeafwardApp
from leafward_tui.screens.catalogue import CatalogueScreen
from leafward_tui.screens.explorer import ExplorerScreen
from tests.opencode_store import Conversation, Database, call, files_of, said
from tests.tui.explored import exploring
from tests.tui.session_store import app_over, listed, rows, until

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Database:
    store, talk = Database(tmp_path / "opencode"), Conversation()
    talk.turn("Plant pears")
    talk.ask("Try apples")
    talk.reply(call("write", filePath="apples.txt", content="a\n", number=1))
    store.write(talk)
    store.remove(talk, *[body["id"] for body, _ in talk.messages[2:]])
    talk.ask("Try plums")
    talk.reply(call("edit", filePath="plums.txt", oldString="a", newString="b", number=2))
    talk.compaction("Pears are planted", talk.messages[-1][0]["id"])
    talk.reply(said("Plums it is."))
    store.write(talk)
    return store


async def test_a_session_in_a_database_is_explored_and_never_written(store: Database) -> None:
    before = files_of(store.path.parent)
    async with exploring(store.path / "ses_one") as (pilot, screen):
        shown = "\n".join(rows(pilot.app))
        for text in ("Plant pears", "Try apples", "Try plums", "Prune the pear trees"):
            assert text in shown
        for key in ("x", "w", "tab", "j", "J", "{", "o", "escape", "u", "l", "enter"):
            await pilot.press(key)
            await pilot.pause()
        await pilot.press("escape")
        assert screen.session is not None
        assert screen.session.tree.branches() == 1
    assert files_of(store.path.parent) == before


async def test_the_catalogue_lists_a_database_session_by_session(store: Database) -> None:
    other = Conversation("ses_two", at=Conversation().begun + 90_000, title="Harvest")
    other.turn("two")
    store.write(other)
    app = app_over(store.path.parent, config=Config())
    async with app.run_test(size=(120, 32)) as pilot:
        await listed(pilot)
        await until(pilot, lambda: "Harvest" in "\n".join(rows(app)))
        assert "Prune the pear trees" in "\n".join(rows(app))


@pytest.mark.parametrize(("inside", "screen"), [("", CatalogueScreen), ("ses_one", ExplorerScreen)])
def test_a_database_opens_the_catalogue_and_a_session_in_it_the_explorer(
    store: Database, inside: str, screen: type
) -> None:
    app = LeafwardApp([store.path / inside if inside else store.path], config=Config())
    assert isinstance(app.first_screen(), screen)
