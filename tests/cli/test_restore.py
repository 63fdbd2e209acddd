"""`leafward restore`: what is put back, what is left alone, and the way back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from leafward.cli.output.page import Page, wrapped
from leafward.files.restoration.record import State, records, store
from tests.acting import call
from tests.folder_contents import snapshot
from tests.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


class Work:
    """A session that wrote, changed, removed and created files, and what lay there at its first turn."""

    def __init__(self, tmp_path: Path) -> None:
        self.path = tmp_path / "s.jsonl"
        self.bench = Workbench(self.path, tmp_path / "work", 1)
        self.folder = self.bench.folder
        for name in ("a.py", "gone.md", "sub/deep.txt", "plain"):
            self.bench.write(name, f"{name} at first\n")
        self.bench.run("rm -f new.py")
        (self.folder / "a.py").chmod(0o755)
        self.at = str(self.bench.file.leaf)
        self.then = snapshot(self.folder)
        self.bench.write("a.py", "a.py later\n")
        self.bench.run("rm -f gone.md")
        self.bench.write("new.py", "new\n")
        self.bench.run("rm -f sub/deep.txt && rmdir sub && echo file > sub")
        self.bench.run("rm -f plain && mkdir plain")
        self.bench.write("plain/inside", "in a folder\n")
        self.now = snapshot(self.folder)

    def put(self, name: str, text: str) -> Path:
        (self.folder / name).write_text(text)
        return self.folder / name


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def actions(document: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    return {one["path"]: one["action"] for one in document["files"] if one["action"] != "same"}


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


def test_what_a_person_changed_stays_until_it_is_named(work: Work, done: Run, run: Run) -> None:
    work.put("a.py", "by hand\n")
    found = done("restore", work.path, work.at, "--json").document
    (mine,) = (one for one in found["files"] if one["path"] == "a.py")
    assert (mine["action"], mine["offered"], mine["reason"]) == (
        "leave",
        "write",
        "changed on disk after the session",
    )
    assert (work.folder / "a.py").read_text() == "by hand\n"
    named = run("restore", work.path, work.at, "a.py")
    assert (named.code, (work.folder / "a.py").read_text()) == (1, "by hand\n")
    assert "changed on disk after the session; name it with --overwrite" in named.out
    out = done("restore", work.path, work.at, "a.py", "--overwrite").out
    assert out.index("-by hand\n+a.py at first\n") < out.index("restored 1 file")
    assert (work.folder / "a.py").read_text() == "a.py at first\n"
    done("restore", work.path, "--undo")
    assert (work.folder / "a.py").read_text() == "by hand\n"


def test_overwriting_needs_names(work: Work, run: Run) -> None:
    outcome = run("restore", work.path, work.at, "--overwrite")
    assert (outcome.code, snapshot(work.folder)) == (2, work.now)


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


def test_a_folder_with_somebodys_files_stays(work: Work, done: Run) -> None:
    work.put("plain/mine", "mine\n")
    found = done("restore", work.path, work.at, "--json").document
    (plain,) = (one for one in found["files"] if one["path"] == "plain")
    assert (plain["action"], plain["reason"]) == ("leave", "a folder has this name")
    assert (work.folder / "plain/mine").read_text() == "mine\n"


def test_links_and_other_names_stay(work: Work, tmp_path: Path, done: Run, run: Run) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("a.py later\n")
    (work.folder / "a.py").unlink()
    (work.folder / "a.py").symlink_to(outside / "a.py")
    os.link(work.folder / "new.py", work.folder / "twin.py")
    (work.folder / "sub").unlink()
    (work.folder / "sub").symlink_to(outside)
    found = done("restore", work.path, work.at, "--json").document
    reasons = {one["path"]: (one["reason"], one["offered"]) for one in found["files"]}
    assert reasons["a.py"] == ("it is a link", "write")
    assert reasons["new.py"] == ("another name is the same file (a hard link)", "delete")
    assert reasons["sub/deep.txt"] == ("sub is a link", None)
    assert [one.name for one in outside.iterdir()] == ["a.py"]
    assert run("restore", work.path, work.at, "sub/deep.txt", "--overwrite").code == 1
    assert not (outside / "deep.txt").exists()
    done("restore", work.path, work.at, "a.py", "--overwrite")
    assert not (work.folder / "a.py").is_symlink()
    assert (outside / "a.py").read_text() == "a.py later\n"
    done("restore", work.path, "--undo")
    assert os.readlink(work.folder / "a.py") == str(outside / "a.py")


def test_a_read_only_file_and_a_pipe_stay(work: Work, done: Run) -> None:
    (work.folder / "a.py").chmod(0o444)
    (work.folder / "new.py").unlink()
    os.mkfifo(work.folder / "new.py")
    found = done("restore", work.path, work.at, "--json").document
    reasons = {one["path"]: (one["reason"], one["offered"]) for one in found["files"]}
    assert reasons["a.py"] == ("it is read-only", "write")
    assert reasons["new.py"] == ("it is not a regular file", None)


def test_a_read_only_file_is_said_to_be_one_whatever_else_keeps_it(work: Work, done: Run, run: Run) -> None:
    """Also where a command may have changed it, and for root, whom permissions do not keep from writing."""
    work.bench.write("a.py", "written\n")
    work.bench.run("python3 -c pass")
    at = str(work.bench.file.leaf)
    work.bench.write("a.py", "in the end\n")
    (work.folder / "a.py").chmod(0o444)
    shown = run("restore", work.path, at)
    words = " ".join(shown.out.split())
    assert "it is read-only; `python3` ran after it was last seen" in words
    assert "name it with --overwrite to write it" in words
    assert "written only if named with --overwrite" in shown.out
    assert (work.folder / "a.py").read_text() == "in the end\n"
    named = done("restore", work.path, at, "a.py", "--overwrite")
    assert "it stays read-only after the write" in " ".join(named.out.split())
    assert (work.folder / "a.py").read_text() == "written\n"
    assert (work.folder / "a.py").stat().st_mode & 0o777 == 0o444


def test_a_file_of_another_branch_is_not_offered(work: Work, done: Run) -> None:
    fork = str(work.bench.file.leaf)
    work.bench.file.user("a try")
    work.bench.write("try.py", "of the try\n")
    (work.folder / "try.py").unlink()
    work.bench.file.user("the other way", parent=fork)
    work.bench.write("a.py", "of the other way\n")
    at = str(work.bench.file.leaf)
    files = done("restore", work.path, at, "--json", "--dry-run").document["files"]
    (one,) = (one for one in files if one["path"] == "try.py")
    assert (one["action"], one["offered"]) == ("leave", None)
    assert "only another branch touched it by then" in one["reason"]


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ('python3 -c \'open("a.py", "w").write("tidied")\'', "python3"),
        ("ls && ./tidy.sh; true", "tidy.sh"),
        ("find . -name a.py -exec sh -c 'echo x > a.py' ';'", "find"),
        ("for f in a.py; do black $f; done; true", "black"),
    ],
)
def test_what_an_unknown_program_may_have_changed_is_not_certain(
    work: Work, done: Run, command: str, program: str
) -> None:
    work.bench.write("a.py", "written\n")
    seen = str(work.bench.file.leaf)
    work.bench.run(command)
    at = str(work.bench.file.leaf)
    work.bench.write("a.py", "in the end\n")

    def at_entry(entry: str) -> tuple[str, str]:
        (one,) = done("restore", work.path, entry, "--json", "--dry-run").document["files"][:1]
        return one["action"], one["reason"]

    assert at_entry(seen) == ("write", "as the session left it")
    why = f"`{program}` ran after it was last seen, and may have changed it"
    assert at_entry(at) == ("leave", why)
    for entry, doubt in ((seen, ""), (at, why)):
        rebuilt = done("files", work.path, "--at", entry, "--rebuild", "a.py", "--json").document
        assert (rebuilt["certainty"], rebuilt["text"], rebuilt["doubt"]) == ("exact", "written\n", doubt)
        into = ("--into", work.path.parent / f"files-{entry}", "--dry-run", "--json")
        doubted = done("files", work.path, "--at", entry, *into).document["doubted"]
        assert [one["why"] for one in doubted if one["path"] == "a.py"] == ([doubt] if doubt else [])


def test_a_file_that_is_gone_rests_on_nothing(work: Work, run: Run) -> None:
    work.bench.write("a.py", "written\n")
    work.bench.run("rm a.py")
    rebuilt = run("files", work.path, "--rebuild", "a.py")
    assert (rebuilt.code, rebuilt.out) == (0, "")
    assert rebuilt.err.endswith("a.py: absent\n")


def test_what_only_checks_changes_nothing(work: Work, done: Run) -> None:
    work.bench.write("a.py", "written\n")
    work.bench.run("git status; ls | grep a; npm test; FOO=1 pytest -q; true")
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

    store(dataclasses.replace(record, state=State.WRITING))
    work.put("gone.md", "gone.md at first\n")
    outcome = run("restore", work.path, work.at)
    assert outcome.code == 1
    assert "stopped halfway" in outcome.err
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


def test_hostile_names_do_not_act(work: Work, run: Run) -> None:
    name = "\x1b[31mred\u202e.py"
    work.bench.write(name, "one\n")
    at = str(work.bench.file.leaf)
    work.bench.write(name, "\x1b]0;title\x07two\n")
    for words in (
        (at, "--dry-run", "--diff"),
        (at, name, "--json"),
        ("--undo",),
        (at, name),
        ("--undo", "--json"),
    ):
        outcome = run("restore", work.path, *words)
        assert outcome.code == 0, outcome
        assert not {"\x1b", "\x07", "\u202e"} & set(outcome.out + outcome.err), words
    work.put(name, "mine\n")
    run("restore", work.path, at, name, "--overwrite")
    work.put(name, "mine again\n")
    refused = run("restore", work.path, "--undo")
    assert "changed since the restore" in refused.err
    assert not {"\x1b", "\u202e"} & set(refused.err)


def test_nothing_outside_the_project_is_written(tmp_path: Path, done: Run) -> None:
    outside = tmp_path / "outside.txt"
    bench = Workbench(tmp_path / "s.jsonl", tmp_path / "work", 1)
    for name in ("../outside.txt", str(outside), ".git/hooks/pre-commit", "a/../../outside.txt"):
        bench.write(name, "then\n")
    at = str(bench.file.leaf)
    for name in ("../outside.txt", ".git/hooks/pre-commit"):
        bench.write(name, "now\n")
    found = done("restore", tmp_path / "s.jsonl", at, "--json").document["files"]
    assert {one["action"] for one in found} == {"leave"}
    assert all(one["offered"] is None for one in found)
    assert outside.read_text() == "now\n"


def test_what_another_branch_left_differently_is_not_certain(work: Work, done: Run) -> None:
    work.bench.write("a.py", "before the branch\n")
    fork = str(work.bench.file.leaf)
    work.bench.write("a.py", "on the first branch\n")
    work.bench.file.user("again", parent=fork)
    at = str(work.bench.file.leaf)
    work.bench.write("a.py", "on the second branch\n")
    files = done("restore", work.path, at, "--json", "--dry-run").document["files"]
    (one,) = (one for one in files if one["path"] == "a.py")
    assert (one["action"], one["reason"], one["offered"]) == (
        "leave",
        "another branch left it differently",
        "write",
    )
    assert "+before the branch" in one["diff"]


def test_without_its_folder_nothing_is_restored(work: Work, tmp_path: Path, run: Run) -> None:
    work.folder.rename(tmp_path / "elsewhere")
    assert "project folder not found" in run("restore", work.path, work.at).err
    assert (
        "project folder not found: /nowhere/at/all"
        in run("restore", work.path, work.at, "--cwd", "/nowhere/at/all").err
    )
    assert "no folder is named" in run("restore", work.path, work.at, "--cwd", "").err


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


def limited(work: Work, *words: str, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """The verb in a process of its own, which a program before it holds to less than the test may do."""
    command = [*prefix, sys.executable, "-m", "leafward", "restore", str(work.path), *words]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


_RIGHTS = "-dac_override,-dac_read_search,-fowner"


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="nothing is forbidden to root")
def test_files_in_a_folder_that_is_read_only_stay_and_the_others_are_restored(work: Work) -> None:
    work.bench.run("mkdir -p shut && echo x > shut/f")
    work.bench.write("shut/f", "y\n")
    at = str(work.bench.file.leaf)
    work.bench.write("shut/f", "z\n")
    work.bench.write("a.py", "more\n")
    prefix = ("setpriv", f"--bounding-set={_RIGHTS}", f"--inh-caps={_RIGHTS}") if os.geteuid() == 0 else ()
    (work.folder / "shut").chmod(0o555)
    try:
        ran = limited(work, at, prefix=prefix)
    finally:
        (work.folder / "shut").chmod(0o755)
    assert ran.returncode == 0, ran.stderr
    assert "shut is read-only" in ran.stdout
    assert (work.folder / "shut" / "f").read_text() == "z\n"
    assert (work.folder / "a.py").read_text() == "a.py later\n"


@pytest.mark.skipif(not shutil.which("prlimit"), reason="no prlimit here")
def test_where_a_write_fails_all_is_put_back_and_the_file_is_named(work: Work) -> None:
    work.bench.write("big.txt", "big\n" * 16_000)
    at = str(work.bench.file.leaf)
    work.bench.write("big.txt", "small\n")
    work.bench.write("a.py", "more\n")
    before = snapshot(work.folder)
    ran = limited(work, at, prefix=("prlimit", "--fsize=32768"))
    assert ran.returncode == 1
    assert "the restore stopped: big.txt: File too large; all files are as they were" in ran.stderr
    assert snapshot(work.folder) == before


def test_a_file_that_is_not_there_is_called_absent(work: Work, done: Run) -> None:
    work.bench.run("rm -f new.py")
    work.bench.file.said(call("bash", "x1", command="python3 some.py"))
    at = str(work.bench.file.answered("x1", "bash", ""))
    out = done("restore", work.path, at, "--dry-run").out
    row = " ".join(out.partition(" new.py")[2].split())
    assert "already absent, as far as known; `python3` ran after it was last seen" in row


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """It fails where a reason runs over the edge, or loses a word."""
    text = "it is read-only; `python3` ran after it was last seen, and may have changed it; name it with --overwrite to write it"
    lines = wrapped(text, Page(width), first=" " * 8, below=" " * 8)
    assert max(map(len, lines)) <= width
    assert " ".join(line.strip() for line in lines) == text
