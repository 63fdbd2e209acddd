"""The files that a stored summary lists are those that are there at its end."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from leafward.branches.diff.sides import sides
from leafward.branches.transfer.summary_merge import draft_merge
from leafward.compaction.branch_summary import left_branch, summarize_branch
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.session.session import Session
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from tests.acting import Acting, call

if TYPE_CHECKING:
    from pathlib import Path


def ran(file: Acting, key: str, command: str, *, failed: bool = False) -> None:
    file.said(call("bash", key, command=command))
    file.answered(key, "bash", "", failed=failed)


def wrote(file: Acting, key: str, path: str, *, failed: bool = False) -> None:
    file.said(call("write", key, path=path, content="x"))
    file.answered(key, "write", failed=failed)


def modified(text: str) -> list[str]:
    return text.partition("<modified-files>\n")[2].partition("\n</modified-files>")[0].split("\n")


def work(file: Acting) -> None:
    """Files that are moved, removed, removed and written again, refused, and moved in vain."""
    for number, name in enumerate(("main-new.py", "gone.py", "src/a.py", "kept.py", "again.py")):
        wrote(file, f"w{number}", name)
    wrote(file, "no", "refused.py", failed=True)
    ran(file, "m", "git mv main-new.py main.py && mv src lib && rm again.py gone.py")
    ran(file, "u", "mkdir -p printing && mv receipt.py printing/receipt.py")
    ran(file, "f", "mv kept.py lost.py", failed=True)
    wrote(file, "w9", "again.py")
    file.said("All files are where they belong.")


NOW = ["again.py", "kept.py", "lib/a.py", "main.py", "printing/receipt.py"]


def test_a_compaction_lists_files_where_they_are(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("Put the files where they belong.")
    work(file)
    file.user("And now?")
    file.said("Nothing is left.")
    with closing(Session.open(file.path)) as session:
        made = plan(measure(session, session.leaf), PlanSettings(keep_recent=1))
        done = draft(session, made, Extractive())
        assert modified(done.text) == NOW
        assert done.details()["modifiedFiles"] == NOW, "the next compaction carries them on"


def test_branch_summaries_and_merged_ones_list_files_where_they_are(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    root = file.user("Put the files where they belong.")
    work(file)
    moved = file.user("Go on.")
    other = file.user("Write notes instead.", parent=root)
    wrote(file, "n", "notes.py")
    file.said("They are there.")
    with closing(Session.open(file.path)) as session:
        start, leaf = session.columns.index(moved), session.leaf
        branch = left_branch(session, start, session.columns.index(other))
        assert branch is not None
        assert modified(summarize_branch(branch, Extractive()).text) == NOW
        merged = draft_merge(sides(session, start, leaf))
        assert sorted(merged.modified) == sorted([*NOW, "notes.py"])


def listed(file: Acting) -> tuple[list[str], list[str]]:
    """The read and the modified files of a compaction of everything."""
    with closing(Session.open(file.path)) as session:
        made = plan(measure(session, session.leaf), PlanSettings(keep_recent=1))
        details = draft(session, made, Extractive()).details()
    return details["readFiles"], details["modifiedFiles"]


def test_files_that_no_call_reached_are_not_listed(tmp_path: Path) -> None:
    """A call that failed, and one of a reply that was broken off while its path was written, read and changed nothing."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("Mend the printer.")
    file.said(call("read", "r1", path="missing.py"))
    file.answered("r1", "read", "no such file", failed=True)
    file.said(call("read", "r2", path="src/pri"), stop="aborted")
    file.said(call("write", "w1", path="half.py", content="x"), stop="error")
    file.said(call("read", "r3", path="printer.py"))
    file.answered("r3", "read", "print()")
    file.said(call("edit", "e1", path="printer.py", oldText="no", newText="yes"))
    file.answered("e1", "edit", "no match", failed=True)
    file.said("I cannot mend it.")
    file.user("And now?")
    file.said("Nothing is left.")
    assert listed(file) == (["printer.py"], [])


def test_files_of_an_earlier_compaction_stay_listed_where_later_calls_fail(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    first = file.user("Mend the printer.")
    file.compacted(
        first,
        "Done.",
        details={"readFiles": ["paper.py"], "modifiedFiles": ["printer.py"]},
    )
    file.said(call("read", "r1", path="paper.py"))
    file.answered("r1", "read", "interrupted", failed=True)
    file.said(call("edit", "e1", path="printer.py", oldText="no", newText="yes"))
    file.answered("e1", "edit", "no match", failed=True)
    file.said("It is mended already.")
    file.user("And now?")
    file.said("Nothing is left.")
    assert listed(file) == (["paper.py"], ["printer.py"])
