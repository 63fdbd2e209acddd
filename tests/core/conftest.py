"""Fixtures of the core's tests."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.export.demo import demo_session
from leafward.session.session import Session
from tests.foreign_stores import make
from tests.pi_file import PiFile, conversation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.foreign_stores import Store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder for sessions; made with the first of them."""
    return tmp_path / "store"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder for what opencode keeps; made with the first session."""
    return tmp_path / "opencode"


@pytest.fixture
def demo() -> Iterator[Session]:
    """The bundled session, copied."""
    with demo_session() as path, closing(Session.open(path)) as session:
        yield session


@pytest.fixture
def file(tmp_path: Path) -> PiFile:
    """Three turns: prompts 0, 2, 4 and replies 1, 3, 5."""
    return conversation(tmp_path / "session.jsonl")


@pytest.fixture
def session(file: PiFile) -> Iterator[Session]:
    with closing(Session.open(file.path)) as session:
        yield session


@pytest.fixture
def claude(tmp_path: Path) -> Iterator[Store]:
    """A session of Claude Code."""
    with closing(make("claude", tmp_path / "store")) as made:
        yield made
