"""Bytes to columns: a file read in pieces of any size says what one pass says."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafward.session.entries import Damage
from leafward.session.lines import scan as scan_module
from leafward.session.lines.scan import Scan
from tests.core.scan_lines import (
    HEAD,
    ONE,
    THREE,
    TWO,
    assert_no_cycle,
    everything,
    ids,
    kinds,
    line,
    message,
    scanned,
)

MIXED = b"".join(
    [
        HEAD,
        ONE,
        TWO,
        b"\n",
        THREE,
        line(
            "custom", "00000004", "00000003", customType="leafward.leaf", data={"op": "00000004", "id": "x"}
        ),
        b"{broken\n",
        message("00000005", "00000002", "bashExecution"),
        message("00000006", "ffffffff"),
        message("longer-than-eight", "00000006"),
        message("00000008", "longer-than-eight"),
        line("compaction", "00000009", "00000008", summary="s"),
        message("0000000a", "0000000f"),
        HEAD,
        message("00000003", "00000001"),
        b'{"id":"0000000b","type":"message","parentId":"0000000a","message":{"role":"system"}}\n',
        message("0000000c", "0000000b"),
        message("ünïcödé!", "0000000c"),
        message('q"uoted"', "ünïcödé!", content="é" * 50),
        line("label", "0000000d", 'q"uoted"', targetId="00000001", label="l"),
        message("ffffffff", "0000000d"),
        b"null\n",
        message("0000000e", "ffffffff"),
        message("0000000f", "00000001"),
    ]
)
"""A bit of everything; the parent of one entry and the later double of another come further down."""


class TestPieces:
    @pytest.mark.parametrize("size", [1, 2, 3, 7, 24, 64, 117, 255, 1000])
    def test_any_chunk_size_reads_the_same(self, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = everything(scanned(MIXED))
        monkeypatch.setattr(scan_module, "CHUNK", size)
        monkeypatch.setattr(scan_module, "_SMALLEST_CHUNK", 1)
        assert everything(scanned(MIXED)) == whole

    @pytest.mark.parametrize("size", [1, 24, 117, 1000, 1 << 20])
    def test_a_watcher_gets_the_line_of_each_entry(self, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scan_module, "CHUNK", size)
        monkeypatch.setattr(scan_module, "_SMALLEST_CHUNK", 1)
        data = MIXED + message("00000010", "0000000f")[:-1]
        seen: list[tuple[int, bytes]] = []

        def watch(_scan: Scan, first: int, lines: list[bytes]) -> None:
            assert first == len(seen)
            seen.extend(enumerate(lines, first))

        scan = Scan(watch)
        scan.advance(io.BytesIO(data))
        assert len(seen) == len(scan.columns)
        for index, text in seen:
            assert data.startswith(text, scan.columns.start[index])
            assert text.strip() == data[scan.columns.start[index] :].partition(b"\n")[0].strip()

    def test_cut_anywhere_and_read_on(self) -> None:
        whole = everything(scanned(MIXED))
        for cut in range(len(MIXED) + 1):
            scan = scanned(MIXED[:cut])
            scan.advance(io.BytesIO(MIXED))
            assert everything(scan) == whole, cut

    def test_cut_anywhere_in_a_file_with_crlf(self) -> None:
        data = MIXED.replace(b"\n", b"\r\n")
        whole = everything(scanned(data))
        for cut in range(len(data) + 1):
            scan = scanned(data[:cut])
            scan.advance(io.BytesIO(data))
            assert everything(scan) == whole, cut

    def test_line_by_line(self) -> None:
        scan = Scan()
        seen = b""
        added = 0
        for part in MIXED.splitlines(keepends=True):
            seen += part
            added += scan.advance(io.BytesIO(seen))
            assert everything(scan) == everything(scanned(seen))
        assert added == len(scan.columns)

    @settings(max_examples=60)
    @given(st.lists(st.integers(0, len(MIXED)), max_size=6), st.integers(0, 1 << 16))
    def test_lines_in_any_order_in_any_pieces(self, cuts: list[int], seed: int) -> None:
        first, *rest = MIXED.splitlines(keepends=True)
        random.Random(seed).shuffle(rest)
        data = first + b"".join(rest)
        scan = Scan()
        for cut in sorted(cuts):
            scan.advance(io.BytesIO(data[:cut]))
        scan.advance(io.BytesIO(data))
        whole = scanned(data)
        assert_no_cycle(scan)
        # Where a circle is cut depends on what was there when it closed; everything else does not.
        if Damage.CYCLE not in {*whole.columns.damage.values(), *scan.columns.damage.values()}:
            assert everything(scan) == everything(whole)
        else:
            assert ids(scan) == ids(whole)
            assert kinds(scan) == kinds(whole)

    def test_nothing_new_decodes_nothing(self) -> None:
        scan = scanned(HEAD + ONE + TWO)
        before = scan.decoded
        assert scan.advance(io.BytesIO(HEAD + ONE + TWO)) == 0
        assert scan.decoded == before

    def test_only_what_was_appended_is_read(self) -> None:
        class Watched(io.BytesIO):
            read_bytes = 0

            def readinto(self, buffer: Any, /) -> int:
                got = super().readinto(buffer)
                self.read_bytes += got
                return got

        scan = scanned(HEAD + ONE)
        file = Watched(HEAD + ONE + TWO + THREE)
        assert scan.advance(file) == 2
        assert file.read_bytes == len(TWO + THREE)

    def test_a_scan_that_is_stopped_goes_on_later(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scan_module, "CHUNK", 200)
        monkeypatch.setattr(scan_module, "_SMALLEST_CHUNK", 1)
        scan = Scan()
        file = io.BytesIO(MIXED)
        rounds = 0
        while scan.end < len(MIXED):
            before = scan.end
            scan.advance(file, stop=lambda: scan.end > before)  # noqa: B023  called before the next round
            rounds += 1
            assert rounds < 1000
        scan.advance(file)
        assert rounds > 5
        assert everything(scan) == everything(scanned(MIXED))

    def test_progress_is_published_with_what_is_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scan_module, "CHUNK", 200)
        monkeypatch.setattr(scan_module, "_SMALLEST_CHUNK", 1)
        seen: list[tuple[int, int]] = []
        scan = Scan()
        scan.advance(io.BytesIO(MIXED), publish=lambda: seen.append((scan.end, len(scan.columns))))
        assert seen == sorted(seen)
        assert seen[-1] == (len(MIXED), len(scan.columns))
        assert len(seen) > 5
