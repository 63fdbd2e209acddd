"""Conditions on a damaged file of any agent that writes line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from leafward.agents.recognition import agent_of
from leafward.session.lines.abridged_lines import BOM
from leafward.session.lines.scan import Pending
from tests.core.catalogued import cards_in
from tests.foreign_sessions import problems, said, texts

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.agents.base import Agent
    from leafward.session.session import Session


class Written(Protocol):
    """A session file that a test writes; before it is damaged it holds one turn, `one` and `first`."""

    path: Path

    def raw(self, data: bytes) -> int: ...

    def turn(self, prompt: str, reply: str) -> object: ...

    def opened(self) -> Session: ...


def passes_over_its_mark(file: Written, agent: Agent, folder: Path) -> None:
    """With a byte order mark all is as before, each place three bytes further on; the folder holds the store."""
    before = file.opened()
    talked, places = said(before), [before.origin(index).offset for index in range(len(before))]
    file.path.write_bytes(BOM + file.path.read_bytes())
    session = file.opened()
    assert said(session) == talked
    assert (session.id, session.cwd) == (before.id, before.cwd)
    places = [place + len(BOM) if place else 0 for place in places]
    assert [session.origin(index).offset for index in range(len(session))] == places
    assert problems(session) == {"bom": 1}
    assert agent_of(file.path) is agent
    file.turn("two", "second")
    session.refresh()
    assert texts(session) == ["one", "first", "two", "second"]
    assert [(card.title, card.damage) for card in cards_in(folder, folder / "index")] == [("one", 0)]


def tells_of_nul_bytes_at_its_end(file: Written) -> None:
    """They are no line: what a crash left where one should have been written."""
    at = file.raw(b"\0" * 4096)
    session = file.opened()
    assert session.scan.pending == Pending(at, 4096)
    assert problems(session) == {"torn-tail": 1}
    assert texts(session) == ["one", "first"]
