"""Bytes of a file after a write, and writes that are rejected."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import portalocker
import pytest

from leafward.base.errors import Refused
from leafward.session.entries import Damage, Kind
from leafward.session.journal import file_append as appending
from leafward.session.journal.file_append import append
from leafward.session.journal.lines import encode_line
from leafward.session.journal.lock import busy
from leafward.session.journal.operation_log import operations
from leafward.session.journal.session_operations import label, move, rename, undo
from leafward.session.journal.write import Writing
from leafward.session.session import Session
from tests.disks import largest_file
from tests.pi_file import HEADER, PiFile, conversation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IMPATIENT = Writing(patience=0.1)


@contextmanager
def reopened(path: Path) -> Iterator[Session]:
    opened = Session.open(path)
    try:
        yield opened
    finally:
        opened.close()


def refused(session: Session, why: str, writing: Writing = IMPATIENT) -> None:
    """Every verb is refused with that reason, a dry run too unless it is the lock, and the file stays as it is."""
    before = session.path.read_bytes()
    with pytest.raises(Refused, match=why) as refusal:
        move(session, 1, writing)
    assert "\n" not in str(refusal.value)
    assert session.path.read_bytes() == before


class TestTornFiles:
    def test_every_place_where_a_write_can_stop(self, session: Session) -> None:
        """Before or after, never between; the next write starts a line of its own."""
        before = session.path.read_bytes()
        move(session, 1)
        after = session.path.read_bytes()
        path = session.path.with_name("stopped.jsonl")
        for size in range(len(before), len(after) + 1):
            path.write_bytes(after[:size])
            with reopened(path) as stopped:
                whole = size >= len(after) - 1
                assert stopped.place == (1 if whole else 5), size
                assert (stopped.scan.pending is None) == (whole or size == len(before)), size
                label(stopped, 0, "next")
                assert stopped.place == (1 if whole else 5), size
                assert stopped.labels == {0: "next"}
                torn = [index for index, kind in enumerate(stopped.columns.kind) if kind == Kind.MALFORMED]
                assert len(torn) == (0 if whole or size == len(before) else 1), size
                written = path.read_bytes()
                assert written.startswith(after[:size])
                assert written.endswith(b"}\n")
                with reopened(path) as anew:
                    assert anew.columns == stopped.columns
                    assert anew.labels == stopped.labels

    @pytest.mark.parametrize("cut", [1, 40, 150])
    def test_a_process_killed_in_the_middle(self, file: PiFile, cut: int) -> None:
        """The system itself kills the writer: the file may not grow beyond `cut` bytes of the line."""
        pytest.importorskip("resource")
        before = file.path.read_bytes()
        script = (
            "import resource, signal, sys\n"
            "from pathlib import Path\n"
            "from leafward.session.journal.session_operations import move\n"
            "from leafward.session.session import Session\n"
            "session = Session.open(Path(sys.argv[1]))\n"
            "import portalocker\n"
            "limit = int(sys.argv[2])\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))\n"
            "move(session, 1)\n"
        )
        writer = subprocess.run(
            [sys.executable, "-B", "-c", script, str(file.path), str(len(before) + cut)],
            check=False,
            cwd=file.path.parent,
        )
        assert writer.returncode < 0

        left = file.path.read_bytes()
        assert left.startswith(before)
        assert len(left) == len(before) + cut
        with reopened(file.path) as opened:
            assert opened.place == 5
            assert opened.scan.pending is not None
            move(opened, 3)
            assert file.path.read_bytes().startswith(left + b"\n")
            assert opened.place == 3

    def test_a_full_disk_is_refused_and_said(self, session: Session) -> None:
        """A limit on the size of files stands for the disk."""
        before = session.path.read_bytes()
        with largest_file(len(before) + 30):
            for _ in range(2):
                with pytest.raises(Refused, match=r"^nothing was written to session.jsonl: File too large$"):
                    move(session, 1)
                assert session.path.read_bytes() == before
        assert session.scan.pending is None
        assert session.place == 5
        move(session, 1)
        assert session.place == 1

    def test_an_entry_without_its_newline_is_kept_whole(self, file: PiFile) -> None:
        file.path.write_bytes(file.path.read_bytes().rstrip(b"\n"))
        with reopened(file.path) as opened:
            assert opened.columns.damage == {5: Damage.UNTERMINATED}
            before = file.path.read_bytes()
            done = label(opened, 5, "x")
            written = file.path.read_bytes()
            assert written.startswith(before + b'\n{"type":"label"')
            assert done.size == len(written) - len(before)
            assert opened.columns.parent[6] == 5
            assert opened.columns.damage == {}

    def test_a_header_alone_without_a_newline(self, tmp_path: Path) -> None:
        path = tmp_path / "new.jsonl"
        path.write_bytes(encode_line(HEADER).strip())
        with reopened(path) as opened:
            rename(opened, "x")
            assert opened.columns.parent[0] == -1
        with reopened(path) as anew:
            assert (anew.name, len(anew)) == ("x", 1)

    def test_windows_line_ends_stay(self, tmp_path: Path) -> None:
        file = conversation(tmp_path / "crlf.jsonl")
        file.path.write_bytes(file.path.read_bytes().replace(b"\n", b"\r\n"))
        with reopened(file.path) as opened:
            move(opened, 1)
            assert opened.place == 1


class TestChangedFiles:
    @pytest.mark.parametrize(("lines", "text"), [(1, "1 entry"), (3, "3 entries")])
    def test_a_file_that_grew_is_not_written_until_it_is_read(
        self, file: PiFile, session: Session, lines: int, text: str
    ) -> None:
        for number in range(lines):
            file.user(f"more {number}")
        refused(session, f"^session.jsonl grew by {text} since it was read; nothing was written$")
        refused(session, "grew", Writing(dry_run=True))
        session.refresh()
        assert move(session, 1).from_leaf == file.leaf

    def test_a_pending_line_completed_is_growth(self, file: PiFile, session: Session) -> None:
        line = encode_line(
            {"type": "message", "id": "0000beef", "parentId": None, "message": {"role": "user"}}
        )
        file.raw(line[:40].decode(), end="")
        session.refresh()
        file.raw(line[40:].decode(), end="")
        refused(session, "grew by 1 entry")

    def test_touched_or_rewritten_in_place(self, session: Session) -> None:
        os.utime(session.path, (1, 1))
        refused(session, "was changed since")
        session.refresh()
        assert move(session, 1).changed

    def test_shrunk(self, session: Session) -> None:
        os.truncate(session.path, 300)
        refused(session, "shrank")

    def test_replaced(self, file: PiFile, session: Session) -> None:
        other = file.path.with_name("other")
        other.write_bytes(file.path.read_bytes())
        other.replace(file.path)
        refused(session, "replaced by another file")
        session.refresh()
        assert move(session, 1).changed

    def test_a_file_that_is_gone_is_not_made_again(self, session: Session) -> None:
        session.path.unlink()
        with pytest.raises(Refused, match="No such file"):
            move(session, 1)
        assert not session.path.exists()

    def test_an_old_file_that_pi_rewrote_in_place_is_read_anew(self, tmp_path: Path) -> None:
        path = tmp_path / "old.jsonl"
        path.write_bytes(
            b'{"type":"session","id":"x","timestamp":"","cwd":"/"}\n'
            b'{"type":"message","timestamp":"","message":{"role":"user","content":"hello"}}\n'
        )
        with reopened(path) as opened:
            with path.open("r+b") as file:
                file.write(
                    b'{"type":"session","id":"x","timestamp":"","cwd":"/","version":3}\n'
                    b'{"type":"message","timestamp":"","message":{"role":"user","content":"hello"},"id":"0000aaaa","parentId":null}\n'
                )
            refused(opened, "since it was read")
            growth = opened.refresh()
            assert growth is not None
            assert growth.replaced
            assert (opened.version, opened.columns.id(opened.leaf), opened.columns.damage) == (
                3,
                "0000aaaa",
                {},
            )


class TestUnwritableFiles:
    def test_permissions(self, session: Session) -> None:
        session.path.chmod(0o444)
        refused(session, "read-only")
        would = label(session, 0, "x", Writing(dry_run=True))
        assert would.size > 0
        assert [one.code for one in would.remarks] == ["unwritable"]
        assert "its permissions make it read-only" in would.remarks[0].text

    def test_symbolic_links(self, file: PiFile) -> None:
        link = file.path.with_name("link.jsonl")
        link.symlink_to(file.path)
        with reopened(link) as opened:
            refused(opened, f"symbolic link; open the file it points to: {file.path}")

    @pytest.mark.parametrize("version", [4, 9])
    def test_versions_of_the_future(self, tmp_path: Path, version: int) -> None:
        file = PiFile(tmp_path / "future.jsonl", {**HEADER, "version": version})
        file.user("hello")
        file.reply("hi")
        with reopened(file.path) as opened:
            with pytest.raises(Refused, match=f"version {version}, newer than 3"):
                move(opened, 0)
            with pytest.raises(Refused, match="newer"):
                append(opened, [{"type": "custom"}])

    def test_no_header(self, file: PiFile) -> None:
        file.path.write_bytes(file.path.read_bytes().partition(b"\n")[2])
        with reopened(file.path) as opened:
            refused(opened, "no session header")


HOLDER = """
import sys, portalocker
with open(sys.argv[1], "r+b") as file:
    portalocker.lock(file, portalocker.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of a file until it is spoken to."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield holder


class TestOtherWriters:
    def test_a_lock_held_elsewhere(self, session: Session) -> None:
        with held(session.path) as holder:
            refused(session, "^another program is writing to session.jsonl; nothing was written$")
            holder.communicate("")
        assert move(session, 1, IMPATIENT).changed

    def test_a_short_wait_is_no_refusal(self, session: Session) -> None:
        with held(session.path) as holder:
            done: list[bool] = []
            writer = threading.Thread(
                target=lambda: done.append(move(session, 1, Writing(patience=60)).changed), daemon=True
            )
            writer.start()
            holder.communicate("")
            writer.join(60)
        assert done == [True]

    def test_of_many_at_once_one_writes(self, file: PiFile) -> None:
        before = file.path.read_bytes()
        sessions = [Session.open(file.path) for _ in range(8)]
        start = threading.Barrier(len(sessions))
        outcomes: list[str] = []

        def write(session: Session, name: str) -> None:
            start.wait()
            try:
                rename(session, name)
                outcomes.append("")
            except Refused as refusal:
                outcomes.append(str(refusal))

        writers = [threading.Thread(target=write, args=(one, f"name {n}")) for n, one in enumerate(sessions)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        for one in sessions:
            one.close()
        assert sorted(outcomes)[:2] == [
            "",
            "session.jsonl grew by 1 entry since it was read; nothing was written",
        ]
        assert outcomes.count("") == 1
        assert file.path.read_bytes().count(b"\n") == before.count(b"\n") + 1


class TestLocks:
    def test_a_lock_that_cannot_be_given_up_is_no_failure(
        self, session: Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The write is done and durable, and closing the file gives the lock up as well."""

        def failing(_descriptor: int) -> None:
            raise portalocker.LockException(OSError(errno.EIO, "Input/output error"))

        with monkeypatch.context() as patched:
            patched.setattr(portalocker, "unlock", failing)
            assert move(session, 1).changed
        assert move(session, 3).changed

    def test_a_file_system_without_locks_is_said(
        self, session: Session, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def failing(*_: object) -> None:
            raise portalocker.LockException(OSError(errno.ENOLCK, "No locks available"), "[Errno 37] …")

        monkeypatch.setattr(portalocker, "lock", failing)
        refused(session, "^session.jsonl cannot be locked: No locks available$")


class TestLongWork:
    def test_nobody_else_writes_meanwhile(self, session: Session) -> None:
        with busy(session.path, "a compaction") as claim:
            refused(session, "^a compaction of session.jsonl is still running")
            refused(session, "running", Writing(dry_run=True))
            with pytest.raises(Refused, match="still running"), busy(session.path):
                pass
            assert move(session, 1, Writing(claim=claim)).changed
        assert undo(session).changed

    def test_a_claim_ends_with_its_work_only(self, session: Session, tmp_path: Path) -> None:
        other = conversation(tmp_path / "other.jsonl")
        with busy(other.path) as claim:
            assert move(session, 3).changed
        with busy(session.path):
            refused(session, "running", Writing(claim=claim))


def test_the_lines_of_one_operation_are_one_write(session: Session) -> None:
    before = session.path.read_bytes()
    first = {"type": "custom", "customType": "a", "id": "0000aaaa", "parentId": "00000006", "timestamp": "t"}
    second = {"type": "custom", "customType": "b", "id": "0000bbbb", "parentId": "0000aaaa", "timestamp": "t"}
    done = append(session, [first, second])
    assert session.path.read_bytes() == before + encode_line(first) + encode_line(second)
    assert (done.size, done.raced, len(session)) == (len(encode_line(first) + encode_line(second)), False, 8)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_cannot_say_is_refused_before_anything_is_written(session: Session, value: float) -> None:
    before = session.path.read_bytes()
    with pytest.raises(Refused, match="cannot be written as JSON"):
        append(session, [{"type": "custom", "data": value}])
    assert session.path.read_bytes() == before


def test_one_call_writes_everything_also_the_missing_newline(
    file: PiFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.raw("torn", end="")
    sizes: list[int] = []
    write = os.write

    def counted(descriptor: int, data: bytes) -> int:
        sizes.append(len(data))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", counted)
    with reopened(file.path) as opened:
        assert sizes == []
        assert [move(opened, 1).size] == sizes


def test_an_agent_that_writes_at_the_same_moment_loses_nothing(
    file: PiFile, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Agents take no lock; whatever they append after the last look stands whole before our line, and is told."""
    ends_line = appending._ends_line

    def then_pi_writes(descriptor: int, size: int) -> bool:
        ended = ends_line(descriptor, size)
        file.user("meanwhile")
        return ended

    monkeypatch.setattr(appending, "_ends_line", then_pi_writes)
    done = label(session, 1, "x")
    assert [remark.code for remark in done.remarks] == ["raced"]
    assert session.columns.damage == {}
    assert session.labels == {1: "x"}
    # The label hangs where the leaf was before: that shows as a move, which can be undone by its name.
    assert [one.kind.value for one in operations(session)] == ["agent-move", "label"]
    monkeypatch.undo()
    undo(session, operations(session)[0].op)
    assert session.place == 6
