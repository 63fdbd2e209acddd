"""Random operations beside another agent's session against a list of states, and an agent that goes on meanwhile."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from leafward.base.errors import Refused
from leafward.session.journal.operation_log import operations
from tests.core.random_operations import (
    State,
    Step,
    Walk,
    attempted,
    place_before,
    state_of,
    steps,
    steps_beside_an_agent,
)
from tests.foreign_stores import Store, make
from tests.untouched import contents

if TYPE_CHECKING:
    from leafward.session.session import Session

ENTRIES = 6


def _store(folder: str, monkeypatch: pytest.MonkeyPatch, agent: str) -> Store:
    monkeypatch.setenv("LEAFWARD_HOME", str(Path(folder) / "leafward"))
    return make(agent, Path(folder) / "store")


@pytest.mark.parametrize("agent", ["claude", "opencode"])
def test_every_sequence_of_operations(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    @settings(max_examples=40)
    @given(steps(ENTRIES))
    def run(taken: list[Step]) -> None:
        with TemporaryDirectory() as folder:
            store = _store(folder, monkeypatch, agent)
            before = contents(store.root)
            with closing(store.open()) as session:
                _walk(store, session, taken)
            store.close()
            assert contents(store.root) == before

    run()


def _walk(store: Store, session: Session, taken: list[Step]) -> None:
    titled = session.name

    def named_by_somebody(state: State) -> State:
        return state if state.name is not None else replace(state, name=titled)

    walk = Walk(session, named_by_somebody)
    for step in taken:
        if step == ("name", "") and walk.state.name == titled:
            # Where nobody here gave a name, what the agent calls it can be covered and not taken away.
            continue
        before = _kept(session)
        walk.take(step)
        assert session.what_if is (walk.state.place != walk.states[0].place)
        assert _kept(session).startswith(before)
        _reads_the_same_anew(store, session)


def _kept(session: Session) -> bytes:
    return session.book_path.read_bytes() if session.source.book is not None else b""


def _reads_the_same_anew(store: Store, session: Session) -> None:
    with closing(store.open()) as anew:
        assert anew.columns == session.columns
        assert anew.leaf == session.leaf
        assert state_of(anew) == state_of(session)
        assert operations(anew) == operations(session)


def test_an_agent_that_goes_on_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept changes are never lost; the agent's own new messages are the place at once; only Leafward makes a preview move."""

    @settings(max_examples=60)
    @given(steps_beside_an_agent(ENTRIES))
    def run(taken: list[Step]) -> None:
        with TemporaryDirectory() as folder:
            store = _store(folder, monkeypatch, "claude")
            with closing(store.open()) as session:
                for step in taken:
                    _agent_step(store, session, step)
            store.close()

    run()


def _agent_step(store: Store, session: Session, step: Step) -> None:
    before, place, ids = _kept(session), session.place, _ids(session)
    if step == ("agent",):
        store.grow(f"turn {len(session)}")
        growth = session.refresh()
        assert growth is not None
        assert (growth.added, growth.replaced) == (2, False)
        assert (session.place, session.what_if) == (len(session) - 1, False)
        assert _ids(session)[: len(ids)] == ids
        assert _kept(session) == before
        _reads_the_same_anew(store, session)
        return
    try:
        taken_back = attempted(session, step)
    except Refused:
        assert _kept(session) == before
        return
    if taken_back is not None and taken_back.subject == "move":
        own = session.tree.content_at(session.own_leaf)
        assert session.place in (place_before(session, taken_back), own)
    elif taken_back is not None:
        assert session.place == place
    assert _ids(session)[: len(ids)] == ids
    assert _kept(session).startswith(before)
    _reads_the_same_anew(store, session)


def _ids(session: Session) -> list[str]:
    return [session.columns.id(index) for index in range(len(session))]
