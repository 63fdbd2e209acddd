"""Random operations on a session, and the states they should lead through."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st

from leafward.base.errors import Refused
from leafward.session.journal.operation_log import Operation, archived_branches, operations
from leafward.session.journal.session_operations import archive, label, move, redo, rename, undo

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.session.session import Session

Step = tuple[object, ...]


@dataclass(frozen=True)
class State:
    """State that operations change."""

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


def steps(entries: int) -> st.SearchStrategy[list[Step]]:
    """Operations of a user on a session of so many entries, one after the other."""
    return st.lists(_step(entries), max_size=14)


def steps_beside_an_agent(entries: int) -> st.SearchStrategy[list[Step]]:
    """The same, with an agent that goes on now and then, and undo of any operation by its number in the log."""
    beside = st.one_of(
        _step(entries), st.tuples(st.just("agent")), st.tuples(st.just("named"), st.integers(0, 30))
    )
    return st.lists(beside, max_size=14)


def _step(entries: int) -> st.SearchStrategy[Step]:
    targets = st.integers(0, entries - 1)
    texts = st.sampled_from(["", "one", "two"])
    return st.one_of(
        st.tuples(st.just("move"), st.integers(-1, entries - 1)),
        st.tuples(st.just("label"), targets, texts),
        st.tuples(st.just("name"), texts),
        st.tuples(st.just("archive"), targets, st.booleans()),
        st.tuples(st.just("undo")),
        st.tuples(st.just("undo")),
        st.tuples(st.just("redo")),
    )


def _apply(session: Session, step: Step) -> bool:
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


def _expected(state: State, step: Step) -> State:
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


@dataclass
class Walk:
    """A session and its states: undo and redo go back and forth among them, every other operation appends one."""

    session: Session
    settled: Callable[[State], State] = lambda state: state
    """The state after operations that the session itself rejects or changes."""
    states: list[State] = field(init=False)
    now: int = 0

    def __post_init__(self) -> None:
        self.states = [state_of(self.session)]

    @property
    def state(self) -> State:
        return self.states[self.now]

    def take(self, step: Step) -> None:
        """Does a step and sees that the session is in the state it should be in."""
        if step == ("undo",):
            self._step_over(undo, 0, -1)
        elif step == ("redo",):
            self._step_over(redo, len(self.states) - 1, 1)
        else:
            wanted = self.settled(_expected(self.state, step))
            assert _apply(self.session, step) == (wanted != self.state)
            if wanted != self.state:
                self.states[self.now + 1 :] = [wanted]
                self.now += 1
        assert state_of(self.session) == self.state, step
        own = [one for one in operations(self.session) if one.root == one.op and not one.agent]
        assert sum(not one.undone for one in own) == self.now

    def _step_over(self, operation: Callable[[Session], object], end: int, by: int) -> None:
        if self.now == end:
            with pytest.raises(Refused, match=r"^nothing (?:.* )?to (undo|redo)"):
                operation(self.session)
        else:
            operation(self.session)
            self.now += by


def attempted(session: Session, step: Step) -> Operation | None:
    """Does a step beside an agent; the operation that it took back. Raises Refused."""
    log = operations(session)
    match step:
        case ("undo",):
            done = undo(session)
        case ("redo",):
            done = redo(session)
        case ("named", int(number)):
            if number >= len(log):
                return None
            done = undo(session, log[number].op)
        case _:
            _apply(session, step)
            return None
    return next(one for one in log if one.op == done.undoes)


def place_before(session: Session, moved: Operation) -> int:
    """Where the conversation stood before a move."""
    return session.tree.content_at(session.columns.index(moved.before) if moved.before is not None else -1)


def kinds(session: Session) -> list[str]:
    return [operation.kind.value for operation in operations(session)]
