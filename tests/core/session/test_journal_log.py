"""Undo, redo and the log: what was done, by whom, and what takes it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.errors import NotFound, Refused
from leafward.session.entries import EntryIndex, Kind
from leafward.session.journal.operation_log import OperationKind, archived_branches, operations
from leafward.session.journal.session_operations import archive, label, move, redo, rename, undo
from leafward.session.session import Session
from tests.core.random_operations import kinds
from tests.pi_file import PiFile, conversation, last_line

if TYPE_CHECKING:
    from pathlib import Path


class TestUndo:
    def test_nothing_to_undo_or_redo(self, session: Session) -> None:
        with pytest.raises(Refused, match=r"^nothing to undo$"):
            undo(session)
        with pytest.raises(Refused, match=r"^nothing to redo$"):
            redo(session)

    def test_a_move_and_back_and_forth(self, session: Session) -> None:
        moved = move(session, 1)
        undone = undo(session)
        assert last_line(session.path)["data"] == {
            "from": moved.op,
            "target": "00000006",
            "op": undone.op,
            "undoes": moved.op,
        }
        assert (undone.undoes, session.place) == (moved.op, 5)
        assert redo(session).undoes == undone.op
        assert session.place == 1
        undo(session)
        assert session.place == 5
        assert kinds(session) == ["move", "undo", "redo", "undo"]
        assert [operation.undone for operation in operations(session)] == [True, False, True, False]

    def test_what_the_agent_appended_since_stays_as_a_branch(self, file: PiFile, session: Session) -> None:
        move(session, 1)
        file.leaf = str(session.columns.id(session.leaf))
        file.user("another way")
        tip = file.reply("taken")
        session.refresh()

        undo(session)

        assert session.place == 5
        assert redo(session).target == tip
        assert session.place == session.columns.index(tip)

    def test_values_come_back(self, session: Session) -> None:
        label(session, 1, "a")
        label(session, 1, "b")
        rename(session, "n")
        archive(session, 2)
        seen = []
        for _ in range(4):
            undo(session)
            seen.append((session.labels.get(EntryIndex(1)), session.name, bool(archived_branches(session))))
        assert seen == [("b", "n", False), ("b", None, False), ("a", None, False), (None, None, False)]
        for _ in range(4):
            redo(session)
        assert session.labels == {1: "b"}
        assert session.name == "n"
        assert archived_branches(session) == {2}

    def test_a_new_operation_clears_redo(self, session: Session) -> None:
        label(session, 1, "a")
        undo(session)
        rename(session, "n")
        with pytest.raises(Refused, match="nothing to redo"):
            redo(session)
        undo(session)
        redo(session)
        with pytest.raises(Refused, match="nothing to redo"):
            redo(session)

    def test_a_line_of_the_agent_does_not_clear_redo(self, file: PiFile, session: Session) -> None:
        label(session, 1, "a")
        undo(session)
        file.leaf = str(session.columns.id(session.leaf))
        file.user("go on")
        session.refresh()
        redo(session)
        assert session.labels == {1: "a"}

    def test_by_name_whatever_came_later(self, session: Session) -> None:
        first = label(session, 1, "a")
        rename(session, "n")
        assert first.op is not None
        undo(session, first.op[:6])
        assert session.labels == {}
        assert session.name == "n"
        with pytest.raises(Refused, match="undone already"):
            undo(session, first.op)
        undo(session)
        assert session.name is None

    def test_names_that_fit_nothing(self, session: Session) -> None:
        label(session, 1, "a")
        taken_back = undo(session)
        with pytest.raises(NotFound, match="no operation 'zz'; `leafward log` lists them"):
            undo(session, "zz")
        with pytest.raises(NotFound):
            undo(session, "")
        with pytest.raises(Refused, match="only undoes another"):
            undo(session, taken_back.op)

    def test_another_program_sees_the_same_log(self, session: Session) -> None:
        move(session, 1)
        label(session, 0, "x")
        undo(session)
        again = Session.open(session.path)
        assert operations(again) == operations(session)
        assert redo(again).changed
        again.close()


class TestLog:
    def test_moves_of_the_agent_show_where_the_next_entry_hangs(self, file: PiFile) -> None:
        back = file.user("other way", parent="00000002")
        file.reply("fine")
        root = file.user("all new", parent=None)
        opened = Session.open(file.path)

        first, second = operations(opened)

        assert (first.op, first.kind, first.before, first.after) == (
            back,
            OperationKind.AGENT_MOVE,
            "00000006",
            "00000002",
        )
        assert (second.op, second.before, second.after) == (root, "00000008", None)
        assert first.agent
        assert first.time == "2026-11-21T21:00:07.000Z"

        with pytest.raises(Refused, match="nothing of Leafward's to undo; the log lists the agent's own"):
            undo(opened)
        undo(opened, back)
        assert opened.place == 5
        assert operations(opened)[0].undone
        redo(opened)
        assert opened.columns.id(opened.place) == root
        opened.close()

    def test_an_agent_that_kept_its_place_did_not_move(self, file: PiFile, session: Session) -> None:
        label(session, 1, "x")
        file.user("pi has not seen the label", parent="00000006")
        session.refresh()
        assert kinds(session) == ["label"]

    def test_an_agent_that_had_not_seen_our_move_moved_back(self, file: PiFile, session: Session) -> None:
        move(session, 1)
        file.user("pi has not seen the move", parent="00000006")
        session.refresh()
        log = operations(session)
        assert [operation.kind.value for operation in log] == ["move", "agent-move"]
        assert (log[1].before, log[1].after) == ("00000002", "00000006")

    def test_labels_and_names_of_the_agent(self, file: PiFile) -> None:
        file.entry("label", targetId="00000002", label="one")
        file.entry("session_info", name="title")
        jump = file.entry("label", "00000001", targetId="00000002", label="two")
        opened = Session.open(file.path)
        assert [(one.op, one.kind.value, one.before, one.after) for one in operations(opened)] == [
            ("00000007", "agent-label", None, "one"),
            ("00000008", "agent-name", None, "title"),
            (jump, "agent-move", "00000006", "00000001"),
            (f"{jump}.label", "agent-label", "one", "two"),
        ]
        undo(opened, f"{jump}.label")
        assert opened.labels == {1: "one"}
        undo(opened, "00000008")
        assert opened.name is None
        opened.close()

    def test_damage_is_no_move(self, file: PiFile) -> None:
        file.raw("broken")
        file.user("next")
        file.user("orphan", parent="dddddddd")
        file.user("its child")
        opened = Session.open(file.path)
        assert [one.kind.value for one in operations(opened)] == []
        opened.close()

    @pytest.mark.parametrize(
        "data",
        [
            None,
            [],
            {"op": 5, "undoes": {}},
            {"op": "00000007", "undoes": "00000007", "from": 3},
            {"op": "x", "undoes": "nowhere", "from": "gone"},
        ],
    )
    def test_forged_marks_do_no_harm(self, file: PiFile, data: object) -> None:
        file.entry("custom", "00000002", customType="leafward.leaf", data=data)
        file.entry("custom", customType="leafward.archive", data=data)
        file.entry("custom", customType="leafward.other", data=data)
        file.entry("label", targetId=7, label={}, leafward=data)
        file.entry("session_info", name=[], leafward=data)
        opened = Session.open(file.path)
        log = operations(opened)
        assert len({operation.op for operation in log}) == len(log) == 4
        undo(opened, log[0].op)
        assert opened.place == 5
        opened.close()

    def test_little_is_decoded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        file = conversation(tmp_path / "long.jsonl", 200)
        file.user("aside", parent="00000002")
        opened = Session.open(file.path)
        move(opened, 9)
        label(opened, 4, "x")
        read: list[int] = []
        bodies = Session.bodies

        def counted(self: Session, entries: Any) -> Any:
            for index, body in bodies(self, entries):
                read.append(index)
                yield index, body

        monkeypatch.setattr(Session, "bodies", counted)
        assert len(operations(opened)) == 3
        assert len(read) == 3
        assert [opened.columns.kind[index] for index in read] == [Kind.USER, Kind.CUSTOM, Kind.LABEL]
        opened.close()
