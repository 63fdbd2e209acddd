"""Only regular files are opened, and what else has their names keeps nobody waiting."""

from __future__ import annotations

import ast
import errno
import os
import socket
from pathlib import Path

import pytest

from leafward.agents.storage.lines import OpenFile
from leafward.base.config import load
from leafward.base.errors import NotASession
from leafward.base.paths import cache_dir
from leafward.base.regular_files import NotRegular, next_data, open_buffered, open_regular, read_regular
from leafward.catalogue.index import Index
from leafward.catalogue.trash import thrown_away, trash_folder
from leafward.session.session import Session

needs_fifos = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")


@needs_fifos
def test_a_fifo_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    for reader in (open_regular, read_regular):
        with pytest.raises(NotRegular, match="not a regular file"):
            reader(path)


@pytest.mark.skipif(not hasattr(os, "pread"), reason="files are read another way here")
def test_what_has_its_reader_wait_is_refused_though_it_is_called_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `/proc/kmsg` is, to which a link may lead: its `read` gives None."""
    path = tmp_path / "s.jsonl"
    path.touch()
    assert read_regular(path) == b""

    def waits(*_: object) -> bytes:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(os, "pread", waits)
    for reader in (open_regular, open_buffered, read_regular):
        with pytest.raises(BlockingIOError):
            reader(path)
    with pytest.raises(NotASession, match="cannot read"):
        Session.open(path)


def test_neither_devices_nor_folders_nor_sockets_are_opened(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
    if os.path.exists("/dev/zero"):
        with pytest.raises(NotRegular):
            read_regular("/dev/zero")
    if hasattr(socket, "AF_UNIX"):
        os.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("bound")
            with pytest.raises(OSError, match="bound"):
                read_regular("bound")


def test_nothing_stays_open_of_what_is_refused(tmp_path: Path) -> None:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("the system lists no descriptors")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        with pytest.raises(OSError, match=r"\[Errno"):
            open_regular("/dev/null")
        with pytest.raises(OSError, match=r"\[Errno"):
            open_regular(tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_above_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"12345")
    assert read_regular(path, 5) == b"12345"
    with pytest.raises(OSError, match="too large"):
        read_regular(path, 4)


def test_a_hole_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.write(b"data")
        file.truncate(1 << 34)
        descriptor = file.fileno()
        if os.fstat(descriptor).st_blocks * 512 >= 1 << 34:
            pytest.skip("the filesystem has no holes")
        assert next_data(descriptor, 0, 1 << 34) == 0
        assert next_data(descriptor, 1 << 20, 1 << 34) in (1 << 34, 1 << 20)


@needs_fifos
def test_a_fifo_in_the_place_of_what_we_stored_is_as_if_it_were_not_there() -> None:
    cache = cache_dir()
    cache.mkdir(parents=True)
    os.mkfifo(cache / "catalogue.json")
    index = Index()
    assert (index.cards, index.rejected) == ({}, "[Errno 22] not a regular file: " + repr(str(index.path)))
    record = trash_folder() / "1-a"
    record.mkdir(parents=True)
    os.mkfifo(record / "note.json")
    assert thrown_away() == []


@needs_fifos
def test_a_configuration_that_is_a_fifo_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    os.mkfifo(path)
    [problem] = load(path)[1]
    assert problem.code == "unreadable"
    assert "not a regular file" in problem.text


@needs_fifos
def test_a_fifo_is_no_session(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    os.mkfifo(path)
    with pytest.raises(NotASession, match="not a regular file"):
        Session.open(path)
    with pytest.raises(NotASession, match="not a regular file"):
        OpenFile(str(path))


_READS = frozenset({"read_bytes", "read_text"})
_OWN = {
    # Opened without blocking, and looked at, there.
    "regular_files.py",
    "workspace.py",
    # Writing has a road of its own, and looks at what it opens.
    "file_append.py",
    "file_move.py",
    "migration.py",
    "open_file.py",
}
_SHIPPED = (
    "extractive/selection/ranking.py",
    "export/demo.py",
    "base/model_windows.py",
    "summarizers/model/settings.py",
    "injection/workflows/workflow.py",
)
"""Read what is part of the package, whole."""


def test_no_module_opens_a_file_by_itself() -> None:
    """Reading goes through `leafward.base.regular_files` everywhere."""
    root = Path(__file__).parents[3]
    found = []
    for path in sorted([*root.glob("core/leafward/**/*.py"), *root.glob("tui/leafward_tui/**/*.py")]):
        if path.name in _OWN or path.as_posix().endswith(_SHIPPED):
            continue
        text = path.read_text("utf-8")
        if "open(" not in text and not any(name in text for name in _READS):
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            name = node.func
            modes = [one.value for one in node.args if isinstance(one, ast.Constant)]
            opens = (isinstance(name, ast.Name) and name.id == "open") or (
                isinstance(name, ast.Attribute) and name.attr == "open" and modes
            )
            if (opens and "rb" in modes and not isinstance(node.args[0], ast.Name | ast.Constant)) or (
                opens and "rb" in modes and not any(word.arg == "closefd" for word in node.keywords)
            ):
                found.append(f"{path.name}:{node.lineno}")
            if isinstance(name, ast.Attribute) and name.attr in _READS:
                found.append(f"{path.name}:{node.lineno}")
    assert found == []
