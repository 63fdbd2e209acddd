"""Compactions carried out: what is drafted is what is written, and what is written is what was drafted."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.errors import Cancelled, LeafwardError, Refused
from leafward.base.strategies import Strategy
from leafward.compaction.draft.draft import accept
from leafward.compaction.draft.draft_assembly import draft, edited
from leafward.compaction.injection.injection import inject
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.stored_summary.stored_summary import stored_parts
from leafward.context.model_context import context_at
from leafward.session import native_file
from leafward.session.entries import Usage
from leafward.session.journal.lock import busy
from leafward.session.journal.operation_log import OperationKind, operations
from leafward.session.journal.session_operations import label, move, redo, rename, undo
from leafward.session.journal.write import Writing
from leafward.session.lines import line_decoding
from leafward.session.session import Session
from leafward.summaries.fates.report import survival_of
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.summary import Summary
from tests.acting import Acting, call, usage, wild
from tests.core.compacted import SMALL, drafted, fates, lines_of, repair, talk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leafward.summaries.summarizers.summary import Span


@pytest.mark.parametrize(
    "settings",
    [
        SMALL,
        PlanSettings(keep_recent=8_000),
        PlanSettings(strategy=Strategy.CODEX),
        PlanSettings(strategy=Strategy.CODEX, keep_recent=300),
        PlanSettings(strategy=Strategy.OPENCODE),
        PlanSettings(version="0.73", keep_recent=2_000),
    ],
    ids=["pi", "pi-8000", "codex", "codex-300", "opencode", "pi-0.73"],
)
def test_what_is_written_is_what_was_drafted(demo: Session, settings: PlanSettings) -> None:
    before = demo.path.read_bytes()
    made = drafted(demo, settings)
    assert demo.path.read_bytes() == before
    written = accept(demo, made)
    assert demo.path.read_bytes().startswith(before)
    line = demo.body(demo.leaf) or {}
    assert (line["summary"], line["tokensBefore"]) == (made.text, made.tokens_before)
    assert (written.entries, written.leaf) == ((line["id"],), line["id"])
    assert context_at(demo).size.total == made.tokens_after
    assert fates(survival_of(demo, demo.leaf)) == fates(made.survival)
    tail = made.plan.first_kept >= 0
    assert line["firstKeptEntryId"] == (demo.columns.id(made.plan.first_kept) if tail else line["id"])
    assert line["fromHook"] is False
    assert list(line) == [
        *("type", "id", "parentId", "timestamp", "summary", "firstKeptEntryId", "tokensBefore", "details"),
        *("usage", "fromHook", "systemMessage", "leafward"),
    ]


def test_the_details_are_pis_and_ours(demo: Session) -> None:
    made = drafted(demo, pins=["never push"], focus="the leases")
    accept(demo, made)
    details = (demo.body(demo.leaf) or {})["details"]
    files = made.plan.files
    assert (details["readFiles"], details["modifiedFiles"]) == (list(files.read), list(files.modified))
    ours = details["leafward"]
    assert ours["summarizer"] == "extractive"
    assert (ours["cost"], ours["pins"], ours["focus"]) == (0.0, ["never push"], "the leases")
    told = made.text.split("\n")
    on_path = {demo.columns.id(entry) for entry in demo.tree.path(demo.leaf)}
    assert ours["sources"]
    for number, *entries in ours["sources"]:
        assert told[number].startswith("- ")
        assert entries
        assert set(entries) <= on_path


def test_the_system_prompt_is_carried(demo: Session) -> None:
    before = context_at(demo).ledger.system
    accept(demo, drafted(demo))
    now = context_at(demo)
    assert now.ledger.system == before > 0
    assert [message.role for message in now.messages[:2]] == ["system", "compactionSummary"]


def test_every_part_of_a_model_answer_is_stored(demo: Session) -> None:
    class Told:
        name = "local/teller"

        def summarize(self, span: Span, budget: int, progress: Any = None, stop: Any = None) -> Summary:
            text = "## Goal\n- Tell it"
            used = Usage(input=1200, output=40, total=1240, cost=0.0123)
            return Summary(text, self.name, usage=used, cost=0.0123, remarks=("asked twice",))

    made = draft(demo, plan(measure(demo), SMALL), Told(), pins=["never push"])
    assert {"summary", "pins-added"} <= {one.code for one in made.diagnostics}
    accept(demo, made)
    line = demo.body(demo.leaf) or {}
    assert line["usage"]["totalTokens"] == 1240
    assert line["usage"]["cost"]["total"] == 0.0123
    assert line["details"]["leafward"]["cost"] == 0.0123
    told, _, files = line["summary"].partition("\n\n<modified-files>\n")
    assert told == "## Goal\n- Tell it\n\n## Critical Context\n- never push"
    assert files.split("\n")[:-1] == line["details"]["modifiedFiles"], "every file that the span modified"


class TestUndo:
    def test_goes_back_before_it_and_again(self, demo: Session) -> None:
        leaf, labels, size = demo.leaf, demo.labels, context_at(demo).size
        made = accept(demo, drafted(demo))
        log = operations(demo)
        assert (log[-1].kind, log[-1].op) == (OperationKind.COMPACT, made.op)
        assert (log[-1].before, log[-1].after) == (demo.columns.id(leaf), made.leaf)
        undo(demo)
        assert (demo.place, context_at(demo).size, demo.labels) == (demo.tree.content_at(leaf), size, labels)
        redo(demo)
        assert demo.columns.id(demo.place) == made.leaf
        assert [one.kind.value for one in operations(demo)[-3:]] == ["compact", "undo", "redo"]

    def test_off_the_leaf_the_leaf_moves_and_comes_back(self, demo: Session) -> None:
        place = demo.place
        target = demo.find("#160")
        made = drafted(demo, at=target)
        assert "moves-leaf" in {one.code for one in made.diagnostics}
        accept(demo, made)
        assert (demo.body(demo.leaf) or {})["parentId"] == demo.columns.id(target)
        assert not [one for one in operations(demo)[-2:] if one.kind is OperationKind.AGENT_MOVE]
        undo(demo)
        assert demo.place == place

    def test_nothing_of_it_moves_a_label(self, demo: Session) -> None:
        label(demo, demo.place, "here")
        rename(demo, "a name")
        labels = dict(demo.labels)
        accept(demo, drafted(demo))
        assert (demo.labels, demo.name) == (labels, "a name")


class TestRefused:
    def test_nothing_to_compact(self, demo: Session) -> None:
        accept(demo, drafted(demo))
        with pytest.raises(Refused, match=r"^nothing to compact: nothing came after the last compaction$"):
            drafted(demo)

    def test_when_the_conversation_went_on(self, demo: Session) -> None:
        made = drafted(demo)
        move(demo, demo.find("#100"))
        before = demo.path.read_bytes()
        with pytest.raises(Refused, match="has changed since"):
            accept(demo, made)
        assert demo.path.read_bytes() == before

    def test_when_the_file_grew(self, demo: Session) -> None:
        made = drafted(demo)
        with demo.path.open("ab") as file:
            file.write(b'{"type":"custom","id":"aaaabbbb","parentId":null,"timestamp":"","customType":"x"}\n')
        with pytest.raises(Refused, match="grew by 1 entry"):
            accept(demo, made)

    def test_a_label_in_between_does_no_harm(self, demo: Session) -> None:
        made = drafted(demo)
        label(demo, demo.place, "before the compaction")
        leaf = demo.leaf
        accept(demo, made)
        assert demo.columns.parent[demo.leaf] == leaf
        assert context_at(demo).size.total == made.tokens_after

    def test_while_something_else_runs(self, demo: Session) -> None:
        made = drafted(demo)
        with busy(demo.path, "a summary") as claim:
            with pytest.raises(
                Refused, match=r"^a summary of .* is still running; wait for it or cancel it$"
            ):
                accept(demo, made)
            assert accept(demo, made, Writing(claim=claim)).changed

    def test_cancelled_it_leaves_the_file_byte_for_byte(self, demo: Session) -> None:
        before = demo.path.read_bytes()
        looks = iter(range(1000))
        with pytest.raises(Cancelled):
            drafted(demo, stop=lambda: next(looks) > 20)
        assert demo.path.read_bytes() == before

    def test_it_is_given_up_wherever_it_is(self, demo: Session) -> None:
        looks = 0

        def stop_at(place: float) -> Callable[[], bool]:
            def stop() -> bool:
                nonlocal looks
                looks += 1
                return looks > place

            return stop

        drafted(demo, stop=stop_at(float("inf")))
        every = looks
        # Each message is asked for when it is decoded, redacted, read twice and judged, each fact and line besides.
        assert every > 5 * len(measure(demo, estimators=[SMALL.counting]).entries)
        for place in range(0, every, every // 12):
            looks = 0
            with pytest.raises(Cancelled):
                drafted(demo, stop=stop_at(place))
            assert looks == place + 1

    def test_a_dry_run_writes_nothing(self, demo: Session) -> None:
        before, leaf = demo.path.read_bytes(), demo.leaf
        written = accept(demo, drafted(demo), Writing(dry_run=True))
        assert (demo.path.read_bytes(), demo.leaf, written.entries) == (before, leaf, ())
        assert written.size > 1000


class TestRepair:
    def test_same_place_same_cut_same_words_and_the_pin(self, demo: Session) -> None:
        wrong = [index for index, kind in enumerate(demo.columns.kind) if kind == 9][-1]
        before = demo.body(wrong) or {}
        made = repair(demo, wrong, pins=["never push"])
        assert made.place.parent == demo.columns.parent[wrong]
        assert stored_parts(before["summary"]).summary.split("\n")[0] in made.text
        accept(demo, made)
        line = demo.body(demo.leaf) or {}
        assert (line["parentId"], line["firstKeptEntryId"]) == (
            before["parentId"],
            before["firstKeptEntryId"],
        )
        assert context_at(demo).size.total == made.tokens_after
        undo(demo)
        assert operations(demo)[-1].kind is OperationKind.UNDO

    def test_of_ours_keeps_sources_pins_quotes_and_what_was_injected(self, tmp_path: Path) -> None:
        file = talk(tmp_path / "s.jsonl")
        with closing(Session.open(file.path)) as session:
            injection = inject(session, session.leaf)
            settings = PlanSettings(strategy=Strategy.CODEX, keep_recent=60)
            first = drafted(session, settings, injection=injection, pins=["one"])
            accept(session, first)
            made = repair(session, session.leaf, pins=["two"])
            assert made.pins == ("one", "two")
            assert stored_parts(made.text).injected == stored_parts(first.text).injected
            assert stored_parts(made.text).kept == stored_parts(first.text).kept
            assert made.text.replace("\n- two", "") == first.text
            known = {tuple(row[1:]) for row in first.details()["leafward"]["sources"]}
            assert {tuple(row[1:]) for row in made.details()["leafward"]["sources"]} == known
            accept(session, made)
            assert context_at(session).size.total == made.tokens_after

    def test_by_a_summariser_it_is_written_anew(self, demo: Session) -> None:
        accept(demo, edited(drafted(demo), "Too little."))
        made = repair(demo, demo.leaf, summarizer=Extractive(), pins=["never push"])
        assert "Too little." not in made.text
        assert "- never push" in made.text


class TestSeveralLines:
    """Messages of the tail that are cut short: edits before the compaction, all in one write."""

    @pytest.fixture
    def file(self, tmp_path: Path) -> Acting:
        file = Acting(tmp_path / "s.jsonl")
        file.user("start here")
        file.said("sure", tokens=usage(40))
        file.user("read them")
        file.said("now", call("read", "c1", path="a"), call("read", "c2", path="b"), tokens=usage(80))
        file.answered("c1", "read", "first " * 4000)
        file.answered("c2", "read", "second " * 4000)
        return file

    def test_reach_the_file_together(self, file: Acting) -> None:
        with closing(Session.open(file.path)) as session:
            made = drafted(session, PlanSettings(keep_recent=1_000))
            assert "tail-over-budget" in {one.code for one in made.diagnostics}
            written = accept(session, made)
            lines = lines_of(session)[-3:]
            assert [line["type"] for line in lines] == ["context_edit", "context_edit", "compaction"]
            assert [line["id"] for line in lines] == list(written.entries)
            assert lines[1]["parentId"] == lines[0]["id"]
            assert lines[2]["parentId"] == lines[1]["id"]
            assert context_at(session).size.total == made.tokens_after
            assert [one.op for one in operations(session)] == [written.op]
            undo(session)
            assert context_at(session).size.total == made.tokens_before

    def test_stopped_anywhere_it_can_be_undone(self, file: Acting, tmp_path: Path) -> None:
        whole = file.path.read_bytes()
        with closing(Session.open(file.path)) as session:
            size = context_at(session).size
            accept(session, drafted(session, PlanSettings(keep_recent=1_000)))
        after = file.path.read_bytes()
        ends = [place for place in range(len(whole), len(after)) if after[place : place + 1] == b"\n"]
        for stop in {len(whole) + 1, *(end + by for end in ends for by in (-1, 0, 1, 40)), len(after) - 1}:
            torn = tmp_path / "torn.jsonl"
            torn.write_bytes(after[:stop])
            with closing(Session.open(torn)) as session:
                kinds = [one.kind for one in operations(session)]
                assert kinds in ([], [OperationKind.COMPACT])
                if kinds:
                    undo(session)
                assert context_at(session).size == size, stop


@pytest.mark.parametrize("seed", range(24))
def test_any_session_can_be_compacted_and_taken_back(seed: int, tmp_path: Path) -> None:
    path = wild(tmp_path / "s.jsonl", seed).path
    with closing(Session.open(path)) as session:
        for number, strategy in enumerate(Strategy):
            settings = PlanSettings(strategy=strategy, keep_recent=150 * (1 + seed % 3))
            before, was = path.read_bytes(), [(one.entry, one.tokens) for one in context_at(session).messages]
            try:
                made = drafted(
                    session, settings, pins=[f"pin {number}"], max_tokens=200 if seed % 2 else None
                )
            except Refused:
                assert path.read_bytes() == before
                continue
            written = accept(session, made)
            grown = path.read_bytes()
            assert grown.startswith(before)
            assert all(json.loads(line) for line in grown[len(before) :].splitlines())
            assert grown.endswith(b"\n")
            now = context_at(session)
            assert now.size.total == made.tokens_after, strategy
            assert now.total == made.counted_after, strategy
            assert fates(survival_of(session, session.leaf)) == fates(made.survival)
            assert undo(session).undoes == written.op
            assert [(one.entry, one.tokens) for one in context_at(session).messages] == was


def test_each_body_of_the_context_is_decoded_once(demo: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    made_plan = plan(measure(demo), SMALL)
    decoded: list[bytes] = []
    really = line_decoding.decode_line

    def counting(line: bytes) -> dict[str, Any] | None:
        decoded.append(line[:60])
        return really(line)

    monkeypatch.setattr(native_file, "decode_line", counting)
    draft(demo, made_plan, Extractive())
    assert len(decoded) <= len(made_plan.sizes.context.messages) + 48, "the sizes look at edits again"


def test_errors_are_one_line(demo: Session, tmp_path: Path) -> None:
    def fails(act: Callable[[], object]) -> str:
        with pytest.raises(LeafwardError) as caught:
            act()
        return str(caught.value)

    made = drafted(demo)
    told = [
        fails(lambda: repair(demo, 0)),
        fails(lambda: drafted(demo, max_tokens=5)),
        fails(lambda: drafted(demo, max_tokens=60, pins=["x" * 300])),
        fails(lambda: accept(demo, replace(made, place=replace(made.place, stands=None)))),
    ]
    assert all(text and "\n" not in text for text in told)
