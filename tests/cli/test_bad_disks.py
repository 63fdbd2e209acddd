"""Every verb that writes, where the disk is read-only or files may not grow: a refusal in one line, and nothing else."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.registry import agent_named
from leafward.base.paths import data_dir
from tests.core.doctor.test_litter import found as litter_in
from tests.disks import filled, largest_file, read_only, small_disk
from tests.foreign_stores import make
from tests.untouched import contents
from tests.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Outcome, Run

PAGE = 4096

APPENDING: list[tuple[str, ...]] = [
    ("label", "#1", "x" * 3000),
    ("name", "x" * 3000),
    ("move", "#1", "--summary", "extractive"),
    ("archive", "#2"),
    ("compact", "--keep-recent", "1"),
    ("edit-context", "--select", "context() & replies()", "--keep", "1"),
]
MAKING: list[tuple[str, ...]] = [
    ("fork", "leaf", "--to", "pi"),
    ("fork", "leaf", "--to", "codex"),
    ("fork", "leaf", "--to", "claude"),
    ("fork", "leaf", "--to", "opencode"),
    ("keep",),
]
READING: list[tuple[str, ...]] = [("tree",), ("context",), ("log",), ("plan",), ("export",), ("files",)]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "4m") as disk:
        yield disk


def given(sessions: Path, folder: Path, name: str = "branches") -> Path:
    path = folder / f"{name}.jsonl"
    shutil.copy(sessions / path.name, path)
    return path


def words(verb: tuple[str, ...], path: Path, cwd: Path) -> list[str]:
    return [verb[0], str(path), *verb[1:], *(["--cwd", str(cwd)] if verb[0] == "fork" else [])]


def refused(run: Run, arguments: list[str], why: str) -> None:
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (1, ""), outcome
    assert why in outcome.err
    assert outcome.err.count("\n") <= 2, "one line, and a remark before it"
    assert "unforeseen" not in outcome.err


def test_on_a_read_only_disk_everything_is_read_and_nothing_written(
    run: Run, done: Run, sessions: Path, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = disk / "home" / ".pi" / "agent" / "sessions" / "p"
    store.mkdir(parents=True)
    paths = [given(sessions, store), given(sessions, store, "version-1")]
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(disk / "home" / ".pi" / "agent"))
    monkeypatch.setenv("LEAFWARD_HOME", str(disk / "home" / "leafward"))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, str(disk / "home" / name))
    before = contents(disk)
    with read_only(disk):
        assert len(done("ls", "--json").document["sessions"]) == 2
        assert done("doctor", "--clear-litter", "--json").document["cleared"] == []
        for verb in READING:
            done(*words(verb, paths[0], disk))
        for verb in APPENDING[:-1]:
            refused(run, words(verb, paths[0], disk), "branches.jsonl: it is on a read-only file system")
        refused(run, ["label", str(paths[1]), "#1", "x"], "it is on a read-only file system")
        for verb in MAKING:
            refused(run, words(verb, paths[0], disk), "Read-only file system")
        refused(run, ["delete", str(paths[0])], "cannot write to the trash in")
        assert contents(disk) == before
    assert run("label", paths[0], "#1", "x").code == 0


@pytest.mark.parametrize("verb", APPENDING, ids=lambda verb: verb[0])
def test_a_session_that_may_not_grow_stays_as_it_is(
    run: Run, sessions: Path, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    path = given(sessions, tmp_path)
    before = path.read_bytes()
    with largest_file(len(before) + 90):
        refused(run, words(verb, path, tmp_path), "nothing was written to branches.jsonl: File too large")
    assert path.read_bytes() == before
    assert run(*words(verb, path, tmp_path)).code == 0
    assert path.read_bytes().startswith(before)
    assert run("undo", path).code == 0


@pytest.mark.parametrize("verb", MAKING, ids=lambda verb: "-".join(verb[::2]))
def test_a_file_that_may_not_be_as_large_is_not_made(
    run: Run, sessions: Path, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    path = given(sessions, tmp_path)
    run("ls", tmp_path)
    before = contents(tmp_path)
    with largest_file(4000):
        refused(run, words(verb, path, tmp_path), "File too large")
    assert contents(tmp_path) == before
    assert litter_in(tmp_path) == {}


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode"])
def test_what_is_kept_beside_a_session_may_not_grow(run: Run, tmp_path: Path, agent: str) -> None:
    store = make(agent, tmp_path / "store")
    before = contents(store.root)
    label = ["label", str(store.path), "#1", "x" * 5000]
    with largest_file(4000):
        refused(run, label, "File too large")
    assert [path for path in data_dir().rglob("*") if path.is_file()] == []
    assert run("label", store.path, "#1", "y").code == 0
    with largest_file(4000):
        refused(run, label, "nothing was written to")
    with closing(agent_named(store.agent).open(store.path)) as session:
        assert session.labels == {1: "y"}
    assert contents(store.root) == before


def test_files_that_have_no_room_are_said_and_are_no_success(
    run: Run, sessions: Path, tmp_path: Path
) -> None:
    bench = Workbench(tmp_path / "s.jsonl", tmp_path / "work", 1)
    bench.file.user("write them")
    for name in ("a.py", "b.py"):
        bench.write(name, "x" * 40_000)
    with small_disk(tmp_path / "disk", "64k") as disk:
        outcome = run("files", str(bench.file.path), "--into", str(disk / "new"))
        assert outcome.code == 1
        assert "wrote 1 file," in outcome.out
        assert "left out b.py: it cannot be written: No space left on device" in outcome.err
        assert "1 file could not be written" in outcome.err
        assert [path.name for path in (disk / "new").iterdir()] == ["a.py"]
        path = given(sessions, tmp_path)
        (disk / "new" / "a.py").unlink()
        filled(disk)
        refused(
            run,
            ["export", str(path), "-o", str(disk / "x.md")],
            "No space left on device, nothing was written to",
        )
        assert not (disk / "x.md").exists()


def test_a_folder_without_room_for_the_files_stays_empty(run: Run, done: Run, tmp_path: Path) -> None:
    bench = Workbench(tmp_path / "s.jsonl", tmp_path / "work", 1)
    bench.file.user("write it")
    bench.write("deep/er/a.py", "x" * 40_000)
    with small_disk(tmp_path / "disk", "64k") as disk:
        filler = filled(disk)
        os.truncate(filler, filler.stat().st_size - 3 * PAGE)
        call = ["files", str(bench.file.path), "--into", str(disk / "new")]
        outcome = run(*call)
        assert outcome.code == 1
        assert "left out deep/er/a.py: it cannot be written: No space left on device" in outcome.err
        assert [path.name for path in disk.iterdir()] == ["filler"]
        filler.unlink()
        done(*call)
        assert (disk / "new" / "deep" / "er" / "a.py").stat().st_size == 40_000


class Restorable:
    """A session that emptied two files, on a small disk with its project and our folders."""

    def __init__(self, disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LEAFWARD_HOME", str(disk / "ours"))
        bench = Workbench(disk / "s.jsonl", disk / "work", 1)
        bench.file.user("write them")
        for name in ("a.py", "b.py"):
            bench.write(name, "x" * 20_000)
        self.at = str(bench.file.leaf)
        for name in ("a.py", "b.py"):
            bench.write(name, "")
        self.folder, self.path, self.filler = bench.folder, str(bench.file.path), disk / "filler"
        self.empty = contents(self.folder)

    def restore(self, run: Run) -> Outcome:
        return run("restore", self.path, self.at)

    def sizes(self) -> list[int]:
        return [(self.folder / name).stat().st_size for name in ("a.py", "b.py")]

    def room(self, pages: int) -> None:
        """Leaves that much on the disk."""
        filled(self.filler.parent)
        os.truncate(self.filler, self.filler.stat().st_size - pages * PAGE)


def test_a_restore_without_room_says_at_which_file_and_its_undo_leads_back(
    run: Run, done: Run, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Restorable(disk, monkeypatch)
    restores = disk / "ours" / "state" / "restores"
    assert "restored 2 files" in done("restore", work.path, work.at).out
    done("restore", work.path, "--undo")
    first = work.folder.stat()
    work.room(0)
    outcome = work.restore(run)
    why = f"no copy of the files can be kept in {restores}: No space left on device; nothing was written"
    assert (outcome.code, outcome.err) == (1, f"leafward: {why}\n")
    assert len(list(restores.iterdir())) == 2, "the lock and the first restore"
    work.room(7)
    outcome = work.restore(run)
    assert (outcome.code, outcome.err) == (
        1,
        "leafward: the restore stopped: b.py: No space left on device; all files are as they were\n",
    )
    assert work.sizes() == [0, 0]
    work.room(6)
    outcome = work.restore(run)
    assert outcome.code == 1
    assert "the restore stopped: b.py: No space left on device; `leafward restore " in outcome.err
    assert work.sizes() == [20_000, 0]
    outcome = run("restore", work.path, "--undo")
    assert outcome.code == 1
    assert f"{restores}/000003: No space left on device" in outcome.err
    assert "halfway" in work.restore(run).err
    work.filler.unlink()
    done("restore", work.path, "--undo")
    assert work.sizes() == [0, 0]
    assert contents(work.folder).keys() == work.empty.keys()
    assert work.folder.stat().st_mode == first.st_mode


@pytest.mark.parametrize("agent", ["claude", "codex", "pi"])
def test_an_installation_without_room_leaves_no_note(
    run: Run, done: Run, disk: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, agent: str
) -> None:
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "PI_CODING_AGENT_DIR"):
        monkeypatch.setenv(name, str(disk / "agent"))
    monkeypatch.setenv("LEAFWARD_HOME", str(tmp_path / "ours"))
    notes = tmp_path / "ours" / "data" / "installed"
    filler = filled(disk)
    outcome = run("install", agent)
    assert outcome.code == 1
    assert "No space left on device" in outcome.err
    assert str(disk / "agent") in outcome.err
    assert not list(notes.glob("*"))
    assert not (disk / "agent").exists()
    filler.unlink()
    done("install", agent)
    assert [one.name.startswith(f"{agent}-") for one in notes.iterdir()] == [True]
    done("uninstall", agent)
    monkeypatch.setenv("LEAFWARD_HOME", str(disk / "ours"))
    (disk / "ours" / "data" / "installed").mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "agent"))
    filled(disk)
    if agent == "claude":
        refused(run, ["install", agent], "No space left on device")
        assert list((disk / "ours" / "data" / "installed").iterdir()) == []


def test_a_clean_copy_or_fork_that_fails_leaves_neither_files_nor_folders(
    run: Run, sessions: Path, tmp_path: Path
) -> None:
    store = make("claude", tmp_path / "store")
    beside = store.path.with_suffix("") / "subagents" / "agent-1.jsonl"
    beside.parent.mkdir(parents=True)
    beside.write_bytes(store.path.read_bytes() * 8)
    clean = tmp_path / "to" / "share"
    keep = ["keep", str(store.path), "--sanitised", str(clean)]
    fork = words(("fork", "leaf", "--to", "codex"), given(sessions, tmp_path), tmp_path)
    with largest_file(store.path.stat().st_size + 500):
        refused(run, keep, "File too large")
        refused(run, fork, "File too large")
    assert not clean.parent.exists()
    assert not Path(os.environ["CODEX_HOME"]).exists()
    assert run(*keep).code == 0
    assert len([path for path in clean.rglob("*") if path.is_file()]) == 2
