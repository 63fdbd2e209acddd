"""Commits as the project before the session: ones that somebody made up, and ones whose files are not all here."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Refused
from leafward.files.bisection.base import GitBase
from leafward.files.file_replay.bases import WorkspaceBases
from tests.folder_contents import contents

if TYPE_CHECKING:
    from pathlib import Path


def git(folder: Path, *words: str, stdin: bytes = b"") -> str:
    told = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *told, *words], cwd=folder, input=stdin, capture_output=True, check=True)
    return done.stdout.decode().strip()


def blob(folder: Path, data: bytes) -> str:
    return git(folder, "hash-object", "-w", "--stdin", stdin=data)


def tree(folder: Path, *entries: tuple[str, bytes, str]) -> str:
    """A tree with any names, which git itself would refuse."""
    raw = b"".join(f"{mode} ".encode() + name + b"\0" + bytes.fromhex(one) for mode, name, one in entries)
    return git(folder, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", stdin=raw)


def commit(folder: Path, *entries: tuple[str, bytes, str]) -> str:
    return git(folder, "commit-tree", tree(folder, *entries), "-m", "made up")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def test_no_file_of_a_made_up_commit_leaves_the_folder(work: Path, tmp_path: Path) -> None:
    outside, place = tmp_path / "outside", tmp_path / "place"
    outside.mkdir()
    place.mkdir()
    text, link = blob(work, b"text"), blob(work, str(outside).encode())
    inner = tree(work, ("100644", b"x", text))
    through = commit(work, ("120000", b"a", link), ("40000", b"a", inner))
    with pytest.raises(FileExistsError):
        GitBase(work, through).lay_out(place, lambda: False)
    assert list(outside.iterdir()) == []

    above = commit(work, ("40000", b"..", inner), ("40000", b".GIT", inner), ("100644", b"y", text))
    other = tmp_path / "deep" / "place"
    other.mkdir(parents=True)
    GitBase(work, above).lay_out(other, lambda: False)
    assert contents(tmp_path / "deep") == {"place/y": b"text"}


def test_links_of_a_commit_are_laid_out(work: Path, tmp_path: Path) -> None:
    made = commit(work, ("120000", b"a", blob(work, b"y")), ("100644", b"y", blob(work, b"text")))
    GitBase(work, made).lay_out(tmp_path / "place", lambda: False)
    assert (tmp_path / "place" / "a").read_text() == "text"


def test_a_content_that_the_repository_lacks_is_never_empty(work: Path, tmp_path: Path) -> None:
    """A clone without all contents has the names of every file."""
    there, gone = blob(work, b"there"), blob(work, b"gone")
    made = commit(work, ("100644", b"a", there), ("100644", b"b", gone))
    git(work, "update-ref", "HEAD", made)
    (work / ".git" / "objects" / gone[:2] / gone[2:]).unlink()
    base = GitBase(work, made)
    assert base.text("a") == "there"
    with pytest.raises(Refused, match="its content is not in this repository"):
        base.text("b")
    with pytest.raises(Refused, match="its content is not in this repository"):
        base.lay_out(tmp_path / "place", lambda: False)
    bases = WorkspaceBases(work)
    assert [one.text for one in bases("a")] == ["there"]
    assert (list(bases("b")), bases.committed("b")) == ([], None)
