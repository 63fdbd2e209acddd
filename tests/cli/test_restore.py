"""`leafward restore`: what is put back, and the way back."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from leafward.cli.output.page import Page, wrapped
from leafward.files.restoration import write
from leafward.files.restoration.project_folder import ProjectFolder
from leafward.files.restoration.record import RestoreState, records, store
from tests.acting import call
from tests.cli.restored import Work, actions
from tests.folder_contents import snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def test_the_files_are_as_they_were_and_the_undo_leads_back(work: Work, done: Run) -> None:
    shown = done("restore", work.path, work.at, "--dry-run", "--json").document
    assert actions(shown) == {
        "a.py": "write",
        "gone.md": "create",
        "new.py": "delete",
        "sub": "delete",
        "sub/deep.txt": "create",
        "plain": "create",
        "plain/inside": "delete",
    }
    assert (shown["restore"], snapshot(work.folder)) == (None, work.now)
    out = done("restore", work.path, work.at).out
    assert "restored 7 files; the files from before are in " in " ".join(out.split())
    assert snapshot(work.folder) == work.then
    assert done("restore", work.path, work.at).out.endswith("nothing to restore\n")
    (found,) = done("log", work.path, "--json").document["restores"]
    assert (found["state"], found["entry"], len(found["files"])) == ("done", work.at, 7)
    assert "7 files as at " in done("log", work.path).out
    assert done("restore", work.path, "--undo", "--dry-run", "--json").document["files"] == sorted(
        found["files"]
    )
    done("restore", work.path, "--undo")
    assert snapshot(work.folder) == work.now
    assert done("log", work.path, "--json").document["restores"][0]["state"] == "undone"


def test_an_undo_that_finds_only_a_restore_names_the_command_that_takes_it_back(
    work: Work, done: Run, run: Run
) -> None:
    done("restore", work.path, work.at)
    outcome = run("undo", work.path)
    assert (outcome.code, outcome.out) == (1, "")
    (session,) = done("ls", work.path, "--json").document["sessions"]
    command = f"leafward restore {session['id']} --undo"
    assert outcome.err == f"leafward: no operation to undo; `{command}` puts restored files back\n"
    done("restore", work.path, "--undo")
    assert "nothing " in run("undo", work.path).err


def test_the_preview_as_a_diff(work: Work, done: Run) -> None:
    out = done("restore", work.path, work.at, "a.py", "new.py", "--dry-run", "--diff").out
    assert "-a.py later\n+a.py at first\n" in out
    assert "--- a/new.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-new\n" in out


def test_an_undo_leaves_what_was_changed_since(work: Work, done: Run, run: Run) -> None:
    done("restore", work.path, work.at)
    work.put("gone.md", "mine now\n")
    before = snapshot(work.folder)
    outcome = run("restore", work.path, "--undo")
    assert outcome.code == 1
    assert "changed since the restore: gone.md; nothing was written" in outcome.err
    assert snapshot(work.folder) == before


def test_a_file_in_a_folder_that_a_restore_made_stops_its_undo_from_losing_it(
    work: Work, done: Run, run: Run
) -> None:
    done("restore", work.path, work.at)
    work.put("sub/mine", "mine\n")
    before = snapshot(work.folder)
    assert run("restore", work.path, "--undo").code == 1
    assert snapshot(work.folder) == before


def test_what_only_checks_changes_nothing(work: Work, done: Run) -> None:
    work.bench.write("a.py", "written\n")
    work.bench.ran("git status; ls | grep a; npm test; FOO=1 pytest -q; true")
    at = str(work.bench.file.leaf)
    work.bench.write("a.py", "in the end\n")
    (one,) = done("restore", work.path, at, "--json", "--dry-run").document["files"][:1]
    assert (one["path"], one["action"]) == ("a.py", "write")


def test_what_git_has_may_be_replaced(work: Work, done: Run) -> None:
    work.put("a.py", "committed by a person\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "a.py"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], cwd=work.folder, check=True)
    found = done("restore", work.path, work.at, "a.py", "--json").document
    assert [(one["action"], one["reason"]) for one in found["files"]] == [("write", "as git has it")]


@pytest.mark.parametrize("executable", [True, False])
def test_a_file_that_is_created_is_executable_where_git_has_it_so(
    work: Work, done: Run, *, executable: bool
) -> None:
    work.put("gone.md", "another content\n")
    work.folder.joinpath("gone.md").chmod(0o755 if executable else 0o644)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "gone.md"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], cwd=work.folder, check=True)
    work.folder.joinpath("gone.md").unlink()
    (found,) = done("restore", work.path, work.at, "gone.md", "--json").document["files"]
    assert (found["action"], found["remark"]) == (
        "create",
        f"it is created {'with' if executable else 'without'} the executable bit, as git has it",
    )
    assert bool(work.folder.joinpath("gone.md").stat().st_mode & 0o100) == executable


@pytest.mark.parametrize("executable", [True, False])
def test_a_file_that_is_created_is_executable_where_a_command_made_it_so(
    work: Work, done: Run, *, executable: bool
) -> None:
    """By then: what a later command did, or one that failed, counts for nothing."""
    work.bench.write("plant.sh", "#!/bin/sh\n")
    work.bench.run("chmod +x plant.sh" if executable else "chmod +x plant.sh && chmod a-x plant.sh")
    at = str(work.bench.file.leaf)
    work.bench.run("chmod 600 plant.sh" if executable else "chmod 755 plant.sh")
    work.bench.run("rm plant.sh")
    (found,) = done("restore", work.path, at, "plant.sh", "--json").document["files"]
    assert (found["action"], found["remark"]) == (
        "create",
        f"it is created {'with' if executable else 'without'} the executable bit, as `chmod` left it",
    )
    assert bool(work.folder.joinpath("plant.sh").stat().st_mode & 0o100) == executable


def test_a_restore_leads_back_to_a_later_entry(work: Work, done: Run) -> None:
    """Files that a restore left count as safe for the next one."""
    done("restore", work.path, work.at)
    done("restore", work.path, "leaf")
    assert snapshot(work.folder).keys() == work.now.keys()


def test_a_restore_that_was_killed_is_said_and_undone(work: Work, done: Run, run: Run) -> None:
    done("restore", work.path, work.at)
    (record,) = records()
    # As a kill leaves it before the last step.
    import dataclasses

    store(dataclasses.replace(record, state=RestoreState.WRITING))
    work.put("gone.md", "gone.md at first\n")
    outcome = run("restore", work.path, work.at)
    assert outcome.code == 1
    assert "stopped halfway" in outcome.err
    assert "stopped halfway" in run("restore", work.path, work.at, "--dry-run").err
    (remark,) = done("restore", work.path, work.at, "--dry-run", "--json").document["diagnostics"]
    assert "stopped halfway" in remark["text"]
    done("restore", work.path, "--undo")
    assert snapshot(work.folder) == work.now


def test_an_undo_that_the_disk_stops_says_what_stands_and_goes_on_later(
    work: Work, done: Run, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    done("restore", work.path, work.at)
    with monkeypatch.context() as patch:
        patch.setattr(write, "store", full)
        outcome = run("restore", work.path, "--undo")
    assert outcome.err.endswith(": No space left on device; nothing was written\n")
    assert snapshot(work.folder) == work.then
    with monkeypatch.context() as patch:
        patch.setattr(ProjectFolder, "replace", full)
        outcome = run("restore", work.path, "--undo")
    said = " ".join(outcome.err.split())
    assert said.startswith("leafward: the undo stopped: ")
    assert said.endswith(" --undo` goes on with it")
    done("restore", work.path, "--undo")
    assert snapshot(work.folder) == work.now


def test_a_damaged_copy_is_never_put_back(work: Work, done: Run, run: Run) -> None:
    done("restore", work.path, work.at)
    (record,) = records()
    copy = next(one for one in record.changes if one.path == "a.py").copy
    (record.place / copy).write_text("broken")
    before = snapshot(work.folder)
    outcome = run("restore", work.path, "--undo")
    assert "is damaged; nothing was written" in outcome.err
    assert snapshot(work.folder) == before


def test_a_manifest_that_does_not_fit_is_none(work: Work, done: Run, run: Run) -> None:
    done("restore", work.path, work.at)
    (record,) = records()
    manifest = record.place / "manifest.json"
    for damage in (
        "",
        "{",
        "[]",
        '{"version":1}',
        json.dumps({**json.loads(manifest.read_text()), "made": [1]}),
    ):
        manifest.write_text(damage)
        assert "no restore to undo" in run("restore", work.path, "--undo").err


def test_where_the_project_was_moved_the_files_are_restored_there_and_put_back(
    work: Work, tmp_path: Path, done: Run, run: Run
) -> None:
    moved = work.folder.rename(tmp_path / "elsewhere")
    done("restore", work.path, work.at, "--cwd", moved)
    assert snapshot(moved) == work.then
    assert [one.folder for one in records()] == [str(moved)]
    assert not work.folder.exists()
    assert run("restore", work.path, "--undo", "--cwd", moved).code == 2, "the record names its folder"
    done("restore", work.path, "--undo")
    assert snapshot(moved) == work.now


def test_a_file_that_is_not_there_is_called_absent(work: Work, done: Run) -> None:
    work.bench.run("rm -f new.py")
    work.bench.file.said(call("bash", "x1", command="python3 some.py"))
    at = str(work.bench.file.answered("x1", "bash", ""))
    out = done("restore", work.path, at, "--dry-run").out
    row = " ".join(out.partition(" new.py")[2].split())
    assert "already absent, as far as known; may have been changed by `python3`" in row


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """It fails where a reason runs over the edge, or loses a word."""
    text = "it is read-only; may have been changed by `python3`; name it with --overwrite to write it"
    lines = wrapped(text, Page(width), first=" " * 8, below=" " * 8)
    assert max(map(len, lines)) <= width
    assert " ".join(line.strip() for line in lines) == text


@pytest.mark.parametrize("option", ["--diff", "--overwrite", "--cwd=/"])
def test_an_undo_refuses_options_that_mean_nothing_to_it(work: Work, run: Run, option: str) -> None:
    refused = run("restore", work.path, "--undo", option)
    assert refused.code == 2
    assert "--undo " in refused.err
