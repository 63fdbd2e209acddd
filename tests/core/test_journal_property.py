"""Random operations against a list of states: undo and redo walk it, everything else appends to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafward.entries import BOOKKEEPING
from leafward.errors import Refused
from leafward.journal import archive, archived_branches, label, move, operations, redo, rename, undo
from leafward.session import Session
from tests.pi_file import PiFile

if TYPE_CHECKING:
    from leafward.journal import Write

ENTRIES = 8


@dataclass(frozen=True)
class State:
    """What operations change."""

    place: int
    name: str | None = None
    labels: frozenset[tuple[int, str]] = frozenset()
    archived: frozenset[int] = frozenset()


def state_of(session: Session) -> State:
    return State(
        session.place,
        session.name,
        frozenset((int(target), text) for target, text in session.labels.items()),
        frozenset(int(branch) for branch in archived_branches(session)),
    )


def small_tree(path: Path) -> PiFile:
    """Prompts and replies, a branch, a second root; the last line is entry 7."""
    file = PiFile(path)
    first = file.user("a")
    file.reply("b")
    file.user("c")
    file.reply("d")
    file.user("e", parent=first)
    file.reply("f")
    file.user("g", parent=None)
    file.reply("h")
    return file


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


def apply(session: Session, step: tuple[object, ...]) -> bool:
    """Does a step; whether anything was written."""
    match step:
        case ("move", int(target)):
            return move(session, target).changed
        case ("label", int(target), str(text)):
            return label(session, target, text).changed
        case ("name", str(text)):
            return rename(session, text).changed
        case ("archive", int(target), bool(away)):
            return archive(session, target, away).changed
    raise AssertionError(step)


def expected(state: State, step: tuple[object, ...]) -> State:
    match step:
        case ("move", int(target)):
            return replace(state, place=target)
        case ("label", int(target), str(text)):
            others = frozenset(pair for pair in state.labels if pair[0] != target)
            return replace(state, labels=others | ({(target, text)} if text else set()))
        case ("name", str(text)):
            return replace(state, name=text or None)
        case ("archive", int(target), bool(away)):
            return replace(state, archived=state.archived | {target} if away else state.archived - {target})
    raise AssertionError(step)


@settings(max_examples=60)
@given(st.lists(steps, max_size=14))
def test_every_sequence_of_operations(taken: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as folder:
        path = small_tree(Path(folder) / "session.jsonl").path
        session = Session.open(path)
        try:
            _walk(session, taken)
        finally:
            session.close()


def _walk(session: Session, taken: list[tuple[object, ...]]) -> None:
    states, now = [state_of(session)], 0
    agents = [operation.op for operation in operations(session)]
    assert len(agents) == 2
    for step in taken:
        before = session.path.read_bytes()
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
        else:
            wanted = expected(states[now], step)
            assert apply(session, step) == (wanted != states[now])
            if wanted != states[now]:
                states[now + 1 :] = [wanted]
                now += 1
        assert state_of(session) == states[now], step
        assert session.path.read_bytes().startswith(before)
        _reads_the_same_anew(session)
        log = operations(session)
        own = [operation for operation in log if operation.root == operation.op and not operation.agent]
        assert sum(not operation.undone for operation in own) == now
        assert [operation.op for operation in log if operation.agent] == agents


def _reads_the_same_anew(session: Session) -> None:
    anew = Session.open(session.path)
    try:
        assert anew.columns == session.columns
        assert state_of(anew) == state_of(session)
        assert operations(anew) == operations(session)
        assert all(kind in BOOKKEEPING for kind in anew.columns.kind[ENTRIES:])
        assert list(anew.tree.leaves()) == [3, 5, 7]
    finally:
        anew.close()


agent_steps = st.one_of(steps, st.tuples(st.just("agent")), st.tuples(st.just("named"), st.integers(0, 30)))


@settings(max_examples=60)
@given(st.lists(agent_steps, max_size=14))
def test_an_agent_that_goes_on_meanwhile(taken: list[tuple[object, ...]]) -> None:
    """Undoing anything but a move leaves the place; undoing a move goes where it came from; nothing is lost."""
    with TemporaryDirectory() as folder:
        file = small_tree(Path(folder) / "session.jsonl")
        session = Session.open(file.path)
        try:
            for step in taken:
                _agent_step(file, session, step)
        finally:
            session.close()


def _agent_step(file: PiFile, session: Session, step: tuple[object, ...]) -> None:
    before, place = file.path.read_bytes(), session.place
    if step == ("agent",):
        file.leaf = str(session.columns.id(session.leaf)) if session.leaf >= 0 else None
        file.user("on")
        session.refresh()
        assert session.place == len(session) - 1
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
        assert file.path.read_bytes() == before
        return
    if done is not None:
        taken_back = next(operation for operation in log if operation.op == done.undoes)
        if taken_back.subject == "move":
            back_to = session.columns.index(taken_back.before) if taken_back.before is not None else -1
            assert session.place == session.tree.content_at(back_to)
        else:
            assert session.place == place
    assert file.path.read_bytes().startswith(before)
    again = Session.open(file.path)
    assert again.columns == session.columns
    assert operations(again) == operations(session)
    again.close()
