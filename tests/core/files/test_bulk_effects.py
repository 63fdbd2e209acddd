"""Commands that change files which they do not name: nothing is said to be exact that is not on disk."""

from __future__ import annotations

import os
import random
import subprocess
from typing import TYPE_CHECKING

import pytest

from leafward.branches.diff.contents import SideContents
from leafward.branches.diff.file_sets import compare_files
from leafward.branches.diff.sides import sides
from leafward.files.file_names import within
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.knowledge import KNOWN, Certainty
from leafward.files.file_replay.remarks import StepRemark
from leafward.files.file_replay.replay import replay
from leafward.files.file_request import NOTICES, BulkCommand
from leafward.files.shell.effects import effects
from tests.acting import Acting, call, reading
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("a.py", "src/b.py", "src/deep/c.py")
BARE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
AUTHOR = "-c user.name=a -c user.email=a@example.org"
"""Settings that git needs to store something."""


class Desk:
    """A folder under git in which calls are really made, and recorded."""

    def __init__(self, folder: Path, session: Path) -> None:
        self.folder = folder
        folder.mkdir()
        header = {"type": "session", "version": 3, "id": "desk", "timestamp": "2026-11-22T10:00:00Z"}
        self.file = Acting(session, {**header, "cwd": str(folder)})
        self.file.user("begin")
        self.number = 0
        self.run("git init -q -b main && touch first && git add . && git " + AUTHOR + " commit -qm first")

    def run(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env={**os.environ, **BARE},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def shell(self, command: str) -> str:
        self.number += 1
        self.file.said(call("bash", f"s{self.number}", command=command))
        code, output = self.run(command)
        return self.file.answered(f"s{self.number}", "bash", output, failed=code != 0)

    def write(self, name: str, text: str) -> str:
        self.number += 1
        self.file.said(call("write", f"w{self.number}", path=name, content=text))
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)
        return self.file.answered(f"w{self.number}", "write")

    def read(self, name: str) -> str:
        self.number += 1
        self.file.said(call("read", f"r{self.number}", path=name))
        return self.file.answered(f"r{self.number}", "read", (self.folder / name).read_text())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path / "work", tmp_path / "s.jsonl")
    for name in NAMES:
        made.write(name, "one\n")
    made.run(f"git add . && git {AUTHOR} commit -qm second && git branch other")
    for name in NAMES:
        made.write(name, "two\n")
    return made


@pytest.mark.parametrize(
    ("command", "remark", "touched"),
    [
        ("git switch -f other", StepRemark.BY_SWITCH, NAMES),
        ("git switch -c new", None, ()),
        ("git restore src", StepRemark.BY_RESTORE, NAMES[1:]),
        ("git restore --staged src", None, ()),
        ("git checkout -b new", None, ()),
        ("git checkout -q .", StepRemark.BY_CHECKOUT, NAMES),
        ("git checkout -- src", StepRemark.BY_CHECKOUT, NAMES[1:]),
        ("git checkout -q src/b.py", StepRemark.BY_CHECKOUT, NAMES[1:2]),
        ("cd src && git checkout .", StepRemark.BY_CHECKOUT, NAMES[1:]),
        ("git checkout -f other", StepRemark.BY_CHECKOUT, NAMES),
        ("git checkout other -- src", StepRemark.BY_CHECKOUT, NAMES[1:]),
        ("git clean -nd", None, ()),
        ("git clean -fd src", StepRemark.BY_CLEAN, NAMES[1:]),
        ("git clean -fdx", StepRemark.BY_CLEAN_IGNORED, NAMES),
        (f"git {AUTHOR} stash", StepRemark.BY_STASH, NAMES),
        ("git stash list", None, ()),
        (f"git {AUTHOR} stash -q && ls; git stash pop -q", None, ()),
        (f"git {AUTHOR} stash -q; git stash pop -q | cat", StepRemark.BY_STASH_POP, NAMES),
        (f"git {AUTHOR} stash -q && cat a.py; git stash pop -q", StepRemark.BY_STASH_POP, NAMES),
        ("cd src && git reset --hard -q", StepRemark.BY_RESET, NAMES),
        ("git -C src reset --hard", StepRemark.BY_RESET, NAMES),
        ("git reset", None, ()),
        ("mkdir new && echo x > new/b.py && cp -r new/. src", StepRemark.BY_COPY, NAMES[1:]),
        ("git diff > p && git reset -q --hard && patch -p1 < p", StepRemark.BY_PATCH, NAMES),
        ("if true; then rm -r src; fi", StepRemark.FOLDER_REMOVED, NAMES[1:]),
    ],
)
def test_what_may_have_changed_is_said_and_never_exact(
    desk: Desk, command: str, remark: StepRemark | None, touched: tuple[str, ...]
) -> None:
    desk.shell(command)
    with reading(desk.file.path) as session:
        made = replay(session)
        for name in NAMES:
            found = made.rebuilt(name)
            assert replay(session, only=[name]).rebuilt(name) == found, "one file is told as all are"
            if name in touched:
                assert (found.certainty, found.remarks[-1][1]) == (Certainty.UNKNOWN, remark)
            else:
                assert found.text == (desk.folder / name).read_text()


def test_a_folder_that_is_removed_or_moved_takes_its_files_along(desk: Desk) -> None:
    desk.run("mkdir there")
    desk.shell("mv src there")
    desk.shell("rm -r there/src/deep")
    with reading(desk.file.path) as session:
        made = {
            name: replay(session, only=[name]).rebuilt(name)
            for name in (*NAMES, "there/b.py", "there/src/b.py")
        }
    assert [made[name].certainty for name in NAMES] == [Certainty.EXACT, Certainty.ABSENT, Certainty.ABSENT]
    # Whether the target was there before nobody tells.
    assert (made["there/b.py"].certainty, made["there/b.py"].remarks[-1][1]) == (
        Certainty.UNKNOWN,
        StepRemark.FOLDER_MOVED,
    )
    assert made["there/src/b.py"].certainty not in KNOWN


def test_what_is_read_afterwards_is_not_what_was_there_before(desk: Desk) -> None:
    """A file that only one side reads, after a command that may have changed it, tells nothing of the other side."""
    fork = desk.file.leaf
    (desk.folder / "late.py").write_text("one\n")
    desk.run("git add late.py")
    desk.shell("git reset -q --hard other")
    (desk.folder / "late.py").write_text("two\n")
    a = desk.read("late.py")
    desk.file.leaf = fork
    desk.file.said("looking on")
    b = desk.write("a.py", "three\n")
    with reading(desk.file.path) as session:
        compared = sides(session, session.find(a), session.find(b))
        sets = compare_files(compared)
        late = next(one for one in (*sets.only_a, *sets.both) if one.path == "late.py")
        kept = next(one for one in sets.both if one.path == "src/b.py")
        contents = SideContents(compared)
        found = contents.of(late)
        assert contents.same([late, kept]) == [None, None]
    assert (found.a.text, found.base.certainty, found.b.certainty) == (
        "two\n",
        Certainty.UNKNOWN,
        Certainty.UNKNOWN,
    )
    assert "." not in {one.path for column in (sets.only_a, sets.both, sets.only_b) for one in column}


@pytest.mark.parametrize(
    ("name", "folder", "cwd", "repository", "inside"),
    [
        ("a.py", ".", "/home/u/work/sub", False, True),
        ("/home/u/work/b.py", ".", "/home/u/work/sub", False, False),
        ("/home/u/work/b.py", ".", "/home/u/work/sub", True, True),
        ("/home/u/other/b.py", ".", "/home/u/work", True, False),
        ("/tmp/plan.md", ".", "/tmp/work", True, False),
        ("b.py", "src", "/srv/work", False, False),
        ("b.py", "src", "/srv/work", True, True),
        ("src/b.py", "src", "", False, True),
        ("~/plan.md", ".", "/srv/work", True, True),
    ],
)
def test_how_far_a_command_reaches(name: str, folder: str, cwd: str, repository: bool, inside: bool) -> None:
    assert within(name, folder, cwd, repository=repository) is inside


def test_every_sweep_has_a_remark() -> None:
    assert all(StepRemark(f"by {one}") for one in BulkCommand if one not in NOTICES)


@pytest.mark.parametrize(
    "script",
    ["git stash drop", "git apply --check x", "git log", "git merge-base a b", "tar cf x.tar src", "cp a b"],
)
def test_what_sweeps_nothing(script: str) -> None:
    assert [one for one in effects(script) if one.operation is FileOperation.SWEEP] == []


def test_what_was_committed_is_what_a_checkout_brings_back(desk: Desk) -> None:
    desk.shell(f"git add -A && git {AUTHOR} commit -qm third")
    desk.shell("git add a.py")
    desk.write("a.py", "three\n")
    desk.write("src/b.py", "three\n")
    desk.write("src/new.py", "three\n")
    desk.write("src/newer.py", "three\n")
    before = desk.shell("git checkout -q .")
    desk.shell("git clean -fd src/new.py && git clean -fdq src")
    with reading(desk.file.path) as session:
        found = {
            name: replay(session, only=[name]).rebuilt(name)
            for name in (*NAMES, "src/new.py", "src/newer.py")
        }
        early = replay(session, session.find(before))
        assert early.rebuilt("src/new.py").certainty is Certainty.UNKNOWN, "it may have been in the index"
    assert (found["a.py"].text, found["src/deep/c.py"].text) == ("two\n", "two\n")
    # What is ignored is not added, and neither brought back.
    assert (found["src/b.py"].certainty, found["src/b.py"].remarks[-1][1]) == (
        Certainty.UNKNOWN,
        StepRemark.BY_CHECKOUT,
    )
    assert found["src/new.py"].certainty is Certainty.ABSENT, "the output names it"
    assert (found["src/newer.py"].certainty, found["src/newer.py"].remarks[-1][1]) == (
        Certainty.UNKNOWN,
        StepRemark.BY_CLEAN,
    )


def test_what_was_added_is_what_a_restore_brings_back(desk: Desk) -> None:
    desk.shell("git add a.py src/b.py")
    for name in NAMES:
        desk.write(name, "three\n")
    desk.shell("git restore a.py src")
    with reading(desk.file.path) as session:
        made = replay(session)
        found = {name: made.rebuilt(name) for name in NAMES}
    assert [found[name].text for name in NAMES[:2]] == ["two\n", "two\n"]
    assert found["src/deep/c.py"].certainty is Certainty.UNKNOWN, "nothing tells what the index holds of it"
    for name in NAMES[:2]:
        assert found[name].text == (desk.folder / name).read_text()


def test_a_side_on_which_a_file_came_back_does_not_have_what_the_ancestor_has(desk: Desk) -> None:
    desk.shell("git add a.py src/b.py")
    fork = desk.write("a.py", "three\n")
    a = desk.shell("git checkout .")
    desk.file.leaf = fork
    b = desk.write("a.py", "four\n")
    with reading(desk.file.path) as session:
        compared = sides(session, session.find(a), session.find(b))
        sets = compare_files(compared)
        file = next(one for one in (*sets.only_a, *sets.both, *sets.only_b) if one.path == "a.py")
        found = SideContents(compared).of(file)
    assert [one.text for one in (found.base, found.a, found.b)] == ["three\n", "two\n", "four\n"]
    assert found.a.remarks[-1][1] is StepRemark.BY_CHECKOUT


PLACES = (*NAMES, "src/out.log", "src/deep/d.py", "sub/e.py")
COMMANDS = (
    f"git {AUTHOR} commit -qam more",
    f"git {AUTHOR} commit -qam more",
    f"git add -A && git {AUTHOR} commit -qm all",
    f"git add . && git {AUTHOR} commit -qm all; true",
    f"git {AUTHOR} commit --amend -qam again",
    "git add {name}",
    "git add src",
    "git add -u",
    "git checkout .",
    "git checkout -q . && git clean -fdq src",
    "git checkout -- {name}",
    "git checkout {name}",
    "git restore {name}",
    "git restore -q src",
    "git restore -s HEAD {name}",
    "git restore -SW {name}",
    "cd src && git restore .",
    "git checkout src",
    "cd src && git checkout -q .",
    "git checkout HEAD -- {name}",
    "git checkout -q other",
    "git checkout -qf main",
    "git checkout -qB other",
    "git clean -fd",
    "git clean -fdx src",
    "git clean -f {name}",
    "git clean -fdq",
    "git reset -q",
    "git reset -q HEAD~1",
    "git rm -q --cached {name}",
    "git mv {name} moved.py",
    "mv {name} {other}",
    "cp {name} {other}",
    "rm {name}",
    "rm -r src",
    "sed -i s/t/u/ {name}",
    "echo x >> {name}",
    "echo '*.log' > .gitignore",
    "rm -f .gitignore",
    "rm .git[i]*",
    "git init -q sub",
    "cd sub && git checkout .",
    "git stash -q; git stash pop -q",
    f"git {AUTHOR} stash -q",
)


@pytest.mark.parametrize("seed", range(24 if THOROUGH else 8))
def test_nothing_that_is_said_of_files_under_git_is_wrong(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    desk = Desk(tmp_path / "work", tmp_path / "s.jsonl")
    desk.run("echo '*.log' > .gitignore && git add . && git branch other")
    for name in PLACES:
        desk.write(name, "one\n")
    places, known = [], 0
    for _ in range(40):
        name, other = rng.sample(PLACES, 2)
        if rng.random() < 0.4:
            if (desk.folder / name).is_dir():
                continue
            node = desk.write(name, rng.choice(("one\n", "two\n", "three\n")))
        elif rng.random() < 0.1 and (desk.folder / name).is_file():
            node = desk.read(name)
        else:
            node = desk.shell(rng.choice(COMMANDS).format(name=name, other=other))
        lies = {
            one: (desk.folder / one).read_text() if (desk.folder / one).is_file() else None for one in PLACES
        }
        places.append((node, lies))
    with reading(desk.file.path) as session:
        for node, lies in places:
            made = replay(session, session.find(node))
            for name, text in lies.items():
                found = made.rebuilt(name)
                if found.certainty in KNOWN:
                    known += 1
                    assert found.text == text, (name, node)
    assert known
