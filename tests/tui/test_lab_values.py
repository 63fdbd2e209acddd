"""The compaction lab without a screen: choices, sliders, rows of the path, ledger and columns, what survives."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from leafward.compaction import ALL_ESTIMATORS, PlanSettings, Strategy, measure, plan
from leafward.compaction.cuts import IllegalCut
from leafward.compaction.run import draft
from leafward.config import Config
from leafward.facts import FactKind
from leafward.injection import InjectionSettings, inject
from leafward.session import Session
from leafward.summarizers.extractive import Extractive
from leafward.survival import SURVIVED
from leafward_tui.cells import cell_len, count
from leafward_tui.glyphs import ASCII, UNICODE
from leafward_tui.lab.choices import Choices
from leafward_tui.lab.cut_lines import CutLines, neighbours
from leafward_tui.lab.fates import LostFact, fate_lines, kept_by_kind, lost_facts
from leafward_tui.lab.ledger import column_of, ledger_of
from leafward_tui.lab.plan_lines import plan_lines, strategy_at, track_cells
from leafward_tui.lab.runs import FactsKept, Run, difference, run_lines
from leafward_tui.lab.sliders import Dial, Slider, nice_step
from leafward_tui.lab.texts import injected_lines, summary_lines
from leafward_tui.lab.turns import CutRows, Fate, PathTurns, RowKind
from leafward_tui.screens.lab import work
from tests.acting import Acting, call, usage
from tests.tui.explored import forked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward_tui.glyphs import Glyphs
    from leafward_tui.lab.what_if import WhatIf


def working(path: Path, turns: int = 30) -> Acting:
    """Turns that read a file and run a command; the last reply reports its usage."""
    file = Acting(path)
    for turn in range(turns):
        file.user(f"prompt {turn}: keep the retry budget at {turn + 3} tries in src/queue_{turn}.py")
        file.said(
            f"Looking at src/queue_{turn}.py.",
            call("read", f"r{turn}", path=f"src/queue_{turn}.py"),
            call("bash", f"b{turn}", command=f"make test-{turn}"),
        )
        file.answered(f"r{turn}", "read", f"def queue_{turn}(): ...\n" * 40)
        file.answered(f"b{turn}", "bash", f"{turn} passed\n" * 10)
        tokens = usage(30_000) if turn == turns - 1 else None
        file.said(f"Done with {turn}: because the lease is 30 s, I decided to keep it.", tokens=tokens)
    return file


@contextmanager
def considered(path: Path, **asked: object) -> Iterator[tuple[Session, WhatIf]]:
    """A what-if at the leaf."""
    session = Session.open(path)
    try:
        what_if = work.begin(session, session.leaf, -1, Config(**asked))  # type: ignore[arg-type]  # fields of Config
        yield session, what_if
    finally:
        session.close()


class TestSliders:
    def test_steps_go_to_round_values_and_stop_at_the_ends(self) -> None:
        slider = Slider(Dial.KEEP, 20_130, 40_000, 1_000, 100)
        assert slider.stepped(1) == 21_000
        assert slider.stepped(-1) == 20_000
        assert slider.stepped(1, fine=True) == 20_200
        assert slider.stepped(-1, fine=True) == 20_100
        assert Slider(Dial.KEEP, 40_000, 40_000, 1_000, 100).stepped(1) == 40_000
        assert Slider(Dial.KEEP, 300, 40_000, 1_000, 100).stepped(-1) == 0
        assert Slider(Dial.WINDOW, 1_000, 40_000, 5_000, 100, least=1_000).stepped(-1) == 1_000

    @pytest.mark.parametrize("width", [4, 17, 60])
    def test_a_cell_gives_the_value_whose_knob_stands_there(self, width: int) -> None:
        slider = Slider(Dial.KEEP, 0, 60_000, 1_000, 100)
        for cell in range(width):
            value = slider.value_at(cell, width)
            assert Slider(Dial.KEEP, value, 60_000, 1_000, 100).cell(width) == cell
        assert slider.value_at(-5, width) == 0
        assert slider.value_at(width + 5, width) == 60_000

    @pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
    def test_the_track_has_a_knob_and_ticks(self, glyphs: Glyphs) -> None:
        slider = Slider(Dial.KEEP, 30, 60, 1, 1)
        text = "".join(span.text for span in slider.track(21, [6, 45, 60, 900], glyphs))
        assert cell_len(text) == 21
        assert [at for at, sign in enumerate(text) if sign == glyphs.knob] == [10]
        assert text[2] == glyphs.stop_done
        assert text[15] == glyphs.stop
        # What lies at the end or beyond it has no tick.
        assert text[20] == glyphs.track

    def test_round_steps(self) -> None:
        assert [nice_step(most) for most in (40, 50, 60_000, 100_000, 1_000_000)] == [
            1,
            1,
            2_000,
            2_000,
            20_000,
        ]


class TestChoices:
    def test_each_strategy_keeps_its_own_budgets(self) -> None:
        choices = Choices.of(Config(keep_recent=9_000, reserve=1_000), 100_000)
        assert choices.settings().budget == 9_000
        assert (
            choices.settings(Strategy.OPENCODE).budget
            == PlanSettings(Strategy.OPENCODE, window=100_000).budget
        )
        other = choices.by(Strategy.CODEX).keeping(500)
        assert other.settings(Strategy.PI).budget == 9_000
        assert other.settings().budget == 500

    def test_a_draft_is_known_by_all_it_was_made_with(self) -> None:
        choices = Choices.of(Config(), 200_000)
        others = [
            choices.keeping(5),
            choices.reserving(5),
            choices.by(Strategy.CODEX),
            choices.pinned("a fact"),
            choices.switched("pins"),
            Choices.of(Config(strategy="opencode"), 200_000),
            Choices.of(Config(injection_budget=5), 200_000),
        ]
        keys = [one.draft_key() for one in (choices, *others)]
        assert len(set(keys)) == len(keys)
        assert choices.pinned("a fact").pinned("a fact") == choices
        assert choices.switched("pins").switched("pins") == choices

    def test_the_cut_of_one_strategy_is_not_taken_along(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl")
        with considered(tmp_path / "s.jsonl", keep_recent=2_000) as (_, what_if):
            what_if.choices = what_if.cutting(what_if.beside(1))
            assert what_if.choices.settings().cut is not None
            assert what_if.choices.settings(Strategy.OPENCODE).cut is None
            assert what_if.choices.by(Strategy.OPENCODE).settings().cut is None


class TestCuts:
    def test_the_next_cuts_are_legal_and_keep_less(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 8)
        with considered(tmp_path / "s.jsonl", keep_recent=1_500) as (_, what_if):
            kept = [what_if.plan.tokens.kept]
            while (position := what_if.beside(1)) >= 0:
                what_if.choices = what_if.cutting(position)
                what_if.replan()
                assert what_if.cut == position
                kept.append(what_if.plan.tokens.kept)
            assert len(kept) > 4
            assert all(one > other for one, other in pairwise(kept))
            assert what_if.slider(Dial.KEEP).value == kept[-1]
            while (position := what_if.beside(-1)) >= 0:
                what_if.choices = what_if.cutting(position)
                what_if.replan()
            assert what_if.plan.tokens.kept > kept[0]

    def test_an_illegal_cut_says_why(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 8)
        with considered(tmp_path / "s.jsonl", keep_recent=500) as (_, what_if):
            result = what_if.sizes.results[-1]
            with pytest.raises(IllegalCut, match="a result without its call"):
                what_if.cutting(result)
            what_if.choices = what_if.choices.by(Strategy.CODEX)
            what_if.replan()
            assert what_if.beside(1) == -1
            with pytest.raises(IllegalCut, match="keeps no tail"):
                what_if.cutting(what_if.sizes.cuts[3])

    def test_ticks_are_what_legal_cuts_keep(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 30)
        with considered(tmp_path / "s.jsonl", keep_recent=2_000) as (_, what_if):
            ticks = what_if.ticks()
            assert len(ticks) == 29  # one for each turn but the first: mid-turn cuts would be a comb
            for tokens in ticks:
                made = plan(what_if.sizes, PlanSettings(keep_recent=tokens))
                assert made.tokens.kept == tokens
                assert not made.split_turn

    def test_the_places_below_are_named_with_their_rule(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 8)
        with considered(tmp_path / "s.jsonl", keep_recent=500) as (_, what_if):
            what_if.choices = what_if.cutting(what_if.sizes.cuts[-2])
            what_if.replan()
            found = neighbours(what_if.turns, what_if.plan, what_if.cut, 40, UNICODE, 4)
            assert [line.text.split()[-1] for line in found] == ["illegal", "illegal", "legal"]
            assert "result without its call" in found[0].text
            assert all(cell_len(line.text) == 40 for line in found)


class TestRows:
    def rows(self, what_if: WhatIf, height: int = 20, *, opened: bool = False) -> list[tuple[RowKind, int]]:
        made = CutRows(what_if.turns, what_if.plan, height, opened=opened)
        return [(row.kind, row.count) for row in map(made.row, range(len(made)))]

    @pytest.mark.parametrize("keep", [200, 900, 2_000, 4_000, 9_000])
    @pytest.mark.parametrize("height", [8, 14, 20, 60])
    def test_every_message_stands_in_one_row_and_the_cut_between(
        self, tmp_path: Path, keep: int, height: int
    ) -> None:
        working(tmp_path / "s.jsonl", 30)
        with considered(tmp_path / "s.jsonl", keep_recent=keep) as (_, what_if):
            made = CutRows(what_if.turns, what_if.plan, height)
            seen: list[int] = []
            for y in range(len(made)):
                row = made.row(y)
                if row.kind is RowKind.CUT:
                    assert y == made.cut_y
                    assert not seen or seen[-1] < made.cut
                    continue
                spoken = what_if.turns.messages(row.first, row.stop)
                fates = {made.fate(row)}
                expected = {
                    Fate.KEPT if at >= made.cut else Fate.PREFIX if at >= made.history else Fate.SUMMARISED
                    for at in spoken
                }
                assert fates == expected, (row, fates)
                seen += spoken
            assert seen == list(what_if.sizes.spoken)
            assert len(made) <= max(height, 16)

    def test_rows_sum_to_what_the_plan_says(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 30)
        with considered(tmp_path / "s.jsonl", keep_recent=2_000) as (_, what_if):
            made = CutRows(what_if.turns, what_if.plan, 18)
            sums = dict.fromkeys(Fate, 0)
            for row in map(made.row, range(len(made))):
                if row.kind is not RowKind.CUT:
                    sums[made.fate(row)] += what_if.turns.tokens(row.first, row.stop, what_if.plan.estimator)
            tokens = what_if.plan.tokens
            assert sums == {
                Fate.SUMMARISED: tokens.summarize,
                Fate.PREFIX: tokens.turn_prefix,
                Fate.KEPT: tokens.kept,
            }

    def test_unfolded_every_turn_has_a_row(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 30)
        with considered(tmp_path / "s.jsonl", keep_recent=2_000) as (_, what_if):
            folded, opened = self.rows(what_if), self.rows(what_if, opened=True)
            assert any(kind is RowKind.TURNS for kind, _ in folded)
            assert not any(kind in (RowKind.TURNS, RowKind.MESSAGES) for kind, _ in opened)
            assert sum(kind is RowKind.TURN for kind, _ in opened) in (29, 30)

    def test_branches_that_leave_the_path_are_shown(self, tmp_path: Path) -> None:
        file = forked(tmp_path / "s.jsonl")
        with considered(tmp_path / "s.jsonl", keep_recent=20) as (session, what_if):
            made = CutRows(what_if.turns, what_if.plan, 20)
            branches = [row for row in map(made.row, range(len(made))) if row.kind is RowKind.BRANCH]
            assert [session.columns.id(row.entry) for row in branches] == [file.prompts["x"]]

    def test_lines_are_as_wide_as_the_pane(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 30)
        for strategy in Strategy:
            with considered(tmp_path / "s.jsonl", keep_recent=2_000, strategy=strategy) as (session, what_if):
                words = work.worded(session, range(len(session)), lambda: False)
                for width in (24, 38, 90):
                    made = CutRows(what_if.turns, what_if.plan, 20, carried=True)
                    lines = CutLines(made, session.columns.kind, words.get, width, UNICODE)
                    assert {cell_len(lines[y].text) for y in range(len(lines))} == {width}
                    unknown = CutLines(made, session.columns.kind, lambda _entry: None, width, UNICODE)
                    assert {cell_len(unknown[y].text) for y in range(len(unknown))} == {width}

    def test_nothing_to_compact_keeps_all_and_has_no_cut(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 2)
        with considered(tmp_path / "s.jsonl") as (_, what_if):
            made = CutRows(what_if.turns, what_if.plan, 20)
            assert what_if.plan.nothing
            assert made.cut_y == -1
            assert [made.fate(made.row(y)) for y in range(len(made))] == [Fate.KEPT, Fate.KEPT]
            # A cut can be asked for all the same.
            what_if.choices = what_if.cutting(what_if.beside(1))
            what_if.replan()
            assert not what_if.plan.nothing


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
            assert bare.total == sum(part.tokens for part in bare.parts) == made.tokens.after
            whole = ledger_of(made, injected, drafted)
            assert whole.total == sum(part.tokens for part in whole.parts) == drafted.tokens_after
            assert [part.name for part in whole.parts][-2:] == ["injected", "kept"]
            assert all(part.tokens >= 0 for part in whole.parts)
            column = column_of(made, injected, drafted, 0.0)
            assert column.after == whole.total
            assert column.before == made.tokens.before

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
                assert count(part.tokens) in row
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

    def test_a_click_finds_the_column(self) -> None:
        names = [strategy.value for strategy in Strategy]
        for width in (38, 48, 76):
            found = [strategy_at(names, width, x) for x in range(width)]
            assert found[0] == -1
            assert sorted(set(found)) == [-1, 0, 1, 2]
            assert found == sorted(found)

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

    def test_injected_lines_name_where_they_come_from(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl") as (session, _):
            injected = inject(session, session.leaf, InjectionSettings())
            block = injected_lines(injected, 60, UNICODE, on=True)
            assert len(block) == len(injected.text.split("\n"))
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
                runs.append(work.run_of(made, what_if.choices))
            facts = FactsKept(runs)
            shares = facts.shares()
            for width in (58, 78, 118):
                lines = run_lines(runs, shares, 0, width, UNICODE)
                assert {cell_len(line.text) for line in lines} == {width}
                assert lines[0].text.startswith("A 1 pi")
            table = difference(facts, 0, 1, 60)
            assert max(cell_len(line.text) for line in table) <= 60
            assert "paths" in table[1].text
            assert "of both spans" in table[0].text
            for line in table[1:]:
                first, second = re.findall(r"(\d+) of (\d+)", line.text)
                assert first[1] == second[1], "both are held against the same facts"

    def test_what_a_run_keeps_as_it_is_counts_as_kept(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl", keep_recent=1_000) as (session, what_if):
            made = draft(session, what_if.plan, Extractive())
            run = work.run_of(made, what_if.choices)
            fates = run.survival.fates
            half = replace(run, survival=replace(run.survival, fates=fates[: len(fates) // 2]))
            facts = FactsKept([run, half])
            whole, less = facts.shares()
            assert whole is not None
            assert less is not None
            assert whole == pytest.approx(run.survival.overall(), abs=1e-3)
            lost = [fate for fate in fates[len(fates) // 2 :] if fate.status not in SURVIVED]
            assert lost
            assert less > whole, "what it did not replace is still there"
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
            assert any("summary by" in text and "model" in text and "quotes" in text for text in said)


def test_all_estimators_are_measured(tmp_path: Path) -> None:
    working(tmp_path / "s.jsonl", 4)
    with considered(tmp_path / "s.jsonl") as (session, what_if):
        assert set(what_if.sizes.counts) == set(ALL_ESTIMATORS)
        again = PathTurns(measure(session))
        assert len(again) == len(what_if.turns)
