"""Operations on another agent's session: kept beside it, joined to it, and none of its own files is touched."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.base.errors import Refused
from leafward.base.paths import data_dir
from leafward.catalogue.listing import Catalogue
from leafward.compaction.draft.draft import accept
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.xray.xray import xray_of
from leafward.context.estimators import Estimator
from leafward.context.model_context import context_at
from leafward.doctor.session_problems import check
from leafward.session.entries import Kind
from leafward.session.journal.operation_log import archived_branches, operations
from leafward.session.journal.session_operations import archive, label, move, redo, rename, undo
from leafward.session.journal.write import Writing
from leafward.session.session import Session
from leafward.session.sidecar import sidecar_folder
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from tests.claude_transcript import Transcript
from tests.foreign_sessions import texts
from tests.foreign_stores import Store, said, same_anew

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.catalogue.cards.card import Card
    from leafward.catalogue.listing import RefreshWork

IMPATIENT = Writing(patience=0.1)


def test_nothing_is_made_before_something_is_kept(foreign: Store) -> None:
    session = foreign.open()
    assert session.read_only is None
    assert not session.what_if
    assert move(session, session.place).changed is False
    assert move(session, said(session, "one"), Writing(dry_run=True)).changed
    assert operations(session) == []
    assert not data_dir().exists()


def test_moves_from_entries_that_are_gone_are_read_in_linear_time(
    foreign: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = foreign.open()
    ends = said(session, "one"), session.place
    for number in range(60):
        move(session, ends[number % 2])
    sidecar = session.book_path
    kept = [json.loads(line) for line in sidecar.read_text().splitlines()]
    for line in kept:
        if "from" in line.get("data", {}):
            line["data"]["from"] = "00000000"
    sidecar.write_text("".join(f"{json.dumps(line)}\n" for line in kept))
    asked, really = 0, Session.is_kept

    def counted(self: Session, index: int) -> bool:
        nonlocal asked
        asked += 1
        return really(self, index)

    monkeypatch.setattr(Session, "is_kept", counted)
    again = foreign.open()
    assert len(operations(again)) == 60
    assert asked < 5 * len(again)


def test_every_verb(foreign: Store) -> None:
    session = foreign.open()
    theirs = len(session)
    own = session.place
    moved = move(session, said(session, "one"))
    assert [remark.code for remark in moved.remarks] == ["what-if"]
    assert (session.place, session.what_if) == (said(session, "one"), True)
    assert texts(session) == ["one?", "one."]
    label(session, said(session, "two"), "look here")
    rename(session, "The orchard")
    archive(session, said(session, "two", reply=False))
    assert session.labels == {said(session, "two"): "look here"}
    assert session.name == "The orchard"
    assert archived_branches(session) == {said(session, "two", reply=False)}
    assert [one.kind.value for one in operations(session)] == ["move", "label", "name", "archive"]
    assert (session.place, session.what_if) == (said(session, "one"), True)
    same_anew(foreign, session)
    for _ in range(4):
        undo(session)
    assert (session.place, session.what_if) == (own, False)
    assert (session.labels, archived_branches(session)) == ({}, frozenset())
    assert session.name != "The orchard"
    with pytest.raises(Refused, match="nothing to undo"):
        undo(session)
    for _ in range(4):
        redo(session)
    assert (session.place, session.name) == (said(session, "one"), "The orchard")
    assert not any(session.is_kept(index) for index in range(theirs))
    same_anew(foreign, session)
    assert check(session) == check(foreign.open())


def test_the_file_is_ours_alone(foreign: Store) -> None:
    session = foreign.open()
    label(session, 0, "x")
    path = session.book_path
    [listed] = [one for one in sidecar_folder().rglob("*") if one.is_file()]
    assert listed == path
    assert path.parent.name == foreign.agent
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (path.parent, sidecar_folder(), data_dir()):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    header, line = map(json.loads, path.read_text("utf-8").splitlines())
    assert header["version"] == 3
    assert header["leafward"] == {
        "sidecar": 1,
        "agent": foreign.agent,
        "session": session.id,
        "path": str(session.path),
    }
    assert line["targetId"] == session.columns.id(said(session, "one", reply=False)) or line["targetId"]


def test_what_is_kept_follows_a_session_that_grows(foreign: Store) -> None:
    session = foreign.open()
    move(session, said(session, "one"))
    label(session, said(session, "two"), "here")
    before = [session.columns.id(index) for index in range(len(session))]
    foreign.grow("four")
    growth = session.refresh()
    assert growth is not None
    assert not growth.replaced
    assert growth.added == len(session) - len(before)
    assert [session.columns.id(index) for index in range(len(before))] == before
    assert session.labels == {said(session, "two"): "here"}
    same_anew(foreign, session)
    # The agent went on, so its own place counts; the preview move is in the log and can be taken back, or made again.
    assert (session.place, session.what_if) == (said(session, "four"), False)
    assert texts(session)[-2:] == ["four?", "four."]
    assert [one.kind.value for one in operations(session)] == ["move", "label"]
    move(session, said(session, "one"))
    assert (session.place, session.what_if) == (said(session, "one"), True)
    undo(session)
    assert (session.place, session.what_if) == (said(session, "four"), False)
    same_anew(foreign, session)


def test_taking_back_a_what_if_leads_to_where_the_agent_is_now(foreign: Store) -> None:
    session = foreign.open()
    first = move(session, said(session, "one"))
    foreign.grow("four")
    session.refresh()
    undo(session, first.op)
    assert (session.place, session.what_if) == (said(session, "four"), False)
    assert operations(session)[0].undone
    same_anew(foreign, session)


def test_only_the_agents_own_words_end_a_what_if(claude: Store) -> None:
    session = claude.open()
    move(session, said(session, "one"))
    with claude.path.open("a") as file:
        file.write('{"type":"custom-title","customTitle":"Theirs"}\n')
    session.refresh()
    assert session.name == "Theirs"
    assert (session.place, session.what_if) == (said(session, "one"), True)
    rename(session, "Ours")
    with claude.path.open("a") as file:
        file.write('{"type":"custom-title","customTitle":"Theirs again"}\n')
    session.refresh()
    assert session.name == "Ours"
    rename(session, "")
    assert session.name == "Theirs again"
    same_anew(claude, session)


def test_a_move_before_everything(foreign: Store) -> None:
    session = foreign.open()
    move(session, -1)
    assert (session.place, session.what_if, texts(session)) == (-1, True, [])
    same_anew(foreign, session)
    undo(session)
    assert not session.what_if


class TestCompactions:
    def compacted(self, session: Session, at: int | None = None) -> int:
        here = session.place if at is None else at
        sizes = measure(session, here, estimators=tuple(Estimator))
        made = draft(session, plan(sizes, PlanSettings(keep_recent=1)), Extractive())
        done = accept(session, made)
        assert [remark.code for remark in done.remarks] == ["what-if"]
        index = int(session.columns.index(done.op or ""))
        assert context_at(session).size.total == made.tokens_after
        return index

    def test_a_compaction_is_what_the_model_would_see(self, foreign: Store) -> None:
        session = foreign.open()
        index = self.compacted(session)
        assert session.columns.kind[index] == Kind.COMPACTION
        assert (session.place, session.what_if) == (index, True)
        assert texts(session)[-1] == "three."
        assert len(texts(session)) == 2
        same_anew(foreign, session)
        assert [problem.code for problem in check(session) if problem.code != "cwd-missing"] == []
        undo(session)
        assert not session.what_if
        redo(session)
        assert session.place == index
        foreign.grow("four")
        session.refresh()
        assert texts(session)[-1] == "four."
        assert len(texts(session)) == 8

    def test_over_a_compaction_of_the_agents_own(self, tmp_path: Path) -> None:
        transcript = Transcript(tmp_path / ".claude")
        for name in ("one", "two"):
            transcript.turn(f"{name}?", f"{name}.")
        transcript.boundary("All about one and two")
        for name in ("three", "four"):
            transcript.turn(f"{name}?", f"{name}.")
        session = transcript.opened()
        before = texts(session)
        assert "one?" not in before
        first = self.compacted(session)
        assert texts(session)[-1] == "four."
        assert "three?" not in texts(session)
        assert session.columns.kind.count(Kind.COMPACTION) == 2
        assert len(list(xray_of(session, first).rows)) > 0
        transcript.turn("five?", "five.")
        session.refresh()
        assert texts(session) == [*before, "five?", "five."]
        second = self.compacted(session)
        assert session.columns.parent[second] == said(session, "five")


class TestCatalogue:
    def card(self, foreign: Store, tmp_path: Path) -> tuple[Card, RefreshWork]:
        catalogue = Catalogue(Config(), [foreign.root], index_path=tmp_path / "index")
        catalogue.refresh()
        [card] = catalogue.cards()
        return card, catalogue.work

    def test_a_card_follows_what_is_kept(self, foreign: Store, tmp_path: Path) -> None:
        card, work = self.card(foreign, tmp_path)
        assert work.read_whole == 1
        theirs = card.name
        session = foreign.open()
        rename(session, "The orchard")
        card, work = self.card(foreign, tmp_path)
        assert (card.name, card.title, card.partial, work.read_whole) == (
            "The orchard",
            "The orchard",
            False,
            1,
        )
        assert self.card(foreign, tmp_path)[1].read_whole == 0
        undo(session)
        card, work = self.card(foreign, tmp_path)
        assert (card.name, work.read_whole) == (theirs, 1)
        session.book_path.unlink()
        assert self.card(foreign, tmp_path)[1].read_whole == 1
        assert self.card(foreign, tmp_path)[1].read_whole == 0

    def test_a_card_has_the_figures_of_the_agents_own_leaf(self, foreign: Store, tmp_path: Path) -> None:
        """Beside a move and a compaction that only Leafward shows: the agent sends nothing from there."""
        theirs, _ = self.card(foreign, tmp_path)
        session = foreign.open()
        words = Catalogue(Config(), [foreign.root], index_path=tmp_path / "index").details(theirs.path)
        move(session, said(session, "one"))
        assert session.what_if
        for _ in range(2):
            card, work = self.card(foreign, tmp_path)
            found = Catalogue(Config(), [foreign.root], index_path=tmp_path / "index").details(card.path)
            assert work.read_whole == 1
            assert (card.tokens, card.estimated, card.model) == (
                theirs.tokens,
                theirs.estimated,
                theirs.model,
            )
            assert (found.last_prompt, found.last_reply) == (words.last_prompt, words.last_reply) != ("", "")
            undo(session)
            TestCompactions().compacted(session)

    def test_a_refresh_that_was_stopped_finds_it_again(self, claude: Store, tmp_path: Path) -> None:
        self.card(claude, tmp_path)
        rename(claude.open(), "The orchard")
        stopped = Catalogue(Config(), [claude.root], index_path=tmp_path / "index")
        answers = iter([False, False, False])
        stopped.refresh(stop=lambda: next(answers, True))
        assert self.card(claude, tmp_path)[0].name == "The orchard"
