"""Bytes to columns: every shape a line can have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from leafward.session.entries import Damage, Kind
from leafward.session.lines.line_decoding import version_of
from tests.core.scan_lines import HEAD, ONE, THREE, TWO, entries, ids, kinds, line, message, parents, scanned
from tests.pi_file import HEADER


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
            ({"version": "three"}, 3),
            ({"version": ""}, 1),
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
