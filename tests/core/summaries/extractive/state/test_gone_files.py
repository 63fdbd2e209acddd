"""Files that were deleted or renamed are told so, and only where that is sure."""

from __future__ import annotations

from typing import Any

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import ended, made, ran, reply, result, span, summarize, told_in, user, worked


def test_a_file_that_came_back_is_not_deleted() -> None:
    said = [
        user("try the table out"),
        *made("src/trial.py", "a"),
        user("take it out again"),
        *ran("b", "rm src/trial.py"),
    ]
    assert "Deleted `src/trial.py`" in told_in(SummarySection.DONE, *said)
    again = told_in(SummarySection.DONE, *said, *made("src/trial.py", "c"))
    assert not any(line.startswith("Deleted") for line in again)


@pytest.mark.parametrize(
    ("again", "is_there"),
    [
        ([reply("", ("c", "read", {"path": "src/trial.py"})), result("c", "x = 1")], True),
        (ended("c", "ls src", "crates.py\ntrial.py"), True),
        (ended("c", 'ls "/w/my orchard/src"', "crates.py\ntrial.py"), True),
        (ended("c", "find . -name '*.py'", "./src/crates.py\n./src/trial.py"), True),
        (ended("c", "ls tests", "crates.py\ntrial.py"), False),
        (ended("c", "ls src", "crates.py"), False),
    ],
)
def test_a_file_that_is_there_again_is_not_deleted(again: list[dict[str, object]], is_there: bool) -> None:
    """Fails where only a call that writes the file counts."""
    said = [user("try the table out"), *made("src/trial.py", "a"), user("take it out again")]
    done = told_in(SummarySection.DONE, *said, *ran("b", "rm src/trial.py"), *again)
    assert ("Deleted `src/trial.py`" not in done) == is_there


def test_a_written_file_that_a_call_does_not_find_is_no_changed_file() -> None:
    """Fails where it is told as changed; nothing says who removed it."""
    gone = [*worked("src/trial.py", "c")]
    gone[-1] = result("c", "File does not exist.", failed=True)
    text = summarize(
        span(user("try the table out"), *made("src/trial.py", "a"), *made("src/crates.py", "b"), *gone)
    ).text
    assert "crates.py" in text
    assert "Changed: `src/trial.py`" not in text
    assert "Deleted" not in text


@pytest.mark.parametrize(
    ("command", "is_sure"),
    [
        ("rm pears.log && python sort_pears.py", False),
        ("cd /w && rm -f pears.log\npython sort_pears.py 2>&1 | tail -3", False),
        ("rm pears.log; git status", True),
        ("python sort_pears.py && rm pears.log", True),
    ],
)
def test_a_file_that_the_next_program_may_write_anew_is_not_deleted(command: str, is_sure: bool) -> None:
    said = [user("sort the pears"), *ran("a", "cat pears.log"), *ran("b", command)]
    assert ("Deleted `pears.log`" in told_in(SummarySection.DONE, *said)) == is_sure
    # No program writes what the agent wrote.
    own = [
        user("sort the pears"),
        *made("src/old.py", "a"),
        user("go on"),
        *ran("b", "rm src/old.py && pytest"),
    ]
    assert "Deleted `src/old.py`" in told_in(SummarySection.DONE, *own)


def test_a_file_that_is_back_in_its_first_folder_is_told_once() -> None:
    """Fails where its changes under the name between are told under that."""
    there, back = "src/pears/crate.py", "src/crate.py"
    said = [user("sort the pears"), *made(back, "a"), *ran("b", f"mv {back} {there}"), *worked(there, "c")]
    told = told_in(SummarySection.CONTEXT, *said, *ran("d", f"mv {there} src/"))
    assert any(line.startswith(f"`{back}` changed 2×") for line in told)
    assert not any(there in line for line in told)


@pytest.mark.parametrize(
    ("command", "is_gone"),
    [
        ("rm -f src/tri*.py", True),
        ("cd src && rm *.py", True),
        ("rm -rf /home/ada/orchard/s*", True),
        ("rm -f s*", False),
        ("rm src/*.log", False),
        ("rm 'src/*.py'", False),
        ("cd $AWAY && rm src/*.py", False),
    ],
)
def test_the_written_files_that_a_pattern_names_are_deleted(command: str, is_gone: bool) -> None:
    """Fails where only a file that a command names is gone."""
    said = [user("sort the pears"), *made("src/tried.py", "a"), *made("web/.pears.py", "b")]
    told = told_in(SummarySection.CONTEXT, *said, *ran("c", command), *worked("web/.pears.py", "d"))
    assert any("src/tried.py" in line for line in told if "hanged" in line) != is_gone


def test_a_file_that_the_kept_messages_write_again_is_not_deleted() -> None:
    said = [user("try the table out"), *made("src/trial.py", "a"), *ran("b", "rm src/trial.py")]
    kept = [
        SpanMessage(EntryIndex(500 + place), message)
        for place, message in enumerate(made("src/trial.py", "c"))
    ]
    told = told_in(SummarySection.DONE, *said, kept=kept)
    assert not any(line.startswith("Deleted") for line in told)


def test_a_deletion_that_failed_deleted_nothing() -> None:
    call = reply("", ("b", "bash", {"command": "rm src/trial.py"}))
    said = [user("try the table out"), *made("src/trial.py", "a"), call, result("b", "denied", True)]
    assert not any(line.startswith("Deleted") for line in told_in(SummarySection.DONE, *said))


def test_an_edit_that_failed_changed_nothing() -> None:
    def edit(key: str, path: str, *, failed: bool) -> list[dict[str, Any]]:
        call = reply("", (key, "edit", {"path": path, "oldText": "appleTree", "newText": "pearTree"}))
        return [call, result(key, "no such text" if failed else "ok", failed)]

    said = [
        user("rename the tree"),
        *edit("a", "src/tree.py", failed=True),
        *edit("b", "src/tree.py", failed=False),
        *edit("c", "src/tree.py", failed=False),
        *edit("d", "src/other.py", failed=True),
    ]
    text = summarize(span(*said)).text
    assert "`src/tree.py` 2×" in text or "`src/tree.py` changed 2×" in text
    assert not any("src/other.py" in line for line in text.split("\n") if "hanged" in line)


def test_a_renamed_file_has_its_new_name() -> None:
    said = [
        user("split the command line of orchard"),
        *made("src/cli-new.ts", "a"),
        reply("Next we still need to wire src/cli-new.ts into the build."),
        *ran("b", "git mv src/cli-new.ts src/cli.ts"),
    ]
    assert "Renamed `src/cli-new.ts` to `src/cli.ts`" in told_in(SummarySection.DONE, *said)
    assert not any("cli-new" in line for line in told_in(SummarySection.NEXT, *said))


def test_a_pattern_removes_a_file_under_its_new_name() -> None:
    """Fails where the renamed file is taken for one that is still there under neither name, or the old one is deleted twice."""
    said = [user("sort the pears"), *made("src/tried.py", "a"), *ran("b", "mv src/tried.py src/pears.py")]
    done = told_in(SummarySection.DONE, *said, *worked("web/a.py", "c"), *ran("d", "rm src/pea*.py"))
    assert "Deleted `src/tried.py`" in done
    kept = told_in(SummarySection.DONE, *said, *worked("web/a.py", "c"), *ran("d", "rm src/tri*.py"))
    assert "Renamed `src/tried.py` to `src/pears.py`" in kept


def test_a_file_in_a_renamed_folder_that_was_named_since_keeps_its_changes() -> None:
    said = [user("sort the pears"), *worked("src/crate.py", "a", "b"), *ran("c", "mv src lib")]
    told = told_in(SummarySection.CONTEXT, *said, *worked("lib/crate.py", "d"))
    assert any(line.startswith("`lib/crate.py` changed 3×") for line in told)
