"""A session: labels, name, what a user may call an entry, a file that grows, shrinks or is replaced, lines found broken."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from leafward.entries import Damage, EntryIndex, Kind
from leafward.errors import NotASession, NotFound, Refused
from leafward.journal import label
from leafward.scan import Pending
from leafward.session import Growth, Session
from tests.pi_file import HEADER, PiFile, conversation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def opened() -> Iterator[Callable[[Path], Session]]:
    sessions: list[Session] = []

    def open_session(path: Path) -> Session:
        sessions.append(Session.open(path))
        return sessions[-1]

    yield open_session
    for session in sessions:
        session.close()


@pytest.fixture
def file(tmp_path: Path) -> PiFile:
    """Three turns: prompts 0, 2, 4 and replies 1, 3, 5."""
    return conversation(tmp_path / "session.jsonl")


def broken_reply(entry: str, parent: str) -> str:
    """A line that begins and ends like a message but is no object."""
    return (
        f'{{"type":"message","id":"{entry}","parentId":"{parent}","timestamp":"2026-11-21T21:00:00.000Z",'
        '"message":{"role":"assistant","content":[}'
    )


class TestHeader:
    def test_says_id_folder_and_version(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        session = opened(file.path)
        assert (session.id, session.cwd, session.version) == (HEADER["id"], HEADER["cwd"], 3)
        assert session.details() == {
            "id": HEADER["id"],
            "path": str(file.path),
            "cwd": HEADER["cwd"],
            "name": None,
            "version": 3,
        }

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
        assert session.find("#6") == 6
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
        with pytest.raises(NotFound, match="several entries start with 'abc'"):
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


class TestRefresh:
    def test_nothing_new(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        session = opened(file.path)
        assert not session.changed_on_disk()
        assert session.refresh() is None

    def test_growth_is_taken_in(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        session = opened(file.path)
        file.user("question 3")
        file.entry("label", targetId="00000001", label="late")
        file.entry("session_info", name="named")
        assert session.changed_on_disk()
        decoded = session.scan.decoded
        assert session.refresh() == Growth(3, replaced=False)
        assert session.scan.decoded == decoded
        assert (len(session), session.place, session.labels, session.name) == (9, 6, {0: "late"}, "named")
        assert list(session.tree.path(8)) == list(range(9))
        assert not session.changed_on_disk()

    def test_a_torn_line_becomes_an_entry_when_the_rest_comes(
        self, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        line = json.dumps(
            {
                "type": "message",
                "id": "0000000a",
                "parentId": "00000006",
                "message": {"role": "user", "content": "x"},
            }
        )
        file.raw(line[:50], end="")
        session = opened(file.path)
        pending = [session.pending]
        assert len(session) == 6
        file.raw(line[50:], end="")
        session.refresh()
        pending.append(session.pending)
        assert pending == [Pending(session.columns.start[6], 50), None]
        assert session.columns.damage == {6: Damage.UNTERMINATED}
        file.raw("")
        session.refresh()
        assert session.columns.damage == {}
        assert len(session) == 7

    def test_an_orphan_finds_its_parent(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        file.user("too early", "0000000a")
        session = opened(file.path)
        assert session.columns.damage == {6: Damage.ORPHAN}
        file.count = 9
        file.user("the parent", "00000006")
        session.refresh()
        assert session.columns.damage == {}
        assert list(session.tree.path(6)) == [0, 1, 2, 3, 4, 5, 7, 6]

    def test_a_later_double_takes_the_children(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        session = opened(file.path)
        file.count = 1
        file.user("question 0 anew", None)  # its id is that of the first reply
        session.refresh()
        assert list(session.tree.path(2)) == [6, 2]
        assert session.columns.damage == {1: Damage.DUPLICATE_ID, 6: Damage.DUPLICATE_ID}

    def test_a_file_that_shrank_is_read_anew(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        session = opened(file.path)
        lines = file.path.read_bytes().splitlines(keepends=True)
        file.path.write_bytes(b"".join(lines[:3]))
        assert session.refresh() == Growth(2, replaced=True)
        assert len(session) == 2

    def test_a_file_that_was_replaced_is_read_anew(
        self, file: PiFile, tmp_path: Path, opened: Callable[[Path], Session]
    ) -> None:
        session = opened(file.path)
        other = conversation(tmp_path / "other.jsonl", turns=9)
        os.replace(other.path, file.path)
        growth = session.refresh()
        assert growth == Growth(18, replaced=True)
        assert session.body(17) is not None

    def test_an_old_version_that_grew_is_read_anew(
        self, tmp_path: Path, opened: Callable[[Path], Session]
    ) -> None:
        file = PiFile(tmp_path / "old.jsonl", {**HEADER, "version": 2})
        file.user("one")
        session = opened(file.path)
        file.user("two")
        assert session.refresh() == Growth(2, replaced=True)

    def test_a_file_that_went_away_stays_on_show(
        self, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        session = opened(file.path)
        file.path.unlink()
        assert session.refresh() is None
        assert not session.changed_on_disk()
        assert session.body(5) is not None

    @pytest.mark.parametrize("place", [0, 3, 6], ids=["header", "middle", "last"])
    def test_a_file_edited_in_place_is_read_anew_though_it_is_longer(
        self, place: int, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        session = opened(file.path)
        inode = file.path.stat().st_ino
        lines = [json.loads(line) for line in file.path.read_bytes().splitlines()]
        lines[place]["note"] = "by hand"
        with file.path.open("r+b") as same:
            same.write(b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines))
        file.user("and one more")
        assert file.path.stat().st_ino == inode
        assert session.refresh() == Growth(7, replaced=True)
        assert [session.body(index) for index in range(6)] == lines[1:]

    def test_what_proves_that_it_is_the_same_is_a_few_thousand_bytes(
        self, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        for number in range(400):
            file.user(f"{number} " + "text " * 20)
        session = opened(file.path)
        file.user("one more")
        assert session.refresh() == Growth(1, replaced=False)
        (first, begin), (last, end) = session._known
        assert (first, last + len(end)) == (0, file.path.stat().st_size)
        assert len(begin) + len(end) == 8192

    def test_replaced_by_something_else(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        session = opened(file.path)
        place, tree = session.place, session.tree
        for data in (b"", b"something else\n"):
            file.path.write_bytes(data)
            assert session.changed_on_disk()
            with pytest.raises(NotASession):
                session.refresh()
            # What was read stays as it was, and nothing is written over what is there now.
            assert (session.place, session.tree, len(session)) == (place, tree, 6)
            assert not session.changed_on_disk()
            with pytest.raises(Refused):
                label(session, 0, "x")
        file.path.unlink()
        conversation(file.path, turns=1)
        assert session.refresh() == Growth(2, replaced=True)


class TestBrokenLines:
    """A scan takes a line by its beginning and its last brace; what is broken between shows when it is decoded."""

    def test_a_broken_leaf_is_seen_at_once(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        file.raw(broken_reply("000000fa", "00000006"))
        file.raw(broken_reply("000000fb", "000000fa"))
        session = opened(file.path)
        assert session.leaf == 5
        assert session.columns.damage == {6: Damage.MALFORMED, 7: Damage.MALFORMED}

    def test_children_lose_their_parent(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        file.raw(broken_reply("000000fa", "00000006"))
        file.user("below it", "000000fa")
        file.reply("and on")
        session = opened(file.path)
        assert list(session.tree.path(8)) == [0, 1, 2, 3, 4, 5, 6, 7, 8]
        session.discredit([6])
        assert session.columns.kind[6] == Kind.MALFORMED
        assert session.columns.damage == {6: Damage.MALFORMED, 7: Damage.ORPHAN}
        assert list(session.tree.path(8)) == [7, 8]
        assert session.columns.parent[6] == 5
        assert session.leaf == 8

    def test_nothing_can_name_it_any_more(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        file.raw(broken_reply("000000fa", "00000006"))
        file.user("elsewhere", "00000002")
        session = opened(file.path)
        session.discredit([6])
        assert session.columns.index("000000fa") == -1
        with pytest.raises(NotFound):
            session.find("000000fa")
        assert session.find("#6") == 6

    def test_what_is_appended_below_it_is_an_orphan(
        self, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        file.raw(broken_reply("000000fa", "00000006"))
        file.user("elsewhere", "00000002")
        session = opened(file.path)
        session.discredit([6])
        file.user("below it", "000000fa")
        session.refresh()
        assert session.columns.damage == {6: Damage.MALFORMED, 8: Damage.ORPHAN}
        assert list(session.tree.path(8)) == [8]

    def test_a_whole_line_of_its_id_takes_its_children(
        self, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        file.raw(broken_reply("000000fa", "00000006"))
        file.user("below it", "000000fa")
        session = opened(file.path)
        session.discredit([6])
        file.count = 0xF9
        file.user("written again", "00000006")
        session.refresh()
        assert session.columns.damage == {6: Damage.MALFORMED}
        assert list(session.tree.path(7)) == [0, 1, 2, 3, 4, 5, 8, 7]

    def test_growth_after_it_agrees_with_reading_anew(
        self, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        file.raw(broken_reply("000000fa", "00000006"))
        file.user("below it", "000000fa")
        file.raw("garbage")
        file.reply("and on")
        session = opened(file.path)
        session.discredit([6])
        file.user("later", "000000fa")
        file.user("later still", "00000004")
        session.refresh()
        anew = opened(file.path)
        anew.discredit([6])
        assert session.columns.parent == anew.columns.parent
        assert session.columns.damage == anew.columns.damage
        assert session.columns.kind == anew.columns.kind
        assert session.leaf == anew.leaf

    def test_what_a_broken_double_took_hangs_on_nothing(
        self, file: PiFile, opened: Callable[[Path], Session]
    ) -> None:
        session = opened(file.path)
        session.discredit([EntryIndex(1), EntryIndex(3)])
        assert sorted(session.columns.damage) == [1, 2, 3, 4]
        assert list(session.tree.leaves()) == [0, 2, 5]


class TestReadOnly:
    def test_a_file_of_pi_is_not(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        assert opened(file.path).read_only is None

    def test_entries_without_ids(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        file.raw('{"type":"message","message":{"role":"user","content":"x"}}')
        assert opened(file.path).read_only == "entries of the file have no id"
