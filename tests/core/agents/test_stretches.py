"""A large file is read from both ends: everything once, in order, whatever becomes of the processes that tell its end."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents.claude import source
from leafward.agents.claude.entries.blocks import read_stretch
from leafward.agents.claude.entries.inferred_parents import settle
from leafward.agents.claude.entries.transcript_rows import Rows
from leafward.agents.registry import agent_named
from leafward.agents.storage import lines, stretches
from leafward.agents.storage.lines import CHUNK, OpenFile
from leafward.agents.storage.stretches import Stretch, Stretches
from leafward.base import worker_processes
from leafward.session.foreign import reader_of
from tests.core.stretch_answers import FATAL
from tests.surroundings import CORPORA, REPOSITORY, THOROUGH

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.agents.claude.entries.blocks import BlockColumns
    from leafward.session.session import Session

SIZE = 4 << 10
_CLAUDE = sorted(
    path
    for folder in (CORPORA, REPOSITORY / "tests" / "data")
    for path in folder.rglob("*.jsonl")
    if "claude" in str(path.parent).lower() and path.stat().st_size > SIZE
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The size that counts as large, and two processors."""
    monkeypatch.setattr(stretches, "LARGE", 1)
    monkeypatch.setattr(stretches, "SIZE", SIZE)
    monkeypatch.setattr(worker_processes, "cores", lambda: 2)


class Read:
    """The content of a file read here and by processes."""

    def __init__(self, path: Path, function: str, *, begin: int = 0, stop_after: int = 1 << 60) -> None:
        self.here = self.told = b""
        self.data = b""
        self._stop_after = stop_after
        with OpenFile(str(path)) as file:
            reading: Stretches[bytes] = Stretches(file, f"tests.core.stretch_answers:{function}", begin)
            reading.read(self._feed, self._take, lambda: len(self.data) > stop_after)
            self.end = reading.end

    def _feed(self, data: bytes, stop: int, at: int) -> None:
        # As long as another process needs to start.
        time.sleep(0.05)
        self.here += data[:stop]
        self.data += data[:stop]

    def _take(self, told: bytes) -> bool:
        self.told += told
        self.data += told
        return True


def written(path: Path, count: int, *odd: bytes) -> bytes:
    """A file of so many lines, with some odd ones towards its end."""
    whole = [b"line %d %s\n" % (number, b"x" * (number % 90)) for number in range(count)]
    whole[count * 3 // 4 : count * 3 // 4] = odd
    path.write_bytes(b"".join(whole))
    return path.read_bytes()


@pytest.fixture
def blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks, so that a small file has many."""
    monkeypatch.setattr(stretches, "CHUNK", 1 << 10)
    monkeypatch.setattr(stretches, "PIECE", 1 << 9)
    monkeypatch.setattr(lines, "CHUNK", 1 << 10)


def test_a_process_reads_a_little_at_a_time_and_a_longer_line_whole(tmp_path: Path) -> None:
    path = tmp_path / "f"
    data = written(path, 4_000) + b"x" * (2 * stretches.PIECE) + b"\n" + written(path, 4_000)
    path.write_bytes(data)
    with OpenFile(str(path)) as file:
        stretch = Stretch(str(path), file.identity, 0, len(data))
        found = list(stretches.blocks_of(stretch))
    assert b"".join(block for block, _ in found) == data
    assert all(data.startswith(block, at) and block.endswith(b"\n") for block, at in found)
    *little, (last, _) = found
    assert len(little) > 1
    assert all(len(block) <= stretches.PIECE for block, _ in little)
    assert len(last) > 2 * stretches.PIECE


@pytest.mark.usefixtures("small", "blocks")
class TestProcesses:
    def test_everything_is_read_once_and_in_order(self, tmp_path: Path) -> None:
        data = written(tmp_path / "f", 4_000)
        read = Read(tmp_path / "f", "bytes_of")
        assert read.data == data
        assert read.end == len(data)
        assert read.told

    def test_from_a_place_on(self, tmp_path: Path) -> None:
        data = written(tmp_path / "f", 2_000)
        begin = data.index(b"line 300 ")
        assert Read(tmp_path / "f", "bytes_of", begin=begin).data == data[begin:]

    def test_a_last_line_that_is_not_whole_is_left(self, tmp_path: Path) -> None:
        data = written(tmp_path / "f", 2_000)
        (tmp_path / "f").write_bytes(data + b"torn")
        read = Read(tmp_path / "f", "bytes_of")
        assert (read.data, read.end) == (data, len(data))

    def test_what_is_odd_is_read_here(self, tmp_path: Path) -> None:
        odd = b"y" * (CHUNK + 1) + b"\n"
        data = written(tmp_path / "f", 4_000, odd)
        read = Read(tmp_path / "f", "bytes_of")
        assert read.data == data
        assert read.told
        assert odd in read.here
        assert odd not in read.told

    def test_what_a_process_dies_of_is_read_here(self, tmp_path: Path) -> None:
        data = written(tmp_path / "f", 4_000, FATAL)
        read = Read(tmp_path / "f", "dies")
        assert read.data == data
        assert FATAL in read.here

    def test_where_no_process_answers_everything_is_read_here(self, tmp_path: Path) -> None:
        data = written(tmp_path / "f", 1_000)
        read = Read(tmp_path / "f", "not_there")
        assert (read.here, read.told) == (data, b"")

    def test_what_is_stopped_ends_at_a_line(self, tmp_path: Path) -> None:
        data = written(tmp_path / "f", 4_000)
        read = Read(tmp_path / "f", "bytes_of", stop_after=3 << 10)
        assert 3 << 10 < read.end < len(data)
        assert read.data == data[: read.end]
        assert read.data.endswith(b"\n")

    def test_a_file_that_was_replaced_is_read_here(self, tmp_path: Path) -> None:
        path = tmp_path / "f"
        data = written(path, 1_000)
        with OpenFile(str(path)) as file:
            stretch = Stretch(str(path), file.identity, 0, len(data))
            assert b"".join(block for block, _ in stretches.blocks_of(stretch)) == data
            path.rename(tmp_path / "before")
            written(path, 1_000)
            assert not file.has_name
            reading: Stretches[bytes] = Stretches(file, "tests.core.stretch_answers:bytes_of", 0)
            reading.read(lambda *_: None, lambda _: True, lambda: False)
            assert reading.end == 0


def test_a_small_file_and_one_processor_start_no_process(tmp_path: Path) -> None:
    written(tmp_path / "f", 1_000)
    assert Read(tmp_path / "f", "bytes_of").end == 0


def told_of(path: Path, size: int) -> Iterator[tuple[bytes, int, BlockColumns | None]]:
    """A transcript in stretches of about a size: the lines, their place, and what a process tells of them."""
    with source.TranscriptFile(str(path)) as file:
        data = path.read_bytes()
        at = 0
        while (end := data.find(b"\n", min(len(data), at + size)) + 1) > at:
            yield data[at:end], at, read_stretch(Stretch(str(path), file.identity, at, end)) if at else None
            at = end
        if end := data.rfind(b"\n", at) + 1:
            yield data[at:end], at, None


def said(rows: Rows) -> dict[str, object]:
    """The state made from the rows of a transcript."""
    damage = settle(rows)
    rows.spread()
    names = ("start", "role", "flags", "keys", "parent", "reply", "parts", "names", "doubled")
    notes = rows.notes
    facts = {**vars(notes.facts), "ids": list(notes.facts.ids), "folders": list(notes.facts.folders)}
    return {
        **{name: getattr(rows, name) for name in names},
        "costs": notes.costs,
        "pointers": list(reversed(notes.pointers)),
        "damage": damage,
        "facts": facts,
    }


@pytest.mark.parametrize("size", [700, 20_000])
def test_a_transcript_told_in_stretches_says_what_it_says_in_order(size: int) -> None:
    told = 0
    for path in _CLAUDE if THOROUGH else _CLAUDE[:: 1 + len(_CLAUDE) // 24]:
        in_order, apart = Rows(), Rows()
        for data, at, found in told_of(path, size):
            in_order.feed(data, len(data), at)
            if found is not None and apart.take(found):
                told += 1
            else:
                apart.feed(data, len(data), at)
        assert said(apart) == said(in_order), path
    assert told > (20 if CORPORA.is_dir() else 0)


@pytest.mark.usefixtures("small")
def test_a_session_that_processes_share_in_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    path = max(_CLAUDE, key=lambda one: one.stat().st_size)

    def seen(session: Session) -> tuple[object, ...]:
        columns = session.columns
        return bytes(columns.ids), bytes(columns.kind), columns.parent, columns.start, session.leaf

    monkeypatch.setattr(stretches, "SIZE", 64 << 10)
    with closing(agent_named("claude").open(path)) as shared:
        found = seen(shared)
        assert reader_of(shared) is not None
    monkeypatch.setattr(stretches, "LARGE", 1 << 60)
    with closing(agent_named("claude").open(path)) as alone:
        assert seen(alone) == found
