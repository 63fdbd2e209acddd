"""Bytes to columns: every shape a line can have, every way a file can be broken, in pieces of any size."""

from __future__ import annotations

import io
import json
import os
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafward import scan as scan_module
from leafward.entries import Damage, Kind
from leafward.errors import NotASession
from leafward.scan import Pending, Scan, decode_line, version_of
from leafward.session import Session
from tests.pi_file import HEADER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD = json.dumps(HEADER, separators=(",", ":")).encode() + b"\n"


def line(type_: str, entry: object, parent: object = None, **fields: Any) -> bytes:
    """A line as pi writes it: the id behind the payload of a custom entry, before everything else elsewhere."""
    place = {"id": entry, "parentId": parent, "timestamp": "2026-11-21T21:00:00.000Z"}
    first: dict[str, Any] = {"type": type_}
    body = {**first, **fields, **place} if type_ == "custom" else {**first, **place, **fields}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def message(entry: object, parent: object = None, role: str = "user", content: object = "x") -> bytes:
    return line("message", entry, parent, message={"role": role, "content": content})


ONE, TWO, THREE = (
    message("00000001"),
    message("00000002", "00000001", "assistant"),
    message("00000003", "00000002"),
)


def scanned(data: bytes) -> Scan:
    scan = Scan()
    scan.advance(io.BytesIO(data))
    return scan


def entries(scan: Scan) -> list[tuple[str, int, Kind]]:
    """Id, parent and kind of every entry."""
    columns = scan.columns
    return [
        (columns.id(index), columns.parent[index], Kind(columns.kind[index])) for index in range(len(columns))
    ]


def everything(scan: Scan) -> dict[str, Any]:
    """All that a scan says of a file."""
    columns = scan.columns
    return {
        "entries": entries(scan),
        "starts": list(columns.start),
        "damage": dict(columns.damage),
        "own": list(columns.own),
        "header": (scan.header, scan.header_offset, scan.version, scan.bom),
        "last": scan.last,
        "pending": scan.pending,
        "end": scan.end,
    }


def ids(scan: Scan) -> list[str]:
    return [entry for entry, _, _ in entries(scan)]


def parents(scan: Scan) -> list[int]:
    return [parent for _, parent, _ in entries(scan)]


def kinds(scan: Scan) -> list[Kind]:
    return [kind for _, _, kind in entries(scan)]


class TestWhatPiWrites:
    def test_a_conversation(self) -> None:
        scan = scanned(HEAD + ONE + TWO + message("00000003", "00000002", "toolResult"))
        assert entries(scan) == [
            ("00000001", -1, Kind.USER),
            ("00000002", 0, Kind.ASSISTANT),
            ("00000003", 1, Kind.TOOL_RESULT),
        ]
        assert scan.header == HEADER
        assert scan.columns.damage == {}
        assert list(scan.columns.start) == [len(HEAD), len(HEAD + ONE), len(HEAD + ONE + TWO)]

    def test_only_header_and_first_line_are_decoded(self) -> None:
        lines = [ONE, TWO, THREE]
        lines.append(line("compaction", "00000004", "00000003", summary="s", firstKeptEntryId="00000002"))
        lines.append(line("custom", "00000005", "00000004", customType="note", data={"a": {"b": [1, "}"]}}))
        lines.append(line("label", "00000006", "00000005", targetId="00000001", label="here"))
        lines.append(
            line("custom_message", "00000007", "00000006", customType="x", content="y", display=True)
        )
        lines.append(message("00000008", "00000007", "bashExecution"))
        scan = scanned(HEAD + b"".join(lines))
        assert kinds(scan) == [
            Kind.USER,
            Kind.ASSISTANT,
            Kind.USER,
            Kind.COMPACTION,
            Kind.CUSTOM,
            Kind.LABEL,
            Kind.CUSTOM_MESSAGE,
            Kind.BASH,
        ]
        assert parents(scan) == [-1, 0, 1, 2, 3, 4, 5, 6]
        assert scan.decoded == 1

    @pytest.mark.parametrize(
        ("type_", "kind"),
        [
            ("compaction", Kind.COMPACTION),
            ("branch_summary", Kind.BRANCH_SUMMARY),
            ("custom_message", Kind.CUSTOM_MESSAGE),
            ("context_edit", Kind.CONTEXT_EDIT),
            ("model_change", Kind.MODEL_CHANGE),
            ("thinking_level_change", Kind.THINKING_CHANGE),
            ("custom", Kind.CUSTOM),
            ("label", Kind.LABEL),
            ("session_info", Kind.SESSION_INFO),
            ("usage", Kind.USAGE),
            ("something_new", Kind.UNKNOWN),
        ],
    )
    def test_every_type(self, type_: str, kind: Kind) -> None:
        assert entries(scanned(HEAD + ONE + line(type_, "00000002", "00000001")))[1] == ("00000002", 0, kind)

    @pytest.mark.parametrize(
        ("role", "kind"),
        [
            ("user", Kind.USER),
            ("assistant", Kind.ASSISTANT),
            ("toolResult", Kind.TOOL_RESULT),
            ("bashExecution", Kind.BASH),
            ("custom", Kind.CUSTOM_ROLE),
            ("hookMessage", Kind.CUSTOM_ROLE),
            ("system", Kind.SYSTEM),
            ("somebody", Kind.UNKNOWN),
        ],
    )
    def test_every_role(self, role: str, kind: Kind) -> None:
        assert entries(scanned(HEAD + ONE + message("00000002", "00000001", role)))[1] == (
            "00000002",
            0,
            kind,
        )

    def test_branches_and_parents_that_come_later(self) -> None:
        scan = scanned(
            HEAD
            + ONE
            + message("00000002", "00000005")
            + message("00000003", "00000001")
            + message("00000005", "00000001")
        )
        assert parents(scan) == [-1, 3, 0, 0]
        assert scan.columns.damage == {}

    def test_its_own_entries_are_known(self) -> None:
        own = line("custom", "00000002", "00000001", customType="leafward.leaf", data={"op": "00000002"})
        other = line("custom", "00000003", "00000002", customType="leafwards", data={})
        scan = scanned(HEAD + ONE + own + other)
        assert list(scan.columns.own) == [1]
        assert kinds(scan)[1:] == [Kind.CUSTOM, Kind.CUSTOM]


class TestOddLines:
    """Lines that pi would not write but reads."""

    DECOYS = '{"id":"deadbeef","parentId":"cafebabe"}'

    @pytest.mark.parametrize(
        "text",
        [
            '{"message":{"role":"user","content":"x"},"timestamp":"t","parentId":"00000001","id":"00000002","type":"message"}',
            '{"id":"00000002","type":"message","parentId":"00000001","message":{"content":"x","role":"user"}}',
            '{ "type" : "message", "id" : "00000002", "parentId" : "00000001", "message" : { "role" : "user" } }',
            '{"type":"message","parentId":"00000001","id":"00000002","timestamp":"t","message":{"role":"user"}}',
            '{"type":"message","id":"00000002","parentId":"00000001","timestamp":"t","message":{"content":[],"role":"user"}}',
            '\t {"type":"message","id":"00000002","parentId":"00000001","message":{"role":"user"}} \t',
        ],
    )
    def test_keys_in_any_order_and_spacing(self, text: str) -> None:
        scan = scanned(HEAD + ONE + text.encode() + b"\n" + THREE)
        assert entries(scan) == [
            ("00000001", -1, Kind.USER),
            ("00000002", 0, Kind.USER),
            ("00000003", 1, Kind.USER),
        ]

    @pytest.mark.parametrize("type_", ["custom", "custom_message", "branch_summary", "label"])
    @pytest.mark.parametrize("order", ["id first", "id last"])
    def test_ids_inside_a_payload_are_not_its_own(self, type_: str, order: str) -> None:
        decoy: dict[str, Any] = json.loads(self.DECOYS)
        payload = {"data": decoy, "details": [decoy, {"more": decoy}], "customType": "x"}
        place = {"id": "00000002", "parentId": "00000001"}
        body = {"type": type_} | (place | payload if order == "id first" else payload | place)
        data = json.dumps(body, separators=(",", ":")).encode() + b"\n"
        assert entries(scanned(HEAD + ONE + data + THREE))[1:] == [
            ("00000002", 0, {"label": Kind.LABEL}.get(type_, kinds(scanned(HEAD + ONE + data))[1])),
            ("00000003", 1, Kind.USER),
        ]

    def test_a_payload_that_ends_like_an_entry(self) -> None:
        # The id stands before the payload, and the payload's last object looks like the end of a custom entry.
        text = '{"type":"custom","id":"00000002","parentId":"00000001","data":{"id":"deadbeef","parentId":"cafebabe"}}\n'
        assert ids(scanned(HEAD + ONE + text.encode() + THREE)) == ["00000001", "00000002", "00000003"]

    def test_a_text_that_quotes_an_entry(self) -> None:
        text = json.dumps(TWO.decode())
        data = message("00000002", "00000001", content=f"see {text} and {self.DECOYS}")
        assert ids(scanned(HEAD + ONE + data + THREE)) == ["00000001", "00000002", "00000003"]

    @pytest.mark.parametrize(
        "entry",
        [
            "a",
            "0123456789abcdef",
            "0a1b2c3d-0000-7000-8000-0123456789ab",
            'q"uote"d',
            "back\\sla",
            "tab\tlate",
            "new\nline",
            "nül-byte",
            "日本語のid",
            "12345é78",
            "\x00\x01\x02\x03\x04\x05\x06\x07",
            "<custom>",
        ],
    )
    @pytest.mark.parametrize("role", ["user", "bashExecution"])
    def test_ids_of_any_form(self, entry: str, role: str) -> None:
        scan = scanned(
            HEAD + message("00000001") + message(entry, "00000001", role) + message("00000003", entry)
        )
        assert ids(scan) == ["00000001", entry, "00000003"]
        assert parents(scan) == [-1, 0, 1]
        assert scan.columns.index(entry) == 1
        assert scan.columns.damage == {}

    def test_an_id_that_only_looks_eight_bytes_long(self) -> None:
        # Eight bytes between the quotes, six characters: the escape makes the fixed positions lie.
        first = b'{"type":"message","id":"a\\u0041","parentId":"00000001","timestamp":"2026-11-21T21:00:00.000Z","message":{"role":"user"}}\n'
        second = message("00000003", "aA")
        scan = scanned(HEAD + ONE + first + second)
        assert ids(scan) == ["00000001", "aA", "00000003"]
        assert parents(scan) == [-1, 0, 1]

    def test_ids_that_are_no_text(self) -> None:
        data = message(7) + message(None) + message(["x"]) + message("") + message("00000001")
        scan = scanned(HEAD + data)
        assert list(scan.columns.damage.values()) == [Damage.NO_ID] * 4
        assert len(set(ids(scan))) == 5

    def test_one_id_is_another_s_beginning_or_middle(self) -> None:
        data = message("aaaaaaab") + message("aaaaaaaa", "aaaaaaab") + message("baaaaaaa", "aaaaaaaa")
        scan = scanned(HEAD + data)
        assert [scan.columns.index(entry) for entry in ids(scan)] == [0, 1, 2]
        assert scan.columns.index("aaaaaaa") == -1
        assert scan.columns.index("abaaaaaa") == -1  # lies across two ids

    def test_prefixes(self) -> None:
        columns = scanned(
            HEAD + message("aaaa0001") + message("aaaa0002") + message("bbbb0001") + message("aa")
        ).columns
        assert columns.starting_with("b") == [2]
        assert len(columns.starting_with("aaaa")) == 2
        assert columns.starting_with("a000") == []
        assert columns.starting_with("c") == []


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
        assert scan.pending is None

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

    def test_crlf(self) -> None:
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
        assert len(list(_roots(scan))) >= 1
        _assert_no_cycle(scan)

    @pytest.mark.parametrize("size", [1, 2, 3, 20, 300])
    def test_a_cycle_is_cut_at_the_entry_that_closes_it(self, size: int) -> None:
        ring = [message(f"{index:08x}", f"{(index + 1) % size:08x}") for index in range(size)]
        scan = scanned(HEAD + b"".join(ring) + message("ffffffff", "00000000"))
        _assert_no_cycle(scan)
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


def _roots(scan: Scan) -> Iterator[int]:
    return (index for index, parent in enumerate(parents(scan)) if parent < 0)


def _assert_no_cycle(scan: Scan) -> None:
    above = parents(scan)
    for index in range(len(above)):
        steps = 0
        while index >= 0:
            index, steps = above[index], steps + 1
            assert steps <= len(above)


class TestVersions:
    @pytest.mark.parametrize(
        ("header", "version"),
        [
            (None, 3),
            ({}, 1),
            ({"version": 1}, 1),
            ({"version": 2}, 2),
            ({"version": 3}, 3),
            ({"version": "3"}, 3),
            ({"version": 4.0}, 4),
            ({"version": None}, 1),
            ({"version": 0}, 1),
            ({"version": "three"}, 1),
            ({"version": [3]}, 1),
        ],
    )
    def test_version_of_a_header(self, header: dict[str, Any] | None, version: int) -> None:
        assert version_of(header) == version

    @pytest.mark.parametrize("version", [2, 3, 4, 99])
    def test_from_version_two_on_lines_have_ids(self, version: int) -> None:
        head = json.dumps({**HEADER, "version": version}).encode() + b"\n"
        scan = scanned(head + ONE + TWO)
        assert scan.version == version
        assert ids(scan) == ["00000001", "00000002"]

    def test_version_one_is_a_chain_with_ids_made_of_content_and_place(self) -> None:
        head = json.dumps({key: value for key, value in HEADER.items() if key != "version"}).encode() + b"\n"
        same = b'{"type":"message","timestamp":"t","message":{"role":"user","content":"x"}}\n'
        data = head + same + b"garbage\n" + same + same
        scan = scanned(data)
        assert scan.version == 1
        assert parents(scan) == [-1, 0, 0, 2]
        assert len(set(ids(scan))) == 4
        assert ids(scan) == ids(scanned(data))
        assert ids(scan)[0] == ids(scanned(head + same))[0]

    def test_without_a_header_the_first_line_tells(self) -> None:
        old = b'{"type":"message","message":{"role":"user","content":"x"}}\n'
        assert scanned(old + old).version == 1
        assert parents(scanned(old + old)) == [-1, 0]


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
        _assert_no_cycle(scan)
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

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
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
