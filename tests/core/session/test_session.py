"""A session: header, labels, name, what a user may call an entry, entries decoded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.errors import NotFound
from leafward.session.entries import Damage, Kind
from tests.pi_file import HEADER, PiFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leafward.session.session import Session


class TestHeader:
    def test_says_id_folder_and_version(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        session = opened(file.path)
        assert (session.id, session.cwd, session.version) == (HEADER["id"], HEADER["cwd"], 3)
        assert (session.path, session.name) == (file.path, None)

    def test_of_other_types_is_not_believed(self, tmp_path: Path, opened: Callable[[Path], Session]) -> None:
        session = opened(PiFile(tmp_path / "odd.jsonl", {**HEADER, "id": 7, "cwd": ["x"]}).path)
        assert (session.id, session.cwd) == ("odd", "")


class TestLabels:
    def test_the_last_line_about_an_entry_counts(
        self, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        file.entry("label", targetId="00000001", label="first")
        file.entry("label", targetId="00000003", label="second")
        file.entry("label", targetId="00000001", label="third")
        session = opened(file.path)
        assert session.labels == {2: "second", 0: "third"}

    @pytest.mark.parametrize("taken", [{}, {"label": ""}, {"label": None}, {"label": 7}])
    def test_a_line_without_text_takes_a_label_off(
        self, taken: dict[str, Any], file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        file.entry("label", targetId="00000001", label="first")
        file.entry("label", targetId="00000001", **taken)
        assert opened(file.path).labels == {}

    def test_hang_anywhere_in_the_tree(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        file.entry("label", "00000002", targetId="00000005", label="here")
        file.user("on the side", "00000002")
        assert opened(file.path).labels == {4: "here"}

    @pytest.mark.parametrize("target", ["ffffffff", "", None, 3, ["00000001"]])
    def test_of_what_is_not_there_are_none(
        self, target: object, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        file.entry("label", targetId=target, label="lost")
        assert opened(file.path).labels == {}

    def test_do_not_move_the_place(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        file.entry("label", targetId="00000001", label="first")
        session = opened(file.path)
        assert (session.leaf, session.place) == (6, 5)


class TestName:
    @pytest.mark.parametrize(
        ("lines", "name"),
        [
            ([], None),
            (["one"], "one"),
            (["one", "two"], "two"),
            ([" padded\t"], "padded"),
            (["one", ""], None),
            (["one", "   "], None),
            (["one", None], None),
            (["one", 7], None),
        ],
    )
    def test_the_last_line_counts(
        self, lines: list[Any], name: str | None, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        for line in lines:
            file.entry("session_info", name=line)
        assert opened(file.path).name == name

    def test_a_broken_line_names_nothing(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        file.entry("session_info", name="good")
        file.raw('{"type":"session_info","id":"0000000a","parentId":"00000007","timestamp":"t","name":[}')
        file.user("more", "00000007")
        assert opened(file.path).name == "good"


class TestFind:
    def test_by_what_a_user_writes(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        file.entry("label", targetId="00000001", label="first")
        session = opened(file.path)
        assert session.find("leaf") == 6
        assert session.find("root") == 0
        assert session.find("#0") == 0
        assert session.find("#6") == session.find("#0,006") == 6
        assert session.find("00000003") == 2

    def test_by_a_unique_prefix(self, tmp_path: Path, opened: Callable[[Path], Session]) -> None:
        file = PiFile(tmp_path / "ids.jsonl")
        parent = None
        for entry in ("abcd0001", "abce0001", "b0000001", "a-much-longer-id"):
            line = {
                "type": "message",
                "id": entry,
                "parentId": parent,
                "message": {"role": "user", "content": ""},
            }
            file.raw(json.dumps(line))
            parent = entry
        session = opened(file.path)
        assert session.find("abcd") == 0
        assert session.find("b") == 2
        assert session.find("a-") == 3
        assert session.find("a-much-longer-id") == 3
        with pytest.raises(NotFound, match=r"several entries start with 'abc', such as .* and abc"):
            session.find("abc")

    @pytest.mark.parametrize("selector", ["#6", "#-1", "#", "#x", "ffffffff", "", "LEAF", "00000001 ", "é"])
    def test_what_is_not_there(self, selector: str, file: PiFile, opened: Callable[[Path], Session]) -> None:
        session = opened(file.path)
        with pytest.raises(NotFound):
            session.find(selector)

    def test_nothing_in_an_empty_session(self, tmp_path: Path, opened: Callable[[Path], Session]) -> None:
        session = opened(PiFile(tmp_path / "new.jsonl").path)
        for selector in ("leaf", "root", "#0"):
            with pytest.raises(NotFound, match="no entry"):
                session.find(selector)

    def test_an_entry_called_leaf_is_found_by_its_number(
        self, tmp_path: Path, opened: Callable[[Path], Session]
    ) -> None:
        file = PiFile(tmp_path / "odd.jsonl")
        file.raw('{"type":"message","id":"leaf","parentId":null,"message":{"role":"user","content":"x"}}')
        file.user("y", "leaf")
        session = opened(file.path)
        assert session.find("leaf") == 1
        assert session.find("#0") == 0


class TestEntries:
    def test_an_entry_is_decoded_whole(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        session = opened(file.path)
        entry = session.entry(3)
        assert (entry.index, entry.id, entry.parent, entry.kind) == (
            3,
            "00000004",
            "00000003",
            Kind.ASSISTANT,
        )
        assert (entry.type, entry.role, entry.timestamp) == (
            "message",
            "assistant",
            "2026-11-21T21:00:04.000Z",
        )
        assert json.loads(entry.raw) == entry.body
        assert entry.damage is None

    def test_unknown_types_and_roles_are_kept(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        file.entry("hologram", beam=[1, 2])
        file.entry("message", message={"role": "critic", "content": "meh"})
        session = opened(file.path)
        assert (session.entry(6).type, session.entry(6).role, session.entry(6).body["beam"]) == (
            "hologram",
            None,
            [1, 2],
        )
        assert (session.entry(7).type, session.entry(7).role) == ("message", "critic")

    def test_bodies_come_in_the_order_asked_for(
        self, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        session = opened(file.path)
        asked = [5, 0, 1, 2, 4, 4, 3]
        assert [index for index, _ in session.bodies(asked)] == asked
        assert [body for _, body in session.bodies(asked)] == [session.body(index) for index in asked]

    @pytest.mark.parametrize("between", ["", "  ", "\r", "{broken"])
    def test_bodies_are_found_whatever_lies_between(
        self, between: str, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        lines = file.path.read_bytes().splitlines()
        file.path.write_bytes(f"\n{between}\n".encode().join(lines) + b"\r\n\n")
        session = opened(file.path)
        every = range(len(session))
        assert [body for _, body in session.bodies(every)] == [session.body(index) for index in every]
        assert sum(body is not None for _, body in session.bodies(every)) == len(lines) - 1

    def test_a_malformed_line_is_an_entry_without_a_body(
        self, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        file.raw("{what\tis this")
        file.user("more")
        session = opened(file.path)
        entry = session.entry(6)
        assert (entry.type, entry.role, entry.parent, entry.body) == ("malformed", None, None, {})
        assert entry.raw == b"{what\tis this"
        assert entry.damage is Damage.MALFORMED
        assert session.body(6) is None
        assert session.place == 7

    def test_the_raw_line_has_no_end(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        session = opened(file.path)
        raw = [session.raw(index) for index in range(len(session))]
        assert raw == file.path.read_bytes().splitlines()[1:]


class TestReadOnly:
    def test_a_file_of_pi_is_not(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        assert opened(file.path).read_only is None

    def test_entries_without_ids(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        file.raw('{"type":"message","message":{"role":"user","content":"x"}}')
        assert opened(file.path).read_only == "entries of the file have no id"
