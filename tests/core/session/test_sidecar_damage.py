"""Sidecars that somebody else wrote to, that were cut off, damaged, or whose session is gone or moved."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from leafward.base.errors import Refused
from leafward.base.paths import data_dir
from leafward.doctor.litter import litter
from leafward.doctor.session_problems import check
from leafward.doctor.store_problems import lost_sidecars
from leafward.session.entries import Damage
from leafward.session.journal.file_append import append
from leafward.session.journal.lines import encode_line
from leafward.session.journal.session_operations import label, move, rename
from leafward.session.journal.write import Writing
from tests.foreign_sessions import texts
from tests.foreign_stores import Store, said, same_anew
from tests.surroundings import THOROUGH

IMPATIENT = Writing(patience=0.1)


class TestRefusals:
    def test_two_writers(self, foreign: Store) -> None:
        """Of two that begin at once one is refused, and so is one that has not seen what the other kept."""
        one, two = foreign.open(), foreign.open()
        label(one, 0, "one")
        with pytest.raises(Refused, match="another Leafward changed this session"):
            label(two, 0, "two")
        assert two.changed_on_disk()
        growth = two.refresh()
        assert growth is not None
        assert (growth.added, growth.replaced) == (1, False)
        assert two.labels == {0: "one"}
        label(two, 0, "two")
        with pytest.raises(Refused, match=r"Leafward's file for .* grew by 1 entry since it was read"):
            rename(one, "x")
        one.refresh()
        assert one.labels == {0: "two"}
        one.close()
        two.close()

    def test_an_agent_that_went_on(self, foreign: Store) -> None:
        session = foreign.open()
        label(session, 0, "x")
        kept = session.book_path.read_bytes()
        foreign.grow("four")
        for writing in (IMPATIENT, Writing(dry_run=True)):
            with pytest.raises(Refused, match="has changed since it was read"):
                move(session, said(session, "one"), writing)
        assert session.book_path.read_bytes() == kept
        session.refresh()
        assert move(session, said(session, "one")).changed

    def test_while_it_is_locked(self, claude: Store) -> None:
        import portalocker

        session = claude.open()
        label(session, 0, "x")
        with session.book_path.open("rb+") as file:
            portalocker.lock(file, portalocker.LOCK_EX)
            with pytest.raises(Refused, match="another program is writing to"):
                rename(session, "x", IMPATIENT)

    def test_a_folder_that_cannot_be_made(self, claude: Store) -> None:
        data_dir().parent.mkdir(parents=True, exist_ok=True)
        data_dir().write_text("in the way")
        session = claude.open()
        with pytest.raises(Refused, match="cannot write in"):
            label(session, 0, "x")
        [remark] = label(session, 0, "x", Writing(dry_run=True)).remarks
        assert "cannot write in" in remark.text
        assert session.labels == {}

    def test_the_agents_file_is_gone(self, claude: Store) -> None:
        session = claude.open()
        label(session, 0, "x")
        claude.path.unlink()
        with pytest.raises(Refused, match="is gone"):
            rename(session, "x")


class TestKilled:
    def test_every_place_where_a_write_can_stop(self, claude: Store) -> None:
        session = claude.open()
        label(session, 0, "first")
        before = session.book_path.read_bytes()
        move(session, said(session, "one"))
        path, after = session.book_path, session.book_path.read_bytes()
        own, target = said(session, "three"), said(session, "one")
        for size in (
            *range(len(before), len(after) - 2, 1 if THOROUGH else 5),
            *range(len(after) - 2, len(after) + 1),
        ):
            path.write_bytes(after[:size])
            stopped = claude.open()
            whole = size >= len(after) - 1
            assert stopped.place == (target if whole else own), size
            assert stopped.labels == {0: "first"}
            torn = not whole and size > len(before)
            assert ("torn-tail" in [problem.code for problem in check(stopped)]) is torn
            label(stopped, 1, "next")
            assert path.read_bytes().startswith(after[:size])
            assert stopped.labels == {0: "first", 1: "next"}
            assert stopped.place == (target if whole else own), size
            same_anew(claude, stopped)
            stopped.close()

    def test_a_first_write_that_stopped_left_only_a_draft(self, claude: Store) -> None:
        session = claude.open()
        label(session, 0, "x")
        path, content = session.book_path, session.book_path.read_bytes()
        path.unlink()
        draft = path.with_name(f"{path.name}.leafward-0123456789ab.tmp")
        draft.write_bytes(content[:40])
        anew = claude.open()
        assert (anew.labels, anew.read_only) == ({}, None)
        label(anew, 0, "y")
        assert anew.labels == {0: "y"}
        assert list(lost_sidecars({path}, lambda _path: True)) == []
        assert [one.path for one in litter([])] == [draft]
        anew.close()

    def test_a_disk_that_neither_confirms_nor_takes_back_what_is_there(
        self, claude: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is said as what it is: written, by us, and perhaps not for long."""
        session = claude.open()

        def failing(*_: object, **__: object) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        with monkeypatch.context() as patched:
            patched.setattr("leafward.base.durable.sync_folder", failing)
            patched.setattr(Path, "unlink", failing)
            with pytest.raises(
                Refused, match=r"was written, but the disk does not confirm it: .*Input/output error"
            ):
                label(session, 0, "x")
        assert session.labels == {0: "x"}
        label(session, 0, "y")
        assert session.labels == {0: "y"}


class TestDamage:
    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (b"", "is empty"),
            (b"\0\0\0\0\n", "no line of it is a header or an entry"),
            (b'{"type":"session","version":3,"id":"x"}\n', "is not a sidecar"),
            (
                b'{"type":"session","version":3,"id":"x","leafward":{"agent":"pi"}}\n',
                "belongs to another session",
            ),
            (b"not json\n" * 3, "no line of it is a header or an entry"),
        ],
    )
    def test_strange_files_are_said_and_left(self, claude: Store, content: bytes, why: str) -> None:
        session = claude.open()
        path = session.book_path
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        session.refresh()
        for one in (session, claude.open()):
            assert texts(one)[-1] == "three."
            assert why in str(one.read_only)
            assert not one.changed_on_disk()
            assert any(why in note.text for note in one.source.notes)
            assert "sidecar" in [problem.code for problem in check(one)]
            with pytest.raises(Refused, match="read-only"):
                label(one, 0, "x")
        assert path.read_bytes() == content
        path.unlink()
        session.refresh()
        label(session, 0, "x")
        assert session.labels == {0: "x"}

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            ({"version": 4}, "version 4, newer than 3"),
            ({"version": 2}, "older than 3"),
            ({"leafward": {"sidecar": 2}}, "a newer Leafward wrote"),
        ],
    )
    def test_other_versions_are_read_and_not_written(
        self, claude: Store, change: dict[str, object], why: str
    ) -> None:
        session = claude.open()
        label(session, 0, "x")
        head, rest = session.book_path.read_bytes().split(b"\n", 1)
        header = json.loads(head)
        owner = header["leafward"]
        header |= change
        header["leafward"] = owner | header["leafward"] if "leafward" in change else owner
        session.book_path.write_bytes(encode_line(header) + rest)
        session.refresh()
        assert session.labels == {0: "x"}
        assert why in str(session.read_only)
        with pytest.raises(Refused, match=why):
            rename(session, "y")

    def test_an_entry_whose_parent_is_gone_is_a_marked_root(self, claude: Store) -> None:
        session = claude.open()
        move(session, said(session, "three", reply=False))
        label(session, said(session, "three"), "gone")
        lines = claude.path.read_bytes().splitlines(keepends=True)
        claude.path.write_bytes(b"".join(lines[:4]))
        session.refresh()
        kept = [index for index in range(len(session)) if session.is_kept(index)]
        assert len(kept) == 2
        assert session.columns.damage == {kept[0]: Damage.ORPHAN}
        assert session.columns.parent[kept[0]] == -1
        assert (session.place, session.what_if) == (said(session, "two"), False)
        assert {"orphan", "label-target"} <= {problem.code for problem in check(session)}
        same_anew(claude, session)
        claude.path.write_bytes(b"".join(lines))
        session.refresh()
        assert session.columns.damage == {}
        assert session.labels == {said(session, "three"): "gone"}
        assert session.place == said(session, "three", reply=False)

    def test_broken_lines_are_shown(self, claude: Store) -> None:
        session = claude.open()
        label(session, 0, "x")
        with session.book_path.open("ab") as file:
            file.write(b'{"type":"label"\n{"type":"custom","id":null}\n')
        session.refresh()
        assert session.labels == {0: "x"}
        codes = [problem.code for problem in check(session)]
        assert "malformed" in codes
        assert session.place == said(session, "three")
        same_anew(claude, session)

    def test_doctor_names_sidecars_of_sessions_that_are_gone(self, foreign: Store, tmp_path: Path) -> None:
        session = foreign.open()
        label(session, 0, "x")
        book = session.book_path
        assert list(lost_sidecars({book}, lambda _path: False)) == []
        assert list(lost_sidecars(set(), lambda path: path == str(foreign.path))) == []
        [problem] = lost_sidecars(set(), lambda _path: False)
        assert problem.code == "sidecar-orphan"
        assert str(foreign.path) in problem.text
        assert book.exists()
        assert tmp_path.exists()


class TestIdentity:
    def test_it_follows_a_file_that_moved(self, claude: Store) -> None:
        session = claude.open()
        label(session, 0, "x")
        elsewhere = claude.path.parent.with_name("-home-ada-meadow") / claude.path.name
        elsewhere.parent.mkdir()
        claude.path.rename(elsewhere)
        moved = replace(claude, path=elsewhere).open()
        assert moved.labels == {0: "x"}
        rename(moved, "y")
        moved.close()
        assert str(elsewhere) in moved.book_path.read_text("utf-8")
        [problem] = lost_sidecars(set(), lambda _path: False)
        assert str(elsewhere) in problem.text

    def test_sessions_of_one_database_have_one_each(self, tmp_path: Path) -> None:
        from leafward.agents.registry import agent_named
        from tests.opencode_store import START, Conversation, Database

        base = Database(tmp_path / "opencode")
        talks = [Conversation("ses_one"), Conversation("ses_two", at=START + 5)]
        paths = []
        for talk in talks:
            talk.turn("first")
            paths.append(base.write(talk))
        one, two = (agent_named("opencode").open(path) for path in paths)
        label(one, 0, "one")
        assert not two.changed_on_disk()
        label(two, 0, "two")
        assert (one.labels, two.labels) == ({0: "one"}, {0: "two"})
        assert one.book_path != two.book_path
        one.close()
        two.close()

    def test_a_line_of_ours_needs_no_session_to_be_read(self, foreign: Store) -> None:
        """The sidecar is a native file: a label, a name and a marker are what they are in any other."""
        from leafward.session.session import Session

        session = foreign.open()
        rename(session, "Kept")
        append(
            session,
            [
                session.source.stamped(
                    {"type": "custom", "id": "00000001", "parentId": None, "customType": "x"}
                )
            ],
        )
        book = Session.open(session.book_path)
        assert (book.name, book.version, len(book)) == ("Kept", 3, 2)
        book.close()


def test_a_torn_line_moves_nothing_when_the_next_write_closes_it(claude: Store) -> None:
    session = claude.open()
    label(session, 0, "first")
    with session.book_path.open("ab") as file:
        file.write(b'{"type":"label","id"')
    claude.grow("four")
    session.refresh()
    before = [session.columns.id(index) for index in range(len(session))]
    assert session.source.book is not None
    assert session.source.book.scan.pending is not None
    label(session, 2, "second")
    assert [session.columns.id(index) for index in range(len(before))] == before
    assert session.labels == {0: "first", 2: "second"}
    same_anew(claude, session)
