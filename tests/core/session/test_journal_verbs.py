"""Moves, labels, names and archived branches: what is appended, and what is remarked."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Refused
from leafward.session.journal.operation_log import archived_branches, operations
from leafward.session.journal.session_operations import archive, label, move, rename, undo
from leafward.session.journal.write import Writing
from leafward.session.session import Session
from tests.pi_file import PiFile, last_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOON = datetime(2026, 11, 21, 12, 0, 0, 123456, UTC)
AT_NOON = Writing(now=lambda: NOON)


class TestMove:
    def test_appends_one_marker_under_the_target(self, session: Session) -> None:
        before = session.path.read_bytes()

        done = move(session, 1, AT_NOON)

        after = session.path.read_bytes()
        assert after.startswith(before)
        assert after[len(before) :].decode() == (
            '{"type":"custom","customType":"leafward.leaf","data":{"from":"00000006","target":"00000002",'
            f'"op":"{done.op}"}},"id":"{done.op}","parentId":"00000002","timestamp":"2026-11-21T12:00:00.123Z"}}\n'
        )
        assert done.size == len(after) - len(before)
        assert (done.from_leaf, done.target, done.leaf) == ("00000006", "00000002", done.op)
        assert [str(entry) for entry in done.entries] == [done.op]
        assert session.place == 1
        assert len(session) == 7

    def test_to_before_everything(self, session: Session) -> None:
        done = move(session, -1)

        line = last_line(session.path)
        assert (line["parentId"], line["data"]["target"]) == (None, None)
        assert done.target is None
        assert session.place == -1
        assert undo(session).target == "00000006"
        assert session.place == 5

    def test_where_it_is_already_writes_nothing(self, session: Session) -> None:
        before = session.path.read_bytes()
        assert not move(session, 5).changed
        assert session.path.read_bytes() == before
        assert operations(session) == []

    def test_bookkeeping_between_is_no_distance(self, session: Session) -> None:
        label(session, 2, "here")
        rename(session, "a name")
        assert not move(session, 5).changed
        assert move(session, 3).changed
        assert not move(session, 3).changed

    def test_an_empty_session_is_before_everything_already(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "new.jsonl")
        file.entry("model_change", provider="local", modelId="scripted-1")
        opened = Session.open(file.path)
        assert not move(opened, -1).changed
        opened.close()

    def test_a_dry_run_says_all_and_writes_nothing(self, session: Session) -> None:
        before = session.path.read_bytes()
        planned = move(session, 0, Writing(dry_run=True))
        assert planned.changed
        assert planned.entries == ()
        assert [remark.code for remark in planned.remarks] == ["two-prompts"]
        assert session.path.read_bytes() == before
        assert planned.size == move(session, 0).size

    @pytest.mark.parametrize("target", [6, 99, -2])
    def test_no_such_entry(self, session: Session, target: int) -> None:
        with pytest.raises(Refused, match="no such entry"):
            move(session, target)

    def test_damaged_lines_are_no_targets(self, file: PiFile) -> None:
        file.raw("{torn")
        file.raw('{"type":"session","version":3,"id":"other","timestamp":"x","cwd":"/"}')
        file.raw(
            '{"type":"message","id":"0000aaaa","parentId":"00000006","timestamp":"x","message":{"role":"user",}'
        )
        file.user("last")
        opened = Session.open(file.path)
        for target, why in ((6, "damaged"), (7, "header"), (8, "damaged")):
            with pytest.raises(Refused, match=why):
                move(opened, target)
        opened.close()

    def test_only_the_last_of_doubles_is_a_target(self, file: PiFile) -> None:
        file.count = 1
        file.user("again 00000002")
        opened = Session.open(file.path)
        with pytest.raises(Refused, match="same id"):
            move(opened, 1)
        opened.close()

    def test_a_circle_of_parents_is_no_target(self, file: PiFile) -> None:
        file.user("a", parent="00000008")
        file.user("b", parent="00000007")
        file.user("c", parent="00000006")
        opened = Session.open(file.path)
        with pytest.raises(Refused, match="circle"):
            move(opened, 7)
        opened.close()


class TestRemarks:
    @pytest.fixture
    def tools(self, tmp_path: Path) -> Iterator[Session]:
        file = PiFile(tmp_path / "tools.jsonl")
        file.user("look")  # 0
        file.reply("looking", "a", "b")  # 1
        file.result("b")  # 2
        file.result("a")  # 3
        file.reply("stopped", "c", stop="aborted")  # 4
        file.entry("label", targetId="00000002", label="x")  # 5
        file.user("go on")  # 6
        file.reply("done")  # 7
        opened = Session.open(file.path)
        yield opened
        opened.close()

    @pytest.mark.parametrize(
        ("target", "codes"),
        [
            (0, ["two-prompts"]),
            (1, ["open-calls"]),
            (2, ["partial-results"]),
            (3, []),
            (4, []),
            (5, []),
            (6, ["two-prompts"]),
            (-1, []),
        ],
    )
    def test_what_the_model_would_find_odd(self, tools: Session, target: int, codes: list[str]) -> None:
        planned = move(tools, target, Writing(dry_run=True))
        assert [remark.code for remark in planned.remarks] == codes

    def test_a_file_that_changed_lately_may_be_open_in_an_agent(self, session: Session) -> None:
        written = NOON.timestamp()
        os.utime(session.path, (written, written))
        session.refresh()
        soon = Writing(now=lambda: NOON + timedelta(minutes=4), dry_run=True)
        late = Writing(now=lambda: NOON + timedelta(minutes=6), dry_run=True)
        assert move(session, 1, soon).recent
        assert not move(session, 1, late).recent

    def test_our_own_lines_are_no_sign_of_an_agent(self, session: Session) -> None:
        label(session, 1, "x")
        move(session, 1)
        rename(session, "y")
        now = datetime.now(UTC)
        assert not move(session, 3, Writing(now=lambda: now, dry_run=True)).recent
        entry = session.entry(5).timestamp
        assert entry is not None
        just_after = datetime.fromisoformat(entry) + timedelta(seconds=30)
        assert move(session, 3, Writing(now=lambda: just_after, dry_run=True)).recent


class TestMarks:
    def test_a_label_is_a_pi_line_with_our_mark(self, session: Session) -> None:
        done = label(session, 1, "  works\r\nnow ", AT_NOON)
        assert last_line(session.path) == {
            "type": "label",
            "id": done.op,
            "parentId": "00000006",
            "timestamp": "2026-11-21T12:00:00.123Z",
            "targetId": "00000002",
            "label": "works now",
            "leafward": {"op": done.op},
        }
        assert session.labels == {1: "works now"}
        assert session.place == 5

    def test_an_empty_label_clears(self, session: Session) -> None:
        label(session, 1, "x")
        assert label(session, 1, " \n").changed
        assert "label" not in last_line(session.path)
        assert session.labels == {}
        assert not label(session, 1, "").changed

    def test_a_name_is_one_line(self, session: Session) -> None:
        done = rename(session, " first\nsecond ", AT_NOON)
        assert last_line(session.path)["name"] == "first second"
        assert last_line(session.path)["leafward"] == {"op": done.op}
        assert session.name == "first second"
        assert not rename(session, "first second").changed

    def test_an_empty_name_clears(self, session: Session) -> None:
        rename(session, "x")
        rename(session, "")
        assert last_line(session.path)["name"] == ""
        assert session.name is None

    def test_a_branch_is_put_away_and_back(self, session: Session) -> None:
        done = archive(session, 2)
        assert last_line(session.path)["data"] == {"target": "00000003", "archived": True, "op": done.op}
        assert archived_branches(session) == {2}
        assert not archive(session, 2).changed
        archive(session, 2, archived=False)
        assert archived_branches(session) == frozenset()

    def test_marks_never_move_the_place(self, session: Session) -> None:
        move(session, 1)
        label(session, 5, "a")
        rename(session, "b")
        archive(session, 2)
        undo(session)
        assert session.place == 1
        assert len(list(session.tree.leaves())) == 1

    def test_damage_cannot_be_labelled(self, file: PiFile) -> None:
        file.raw("[1]")
        opened = Session.open(file.path)
        with pytest.raises(Refused, match="damaged"):
            label(opened, 6, "x")
        opened.close()

    def test_odd_text_stays_what_it_is(self, session: Session) -> None:
        text = 'naïve "quote" \\ \x7f \u2028 \ud83d tab\tend \U0001f33f'
        label(session, 1, text)
        written = session.path.read_bytes().splitlines()[-1]
        # As JSON.stringify writes it.
        assert 'naïve \\"quote\\" \\\\ \x7f \u2028 \\ud83d tab\\tend \U0001f33f'.encode() in written
        assert session.labels == {1: text}
