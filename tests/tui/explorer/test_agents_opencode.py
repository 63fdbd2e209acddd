"""Opening a database of opencode, and a session in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.base.errors import NotASession
from leafward_tui.app.app import LeafwardApp
from leafward_tui.catalogue.screen import CatalogueScreen
from leafward_tui.explorer.screen import ExplorerScreen
from tests.opencode_store import Conversation, Database, branched, opened, said
from tests.tui.explored import exploring
from tests.tui.session_store import rows, until

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Database:
    store = Database(tmp_path / "opencode")
    branched(store)
    return store


@pytest.mark.parametrize(("inside", "screen"), [("", CatalogueScreen), ("ses_one", ExplorerScreen)])
def test_a_database_opens_the_catalogue_and_a_session_in_it_the_explorer(
    store: Database, inside: str, screen: type
) -> None:
    app = LeafwardApp([store.path / inside if inside else store.path], config=Config())
    assert isinstance(app.first_screen(), screen)


async def test_what_could_not_be_read_of_a_session_is_said_where_it_is_explored(store: Database) -> None:
    whole, size = store.path.read_bytes(), 4096
    for page in range(1, len(whole) // size):
        store.path.write_bytes(whole[: page * size] + b"\xff" * size + whole[(page + 1) * size :])
        try:
            session = opened(store.path / "ses_one")
        except NotASession:
            continue
        if session.unread and len(session):
            break
    else:
        pytest.fail("no page whose damage leaves something")
    async with exploring(store.path / "ses_one") as (_, screen):
        assert session.unread[0][:60] in "\n".join(rows(screen.app))


async def test_a_reply_that_opencode_stores_first_and_fills_in_later_is_shown_as_it_became(
    tmp_path: Path,
) -> None:
    store, talk = Database(tmp_path / "filled"), Conversation()
    talk.turn("Prune the pears")
    talk.ask("And the plums?")
    store.write(talk)
    nothing = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    config = Config(follow_interval=0.02, windows={"pear-1": 100_000})
    async with exploring(store.path / talk.id, (120, 32), config) as (pilot, _):
        talk.reply(said(""), tokens=nothing, finish=None, time={"created": talk.time + 1000})
        store.write(talk)
        await until(pilot, lambda: any("5 entries" in row or "4 entries" in row for row in rows(pilot.app)))
        # The same reply once it is whole: no entry was added.
        body, parts = talk.messages[-1]
        body |= {"tokens": {**nothing, "input": 20_000, "output": 100}, "finish": "stop"}
        body["time"]["completed"] = talk.time + 1500
        parts[-1]["text"] = "Pruned, all of the seven plums."
        talk.time += 2000
        store.write(talk)
        await until(pilot, lambda: any("now 20.1k" in row for row in rows(pilot.app)))
        await until(pilot, lambda: any("all of the seven plums" in row for row in rows(pilot.app)))
