"""What the tests of the core have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import claude_transcript, codex_rollout, opencode_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def opened_sessions_are_closed() -> Iterator[None]:
    """Closes the sessions of other agents that a test opened."""
    yield
    for opened in (codex_rollout.OPENED, claude_transcript.OPENED, opencode_store.OPENED):
        while opened:
            opened.pop().close()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder for sessions; made with the first of them."""
    return tmp_path / "store"
