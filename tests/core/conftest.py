"""What the tests of the core have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import codex_rollout

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def opened_sessions_are_closed() -> Iterator[None]:
    """Closes the threads of Codex that a test opened."""
    yield
    while codex_rollout.OPENED:
        codex_rollout.OPENED.pop().close()
