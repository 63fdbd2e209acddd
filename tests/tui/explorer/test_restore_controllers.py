"""The files of a restore, without a terminal: nothing unsafe is chosen, nothing that changed meanwhile is written."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.files.restoration.record import records
from leafward.session.journal.write import Writing
from leafward.session.session import Session
from leafward_tui.explorer.controllers.restore import RestoreChoice, write_files
from leafward_tui.explorer.restore_sheet import preview_lines
from leafward_tui.ui.appearance.glyphs import UNICODE
from tests.folder_contents import snapshot
from tests.pi_file import HEADER, PiFile
from tests.tui.explorer.test_restore import Work
from tests.tui.waiting_jobs import WaitingJobs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward_tui.ui.jobs import Job


class View:
    """A sheet that keeps what it is told."""

    def __init__(self) -> None:
        self.key = ""
        self.closed: list[str | None] = []
        self.drawn = 0
        self.said = ""

    def next_row(self) -> None:
        """There is one file."""

    def draw(self) -> None:
        self.drawn += 1

    def say(self, text: str) -> None:
        self.said = text

    def dismiss(self, answer: str | None) -> None:
        self.closed.append(answer)


class Choosing:
    """A restore of the first turn of some work, which is written when a test says so."""

    def __init__(self, work: Work) -> None:
        self.session = Session.open(work.path)
        self.view, self.jobs = View(), WaitingJobs()
        first = self.session.find(str(self.session.columns.id(self.session.tree.path(self.session.leaf)[8])))
        self.choice = RestoreChoice(self.session, first, self.session.cwd, self.write)
        self.choice.view = self.view
        self.choice.begin(self.jobs)
        self.jobs.run("restore")

    def write(self, choice: RestoreChoice) -> None:
        assert choice.plan is not None
        plan, chosen = choice.plan, choice.changes

        def work(job: Job) -> object:
            return write_files(plan, chosen, choice.stop, choice.tell, None, self.session, Writing(), job)

        self.jobs.also("write", work, lambda _written: choice.done(), choice.fail)


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


@pytest.fixture
def choosing(work: Work) -> Iterator[Choosing]:
    made = Choosing(work)
    yield made
    made.session.close()


def test_only_what_is_safe_is_chosen_and_all_means_all_that_is_safe(work: Work) -> None:
    work.put("rows.py", "mine\n")
    choosing = Choosing(work)
    choice = choosing.choice
    assert choice.chosen == {"graft.py", "notes.md"}
    choice.choose_all()
    assert (choice.chosen, choice.operation) == (frozenset(), "nothing is chosen")
    choice.choose_all()
    assert choice.chosen == {"graft.py", "notes.md"}
    choosing.view.key = "file:rows.py"
    choice.toggle()
    assert {one.path for one in choice.changes} == {"graft.py", "notes.md", "rows.py"}
    choosing.session.close()


def test_where_no_call_touched_a_file_there_is_nothing_to_restore_rather_than_nothing_chosen(
    work: Work, tmp_path: Path
) -> None:
    choosing = Choosing(work)
    choosing.session.close()
    talk = PiFile(tmp_path / "talk.jsonl", {**HEADER, "cwd": str(work.folder)})
    talk.user("what is a pear?")
    with closing(Session.open(talk.path)) as session:
        choice = RestoreChoice(session, session.leaf, session.cwd, choosing.write)
        choice.view = choosing.view
        choice.begin(choosing.jobs)
        choosing.jobs.run("restore")
        assert (choice.files, choice.operation) == ([], "nothing to restore")
        choice.accept()
        assert choosing.view.said == "no file can be restored"


def test_a_file_that_is_changed_behind_the_preview_stays_and_so_do_all_others(
    work: Work, choosing: Choosing
) -> None:
    choosing.choice.accept()
    work.put("rows.py", "typed just now\n")
    files = snapshot(work.folder)
    choosing.jobs.run("write")
    assert snapshot(work.folder) == files
    assert choosing.choice.problem == "rows.py was changed meanwhile; nothing was written"
    assert (choosing.view.closed, choosing.choice.writing) == ([], False)


def test_leaving_while_files_are_copied_writes_nothing(work: Work, choosing: Choosing) -> None:
    choosing.choice.accept()
    choosing.choice.leave()
    choosing.jobs.run("write")
    assert choosing.choice.problem == "cancelled; nothing was written"
    assert (snapshot(work.folder), records()) == (work.now, [])
    choosing.choice.leave()
    assert choosing.view.closed == [None]


def test_while_it_is_written_nothing_else_can_be_chosen(work: Work, choosing: Choosing) -> None:
    choosing.choice.accept()
    choosing.choice.choose_all()
    choosing.choice.accept()
    assert len(choosing.choice.chosen) == 3
    choosing.jobs.run("write")
    assert snapshot(work.folder) == work.then
    assert choosing.view.closed == ["written"]


def test_where_a_diff_cannot_be_made_its_place_says_why_and_the_write_goes_on(
    choosing: Choosing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(_change: object) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("leafward.branches.diff.patches.restore_diff", unreadable)
    choice = choosing.choice
    choosing.view.key = "file:rows.py"
    assert choice.diff() is None
    choice.accept()
    choosing.jobs.run("diff")
    assert choice.writing
    lines = preview_lines(choice.file, choice.diff(), True, 80, UNICODE)
    assert lines[len(lines) - 1].text.strip() == "cannot be compared: [Errno 13] Permission denied"
    choosing.jobs.run("write")
    assert choosing.view.closed == ["written"]


def test_a_file_that_is_created_says_that_its_permissions_are_not_recorded(choosing: Choosing) -> None:
    created = next(one for one in choosing.choice.files if one.path == "notes.md")
    assert "permissions" in created.remark


def test_after_a_write_was_cancelled_the_next_one_is_not(choosing: Choosing) -> None:
    choice = choosing.choice
    choice.accept()
    choice.leave()
    choosing.jobs.run("write")
    assert (choice.problem, choosing.view.closed) == ("cancelled; nothing was written", [])
    choice.accept()
    choosing.jobs.run("write")
    assert choosing.view.closed == ["written"]
