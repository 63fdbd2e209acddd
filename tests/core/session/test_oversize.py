"""Lines and holes that are too large to be read: everything around them is, and what they are is known."""

from __future__ import annotations

import io
import json
import os
import random
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents.base import SessionCandidate
from leafward.agents.recognition import agent_of
from leafward.agents.storage import lines
from leafward.catalogue.cards.full_card import read_whole
from leafward.query.search.corpus import Corpus
from leafward.query.search.literals import needle
from leafward.query.search.prefilter import Prefilter
from leafward.session.entries import Damage, Kind
from leafward.session.lines import abridged_lines as abridging
from leafward.session.lines import scan as scanning
from leafward.session.lines.abridged_lines import LINE_LIMIT
from leafward.session.lines.scan import Pending, Scan
from leafward.session.session import Session
from tests.core.catalogued import listed
from tests.core.scan_lines import HEAD, ONE, everything, ids, line, message, scanned
from tests.sources import native

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

SMALL = 128 << 10
"""The size that counts as too large in these tests."""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> int:
    for module in (scanning, lines):
        monkeypatch.setattr(module, "CHUNK", 16 << 10)
        monkeypatch.setattr(module, "LINE_LIMIT", SMALL)
    monkeypatch.setattr(abridging, "_WAITED", 1 << 10)
    return SMALL


def _long(entry: str, parent: str | None, size: int = 2 * SMALL) -> bytes:
    return message(entry, parent, "assistant", content=[{"type": "text", "text": "x" * size}])


@pytest.mark.usefixtures("small")
class TestNative:
    def test_an_entry_with_a_long_text_keeps_its_place_in_the_tree(self) -> None:
        scan = scanned(HEAD + ONE + _long("00000002", "00000001") + message("00000003", "00000002"))
        assert ids(scan) == ["00000001", "00000002", "00000003"]
        assert list(scan.columns.parent) == [-1, 0, 1]
        assert scan.columns.kind[1] == Kind.ASSISTANT
        assert scan.columns.damage == {1: Damage.OVERSIZE}
        [(offset, place)] = scan.long_lines.items()
        assert offset == len(HEAD + ONE)
        assert place.size == len(_long("00000002", "00000001")) - 1
        assert len(place.line) < 20_000

    def test_keys_behind_the_text_are_told_as_well(self) -> None:
        long = line("custom", "00000002", "00000001", customType="x", data={"text": "x" * 2 * SMALL})
        scan = scanned(HEAD + ONE + long + message("00000003", "00000002"))
        assert list(scan.columns.parent) == [-1, 0, 1]

    def test_a_long_line_that_is_none_is_one_damaged_entry(self) -> None:
        for text in (b"x" * 2 * SMALL, b"\0" * 2 * SMALL, b'{"id":"a"}' + b" " * 2 * SMALL + b"!"):
            scan = scanned(HEAD + ONE + text + b"\n" + message("00000003", "00000001"))
            assert list(scan.columns.kind) == [Kind.USER, Kind.MALFORMED, Kind.USER]
            assert scan.columns.damage == {1: Damage.MALFORMED}
            assert list(scan.columns.parent) == [-1, 0, 0]

    def test_an_end_of_nuls_is_pending_and_no_entry(self) -> None:
        scan = scanned(HEAD + ONE + b"\0" * 3 * SMALL)
        assert len(scan.columns) == 1
        assert scan.pending == Pending(len(HEAD + ONE), 3 * SMALL)

    def test_a_long_line_without_an_end_is_taken_in_once_it_is_whole(self) -> None:
        whole = HEAD + ONE + _long("00000002", "00000001")
        file = io.BytesIO(whole[:-10])
        scan = Scan()
        scan.advance(file)
        assert len(scan.columns) == 1
        assert (scan.pending or Pending(0, 0)).size == len(_long("00000002", "00000001")) - 10
        file = io.BytesIO(whole + message("00000003", "00000002"))
        assert scan.advance(file) == 2
        assert scan.pending is None
        assert everything(scan) == everything(scanned(file.getvalue()))

    def test_one_that_only_lacks_its_newline_is_an_entry(self) -> None:
        data = HEAD + ONE + _long("00000002", "00000001")
        file = io.BytesIO(data[:-1])
        scan = Scan()
        scan.advance(file)
        assert ids(scan) == ["00000001", "00000002"]
        assert scan.end == len(data) - 1
        scan.advance(io.BytesIO(data + message("00000003", "00000002")))
        assert list(scan.columns.parent) == [-1, 0, 1]

    def test_it_can_be_stopped_and_goes_on(self) -> None:
        data = HEAD + ONE + _long("00000002", "00000001", 20 * SMALL) + message("00000003", "00000002")
        for stops in range(1, 40, 7):
            scan, asked = Scan(), 0

            def stop(limit: int = stops) -> bool:
                nonlocal asked
                asked += 1
                return asked > limit

            scan.advance(io.BytesIO(data), stop)
            scan.advance(io.BytesIO(data))
            assert everything(scan) == everything(scanned(data))

    def test_a_session_reads_it_without_holding_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "session.jsonl"
        path.write_bytes(
            HEAD + ONE + _long("00000002", "00000001", 40 * SMALL) + message("00000003", "00000002")
        )
        with closing(Session.open(path)) as session:
            at, most = native(session).file.at, 0

            def counting(offset: int, size: int) -> bytes:
                nonlocal most
                found = at(offset, size)
                most = max(most, len(found))
                return found

            monkeypatch.setattr(native(session).file, "at", counting)
            bodies = dict(session.bodies(range(3)))
            entry = session.entry(1)
            assert bodies[session.find("00000002")] == entry.body == session.body(1)
            text = entry.message["content"][0]["text"]
            assert text.startswith("xxxx")
            assert text.endswith(" bytes more]")
            assert session.origin(1).size > 40 * SMALL
            assert sum(map(len, session.records(1))) < 20_000
            assert most <= SMALL
            assert len(session.raw(1)) == session.origin(1).size
        stamp = path.stat()
        reading = read_whole(
            SessionCandidate(str(path), [stamp.st_size, stamp.st_mtime_ns, stamp.st_ino], "pi")
        )
        assert reading is not None
        assert (reading.card.problem, reading.card.entries, reading.card.damage) == (None, 3, 1)


def test_holes_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(HEAD + ONE)
    size = 1 << 40
    os.truncate(path, size)
    if os.stat(path).st_blocks * 512 >= size:
        pytest.skip("the filesystem has no holes")
    read = 0

    class Counting(io.FileIO):
        def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
            nonlocal read
            got = super().readinto(buffer)
            read += got
            return got

        def read(self, size: int | None = -1) -> bytes:
            nonlocal read
            found = super().read(size)
            read += len(found)
            return found

    with Counting(path) as file:
        scan = Scan()
        scan.advance(file)
    assert scan.pending == Pending(len(HEAD + ONE), size - len(HEAD + ONE))
    assert read <= LINE_LIMIT + 4 * scanning.CHUNK


def _claude(text: str, torn: bytes = b"") -> bytes:
    def name(number: int) -> str:
        return f"00000000-0000-4000-8000-{number:012}"

    rows = []
    for number, said in enumerate(("hi", text, "more", "so")):
        user = number % 2 == 0
        block = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m"}
        rows.append(
            json.dumps(
                {
                    "parentUuid": name(number - 1) if number else None,
                    "isSidechain": False,
                    "cwd": "/w",
                    "sessionId": name(99),
                    "version": "2.1.0",
                    "type": "user" if user else "assistant",
                    "message": {"role": "user", "content": said}
                    if user
                    else {**block, "content": [{"type": "text", "text": said}]},
                    "uuid": name(number),
                    "timestamp": f"2026-01-01T00:00:0{number}.000Z",
                },
                separators=(",", ":"),
            ).encode()
            + b"\n"
        )
    return b"".join([*rows[:2], torn, *rows[2:]])


def _codex(text: str, torn: bytes = b"") -> bytes:
    meta = {
        "id": "00000000-0000-4000-8000-000000000001",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": "/w",
    }
    records: list[dict[str, object]] = [{"type": "session_meta", "payload": {**meta, "source": "cli"}}]
    for role, said in (("user", "hi"), ("assistant", text), ("user", "more"), ("assistant", "so")):
        kind = "input_text" if role == "user" else "output_text"
        message = {"type": "message", "role": role, "content": [{"type": kind, "text": said}]}
        records.append({"type": "response_item", "payload": message})
    rows = [
        json.dumps({"timestamp": f"2026-01-01T00:00:0{at}.000Z", **one}, separators=(",", ":")).encode()
        + b"\n"
        for at, one in enumerate(records)
    ]
    return b"".join([*rows[:3], torn, *rows[3:]])


NAMES = {
    "claude": "00000000-0000-4000-8000-000000000099.jsonl",
    "codex": "rollout-2026-01-01T00-00-00-00000000-0000-4000-8000-000000000001.jsonl",
}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("agent", ["claude", "codex"])
class TestOthers:
    def _told(self, path: Path) -> list[tuple[str, str]]:
        with closing(agent_of(path).open(path)) as session:
            assert not [index for index in session.columns.damage.values() if index is Damage.ORPHAN]
            return [
                (session.entry(index).role or "", str(session.entry(index).message.get("content")))
                for index in range(len(session))
                if session.entry(index).role
            ]

    def _data(self, agent: str, text: str, torn: bytes = b"") -> bytes:
        return (_claude if agent == "claude" else _codex)(text, torn)

    def test_a_long_text_is_cut_and_nothing_else_changes(self, tmp_path: Path, agent: str) -> None:
        path = tmp_path / NAMES[agent]
        path.write_bytes(self._data(agent, "y" * 20))
        short = self._told(path)
        path.write_bytes(self._data(agent, "y" * 3 * SMALL))
        long = self._told(path)
        assert len(long) == len(short) == 4
        assert [one for at, one in enumerate(long) if at != 1] == [
            one for at, one in enumerate(short) if at != 1
        ]
        assert "bytes more]" in long[1][1]

    def test_it_is_remarked(self, tmp_path: Path, agent: str) -> None:
        path = tmp_path / NAMES[agent]
        path.write_bytes(self._data(agent, "y" * 3 * SMALL))
        with closing(agent_of(path).open(path)) as session:
            assert not session.is_native
            assert [note.code for note in session.source.notes] == ["oversize"]

    def test_a_run_of_nuls_in_the_middle_costs_no_record(self, tmp_path: Path, agent: str) -> None:
        path = tmp_path / NAMES[agent]
        path.write_bytes(self._data(agent, "so", b"\0" * 5 * SMALL))
        long = self._told(path)
        path.write_bytes(self._data(agent, "so", b"\0" * 100))
        assert long == self._told(path)
        assert len(long) == 4

    def test_a_run_of_nuls_at_the_end_is_pending(self, tmp_path: Path, agent: str) -> None:
        path = tmp_path / NAMES[agent]
        whole = self._data(agent, "so")
        path.write_bytes(whole + b"\0" * 5 * SMALL)
        with closing(agent_of(path).open(path)) as session:
            assert session.scan.pending == Pending(len(whole), 5 * SMALL)
        path.write_bytes(whole + b'{"torn' + b"\0" * 5 * SMALL)
        assert len(self._told(path)) == 4

    def test_a_session_that_grows_behind_a_long_line_is_read_on(self, tmp_path: Path, agent: str) -> None:
        path = tmp_path / NAMES[agent]
        data = self._data(agent, "y" * 3 * SMALL)
        ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
        path.write_bytes(data[: ends[-3]])
        with closing(agent_of(path).open(path)) as session:
            before = len(session)
            for end in ends[-2:]:
                path.write_bytes(data[:end])
                session.refresh()
            assert len(session) > before
            with closing(agent_of(path).open(path)) as anew:
                assert [session.body(index) for index in range(len(session))] == [
                    anew.body(index) for index in range(len(anew))
                ]

    def test_blocks_of_any_content_are_the_file(self, tmp_path: Path, agent: str) -> None:
        chance = random.Random(7)
        path = tmp_path / NAMES[agent]
        for _ in range(20):
            rows = [
                chance.choice(
                    [b'{"a":1}', b'{"b":"' + b"z" * chance.randint(1, 2 * SMALL) + b'"}', b"\0" * 50_000]
                )
                + chance.choice([b"\n", b"\n", b""])
                for _ in range(chance.randint(1, 9))
            ]
            path.write_bytes(b"".join(rows))
            with lines.OpenFile(str(path)) as file:
                at = 0
                for data, whole, base in file.blocks():
                    place = file.long_lines.get(at)
                    if place is not None and place.line == b"\0" and base != at:
                        at += place.size
                    assert base == at
                    at = base + file.extent(base, whole or len(data))
                run = file.long_lines.get(at)
                assert at + (run.size if run is not None and run.line == b"\0" else 0) == file.size


def test_the_search_reads_no_hole_and_gives_ripgrep_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sparse, usual = tmp_path / "0_sparse.jsonl", tmp_path / "1_usual.jsonl"
    for path in (sparse, usual):
        path.write_bytes(HEAD + message("00000001", None, content="where the pear trees stand"))
    os.truncate(sparse, 1 << 36)
    if os.stat(sparse).st_blocks * 512 >= 1 << 36:
        pytest.skip("the filesystem has no holes")
    catalogue = listed(tmp_path)
    cards = catalogue.cards()
    assert len(cards) == 2
    read, own = 0, os.read

    def counting(handle: int, size: int) -> bytes:
        nonlocal read
        found = own(handle, size)
        read += len(found)
        return found

    given: list[str] = []
    monkeypatch.setattr(os, "read", counting)
    monkeypatch.setattr(Prefilter, "_ask", lambda _self, paths, _listed: _given(given, paths))
    for words, hits in (("pear trees", 1), ("plum tree", 0)):
        wanted = needle([words])
        assert wanted is not None
        found = list(Prefilter(wanted, "rg", Corpus(cards)).passing(cards, lambda: False))
        assert [path for path in found if path == str(sparse)] == [str(sparse)] * hits
    assert set(given) == {str(usual)}
    assert read < 100 << 20


def _given(given: list[str], paths: list[bytes]) -> Generator[str, None, bool]:
    """Ripgrep that finds nothing, and what it is given."""
    given += map(os.fsdecode, paths)
    yield from ()
    return True
