"""What the tests of the application have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tui.explored import Named, forked
from tests.tui.session_store import small_store

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder of small sessions, for the catalogue."""
    root = tmp_path / "sessions"
    small_store(root)
    return root


@pytest.fixture
def file(tmp_path: Path) -> Named:
    """A session with three branches, for the explorer."""
    return forked(tmp_path / "session.jsonl")
