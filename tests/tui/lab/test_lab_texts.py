"""Texts and figures of the compaction lab, as values: ledger, plan, fates, texts, runs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from leafward.base.figures import percent
from leafward.base.strategies import Strategy
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.exam.answers import Answer
from leafward.compaction.exam.grade import AnswerPlace, Exam, Graded
from leafward.compaction.exam.questions import Question, Topic
from leafward.compaction.injection.injection import inject
from leafward.compaction.injection.values import InjectionSettings
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.xray.alignment import Link
from leafward.compaction.xray.xray import xray_planned
from leafward.session.entries import EntryIndex
from leafward.summaries.facts.values import Fact, FactKind, Voice
from leafward.summaries.fates.report import SURVIVED, Status
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward_tui.lab.controllers.drafts import run_of
from leafward_tui.lab.model.fates import LostFact, fate_lines, kept_by_kind, lost_facts
from leafward_tui.lab.model.ledger import column_of, ledger_of
from leafward_tui.lab.model.plan_lines import plan_lines, strategy_at, track_cells
from leafward_tui.lab.model.runs import FactsKept, Run, difference, exam_difference, run_lines
from leafward_tui.lab.model.texts import injected_lines, prompt_lines, request_words, summary_lines
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE
from leafward_tui.ui.survival_cache import PLURAL
from leafward_tui.ui.text.cells import count
from tests.acting import Acting, call, reading
from tests.tui.considered import considered, working
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session
    from leafward_tui.lab.model.what_if import WhatIf
    from leafward_tui.ui.appearance.glyphs import Glyphs


class TestLedger:
    @pytest.mark.parametrize("strategy", list(Strategy))
    @pytest.mark.parametrize("keep", [500, 2_000, 4_000])
    def test_the_parts_sum_to_the_total_with_and_without_a_draft(
        self, tmp_path: Path, strategy: Strategy, keep: int
    ) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl") as (session, what_if):
            made = plan(what_if.sizes, PlanSettings(strategy, keep_recent=keep))
            injected = inject(session, session.leaf, InjectionSettings(budget=1_000))
            drafted = draft(session, made, Extractive(), injection=injected)
            bare = ledger_of(made, None, None)
            assert bare.total == sum(part.tokens for part in bare.parts) == made.tokens.counted_after
            assert bare.total == xray_planned(session, made).after, "the X-ray says the same"
            awaited = ledger_of(made, injected, None)
            assert awaited.total == sum(part.tokens for part in awaited.parts)
            assert awaited.total == xray_planned(session, made, injection=injected).after
            assert awaited.total == bare.total + (0 if made.nothing else injected.tokens)
            whole = ledger_of(made, injected, drafted)
            assert whole.total == sum(part.tokens for part in whole.parts) == drafted.counted_after
            seen = xray_planned(session, made, drafted)
            assert whole.total == seen.after
            shares = {share.link: share.after for share in seen.ledger}
            sizes = {part.name: part.tokens for part in whole.parts}
            assert sizes["summary"] == shares[Link.REPLACED] + shares[Link.PREFIX] == drafted.summary_tokens
            assert sizes["injected"] == shares[Link.INJECTED] == injected.tokens
            assert sizes["kept"] == shares[Link.KEPT]
            assert sizes.get("system", 0) == shares[Link.SYSTEM]
            names = [part.name for part in whole.parts]
            assert names[names.index("injected") :] == ["injected", "kept", "not in file", "estimation error"]
            assert all(part.tokens >= 0 for part in whole.parts if part.name != "estimation error")
            column = column_of(made, injected, drafted, 0.0)
            assert column.after == whole.size == f"{whole.sign}{count(whole.total)}"
            assert column.before == made.tokens.counted_before
            replaced = (
                next(part.note for part in whole.parts if part.name == "summary") if not made.nothing else ""
            )
            if replaced:
                assert replaced == f"replaces {count(column.summarised + column.prefix)}", (
                    "one figure in both places"
                )

    def test_what_is_shown_sums(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl", keep_recent=2_000) as (session, what_if):
            injected = inject(session, session.leaf, InjectionSettings(budget=1_000))
            what_if.keep_injection(what_if.injection_key, injected)
            drafted = draft(session, what_if.plan, Extractive(), injection=injected)
            what_if.keep_draft(what_if.choices.draft_key(), drafted)
            ledger = what_if.ledger()
            text = [line.text for line in plan_lines(what_if.view(), 48, UNICODE)]
            shown = [
                next(row for row in text if row[1:].startswith(f"  {part.name} ")) for part in ledger.parts
            ]
            for part, row in zip(ledger.parts, shown, strict=True):
                assert count(abs(part.tokens)) in row
            total = next(row for row in text if row.strip().startswith("total"))
            assert count(sum(part.tokens for part in ledger.parts)) in total
            head = next(row for row in text if row.startswith("Context after"))
            assert count(ledger.total) in head
            bar = text[text.index(head) + 1]
            assert cell_len(bar) == 48

    def test_nothing_to_compact_leaves_the_context_as_it_is(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 2)
        with considered(tmp_path / "s.jsonl") as (_, what_if):
            ledger = what_if.ledger()
            assert ledger.total == what_if.plan.tokens.before
            assert ledger.frees == 0

    def test_where_nothing_is_compacted_an_earlier_summary_is_not_among_what_is_kept(
        self, tmp_path: Path
    ) -> None:
        """The refusal beside it counts messages alone."""
        file = working(tmp_path / "s.jsonl", 2)
        file.entry("compaction", summary="words " * 400, firstKeptEntryId="none0000", tokensBefore=30_000)
        file.user("go on")
        file.said("done")
        with considered(tmp_path / "s.jsonl", strategy="pi") as (_, what_if):
            tokens = what_if.plan.tokens
            assert what_if.plan.nothing
            assert tokens.previous_summary > 400
            parts = {part.name: part.tokens for part in what_if.ledger().parts}
            assert (parts["summary"], parts["kept"]) == (tokens.previous_summary, tokens.kept)
            assert f"{tokens.kept:,} tokens of messages fit" in what_if.plan.why
            assert what_if.ledger().total == tokens.counted_before


class TestPlanLines:
    @pytest.mark.parametrize("width", [38, 48, 76])
    @pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
    def test_no_line_is_wider_than_the_pane(self, tmp_path: Path, width: int, glyphs: Glyphs) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl", keep_recent=2_000) as (session, what_if):
            injected = inject(session, session.leaf, InjectionSettings())
            what_if.keep_injection(what_if.injection_key, injected)
            lines = plan_lines(what_if.view(), width, glyphs)
            assert max(cell_len(line.text) for line in lines) <= width
            if glyphs is ASCII:
                assert all(line.text.isascii() for line in lines)
            keys = [line.key for line in lines if line.key]
            assert keys[:4] == ["dial:keep", "dial:reserve", "dial:window", "strategies"]
            assert "dial:budget" in keys
            assert f"section:{injected.sections[0].key}" in keys
            first, cells = track_cells(width)
            assert lines[0].text[first : first + cells].count(glyphs.knob) == 1
            # What is injected beside its sections has a line, so that the sizes add up.
            around = next(line.text.split() for line in lines if "lines around them" in line.text)
            assert int(around[-1]) == injected.envelope > 0

    def test_a_click_finds_the_column(self) -> None:
        names = [strategy.value for strategy in Strategy]
        for width in (38, 48, 76):
            found = [strategy_at(names, width, x) for x in range(width)]
            assert found[0] == -1
            assert sorted(set(found)) == [-1, 0, 1, 2]
            assert found == sorted(found)

    def test_where_nothing_is_to_be_compacted_the_reason_is_said_once(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 3)
        with considered(tmp_path / "s.jsonl", strategy="pi") as (_, what_if):
            view = what_if.view()
            assert view.plan.nothing
            text = " ".join(" ".join(line.text for line in plan_lines(view, 48, UNICODE)).split())
            assert text.count("tokens of messages fit into the 20,000 to keep") == 1

    def test_a_section_that_is_off_keeps_its_line(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl", keep_recent=2_000) as (session, what_if):
            injected = inject(session, session.leaf, InjectionSettings())
            what_if.keep_injection(what_if.injection_key, injected)
            key = next(section.key for section in injected.sections if section.shown)
            what_if.choices = what_if.choices.switched(key)
            lines = plan_lines(what_if.view(), 48, UNICODE)
            row = lines[lines.find(f"section:{key}")]
            assert row.text.startswith(UNICODE.zero)


class TestFates:
    def drafted(self, session: Session, what_if: WhatIf) -> object:
        return draft(session, what_if.plan, Extractive())

    def test_lines_by_kind_count_what_survives(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl", keep_recent=1_000) as (session, what_if):
            survival = draft(session, what_if.plan, Extractive()).survival
            lost = lost_facts(survival)
            kinds = kept_by_kind(survival)
            assert sum(whole - kept for _, kept, whole in kinds) == len(lost)
            assert [kind for kind, _, _ in kinds] == sorted(
                (k for k, _, _ in kinds), key=list(FactKind).index
            )
            weights = [fact.weight for fact in lost]
            assert weights == sorted(weights, reverse=True)
            for width, height in ((30, 12), (40, 18), (78, 40)):
                block = fate_lines(survival, [], width, height, UNICODE)
                assert max(cell_len(line.text) for line in block) <= width
                assert sum(line.key.startswith("lost:") for line in block) == len(lost)
                told = " ".join(line.text for line in block)
                assert all(PLURAL[kind] in told for kind, _, _ in kinds), "names of kinds are whole"

    def test_keys_that_pin_stand_apart_from_what_is_lost(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl", keep_recent=1_000) as (session, what_if):
            survival = draft(session, what_if.plan, Extractive()).survival
            lost = [number for number, fate in enumerate(survival.fates) if fate.status is Status.LOST]
            wrong = replace(survival.fates[lost[0]], status=Status.CONTRADICTED)
            fates = (*survival.fates[: lost[0]], wrong, *survival.fates[lost[0] + 1 :])
            survival = replace(survival, fates=fates)
            shown = set()
            for width in range(24, 60):
                block = fate_lines(survival, [], width, 12, UNICODE, keys=("p", "P"))
                text = next(line.text for line in block if "Lost" in line.text)
                said, keys = text[: text.index("contradicted") + 12], text[text.index("contradicted") + 12 :]
                assert said.split()[-2:] == ["1", "contradicted"]
                assert keys.startswith("  ") or not keys.strip()
                shown.add(keys.strip())
            assert shown == {"", "p P", "p P pin", "p pin   P pin all"}

    def test_a_pinned_fact_stays_in_its_place(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl", keep_recent=1_000) as (session, what_if):
            lost = lost_facts(draft(session, what_if.plan, Extractive()).survival)
            chosen = LostFact(
                **{name: getattr(lost[2], name) for name in LostFact.__slots__} | {"pinned": True}
            )
            again = draft(session, what_if.plan, Extractive(), pins=(chosen.pin,))
            assert chosen.text in again.summary.text
            listed = lost_facts(again.survival, [chosen])
            place = next(at for at, fact in enumerate(listed) if fact.pinned)
            assert all(fact.weight >= chosen.weight for fact in listed[:place])
            assert sum(fact.pin == chosen.pin for fact in listed) == 1

    def test_without_a_summary_nothing_is_claimed(self) -> None:
        assert "no summary yet" in fate_lines(None, [], 60, 10, UNICODE)[0].text
        assert fate_lines(None, [], 60, 10, UNICODE, waiting=True)[0].text.endswith("counting facts")


class TestTexts:
    def test_summary_lines_know_their_sources(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl", keep_recent=1_000) as (session, what_if):
            summary = draft(session, what_if.plan, Extractive()).summary
            block = summary_lines(summary.text, 40, UNICODE, summary=summary)
            assert max(cell_len(line.text) for line in block) <= 40
            assert any(line.entry >= 0 for line in block)
            assert block[0].spans[0].ink == "strong_memory"
            writing = summary_lines("one", 40, UNICODE, writing=True)
            assert writing[0].text == "one" + UNICODE.caret

    def test_hostile_text_is_made_safe(self) -> None:
        block = summary_lines("a\x1b]52;c;x\x07 [/nope] b\u202e", 40, UNICODE)
        assert "\x1b" not in block[0].text
        assert "\u202e" not in block[0].text
        assert "[/nope]" in block[0].text

    @pytest.mark.parametrize("width", [24, 33, 34, 78])
    def test_price_and_size_of_a_request_stand_apart(self, width: int) -> None:
        requests = [("update", "You write.", "All of it.", 887)]
        block = prompt_lines(requests, 887, None, {}, (), width, UNICODE)
        head = [line.text for line in block[:2]]
        assert all(cell_len(text) <= width for text in head)
        assert " ".join(head[0].split()).startswith("1 request 887 tokens")
        assert "tokens  " in head[0] or head[1] == "price not known"

    def test_requests_are_named_in_words(self) -> None:
        assert request_words("turn prefix") == "beginning of the split turn"
        assert request_words("openai/x: update, part 2") == "openai/x: update of the earlier summary, part 2"
        assert request_words("the answer of openai/x ended early; again in 4 s, attempt 4 of 4").startswith(
            "the"
        )

    def test_a_path_that_is_too_long_for_a_line_is_broken_between_its_parts(self, tmp_path: Path) -> None:
        path = "packages/coding-agent/src/modes/interactive/interactive-mode.ts"
        file = Acting(tmp_path / "s.jsonl")
        file.user("go")
        file.said(call("edit", "e", path=path, oldText="a", newText="b"))
        file.answered("e", "edit")
        with reading(file.path) as session:
            block = injected_lines(inject(session, session.leaf, InjectionSettings()), 50, UNICODE, on=True)
            lines = [line.text.split("  #")[0].strip() for line in block]
            at = next(at for at, line in enumerate(lines) if line.startswith("- packages/"))
            assert "-" not in lines
            assert lines[at].endswith("/")
            assert lines[at].removeprefix("- ") + lines[at + 1] == path

    def test_injected_lines_name_where_they_come_from(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl") as (session, _):
            injected = inject(session, session.leaf, InjectionSettings())
            block = injected_lines(injected, 60, UNICODE, on=True)
            about = "Injected context: files, rules and last actions that go with the summary"
            assert about in " ".join(line.text for line in block)
            words = " ".join(
                " ".join(line.text for line in injected_lines(injected, 30, UNICODE, on=True)).split()
            )
            assert all(
                word in words for line in injected.lines for word in line.text.split() if len(word) < 20
            )
            assert any(line.entry >= 0 for line in block)
            off = injected_lines(injected, 60, UNICODE, on=False)
            assert len(off) == 1


class TestRuns:
    def test_two_runs_are_held_against_each_other(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl", keep_recent=1_000) as (session, what_if):
            runs: list[Run] = []
            for keep in (500, 4_000):
                what_if.choices = what_if.choices.keeping(keep)
                what_if.replan()
                made = draft(session, what_if.plan, Extractive())
                runs.append(run_of(made, what_if.choices))
            facts = FactsKept(runs)
            for width in (58, 78, 118):
                lines = run_lines(runs, 0, width, UNICODE)
                assert {cell_len(line.text) for line in lines} == {width}
                assert lines[0].text.startswith("A 1 pi")
            for line, run in zip(run_lines(runs, 0, 118, UNICODE), runs, strict=True):
                overall = sure(run.survival.overall())
                assert f" {percent(overall, 1.0)} " in line.text, "the figure that the lab shows of it"
            there = sure(runs[1].draft)
            remarks = (f"{there.summary.summarizer} did not keep to the sections that it was asked for",)
            odd = replace(runs[1], draft=replace(there, summary=replace(there.summary, remarks=remarks)))
            for width in (58, 78, 118):
                shown = [line.text for line in run_lines([runs[0], odd], 0, width, UNICODE)]
                assert {cell_len(text) for text in shown} == {width}
                assert ("did not keep to the sections" in shown[1]) == (width == 118)
                assert "did not keep" not in shown[0]
            table = difference(facts, 0, 1, 60)
            assert max(cell_len(line.text) for line in table) <= 60
            assert "paths" in table[1].text
            assert "of both spans" in table[0].text
            for line in table[1:]:
                first, second = re.findall(r"(\d+) of (\d+)", line.text)
                assert first[1] == second[1], "both are held against the same facts"

    def test_two_exams_are_held_against_each_other(self) -> None:
        fact = Fact(FactKind.PATH, "a", "a", EntryIndex(0), Voice.USER)

        def graded(topic: Topic, place: AnswerPlace) -> Graded:
            return Graded(Question(topic, "?", (Answer("a", fact),) * 2, 0, EntryIndex(0)), place)

        first = Exam((graded(Topic.LIMIT, AnswerPlace.NOWHERE), graded(Topic.NEXT_STEP, AnswerPlace.KEPT)))
        second = Exam((graded(Topic.LIMIT, AnswerPlace.SUMMARY),))
        for width in (39, 60):
            lines = [line.text.split() for line in exam_difference(first, second, width)]
            assert lines == [
                ["exam", "A", "B"],
                ["in", "all", "1", "of", "2", "1", "of", "1"],
                ["rule", "0", "of", "1", "1", "of", "1"],
                ["next", "step", "1", "of", "1"],
            ]
        assert exam_difference(first, None, 40)[1].text == "grading"
        assert exam_difference(Exam(()), Exam(()), 40)[1].text.strip() == "nothing to ask"

    def test_what_a_run_keeps_as_it_is_counts_as_kept(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl", keep_recent=1_000) as (session, what_if):
            made = draft(session, what_if.plan, Extractive())
            run = run_of(made, what_if.choices)
            fates = run.survival.fates
            half = replace(run, survival=replace(run.survival, fates=fates[: len(fates) // 2]))
            facts = FactsKept([run, half])
            known = facts.of_all()
            lost = [fate for fate in fates[len(fates) // 2 :] if fate.status not in SURVIVED]
            assert lost
            assert facts.after(1, known) > facts.after(0, known), "what it did not replace is still there"
            assert not facts.same_span(0, 1)

    def test_facts_and_cost_of_a_column_are_of_the_same_summariser(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl", keep_recent=1_000) as (_, what_if):
            what_if.costs["some/model"] = 0.25
            what_if.choices = replace(what_if.choices, summarizer="some/model")
            columns = {strategy: what_if.column(strategy) for strategy in Strategy}
            chosen = columns.pop(what_if.choices.strategy)
            assert (chosen.cost, chosen.by_model) == (0.25, True)
            assert {(column.cost, column.by_model) for column in columns.values()} == {(0.0, False)}
            block = plan_lines(what_if.view(), 52, UNICODE)
            said = [line.text for line in block]
            assert any("summary by" in text and "model" in text and "local" in text for text in said)
