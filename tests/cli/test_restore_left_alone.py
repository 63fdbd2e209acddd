"""`leafward restore`: what it leaves alone, and what it says of that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.folder_contents import snapshot
from tests.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run
    from tests.cli.restored import Work


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
    assert reasons["new.py"] == ("it has a second name (hard link)", "delete")
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
    assert "it is read-only; may have been changed by `python3`" in words
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
    assert "only another branch touched it" in one["reason"]


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ('python3 -c \'open("a" + ".py", "w").write("tidied")\'', "python3"),
        ("ls && ./tidy.sh; true", "tidy.sh"),
        ("find . -name a.py -exec sh -c 'echo x > a.py' ';'", "find"),
        ("for f in a.py; do codegen $f; done; true", "codegen"),
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
    why = f"may have been changed by `{program}`"
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
    assert run("restore", work.path, work.at).err.endswith(
        f"project folder not found: {work.folder}; --cwd FOLDER names the one that it is in now\n"
    )
    assert (
        "project folder not found: /nowhere/at/all"
        in run("restore", work.path, work.at, "--cwd", "/nowhere/at/all").err
    )
    assert "no folder is named" in run("restore", work.path, work.at, "--cwd", "").err


_RIGHTS = "-dac_override,-dac_read_search,-fowner"


def limited(work: Work, *words: str, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """The verb in a process of its own, which a program before it holds to less than the test may do."""
    command = [*prefix, sys.executable, "-m", "leafward", "restore", str(work.path), *words]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


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
