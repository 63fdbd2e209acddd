"""What opens on a database of opencode, and on a session in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.config import Config
from leafward_tui.app import LeafwardApp
from leafward_tui.screens.catalogue import CatalogueScreen
from leafward_tui.screens.explorer import ExplorerScreen
from tests.opencode_store import Database, branched

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
