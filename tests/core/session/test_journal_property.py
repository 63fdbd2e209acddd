"""Random operations against a list of states: undo and redo walk it, everything else appends to it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings

from leafward.base.errors import Refused
from leafward.session.entries import BOOKKEEPING
from leafward.session.journal.operation_log import operations
from leafward.session.session import Session
from tests.core.random_operations import (
    Step,
    Walk,
    attempted,
    place_before,
    state_of,
    steps,
    steps_beside_an_agent,
)
from tests.pi_file import PiFile

ENTRIES = 8


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


@settings(max_examples=60)
@given(steps(ENTRIES))
def test_every_sequence_of_operations(taken: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        path = small_tree(Path(folder) / "session.jsonl").path
        with closing(Session.open(path)) as session:
            walk = Walk(session)
            agents = [operation.op for operation in operations(session)]
            assert len(agents) == 2
            for step in taken:
                before = path.read_bytes()
                walk.take(step)
                assert path.read_bytes().startswith(before)
                _reads_the_same_anew(session)
                assert [operation.op for operation in operations(session) if operation.agent] == agents


def _reads_the_same_anew(session: Session) -> None:
    with closing(Session.open(session.path)) as anew:
        assert anew.columns == session.columns
        assert state_of(anew) == state_of(session)
        assert operations(anew) == operations(session)
        assert all(kind in BOOKKEEPING for kind in anew.columns.kind[ENTRIES:])
        assert list(anew.tree.leaves()) == [3, 5, 7]


@settings(max_examples=60)
@given(steps_beside_an_agent(ENTRIES))
def test_an_agent_that_goes_on_meanwhile(taken: list[Step]) -> None:
    """Undoing anything but a move leaves the place; undoing a move goes where it came from; nothing is lost."""
    with TemporaryDirectory() as folder:
        file = small_tree(Path(folder) / "session.jsonl")
        with closing(Session.open(file.path)) as session:
            for step in taken:
                _agent_step(file, session, step)


def _agent_step(file: PiFile, session: Session, step: Step) -> None:
    before, place = file.path.read_bytes(), session.place
    if step == ("agent",):
        file.leaf = str(session.columns.id(session.leaf)) if session.leaf >= 0 else None
        file.user("on")
        session.refresh()
        assert session.place == len(session) - 1
        return
    try:
        taken_back = attempted(session, step)
    except Refused:
        assert file.path.read_bytes() == before
        return
    if taken_back is not None:
        moved = taken_back.subject == "move"
        assert session.place == (place_before(session, taken_back) if moved else place)
    assert file.path.read_bytes().startswith(before)
    with closing(Session.open(file.path)) as again:
        assert again.columns == session.columns
        assert operations(again) == operations(session)
