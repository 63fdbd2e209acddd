"""Bytes to columns: every way a file can be broken, and what is no session at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import NotASession
from leafward.session.entries import Damage, Kind
from leafward.session.lines.line_decoding import decode_line
from leafward.session.lines.scan import Pending
from leafward.session.session import Session
from tests.core.scan_lines import (
    HEAD,
    ONE,
    THREE,
    TWO,
    assert_no_cycle,
    entries,
    everything,
    ids,
    kinds,
    line,
    message,
    parents,
    roots,
    scanned,
)
from tests.pi_file import HEADER
from tests.surroundings import as_any_user

if TYPE_CHECKING:
    from pathlib import Path


class TestDamage:
    def test_a_torn_last_line_is_pending(self) -> None:
        scan = scanned(HEAD + ONE + TWO[:40])
        assert ids(scan) == ["00000001"]
        assert scan.pending == Pending(len(HEAD + ONE), 40)
        assert scan.end == len(HEAD + ONE)
        assert scan.columns.damage == {}

    def test_a_last_line_without_newline_is_an_entry(self) -> None:
        scan = scanned(HEAD + ONE + TWO[:-1])
        assert ids(scan) == ["00000001", "00000002"]
        assert scan.columns.damage == {1: Damage.UNTERMINATED}
        assert scan.columns.damaged == 0
        assert scan.pending is None

    def test_a_beginning_in_the_middle_is_no_damage_but_a_later_gap_is(self) -> None:
        gap = message("00000009", "0000000f")
        scan = scanned(HEAD + TWO + THREE)
        assert (scan.columns.begins_midway, scan.columns.damaged) == (True, 0)
        assert scan.columns.damage_text(0).startswith("the session begins in the middle")
        scan = scanned(HEAD + TWO + THREE + gap)
        assert (scan.columns.begins_midway, scan.columns.damaged) == (True, 1)
        assert scan.columns.damage_text(2) == "the parent is not in this file"
        scan = scanned(HEAD + ONE + gap)
        assert (scan.columns.begins_midway, scan.columns.damaged) == (False, 1)

    @pytest.mark.parametrize(
        "bad",
        [
            b"{",
            b"}",
            b"nonsense",
            b"null",
            b"true",
            b"1",
            b'"text"',
            b"[1,2]",
            b"\0\0\0\0",
            b'{"type":"message","id":"00000009","parentId":null',
            b'{"a":NaN}',
            b"\xff\xfe{}",
            b"[" * 100_000,
            b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"}",
        ],
    )
    def test_a_bad_line_is_an_entry_of_its_own(self, bad: bytes) -> None:
        scan = scanned(HEAD + ONE + bad + b"\n" + TWO)
        assert kinds(scan) == [Kind.USER, Kind.MALFORMED, Kind.ASSISTANT]
        assert scan.columns.damage == {1: Damage.MALFORMED}
        assert parents(scan) == [-1, 0, 0]
        assert scan.columns.start[1] == len(HEAD + ONE)
        assert scan.last == 2

    def test_bad_lines_at_the_end_do_not_move_the_leaf(self) -> None:
        scan = scanned(HEAD + ONE + TWO + b"garbage\n{\n")
        assert scan.last == 1
        assert parents(scan) == [-1, 0, 1, 1]

    def test_blank_lines_are_nothing(self) -> None:
        assert everything(scanned(HEAD + ONE))["entries"] == entries(
            scanned(HEAD + b"\n\n  \n\r\n" + ONE + b"\n \t\n")
        )

    def test_a_bom(self) -> None:
        scan = scanned(b"\xef\xbb\xbf" + HEAD + ONE + TWO)
        assert scan.bom
        assert scan.header == HEADER
        assert ids(scan) == ["00000001", "00000002"]

    def test_a_bom_anywhere_else_is_damage(self) -> None:
        assert kinds(scanned(HEAD + ONE + b"\xef\xbb\xbf" + TWO))[1] is Kind.MALFORMED

    def test_line_ends_of_windows_are_no_damage(self) -> None:
        plain, windows = HEAD + ONE + TWO + THREE, (HEAD + ONE + TWO + THREE).replace(b"\n", b"\r\n")
        assert entries(scanned(windows)) == entries(scanned(plain))
        assert scanned(windows).columns.damage == {}
        assert entries(scanned(windows[:-1])) == entries(scanned(plain))

    def test_lone_surrogates(self) -> None:
        data = ONE.replace(b'"x"', rb'"a\ud83d b"')
        scan = scanned(HEAD + data + TWO)
        assert ids(scan) == ["00000001", "00000002"]
        body = decode_line(data)
        assert body is not None
        assert body["message"]["content"] == "a\ud83d b"

    def test_a_lone_surrogate_in_an_id(self) -> None:
        data = (
            HEAD + message("00000001") + rb'{"type":"custom","id":"\ud83dabc","parentId":"00000001"}' + b"\n"
        )
        child = rb'{"type":"label","id":"00000003","parentId":"\ud83dabc","targetId":"00000001"}' + b"\n"
        scan = scanned(data + child)
        assert ids(scan)[1] == "\ud83dabc"
        assert parents(scan) == [-1, 0, 1]

    def test_invalid_utf8_is_read_as_pi_reads_it(self) -> None:
        scan = scanned(HEAD + ONE.replace(b'"x"', b'"a\xff\xfeb"') + TWO)
        assert kinds(scan) == [Kind.USER, Kind.ASSISTANT]
        body = decode_line(ONE.replace(b'"x"', b'"a\xff\xfeb"'))
        assert body is not None
        assert body["message"]["content"] == "a\ufffd\ufffdb"

    def test_of_doubled_ids_the_last_takes_the_children(self) -> None:
        again = message("00000001", None, content="again")
        scan = scanned(HEAD + ONE + TWO + again + THREE)
        assert scan.columns.damage == {0: Damage.DUPLICATE_ID, 2: Damage.DUPLICATE_ID}
        assert parents(scan) == [-1, 2, -1, 1]
        assert scan.columns.index("00000001") == 2

    def test_a_duplicate_that_would_be_its_own_parent_is_cut(self) -> None:
        scan = scanned(HEAD + ONE + message("00000001", "00000001"))
        assert parents(scan)[1] == -1
        assert len(list(roots(scan))) >= 1
        assert_no_cycle(scan)

    @pytest.mark.parametrize("size", [1, 2, 3, 20, 300])
    def test_a_cycle_is_cut_at_the_entry_that_closes_it(self, size: int) -> None:
        ring = [message(f"{index:08x}", f"{(index + 1) % size:08x}") for index in range(size)]
        scan = scanned(HEAD + b"".join(ring) + message("ffffffff", "00000000"))
        assert_no_cycle(scan)
        assert [index for index, kind in scan.columns.damage.items() if kind is Damage.CYCLE] == [size - 1]
        assert parents(scan)[size] == 0

    def test_an_orphan_is_an_extra_root(self) -> None:
        scan = scanned(HEAD + ONE + message("00000002", "ffffffff") + message("00000003", "00000002"))
        assert parents(scan) == [-1, -1, 1]
        assert scan.columns.damage == {1: Damage.ORPHAN}

    def test_many_orphans(self) -> None:
        lost = b"".join(message(f"{index:08x}", f"f{index:07x}") for index in range(1, 40))
        scan = scanned(HEAD + lost + message("f0000001", None) + message("f0000002", None))
        assert parents(scan)[:3] == [39, 40, -1]
        assert sum(damage is Damage.ORPHAN for damage in scan.columns.damage.values()) == 37

    def test_more_headers(self) -> None:
        other = HEAD.replace(b"/home/ada", b"/home/eve")
        scan = scanned(HEAD + ONE + other + TWO)
        assert scan.header == HEADER
        assert kinds(scan) == [Kind.USER, Kind.HEADER, Kind.ASSISTANT]
        assert scan.columns.damage == {1: Damage.EXTRA_HEADER}
        assert parents(scan) == [-1, 0, 0]

    def test_a_header_that_comes_late_is_no_header(self) -> None:
        scan = scanned(ONE + HEAD + TWO)
        assert scan.header is None
        assert scan.columns.damage == {1: Damage.EXTRA_HEADER}

    def test_bad_lines_before_the_header(self) -> None:
        scan = scanned(b"{nonsense\n" + HEAD + ONE + TWO)
        assert scan.header == HEADER
        assert kinds(scan) == [Kind.MALFORMED, Kind.USER, Kind.ASSISTANT]
        assert parents(scan) == [-1, -1, 1]

    def test_no_header(self) -> None:
        scan = scanned(ONE + TWO)
        assert scan.header is None
        assert scan.version == 3
        assert parents(scan) == [-1, 0]

    def test_nothing(self) -> None:
        assert everything(scanned(b""))["entries"] == []
        assert scanned(b"").last == -1
        assert scanned(b"\n\n").end == 2

    def test_a_line_of_three_megabytes(self) -> None:
        scan = scanned(HEAD + ONE + message("00000002", "00000001", content="long " * 600_000) + THREE)
        assert ids(scan) == ["00000001", "00000002", "00000003"]
        assert scan.decoded == 1
        custom = line("custom", "00000002", "00000001", customType="x", data={"id": "no" * 1_500_000})
        assert entries(scanned(HEAD + ONE + custom + THREE))[1] == ("00000002", 0, Kind.CUSTOM)


class TestFiles:
    def refusal(self, path: Path) -> str:
        with pytest.raises(NotASession) as refused:
            Session.open(path)
        assert "\n" not in str(refused.value)
        return str(refused.value)

    def test_an_empty_file(self, tmp_path: Path) -> None:
        path = tmp_path / "empty.jsonl"
        path.touch()
        assert self.refusal(path).endswith("is empty")

    def test_a_folder(self, tmp_path: Path) -> None:
        assert self.refusal(tmp_path).endswith("is a folder, not a session file")

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        assert "No such file" in self.refusal(tmp_path / "gone.jsonl")

    @as_any_user
    def test_a_file_nobody_may_read(self, tmp_path: Path) -> None:
        path = tmp_path / "secret.jsonl"
        path.write_bytes(HEAD + ONE)
        path.chmod(0)
        assert "Permission denied" in self.refusal(path)

    @pytest.mark.parametrize(
        "data", [b"hello\nworld\n", b"\0" * 5000, b"{\n}\n", bytes(range(256)) * 40, b"[]\n"]
    )
    def test_no_session_at_all(self, data: bytes, tmp_path: Path) -> None:
        path = tmp_path / "other.jsonl"
        path.write_bytes(data)
        assert "is not a session" in self.refusal(path)

    def test_a_header_alone_is_a_session(self, tmp_path: Path) -> None:
        path = tmp_path / "new.jsonl"
        path.write_bytes(HEAD)
        session = Session.open(path)
        assert len(session) == 0
        assert session.leaf == session.place == -1
        session.close()

    @pytest.mark.parametrize("version", [4, 17])
    def test_a_newer_version_is_read_only(self, version: int, tmp_path: Path) -> None:
        path = tmp_path / "newer.jsonl"
        path.write_bytes(json.dumps({**HEADER, "version": version}).encode() + b"\n" + ONE)
        session = Session.open(path)
        assert session.read_only == f"the file is of version {version}, newer than 3"
        session.close()

    def test_a_file_without_header_is_read_only(self, tmp_path: Path) -> None:
        path = tmp_path / "headless.jsonl"
        path.write_bytes(ONE + TWO)
        session = Session.open(path)
        assert session.read_only == "the file has no session header"
        assert session.id == "headless"
        session.close()
