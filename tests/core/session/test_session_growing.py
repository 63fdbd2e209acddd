"""A session whose file grows, is replaced, goes away, or proves to be broken."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import NotASession, NotFound, Refused
from leafward.session.entries import Damage, EntryIndex, Kind
from leafward.session.journal.session_operations import label
from leafward.session.lines.scan import Pending
from leafward.session.source import Growth
from tests.pi_file import HEADER, PiFile, broken_reply, conversation
from tests.sources import native

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leafward.session.session import Session


class TestRefresh:
    def test_nothing_new(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        session = opened(file.path)
        assert not session.changed_on_disk()
        assert session.refresh() is None

    def test_a_closed_session_opens_nothing(self, file: PiFile, opened: Callable[[Path], Session]) -> None:
        session = opened(file.path)
        session.close()
        file.user("question 3")
        assert session.refresh() is None
        assert native(session).file.handle.closed

    def test_a_file_that_is_opened_again_while_the_session_is_closed_is_closed_too(
        self, file: PiFile, opened: Callable[[Path], Session], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = opened(file.path)
        monkeypatch.setattr(native(session).file, "begins_as_read", session.close)
        file.user("question 3")
        session.refresh()
        assert native(session).file.handle.closed

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
        pending = [session.scan.pending]
        assert len(session) == 6
        file.raw(line[50:], end="")
        session.refresh()
        pending.append(session.scan.pending)
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
        (first, begin), (last, end) = native(session).file.proof
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
