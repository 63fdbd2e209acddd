"""Random operations beside another agent's session against a list of states, and an agent that goes on meanwhile."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafward.errors import Refused
from leafward.journal import operations, redo, undo
from tests.core.test_journal_property import State, apply, expected, state_of
from tests.foreign_stores import Store, make

if TYPE_CHECKING:
    from leafward.foreign import ForeignSession
    from leafward.journal import Write

ENTRIES = 6

targets = st.integers(0, ENTRIES - 1)
texts = st.sampled_from(["", "one", "two"])
steps = st.one_of(
    st.tuples(st.just("move"), st.integers(-1, ENTRIES - 1)),
    st.tuples(st.just("label"), targets, texts),
    st.tuples(st.just("name"), texts),
    st.tuples(st.just("archive"), targets, st.booleans()),
    st.tuples(st.just("undo")),
    st.tuples(st.just("undo")),
    st.tuples(st.just("redo")),
)
Step = tuple[object, ...]


def _store(folder: str, monkeypatch: pytest.MonkeyPatch, agent: str) -> Store:
    monkeypatch.setenv("LEAFWARD_HOME", str(Path(folder) / "leafward"))
    return make(agent, Path(folder) / "store")


@pytest.mark.parametrize("agent", ["claude", "opencode"])
def test_every_sequence_of_operations(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    @settings(max_examples=40)
    @given(st.lists(steps, max_size=14))
    def run(taken: list[Step]) -> None:
        with TemporaryDirectory() as folder:
            store = _store(folder, monkeypatch, agent)
            before = store.bytes()
            with closing(store.open()) as session:
                _walk(store, session, taken)
            store.close()
            assert store.bytes() == before

    run()


def _walk(store: Store, session: ForeignSession, taken: list[Step]) -> None:
    titled = session.name
    states, now = [state_of(session)], 0
    for step in taken:
        before = _kept(session)
        if step == ("undo",):
            if now == 0:
                with pytest.raises(Refused, match="nothing to undo"):
                    undo(session)
            else:
                undo(session)
                now -= 1
        elif step == ("redo",):
            if now == len(states) - 1:
                with pytest.raises(Refused, match="nothing to redo"):
                    redo(session)
            else:
                redo(session)
                now += 1
        elif step[0] == "name" and not step[1] and states[now].name == titled:
            # Where nobody here gave a name, what the agent calls it can be covered and not taken away.
            continue
        else:
            wanted = expected(states[now], step)
            wanted = wanted if wanted.name is not None else _named(wanted, titled)
            assert apply(session, step) == (wanted != states[now])
            if wanted != states[now]:
                states[now + 1 :] = [wanted]
                now += 1
        assert state_of(session) == states[now], step
        assert session.what_if is (states[now].place != states[0].place)
        assert _kept(session).startswith(before)
        _reads_the_same_anew(store, session)
        own = [one for one in operations(session) if one.root == one.op and not one.agent]
        assert sum(not one.undone for one in own) == now


def _named(state: State, name: str | None) -> State:
    return State(state.place, name, state.labels, state.archived)


def _kept(session: ForeignSession) -> bytes:
    return session.book_path.read_bytes() if session.book is not None else b""


def _reads_the_same_anew(store: Store, session: ForeignSession) -> None:
    with closing(store.open()) as anew:
        assert anew.columns == session.columns
        assert anew.leaf == session.leaf
        assert state_of(anew) == state_of(session)
        assert operations(anew) == operations(session)


agent_steps = st.one_of(steps, st.tuples(st.just("agent")), st.tuples(st.just("named"), st.integers(0, 20)))


def test_an_agent_that_goes_on_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept is never lost; the agent's own words are the place at once; a what-if only ever comes from Leafward."""

    @settings(max_examples=60)
    @given(st.lists(agent_steps, max_size=14))
    def run(taken: list[Step]) -> None:
        with TemporaryDirectory() as folder:
            store = _store(folder, monkeypatch, "claude")
            with closing(store.open()) as session:
                for step in taken:
                    _agent_step(store, session, step)
            store.close()

    run()


def _agent_step(store: Store, session: ForeignSession, step: Step) -> None:
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
    log = operations(session)
    done: Write | None = None
    try:
        match step:
            case ("undo",):
                done = undo(session)
            case ("redo",):
                done = redo(session)
            case ("named", int(number)) if number < len(log):
                done = undo(session, log[number].op)
            case ("named", _):
                return
            case _:
                apply(session, step)
    except Refused:
        assert _kept(session) == before
        return
    if done is not None:
        taken_back = next(one for one in log if one.op == done.undoes)
        if taken_back.subject == "move":
            back_to = session.columns.index(taken_back.before) if taken_back.before is not None else -1
            own = session.tree.content_at(session.own_leaf)
            assert session.place in (session.tree.content_at(back_to), own)
        else:
            assert session.place == place
    assert _ids(session)[: len(ids)] == ids
    assert _kept(session).startswith(before)
    _reads_the_same_anew(store, session)


def _ids(session: ForeignSession) -> list[str]:
    return [session.columns.id(index) for index in range(len(session))]
