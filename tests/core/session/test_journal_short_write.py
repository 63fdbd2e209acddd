"""A write that the system cuts short: the file is as it was, and whoever appends meanwhile loses nothing."""

from __future__ import annotations

import errno
import json
import os
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from leafward.base.durable import APPENDING
from leafward.base.errors import Refused
from leafward.session.journal.file_append import append
from leafward.session.journal.lines import encode_line
from leafward.session.journal.session_operations import label, move, rename, undo
from leafward.session.journal.short_write import CutShort, Restored, append_bytes
from leafward.session.session import Session
from tests.disks import filled, small_disk
from tests.foreign_stores import AGENTS, said, watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.pi_file import PiFile

LINES = b'{"type":"first"}\n{"type":"second","text":"\xc3\xa9"}\n'
AGENTS_LINE = b'{"type":"message","id":"0000beef","parentId":"00000006"}\n'


class Disk:
    """The system's calls, of which some fail: writes take so many bytes and then no more."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.room: list[int] = []
        """Bytes that each write takes; -1 is all. After the last one the disk is full."""
        self.meanwhile: Callable[[int], object] = lambda _write: None
        """Acts of somebody else after each write, by its number."""
        self.writes = 0
        self._write = os.write
        self._patched = patched
        patched.setattr(os, "write", self.write)

    def write(self, descriptor: int, data: bytes) -> int:
        if self.writes >= len(self.room):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        size = self.room[self.writes]
        self.writes += 1
        taken = self._write(descriptor, bytes(data)[: len(data) if size < 0 else size])
        self.meanwhile(self.writes)
        return taken

    def refuses(self, name: str) -> None:
        def refused(*_: object) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        self._patched.setattr(os, name, refused)


@pytest.fixture
def disk() -> Iterator[Disk]:
    with pytest.MonkeyPatch.context() as patched:
        yield Disk(patched)


@contextmanager
def appending_to(path: Path) -> Iterator[int]:
    descriptor = os.open(path, APPENDING)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def cut_short(path: Path) -> CutShort:
    with appending_to(path) as descriptor, pytest.raises(CutShort) as caught:
        append_bytes(descriptor, LINES)
    return caught.value


def appends(path: Path, line: bytes = AGENTS_LINE) -> None:
    """An append by an agent that has the session open: it takes no lock and checks nothing."""
    with path.open("ab", buffering=0) as file:
        file.write(line)


@pytest.mark.parametrize("size", range(1, len(LINES)))
def test_cut_anywhere_the_file_is_as_it_was(file: PiFile, disk: Disk, size: int) -> None:
    before = file.path.read_bytes()
    disk.room = [size]
    trouble = cut_short(file.path)
    assert (trouble.errno, trouble.written, trouble.restored) == (errno.ENOSPC, size, Restored.UNDONE)
    assert file.path.read_bytes() == before


@pytest.mark.parametrize("size", range(1, len(LINES)))
def test_an_agent_that_appended_behind_a_torn_piece_has_a_whole_line(
    file: PiFile, disk: Disk, size: int
) -> None:
    before = file.path.read_bytes()
    disk.room = [size]
    disk.meanwhile = lambda _write: appends(file.path)
    assert cut_short(file.path).restored is Restored.CLOSED
    whole = LINES[: LINES.rfind(b"\n", 0, size) + 1]
    torn = size - len(whole)
    blank = b" " * (torn - 1) + b"\n" if torn else b""
    assert file.path.read_bytes() == before + whole + blank + AGENTS_LINE


@pytest.mark.parametrize("first", [3, 17, 20])
@pytest.mark.parametrize("second", [1, 9, -1])
def test_bytes_that_come_between_two_parts_stay_whole_and_so_do_our_lines(
    file: PiFile, disk: Disk, first: int, second: int
) -> None:
    before = file.path.read_bytes()
    disk.room = [first, second]
    disk.meanwhile = lambda _write: appends(file.path)
    assert cut_short(file.path).restored is Restored.CLOSED
    written = file.path.read_bytes()
    assert written.startswith(before)
    lines = [line for line in written[len(before) :].split(b"\n") if line.strip()]
    assert lines.count(AGENTS_LINE.strip()) == 2
    assert {*lines} <= {AGENTS_LINE.strip(), *LINES.splitlines()}


def test_what_arrived_is_not_denied_where_the_disk_fails_behind_it(file: PiFile, disk: Disk) -> None:
    before = file.path.read_bytes()
    disk.room = [-1]
    for call in ("lseek", "pread", "ftruncate"):
        disk.refuses(call)
    trouble = cut_short(file.path)
    assert (trouble.written, trouble.restored) == (len(LINES), Restored.TORN)
    assert file.path.read_bytes() == before + LINES


def test_what_arrived_is_taken_back_where_its_place_is_not_told(file: PiFile, disk: Disk) -> None:
    before = file.path.read_bytes()
    disk.room = [-1]
    disk.refuses("lseek")
    assert cut_short(file.path).restored is Restored.UNDONE
    assert file.path.read_bytes() == before


def test_several_parts_that_all_arrive_are_one_write(file: PiFile, disk: Disk) -> None:
    before = file.path.read_bytes()
    disk.room = [5, 1, 20, -1]
    with appending_to(file.path) as descriptor:
        append_bytes(descriptor, LINES)
    assert file.path.read_bytes() == before + LINES


def test_where_the_length_cannot_be_taken_back_what_is_there_becomes_a_blank_line(
    file: PiFile, disk: Disk
) -> None:
    before = file.path.read_bytes()
    disk.room = [30]
    disk.refuses("ftruncate")
    assert cut_short(file.path).restored is Restored.CLOSED
    appends(file.path)
    assert file.path.read_bytes() == before + b" " * 16 + b"\n" + b" " * 12 + b"\n" + AGENTS_LINE


def test_where_nothing_can_be_done_it_is_said_and_the_next_write_closes_the_line(
    session: Session, disk: Disk
) -> None:
    before = session.path.read_bytes()
    disk.room = [30]
    with pytest.MonkeyPatch.context() as patched:
        disk.refuses("ftruncate")
        disk.refuses("pwrite")
        with pytest.raises(Refused, match=r"30 of .* the incomplete line stays, and the next write ends it"):
            move(session, 1)
        patched.undo()
    torn = session.path.read_bytes()
    assert len(torn) == len(before) + 30
    disk.room = [-1] * 9
    label(session, 0, "next")
    assert session.path.read_bytes().startswith(torn + b"\n")
    assert session.labels == {0: "next"}


def test_another_file_in_place_of_ours_is_left_alone(file: PiFile, disk: Disk) -> None:
    """An agent that writes the whole file anew meanwhile: nothing of what it wrote is ours to blank."""
    anew = b"x" * (len(file.path.read_bytes()) + 200)
    disk.room = [30]
    disk.meanwhile = lambda _write: file.path.write_bytes(anew)
    assert cut_short(file.path).restored is Restored.TORN
    assert file.path.read_bytes() == anew


@pytest.mark.parametrize("size", [0, 9, 30])
def test_an_interrupt_leaves_nothing_torn(file: PiFile, disk: Disk, size: int) -> None:
    before = file.path.read_bytes()

    def interrupted(_write: int) -> None:
        raise KeyboardInterrupt

    disk.room, disk.meanwhile = [size or -1], interrupted
    with appending_to(file.path) as descriptor, pytest.raises(KeyboardInterrupt):
        append_bytes(descriptor, LINES)
    assert file.path.read_bytes() == before + (b"" if size else LINES)


def test_the_lines_of_one_operation_are_all_there_or_none(session: Session, disk: Disk) -> None:
    before, entries = session.path.read_bytes(), len(session)
    first = {"type": "custom", "customType": "a", "id": "0000aaaa", "parentId": "00000006", "timestamp": "t"}
    second = {**first, "id": "0000bbbb", "parentId": "0000aaaa"}
    disk.room = [len(encode_line(first)) + 3]
    with pytest.raises(Refused, match=r"^nothing was written to session.jsonl: No space left on device$"):
        append(session, [first, second])
    assert (session.path.read_bytes(), len(session)) == (before, entries)


def test_a_disk_that_confirms_nothing_is_said(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The written lines stay, and nothing is removed that an agent may have read."""

    def failing(_descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", failing)
        with pytest.raises(
            Refused, match="was written, but the disk does not confirm it: Input/output error"
        ):
            rename(session, "kept")
    assert session.name == "kept"
    undo(session)
    assert session.name is None


@pytest.mark.parametrize("agent", AGENTS)
def test_what_is_kept_beside_a_session_is_whole_too(agent: str, tmp_path: Path, disk: Disk) -> None:
    with watched(agent, tmp_path / "store") as store:
        session = store.open()
        disk.room = [-1] * 50
        label(session, said(session, "one"), "first")
        before = session.book_path.read_bytes()
        disk.room = [-1] * disk.writes + [40]
        with pytest.raises(Refused, match=r"^nothing was written to"):
            label(session, said(session, "two"), "second")
        assert session.book_path.read_bytes() == before
        disk.room = [-1] * 99
        label(session, said(session, "three"), "third")
        assert sorted(session.labels.values()) == ["first", "third"]


def test_on_a_full_disk_an_open_agent_goes_on_as_if_nothing_had_been(file: PiFile, tmp_path: Path) -> None:
    """The room ends in the middle of our line; then there is room again, and the agent appends."""
    with small_disk(tmp_path / "disk") as disk:
        path = disk / "session.jsonl"
        path.write_bytes(file.path.read_bytes())
        filler = filled(disk)
        before = path.read_bytes()
        with closing(Session.open(path)) as session:
            with pytest.raises(
                Refused, match=r"^nothing was written to session.jsonl: No space left on device$"
            ):
                label(session, 0, "x" * 8000)
            assert path.read_bytes() == before
        filler.unlink()
        appends(path)
        assert path.read_bytes() == before + AGENTS_LINE
        with closing(Session.open(path)) as session:
            label(session, 0, "x" * 8000)
            assert session.labels == {0: "x" * 8000}


def test_blank_lines_are_no_entries(session: Session) -> None:
    """Bytes in place of a torn line are skipped by our reader, wherever in the file they are."""
    entries = len(session)
    appends(session.path, b" " * 495 + b"\n")
    appends(session.path, json.dumps({"type": "custom", "id": "0000cafe", "parentId": None}).encode() + b"\n")
    session.refresh()
    assert len(session) == entries + 1
    assert not session.columns.damage
