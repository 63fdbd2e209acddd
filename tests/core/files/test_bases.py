"""A content of the workspace as what a file began with: only where everything fits it, and never by writing anything."""

from __future__ import annotations

import subprocess
from shlex import quote
from typing import TYPE_CHECKING

import pytest

from leafward.branches.diff.contents import Merge, SideContents
from leafward.branches.diff.file_sets import compare_files
from leafward.branches.diff.patches import patch_of
from leafward.branches.diff.sides import sides
from leafward.files.file_replay import bases as module
from leafward.files.file_replay.bases import WorkspaceBases
from leafward.files.file_replay.knowledge import Certainty
from leafward.files.file_replay.path_files import PathFiles
from tests.acting import Acting, call, reading

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "".join(f"line {at}.\n" for at in range(1, 31))


def git(folder: Path, *words: str) -> str:
    told = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *told, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository whose file went on since the session."""
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a.py").write_text(TEXT)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / "a.py").write_text(TEXT.replace("line 3.\n", "THREE\n"))
    git(folder, "commit", "-qam", "second")
    return folder


def apply(work: Path, patch: str) -> None:
    """Lets git apply a patch to what is committed."""
    git(work, "checkout", "-q", "--", ".")
    subprocess.run(["git", "apply", "-"], cwd=work, input=patch.encode(), check=True)


def edit(call_id: str, old: str, new: str, path: str = "a.py") -> dict[str, object]:
    return call("edit", call_id, path=path, edits=[{"oldText": old, "newText": new}])


@pytest.fixture
def session(tmp_path: Path) -> Acting:
    """The third line is edited and some others are read, the whole of the file never."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    file.said(call("read", "r", path="a.py", offset=2, limit=3))
    file.answered(
        "r", "read", "line 2.\nline 3.\nline 4.\n\n[26 more lines in file. Use offset=5 to continue.]"
    )
    file.said(edit("e", "line 3.", "THREE"))
    file.answered("e", "edit")
    return file


def test_the_version_that_everything_fits_is_what_it_rests_on(work: Path, session: Acting) -> None:
    first = git(work, "rev-parse", "HEAD~1")
    with reading(session.path) as opened:
        assert PathFiles(opened, opened.leaf).rebuilt("a.py").certainty is Certainty.PARTIAL
        found = PathFiles(opened, opened.leaf, WorkspaceBases(work)).rebuilt("a.py")
    assert (found.certainty, found.base) == (Certainty.EXACT, f"git {first[:7]}")
    assert found.text == TEXT.replace("line 3.\n", "THREE\n")


def test_without_git_the_file_on_disk_is_one(
    work: Path, session: Acting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    (work / "a.py").write_text(TEXT)
    with reading(session.path) as opened:
        found = PathFiles(opened, opened.leaf, WorkspaceBases(work)).rebuilt("a.py")
    assert (found.certainty, found.base) == (Certainty.EXACT, "on disk")


def test_contents_that_all_fit_but_differ_leave_it_unknown(work: Path, session: Acting) -> None:
    (work / "a.py").write_text(TEXT + "and one more\n")
    with reading(session.path) as opened:
        found = PathFiles(opened, opened.leaf, WorkspaceBases(work)).rebuilt("a.py")
    assert found.certainty is Certainty.PARTIAL
    assert found.text is None


@pytest.mark.parametrize("shown", ["line 2.\nanother\nline 4.", "line 2.\nline 3.\nline 5."])
def test_a_read_that_shows_something_else_refuses_it(tmp_path: Path, work: Path, shown: str) -> None:
    file = Acting(tmp_path / "other.jsonl")
    file.user("begin")
    file.said(call("read", "r", path="a.py", offset=2, limit=3))
    file.answered("r", "read", f"{shown}\n\n[26 more lines in file. Use offset=5 to continue.]")
    with reading(file.path) as opened:
        found = PathFiles(opened, opened.leaf, WorkspaceBases(work)).rebuilt("a.py")
    assert found.certainty is Certainty.PARTIAL


def test_both_branches_have_to_fit(work: Path, session: Acting) -> None:
    fork = session.leaf
    session.said(edit("x", "line 7.", "SEVEN"))
    a = session.answered("x", "edit")
    session.leaf = fork
    session.said(edit("y", "line 9.", "NINE"))
    b = session.answered("y", "edit")
    with reading(session.path) as opened:
        compared = sides(opened, opened.find(a), opened.find(b))
        file = compare_files(compared).both[0]
        assert SideContents(compared).of(file).merge is Merge.UNKNOWN
        assert patch_of(compared, compared.a).text == ""
        bases = WorkspaceBases(work)
        found = SideContents(compared, bases=bases).of(file)
        assert found.merge is Merge.CLEAN
        assert found.a.base.startswith("git ")
        patch = patch_of(compared, compared.a, bases=bases)
    assert "-line 7.\n+SEVEN\n" in patch.text
    apply(work, patch.text)


def moved_and_edited(session: Acting, command: str, line: str) -> tuple[str, str]:
    """The end of a branch that moves the file and edits a line of it, and that of one which does nothing."""
    fork = session.leaf
    session.said(call("bash", "m", command=command))
    session.answered("m", "bash")
    session.said(edit("x", line, "SEVEN", "b/c.py"))
    a = session.answered("x", "edit")
    session.leaf = fork
    return a, session.user("other branch")


@pytest.mark.parametrize("command", ["mv a.py b/c.py", "git mv a.py b/c.py"])
def test_a_file_that_was_moved_rests_on_what_it_was(work: Path, session: Acting, command: str) -> None:
    """Changes under either name have to fit, and one content is the base of both."""
    a, b = moved_and_edited(session, command, "line 7.")
    with reading(session.path) as opened:
        compared = sides(opened, opened.find(a), opened.find(b))
        assert patch_of(compared, compared.a).text == ""
        patch = patch_of(compared, compared.a, bases=WorkspaceBases(work))
    assert (patch.files, patch.left_out) == (("a.py", "b/c.py"), ())
    assert patch.taken_as_new == (() if command.startswith("git") else ("b/c.py",))
    apply(work, patch.text)
    assert not (work / "a.py").exists()
    after = TEXT.replace("line 3.\n", "THREE\n").replace("line 7.\n", "SEVEN\n")
    assert (work / "b" / "c.py").read_text() == after


def test_a_moved_file_that_an_edit_does_not_fit_has_no_base(work: Path, session: Acting) -> None:
    a, b = moved_and_edited(session, "git mv a.py b/c.py", "line 700.")
    with reading(session.path) as opened:
        compared = sides(opened, opened.find(a), opened.find(b))
        patch = patch_of(compared, compared.a, bases=WorkspaceBases(work))
    assert (patch.text, {path for path, _ in patch.left_out}) == ("", {"a.py", "b/c.py"})


def test_what_lies_outside_is_no_candidate(tmp_path: Path, work: Path) -> None:
    (tmp_path / "outside.py").write_text("outside\n")
    (work / "link.py").symlink_to(tmp_path / "outside.py")
    (work / "binary").write_bytes(b"a\0b")
    (work / "huge").write_bytes(b"a" * (module.MOST_BYTES + 1))
    (work / "latin").write_bytes("é".encode("latin-1"))
    bases = WorkspaceBases(work)
    for path in (
        "../outside.py",
        str(tmp_path / "outside.py"),
        "~/x",
        "link.py",
        "binary",
        "huge",
        "latin",
        "no.py",
    ):
        assert bases(path) == (), path


def test_git_is_only_read_and_runs_nothing(tmp_path: Path, work: Path) -> None:
    ran = tmp_path / "ran"
    script = tmp_path / "hook.sh"
    script.write_text(f"#!/bin/sh\ntouch {quote(str(ran))}\n")
    script.chmod(0o755)
    for name in (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "diff.x.textconv",
        "gpg.program",
        "filter.x.smudge",
    ):
        git(work, "config", name, str(script))
    git(work, "config", "log.showSignature", "true")
    (work / ".git" / "info" / "attributes").write_text("* diff=x filter=x\n")
    before = {path: path.stat().st_mtime_ns for path in sorted(work.rglob("*"))}
    found = WorkspaceBases(work)("a.py")
    assert [one.name.split()[0] for one in found] == ["on", "git"]
    assert {path: path.stat().st_mtime_ns for path in sorted(work.rglob("*"))} == before
    assert not ran.exists()
