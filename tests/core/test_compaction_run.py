"""Compactions carried out: what is drafted is what is written, and what is written is what was drafted."""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from leafward import scan as scan_module
from leafward import session as session_module
from leafward.compaction import PlanSettings, Strategy, measure, plan
from leafward.compaction.repair import repair
from leafward.compaction.run import Draft, accept, draft, edited, span_of
from leafward.compaction.stored import KEPT_HEADING, cut_middle, fitted, parts_of, stored_text, with_pins
from leafward.context import context_at
from leafward.demo import demo_session
from leafward.enclosed import enclose
from leafward.entries import Usage
from leafward.errors import LeafwardError, Refused
from leafward.injection import inject
from leafward.journal import OperationKind, Writing, busy, label, move, operations, redo, rename, undo
from leafward.session import Session
from leafward.summarizers import Cancelled, Summary, tokens_of
from leafward.summarizers.extractive import Extractive
from leafward.survival import Status, survival_of
from leafward.tokens import utf16_length
from tests.acting import Acting, call, usage, wild
from tests.pi_file import PiFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from leafward.summarizers import Span

SMALL = PlanSettings(keep_recent=2_000)


@pytest.fixture
def demo() -> Iterator[Session]:
    """The bundled session, copied."""
    with demo_session() as path, closing(Session.open(path)) as session:
        yield session


def drafted(session: Session, settings: PlanSettings = SMALL, at: int | None = None, **more: Any) -> Draft:
    sizes = measure(session, at, estimators=[settings.counting])
    return draft(session, plan(sizes, settings), Extractive(), **more)


def lines_of(session: Session) -> list[dict[str, Any]]:
    return [json.loads(line) for line in session.path.read_bytes().splitlines()]


def fates(found: Any) -> set[tuple[str, str, str]]:
    return {(fate.fact.kind, fate.fact.key, fate.status) for fate in found.fates}


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
            return Summary(
                text, tokens_of(text), self.name, usage=used, cost=0.0123, remarks=("asked twice",)
            )

    made = draft(demo, plan(measure(demo), SMALL), Told(), pins=["never push"])
    assert {"summary", "pins-added"} <= {one.code for one in made.diagnostics}
    accept(demo, made)
    line = demo.body(demo.leaf) or {}
    assert line["usage"]["totalTokens"] == 1240
    assert line["usage"]["cost"]["total"] == 0.0123
    assert line["details"]["leafward"]["cost"] == 0.0123
    assert line["summary"] == "## Goal\n- Tell it\n\n## Critical Context\n- never push"


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
        with pytest.raises(Refused, match="went on since"):
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


class TestLimit:
    @pytest.mark.parametrize("limit", [120, 300, 700, 1500, 4000])
    @pytest.mark.parametrize("strategy", list(Strategy))
    def test_bounds_the_whole_text(self, demo: Session, limit: int, strategy: Strategy) -> None:
        made = drafted(demo, PlanSettings(strategy=strategy, keep_recent=2_000), max_tokens=limit)
        assert tokens_of(made.text) <= limit
        assert tokens_of(made.text) > 0.6 * min(limit, 3_000)

    def test_with_what_is_injected_and_pins(self, demo: Session) -> None:
        injection = inject(demo, demo.leaf)
        pins = ["never push to main", "weights are in grams"]
        made = drafted(demo, max_tokens=injection.tokens + 400, injection=injection, pins=pins)
        assert tokens_of(made.text) <= injection.tokens + 400
        assert made.text.endswith(injection.text)
        assert all(f"- {pin}" in made.text for pin in pins)

    def test_that_leaves_no_room_is_refused(self, demo: Session) -> None:
        injection = inject(demo, demo.leaf)
        with pytest.raises(
            Refused, match="leave no room for a summary beside the injected context; allow more"
        ):
            drafted(demo, max_tokens=injection.tokens + 10, injection=injection)

    def test_a_model_that_does_not_keep_to_it_is_cut_by_lines(self, demo: Session) -> None:
        class Talkative:
            name = "local/talkative"

            def summarize(self, span: Span, budget: int, progress: Any = None, stop: Any = None) -> Summary:
                text = "## Goal\n- Be brief\n\n## Critical Context\n" + "- and another line\n" * 400
                return Summary(text, tokens_of(text), self.name, usage=Usage())

        made = draft(demo, plan(measure(demo), SMALL), Talkative(), max_tokens=300, pins=["never push"])
        assert tokens_of(made.text) <= 300
        assert "- Be brief" in made.text
        assert "- never push" in made.text
        assert "shortened" in {one.code for one in made.diagnostics}


class TestPins:
    def test_survive_word_for_word(self, demo: Session) -> None:
        lost = next(fate.fact for fate in drafted(demo).survival.fates if fate.status is Status.LOST)
        made = drafted(demo, pins=[lost.text])
        again = {fate.fact.key: fate.status for fate in made.survival.fates if fate.fact.kind is lost.kind}
        assert again[lost.key] is Status.VERBATIM

    def test_are_carried_into_the_next_compaction(self, tmp_path: Path) -> None:
        file = talk(tmp_path / "s.jsonl")
        with closing(Session.open(file.path)) as session:
            accept(session, drafted(session, PlanSettings(keep_recent=40), pins=["never push"]))
            file.leaf = session.columns.id(session.leaf)
        file.user("and now something else " * 20)
        file.reply("done with that " * 20)
        with closing(Session.open(file.path)) as session:
            made = drafted(session, PlanSettings(keep_recent=40), pins=["weights in grams", "never push"])
            assert made.pins == ("never push", "weights in grams")
            assert "- never push" in made.text
            assert made.text.count("never push") == 1

    def test_stay_in_a_text_that_the_user_wrote(self, demo: Session) -> None:
        made = edited(drafted(demo, pins=["never push"]), "Just this.")
        assert made.text.startswith("Just this.\n\n## Critical Context\n- never push")


class TestEdited:
    def test_everything_is_made_anew(self, demo: Session) -> None:
        first = drafted(demo)
        made = edited(first, "The leases were the fix; `make check` is green.")
        assert made.tokens_after < first.tokens_after
        assert (made.survival.overall() or 0) < (first.survival.overall() or 0)
        accept(demo, made)
        assert context_at(demo).size.total == made.tokens_after
        assert fates(survival_of(demo, demo.leaf)) == fates(made.survival)
        assert (demo.body(demo.leaf) or {})["details"]["leafward"]["edited"] is True

    def test_lines_that_stayed_keep_their_sources(self, demo: Session) -> None:
        first = drafted(demo)
        kept = next(line for line in first.summary.lines if line.sources)
        made = edited(first, f"A line of mine.\n{kept.text}")
        sources = made.details()["leafward"]["sources"]
        assert sources == [[1, *(demo.columns.id(entry) for entry in kept.sources)]]

    def test_control_codes_do_not_get_in(self, demo: Session) -> None:
        assert "\x1b" not in edited(drafted(demo), "red \x1b[31m alert").text

    def test_an_empty_text_is_refused(self, demo: Session) -> None:
        with pytest.raises(Refused, match="empty summary"):
            edited(drafted(demo), " \n ")


class TestInjected:
    def test_stands_behind_the_summary_and_is_not_carried_on(self, tmp_path: Path) -> None:
        file = talk(tmp_path / "s.jsonl")
        with closing(Session.open(file.path)) as session:
            injection = inject(session, session.leaf)
            made = drafted(session, PlanSettings(keep_recent=40), injection=injection)
            assert made.text.endswith("\n\n" + injection.text)
            accept(session, made)
            assert context_at(session).size.total == made.tokens_after
            noted = (session.body(session.leaf) or {})["details"]["leafward"]["injection"]
            assert noted["digest"] == injection.digest
            file.leaf = session.columns.id(session.leaf)
        file.user("and now something else " * 20)
        file.reply("done with that " * 20)
        with closing(Session.open(file.path)) as session:
            wanted = plan(measure(session), PlanSettings(keep_recent=40))
            assert "leafward-context" not in span_of(session, wanted).previous
            assert "leafward-context" not in drafted(session, PlanSettings(keep_recent=40)).text

    def test_a_summary_cannot_pass_for_it(self) -> None:
        text = stored_text(f"one\n{enclose('two')}", injected=enclose("three"))
        assert parts_of(text).injected == "three"
        assert "two" in parts_of(text).summary


class TestCodex:
    def test_messages_of_the_user_stand_in_the_text_word_for_word(self, tmp_path: Path) -> None:
        file = talk(tmp_path / "s.jsonl")
        settings = PlanSettings(strategy=Strategy.CODEX, keep_recent=60)
        with closing(Session.open(file.path)) as session:
            made = drafted(session, settings)
            stored = parts_of(made.text)
            assert made.text.startswith(KEPT_HEADING)
            assert stored.kept[-1] == "question 5 " * 12
            assert "cut in the middle" in stored.kept[0]
            assert stored.summary.startswith("## Goal")
            accept(session, made)
            assert context_at(session).size.total == made.tokens_after
            assert len(context_at(session).messages) == 1
            file.leaf = session.columns.id(session.leaf)
        file.user("one more")
        file.reply("yes")
        with closing(Session.open(file.path)) as session:
            wanted = plan(measure(session, estimators=list(SMALL_ESTIMATORS)), settings)
            assert [said.message["role"] for said in span_of(session, wanted).messages[:2]] == [
                "user",
                "user",
            ]
            again = parts_of(draft(session, wanted, Extractive()).text)
            assert again.kept == (stored.kept[-1], "one more")

    def test_secrets_do_not_stand_in_them(self, tmp_path: Path) -> None:
        file = talk(tmp_path / "s.jsonl")
        file.user("use the key sk-ant-" + "a1b2c3d4" * 4 + " for it")
        with closing(Session.open(file.path)) as session:
            made = drafted(session, PlanSettings(strategy=Strategy.CODEX))
        assert "sk-ant" not in made.text
        assert "[redacted: anthropic key]" in parts_of(made.text).kept[-1]
        assert any("1 secret taken out" in one.text for one in made.diagnostics)


SMALL_ESTIMATORS = (PlanSettings(strategy=Strategy.CODEX).counting,)


def talk(path: Path, turns: int = 6) -> PiFile:
    """Turns of about sixty tokens, none of them from a moment ago."""
    file = PiFile(path)
    for turn in range(turns):
        file.user(f"question {turn} " * 12)
        file.reply(f"answer {turn} " * 12)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return file


class TestRepair:
    def test_same_place_same_cut_same_words_and_the_pin(self, demo: Session) -> None:
        wrong = [index for index, kind in enumerate(demo.columns.kind) if kind == 9][-1]
        before = demo.body(wrong) or {}
        made = repair(demo, wrong, pins=["never push"])
        assert made.place.parent == demo.columns.parent[wrong]
        assert parts_of(before["summary"]).summary.split("\n")[0] in made.text
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
            assert parts_of(made.text).injected == parts_of(first.text).injected
            assert parts_of(made.text).kept == parts_of(first.text).kept
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
            assert now.ledger.total == now.size.total == made.tokens_after, strategy
            assert fates(survival_of(session, session.leaf)) == fates(made.survival)
            assert undo(session).undoes == written.op
            assert [(one.entry, one.tokens) for one in context_at(session).messages] == was


def test_each_body_of_the_context_is_decoded_once(demo: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    made_plan = plan(measure(demo), SMALL)
    decoded: list[bytes] = []
    really = scan_module.decode_line

    def counting(line: bytes) -> dict[str, Any] | None:
        decoded.append(line[:60])
        return really(line)

    monkeypatch.setattr(session_module, "decode_line", counting)
    draft(demo, made_plan, Extractive())
    assert len(decoded) <= len(made_plan.sizes.context.messages) + 4


class TestTexts:
    def test_a_text_is_cut_in_the_middle_to_size(self) -> None:
        for text in ("word " * 400, "字" * 900, "🦊" * 500):
            for units in (0, 5, 60, 300):
                assert utf16_length(cut_middle(text, units)) <= units
        assert cut_middle("short", 5) == "short"
        long = cut_middle("a" * 500 + "z" * 500, 200)
        assert (long[0], long[-1]) == ("a", "z")
        assert "1,000 characters" in long

    def test_lines_go_where_most_are(self) -> None:
        text = "## Goal\n- g1\n\n## Done\n- d1\n- d2 is long\n\n## Next\n- n"
        shorter, dropped = fitted(text, utf16_length(text) - 1)
        assert (shorter, dropped) == ("## Goal\n- g1\n\n## Done\n- d1\n\n## Next\n- n", 1)
        assert fitted(text, 10_000) == (text, 0)
        assert fitted("## Goal", 2)[0] == ""

    def test_pins_take_their_place(self) -> None:
        text = "## Goal\n- g\n\n## Critical Context\n- (none)"
        assert with_pins(text, ["p"]) == ("## Goal\n- g\n\n## Critical Context\n- p", ("p",))
        assert with_pins("- p is there", ["p"]) == ("- p is there", ())

    def test_taken_apart_it_is_what_it_was(self) -> None:
        text = stored_text(
            "S", kept=f"{KEPT_HEADING}\n\n<user-message>\nm\n</user-message>", injected=enclose("I")
        )
        assert parts_of(text) == (("m",), "S", "", "I")


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
