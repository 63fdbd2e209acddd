"""Disks that fail and files that change while they are read: a verb ends with what it can say, or with one line."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import leafward

if TYPE_CHECKING:
    from tests.cli.conftest import Run

DATA = Path(__file__).parents[1] / "data"
VERBS = (
    ("tree",),
    ("context",),
    ("files",),
    ("doctor",),
    ("show",),
    ("export",),
    ("log",),
    ("inject",),
    ("compact", "--dry-run"),
    ("plan",),
    ("ls",),
)


def _session(agent: str, folder: Path) -> Path:
    if agent == "pi":
        return Path(shutil.copy(Path(leafward.__file__).parent / "data" / "demo.jsonl", folder / "pi.jsonl"))
    pattern = "5016a1ec*.jsonl" if agent == "claude" else "rollout-*a550*.jsonl"
    return next(Path(shutil.copytree(DATA / agent, folder / agent)).rglob(pattern))


@pytest.mark.skipif(not hasattr(os, "pread"), reason="files are read another way here")
@pytest.mark.parametrize("fault", ["fails", "is short", "is empty"])
@pytest.mark.parametrize("agent", ["pi", "claude", "codex"])
def test_a_read_that_goes_wrong_in_the_middle(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str, fault: str
) -> None:
    path = _session(agent, tmp_path)
    whole, reads, first = os.pread, 0, 0

    def faulty(descriptor: int, size: int, offset: int) -> bytes:
        nonlocal reads
        reads += 1
        if reads < first:
            return whole(descriptor, size, offset)
        if fault == "fails":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return whole(descriptor, size // 2, offset) if fault == "is short" else b""

    monkeypatch.setattr(os, "pread", faulty)
    hit = 0
    for verb in VERBS:
        for at in (2, 30):
            reads, first = 0, at
            found = run(*verb, str(path))
            assert found.code in (0, 1), (verb, at, found.err)
            assert "unforeseen" not in found.err, (verb, at, found.err)
            hit += reads >= first
    assert hit > len(VERBS)


@pytest.mark.skipif(
    not os.path.exists("/proc/self/mem"), reason="no file of the system's fails by itself here"
)
def test_a_file_that_truly_cannot_be_read(run: Run, tmp_path: Path) -> None:
    link = tmp_path / "mem.jsonl"
    link.symlink_to("/proc/self/mem")
    found = run("tree", str(link))
    assert found.code == 1
    assert found.err.startswith(f"leafward: cannot read {link}: ")
    [session] = run("ls", str(tmp_path), "--json").document["sessions"]
    assert session["problem"].startswith("cannot read: ")


def test_what_is_no_file_under_the_name_of_one(run: Run, tmp_path: Path) -> None:
    _session("pi", tmp_path)
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    (tmp_path / "gone.jsonl").symlink_to("nowhere")
    if os.path.exists("/dev/zero"):
        (tmp_path / "zero.jsonl").symlink_to("/dev/zero")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "fifo.jsonl")
    for path in sorted(tmp_path.iterdir()):
        found = run("tree", str(path))
        assert found.code == (0 if path.name == "pi.jsonl" else 1), found.err
        assert found.err.count("\n") <= 1
    listed = run("ls", str(tmp_path), "--json")
    assert [Path(one["path"]).name for one in listed.document["sessions"]] == ["pi.jsonl"]
    assert run("search", "queue", str(tmp_path)).code == 0


def test_names_of_a_megabyte(run: Run, tmp_path: Path) -> None:
    from tests.pi_file import HEADER, PiFile

    long = "n" * 1_000_000
    file = PiFile(tmp_path / "session.jsonl", HEADER | {"cwd": "/" + long})
    first = file.user("hi " + long)
    call = {"type": "toolCall", "id": "c", "name": long, "arguments": {"path": "/" + long, long: long}}
    file.entry("message", message={"role": "assistant", "model": long, "content": [call], "timestamp": 2})
    file.result("c")
    file.entry("session_info", name=long)
    file.entry("label", targetId=first, label=long)
    file.entry("custom", customType=long, data={long: long})
    file.entry("model_change", provider=long, modelId=long)
    for verb in ("tree", "context", "files", "doctor", "log", "ls"):
        found = run(verb, str(file.path))
        assert found.code == 0, found.err
        assert max(map(len, found.out.splitlines())) < 4_000, verb
