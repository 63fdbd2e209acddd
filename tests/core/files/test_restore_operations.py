"""Restores among the operations on a session: with a move both or neither, in the order of the file, undone together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.errors import Refused
from leafward.files.restoration.plan import plan_restore
from leafward.files.restoration.project_folder import ProjectFolder
from leafward.files.restoration.record import records
from leafward.files.restoration.undo_step import as_operations, restores_of, step_back, take_back
from leafward.files.restoration.write import last_entry, move_with_files, restore
from leafward.session.entries import EntryIndex
from leafward.session.journal import operation_log, session_operations
from leafward.session.journal.operation_log import OperationKind
from leafward.session.journal.write import Writing
from leafward.session.session import Session
from tests.folder_contents import snapshot
from tests.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.files.restoration.plan import RestoredFile, RestorePlan
    from leafward.files.restoration.record import Record


class Work:
    """Two turns: the first writes a file, the second writes it anew and makes another one."""

    def __init__(self, tmp_path: Path) -> None:
        bench = Workbench(tmp_path / "s.jsonl", tmp_path / "work", 1)
        self.folder = bench.folder
        bench.write("a.py", "one\n")
        bench.run("rm -f b.py")
        at, self.then = str(bench.file.leaf), snapshot(self.folder)
        bench.write("a.py", "two\n")
        bench.write("b.py", "new\n")
        self.now = snapshot(self.folder)
        self.path = tmp_path / "s.jsonl"
        self.session = Session.open(self.path)
        self.at = int(self.session.find(at))

    def changes(self) -> tuple[RestorePlan, tuple[RestoredFile, ...]]:
        with ProjectFolder(self.folder) as folder:
            plan = plan_restore(self.session, EntryIndex(self.at), folder)
        return plan, plan.chosen()

    def move(self) -> None:
        move_with_files(self.session, self.at, *self.changes(), Writing())

    def restore(self) -> Record:
        plan, changes = self.changes()
        with ProjectFolder(self.folder) as folder:
            return restore(folder, self.session.id, plan.entry, changes, last_entry(self.session))

    def undo(self) -> None:
        take_back(self.session, step_back(self.session), Writing())


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    made = Work(tmp_path)
    yield made
    made.session.close()


def test_a_move_and_its_files_are_done_and_undone_together(work: Work) -> None:
    leaf = work.session.place
    work.move()
    assert (snapshot(work.folder), work.session.place) == (work.then, work.at)
    (record,) = records()
    assert record.move == operation_log.operations(work.session)[-1].op
    work.undo()
    assert (snapshot(work.folder), work.session.place) == (work.now, leaf)
    with pytest.raises(Refused, match="nothing to undo"):
        work.undo()


def test_where_the_move_fails_the_files_are_as_they_were(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    move, before = session_operations.move, work.path.read_bytes()

    def full(session: Session, to: int, writing: Writing) -> Any:
        if writing.dry_run:
            return move(session, to, writing)
        assert snapshot(work.folder) == work.then, "the files come first"
        raise Refused("the disk is full")

    monkeypatch.setattr(session_operations, "move", full)
    with pytest.raises(Refused, match="the disk is full; the files are as they were"):
        work.move()
    assert (snapshot(work.folder), work.path.read_bytes()) == (work.now, before)


def test_where_a_file_was_changed_neither_is_done(work: Work) -> None:
    plan, changes = work.changes()
    (work.folder / "a.py").write_text("mine\n")
    files, before = snapshot(work.folder), work.path.read_bytes()
    with pytest.raises(Refused, match=r"a\.py was changed meanwhile; nothing was written"):
        move_with_files(work.session, work.at, plan, changes, Writing())
    assert (snapshot(work.folder), work.path.read_bytes(), records()) == (files, before, [])


def test_where_a_restored_file_was_changed_since_neither_is_undone(work: Work) -> None:
    work.move()
    (work.folder / "a.py").write_text("mine\n")
    files, before = snapshot(work.folder), work.path.read_bytes()
    with pytest.raises(Refused, match=r"changed since the restore: a\.py"):
        work.undo()
    assert (snapshot(work.folder), work.path.read_bytes()) == (files, before)
    take_back(work.session, step_back(work.session), Writing(), files=False)
    assert snapshot(work.folder) == files
    assert step_back(work.session).restore is None, "its files stayed on purpose"


def test_undo_goes_back_through_operations_and_restores_in_their_order(work: Work) -> None:
    session_operations.label(work.session, work.at, "first")
    work.restore()
    session_operations.label(work.session, work.at, "second")
    log = as_operations(work.session, operation_log.operations(work.session), restores_of(work.session))
    kinds = [one.kind for one in log]
    assert kinds == [OperationKind.LABEL, OperationKind.RESTORE, OperationKind.LABEL]
    work.undo()
    assert (list(work.session.labels.values()), snapshot(work.folder)) == (["first"], work.then)
    work.undo()
    assert (list(work.session.labels.values()), snapshot(work.folder)) == (["first"], work.now)
    work.undo()
    assert work.session.labels == {}


def test_a_dry_run_of_an_undo_writes_nothing(work: Work) -> None:
    work.move()
    files, before = snapshot(work.folder), work.path.read_bytes()
    done = take_back(work.session, step_back(work.session), Writing(dry_run=True))
    assert done.files is not None
    assert set(done.files.paths) == {"a.py", "b.py"}
    assert (snapshot(work.folder), work.path.read_bytes()) == (files, before)
    assert [one.standing for one in records()] == [True]


def test_what_is_told_while_copies_are_made_can_stop_it(work: Work) -> None:
    plan, changes = work.changes()

    def told(number: int) -> None:
        if number == 1:
            raise Refused("cancelled")

    with ProjectFolder(work.folder) as folder, pytest.raises(Refused, match="cancelled"):
        restore(folder, work.session.id, plan.entry, changes, "", told)
    assert (snapshot(work.folder), records()) == (work.now, [])
