"""Opening a database of opencode, and a session in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.base.errors import NotASession
from leafward_tui.app.app import LeafwardApp
from leafward_tui.catalogue.screen import CatalogueScreen
from leafward_tui.explorer.screen import ExplorerScreen
from tests.opencode_store import Database, branched, opened
from tests.tui.explored import exploring
from tests.tui.session_store import rows

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
