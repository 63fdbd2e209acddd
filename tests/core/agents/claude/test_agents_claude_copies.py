"""Claude Code: copies of sessions, what they cost, and sessions that grow."""

from __future__ import annotations

import json
import os
import random
from contextlib import closing
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from leafward.agents.claude import lineage
from leafward.agents.claude.entries.transcript_rows import Rows
from leafward.agents.claude.store import transcripts_in
from leafward.agents.claude.subagents import Spawners
from leafward.agents.claude.transcript import ClaudeReader
from leafward.base.config import Config
from leafward.base.times import iso_time
from leafward.catalogue.listing import Catalogue
from leafward.context.model_context import context_at
from leafward.context.recorded_usage import usage_total
from leafward.session.entries import Kind
from leafward.session.headlines.session_title import title_of
from tests.claude_transcript import DATA, IDS, Recorded, Transcript, opened, projected
from tests.foreign_sessions import said

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


def copied(source: Transcript, to: Transcript, rows: int, **fields: object) -> None:
    """Copies rows the way forks do: with their ids, under the new session's name."""
    for line in source.path.read_text().splitlines()[:rows]:
        row = {**json.loads(line), "sessionId": to.session, **fields}
        to.raw(json.dumps(row, separators=(",", ":")).encode() + b"\n")
        to.tip = row["uuid"]
    to.number = source.number + 100


def cards_in(tmp_path: Path) -> dict[str, tuple[str | None, str | None]]:
    catalogue = Catalogue(Config(), [tmp_path], index_path=tmp_path / "index")
    catalogue.refresh()
    names = {card.path: card.id for card in catalogue.cards()}
    return {card.id: (names.get(card.parent or ""), card.relation) for card in catalogue.cards()}


def test_a_branch_that_says_where_each_row_comes_from(tmp_path: Path) -> None:
    source, fork = Transcript(tmp_path), Transcript(tmp_path, IDS[1])
    source.turn("one", "first")
    source.turn("two", "second")
    copied(source, fork, 2, forkedFrom={"sessionId": IDS[0], "messageUuid": "x"})
    fork.turn("other", "elsewhere")
    assert cards_in(tmp_path) == {IDS[0]: (None, None), IDS[1]: (IDS[0], "fork")}
    session = fork.opened()
    assert session.inherited == 2
    assert title_of(session) == "other", "its own first prompt, as in the catalogue"
    assert {str(session.columns.id(index)) for index in range(2)} == {
        str(source.opened().columns.id(index)) for index in range(2)
    }


def test_a_copy_that_nobody_has_gone_on_with_began_when_its_file_was_written(tmp_path: Path) -> None:
    source, fork = Transcript(tmp_path), Transcript(tmp_path, IDS[1])
    source.turn("one", "first")
    copied(source, fork, 2, forkedFrom={"sessionId": IDS[0], "messageUuid": "x"})
    os.utime(fork.path, (1_780_000_000, 1_780_000_000))
    assert fork.opened().header["timestamp"] == iso_time(1_780_000_000_000)
    fork.turn("other", "elsewhere")
    own = json.loads(fork.path.read_text().splitlines()[2])
    assert fork.opened().header["timestamp"] == own["timestamp"], "not when its source began"


@pytest.mark.parametrize("continued", [False, True])
def test_copies_are_told_by_the_rows_they_share(tmp_path: Path, *, continued: bool) -> None:
    source = Transcript(tmp_path)
    source.turn("one", "first")
    source.turn("two", "second")
    forks = [Transcript(tmp_path, IDS[number]) for number in (1, 2)]
    for number, fork in enumerate(forks):
        fork.number = 200
        fork.row("queue-operation", operation="dequeue")
        copied(source, fork, 4)
        fork.turn(f"other {number}", "elsewhere")
    if continued:
        source.turn("three", "third")
    for number, one in enumerate((source, *forks)):
        os.utime(one.path, (number, number))
    assert cards_in(tmp_path) == {
        IDS[0]: (None, None),
        IDS[1]: (IDS[0], "inferred"),
        IDS[2]: (IDS[0], "inferred"),
    }
    assert [one.opened().inherited for one in (source, *forks)] == [0, 5, 5]


def test_an_old_resumption_copied_everything(tmp_path: Path) -> None:
    source, later = Transcript(tmp_path), Transcript(tmp_path, IDS[1])
    source.turn("one", "first")
    copied(source, later, 2)
    later.turn("two", "second")
    assert cards_in(tmp_path) == {IDS[0]: (None, None), IDS[1]: (IDS[0], "inferred")}


def test_what_was_copied_from_a_file_that_is_gone_counts_here(tmp_path: Path) -> None:
    source, fork = Transcript(tmp_path), Transcript(tmp_path, IDS[1])
    source.turn("one", "first")
    copied(source, fork, 2, forkedFrom={"sessionId": IDS[0], "messageUuid": "x"})
    fork.turn("other", "elsewhere")
    source.path.unlink()
    session = fork.opened()
    assert session.inherited == 0
    assert (session.header["parentSession"], session.header["relation"]) == (IDS[0], "fork")


def test_a_copy_that_begins_at_a_compaction(tmp_path: Path) -> None:
    project = DATA / "2.0.65" / "projects" / "-tmp-demo-project"
    [path] = project.glob("46bd280c*")
    session = opened(path)
    assert str(session.header["parentSession"]).endswith("0977d252-118b-438a-91e5-33628f7a224a.jsonl")
    assert [note.code for note in session.source.notes] == ["missing-base"]
    assert said(session)[0][0] == "compactionSummary"
    [path] = (DATA / "2.1.330").rglob("1dd894bd*.jsonl")
    session = opened(path)
    assert session.columns.damage == {}
    assert context_at(session).messages[0].role == "compactionSummary"


# --- growing ---


def test_a_session_that_grows_is_followed(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    session = transcript.opened()
    assert session.refresh() is None
    transcript.prompt("two")
    growth = session.refresh()
    assert growth is not None
    assert (growth.added, growth.replaced) == (1, False)
    transcript.attachment("note")
    torn = transcript.text_of("assistant", message={"id": "m", "content": []})
    transcript.raw(torn[:50].encode())
    growth = session.refresh()
    assert growth is not None
    assert not growth.replaced
    assert session.scan.pending is not None
    transcript.raw(torn[50:].encode() + b"\n")
    assert session.refresh() is not None
    assert len(session) == 5
    assert session.columns.kind[-1] == Kind.ASSISTANT


def test_costs_are_counted_once(tmp_path: Path) -> None:
    source, fork = Transcript(tmp_path), Transcript(tmp_path, IDS[1])
    source.turn("one", "first")
    source.row("cost-state", totalCostUSD=0.5)
    source.row("cost-state", totalCostUSD=0.5)
    source.turn("two", "second")
    source.row("cost-state", totalCostUSD=0.75)
    copied(source, fork, 2, forkedFrom={"sessionId": IDS[0], "messageUuid": "x"})
    fork.turn("other", "elsewhere")
    fork.row("cost-state", totalCostUSD=0.6)
    fork.row("cost-state", totalCostUSD=0.8)

    def spent(session: Session) -> float:
        return usage_total(session, range(session.inherited, len(session))).cost

    assert spent(source.opened()) == pytest.approx(0.75)
    assert spent(fork.opened()) == pytest.approx(0.3)
    source.row("cost-state", totalCostUSD=0.1)
    assert spent(source.opened()) == pytest.approx(0.85)


def test_a_branch_that_counts_from_nothing_keeps_its_whole_cost(tmp_path: Path) -> None:
    """`/branch` goes on in a process of its own start (2.1.330): its total is not that of its source, and more."""
    source, fork = Transcript(tmp_path), Transcript(tmp_path, IDS[1])
    source.turn("one", "first")
    source.row("cost-state", totalCostUSD=0.5, startTime=1000)
    copied(source, fork, 2, forkedFrom={"sessionId": IDS[0], "messageUuid": "x"})
    fork.turn("other", "elsewhere")
    fork.row("cost-state", totalCostUSD=0.6, startTime=2000)
    session = fork.opened()
    assert usage_total(session, range(session.inherited, len(session))).cost == pytest.approx(0.6)


@pytest.mark.parametrize("version", ["2.1.330"])
@pytest.mark.parametrize("said_of_it", [{}, {"preservedMessages": {"anchorUuid": "x", "uuids": []}}])
def test_recorded_requests_correct_what_a_compaction_says_it_kept(
    tmp_path: Path, version: str, said_of_it: dict[str, object]
) -> None:
    checked = 0
    for path in sorted((DATA / version).rglob("*.jsonl")):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        cut = [row for row in lines if row.get("subtype") == "compact_boundary"]
        if not cut or cut[0]["logicalParentUuid"] not in {row.get("uuid") for row in lines}:
            continue
        for row in cut:
            for name in ("preservedMessages", "preservedSegment"):
                row["compactMetadata"].pop(name, None)
            row["compactMetadata"].update(said_of_it)
        copy = tmp_path / path.name
        copy.write_text("".join(json.dumps(row) + "\n" for row in lines))
        session, recorded = opened(copy), Recorded(path)
        if path.name.startswith("1dd8"):
            continue
        wrong = [note for note in session.source.notes if note.code == "kept-differs"]
        assert len(wrong) == len(cut)
        for index, kind in enumerate(session.columns.kind):
            body = (session.body(index) if kind == Kind.ASSISTANT else None) or {"source": {}}
            reference = str(body["source"].get("requestRef"))
            if reference in recorded.requests:
                ours = projected(session, session.columns.parent[index])
                sent = recorded.pieces(reference)
                calls = [one for one in sent if one[0] in ("call", "result")]
                assert [one for one in ours if one[0] in ("call", "result")] == calls
                assert [one for one in ours if one[0] == "assistant"] == [
                    one for one in sent if one[0] == "assistant"
                ]
                checked += 1
    assert checked > 20


@pytest.mark.parametrize("name", ["d379888c", "5016a1ec", "7c64f94e", "46bd280c", "0977d252"])
def test_read_on_anywhere_gives_what_one_pass_gives(tmp_path: Path, name: str) -> None:
    [source] = DATA.rglob(f"{name}*.jsonl")
    whole = source.read_bytes()
    path = tmp_path / source.name
    chance = random.Random(3)
    cuts = sorted({chance.randrange(200, len(whole)) for _ in range(12)} | {len(whole)})
    path.write_bytes(whole[: cuts[0]])
    session = opened(path)
    for before, cut in pairwise(cuts):
        with path.open("ab") as file:
            file.write(whole[before:cut])
        session.refresh()
        anew = opened(path)
        for one in ("kind", "ids", "parent", "start", "other_ids", "damage"):
            assert getattr(session.columns, one) == getattr(anew.columns, one), (cut, one)
        assert (session.leaf, session.scan.pending, session.name) == (anew.leaf, anew.scan.pending, anew.name)
        assert said(session) == said(anew)
    whole_session = opened(path)
    for index in range(len(session)):
        assert session.body(index) == whole_session.body(index)


def test_only_what_was_appended_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    transcript = Transcript(tmp_path)
    for number in range(50):
        transcript.turn(f"prompt {number}", "reply")
    session = transcript.opened()
    taken: list[int] = []
    feed = Rows.feed

    def counted(rows: Rows, data: bytes, stop: int, at: int) -> None:
        taken.extend([at] * data.count(b"\n", 0, stop))
        feed(rows, data, stop, at)

    monkeypatch.setattr(Rows, "feed", counted)
    at = transcript.size
    transcript.prompt("one more")
    growth = session.refresh()
    assert growth is not None
    assert (growth.added, growth.replaced, taken) == (1, False, [at])
    lines = transcript.path.read_bytes().splitlines(keepends=True)
    transcript.path.write_bytes(b"".join([*lines[:4], *lines[6:], *lines[4:6]]))
    assert session.refresh() is not None
    assert len(taken) > 50


def test_a_folder_is_looked_through_once_for_all_its_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And again when a session came, or when what is known of it is old."""
    looks: list[str] = []
    look = transcripts_in

    def looked(folder: str, *, of_subagents: bool) -> list[str]:
        looks.append(folder)
        return look(folder, of_subagents=of_subagents)

    monkeypatch.setattr(lineage, "transcripts_in", looked)
    now = 0.0
    kin = lineage.SourceFinder(lambda: now)

    def origins() -> list[str | None]:
        found = []
        for path in sorted(path for path in tmp_path.rglob("*.jsonl") if path.stat().st_size):
            with closing(ClaudeReader(path, kin.origin, Spawners().spawner)) as reader:
                parent = reader.read(lambda: False).header.get("parentSession")
                found.append(os.path.basename(str(parent))[:8] if parent else None)
        return found

    source, fork = Transcript(tmp_path), Transcript(tmp_path, IDS[1])
    source.turn("one", "first")
    assert origins() == [None], "the second is empty"
    copied(source, fork, 2)
    fork.turn("other", "elsewhere")
    assert origins() == [None, IDS[0][:8]], "one that was empty is looked at again"
    assert len(looks) == 1
    third = Transcript(tmp_path, IDS[2])
    copied(source, third, 2)
    third.turn("more", "of it")
    os.utime(source.path.parent, ns=(1, 1))
    assert origins() == [None, IDS[0][:8], IDS[0][:8]]
    assert len(looks) == 2
    now = 60.0
    assert origins() == [None, IDS[0][:8], IDS[0][:8]]
    assert len(looks) == 3
