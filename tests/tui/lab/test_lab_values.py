"""The compaction lab without a screen: sliders, choices, cuts and the rows of the path."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from leafward.agents.model_window import context_window
from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.base.strategies import Strategy
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.onset import onset
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.strategies.by_name import ALL_ESTIMATORS
from leafward.compaction.strategies.cut_rules import IllegalCut
from leafward.context.entry_metrics import EntryMetrics
from leafward.context.model_context import context_at
from leafward.session.headlines.entry_headline import headline
from leafward.session.session import Session
from leafward_tui.lab.controllers.path import begin
from leafward_tui.lab.controllers.turns import worded
from leafward_tui.lab.model.choices import Choices
from leafward_tui.lab.model.cut_lines import CutLines, cut_words, neighbours, why_lines
from leafward_tui.lab.model.ledger import Ledger, LedgerPart, ledger_of
from leafward_tui.lab.model.plan_lines import after_lines, plan_lines
from leafward_tui.lab.model.sliders import Dial, Slider, nice_step
from leafward_tui.lab.model.turns import CutRows, Fate, PathTurns, RowKind
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE
from leafward_tui.ui.text.cells import count
from tests.acting import usage
from tests.claude_transcript import DATA
from tests.foreign_sessions import opened_by
from tests.tui.considered import considered, working
from tests.tui.explored import forked
from tests.tui.sure import sure
from tests.tui.waiting_jobs import WANTED

if TYPE_CHECKING:
    from pathlib import Path

    from leafward_tui.lab.model.what_if import WhatIf
    from leafward_tui.ui.appearance.glyphs import Glyphs


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
            replace(choices, pins=("a fact",)),
            choices.switched("pins"),
            Choices.of(Config(strategy="opencode"), 200_000),
            Choices.of(Config(injection_budget=5), 200_000),
        ]
        keys = [one.draft_key() for one in (choices, *others)]
        assert len(set(keys)) == len(keys)
        assert choices.switched("pins").switched("pins") == choices

    def test_the_threshold_is_that_of_the_sessions_own_agent(self) -> None:
        """The lab, the gauge and `leafward plan` name one size at which Claude Code compacts."""
        path = next((DATA / "2.1.330" / "projects").glob("*/*.jsonl"))
        session = opened_by(agent_named("claude"), path)
        context = context_at(session, session.leaf)
        shown = sure(onset(context, context_window(session, context, Config()), Config()))
        what_if = begin(session, session.leaf, -1, Config())
        trigger = what_if.plan.trigger
        assert (trigger.threshold, trigger.about) == (shown.tokens, True)
        assert what_if.slider(Dial.RESERVE).value == trigger.window - shown.tokens
        assert (
            what_if.plan_of(Strategy.CODEX).trigger
            == plan(what_if.sizes, PlanSettings(Strategy.CODEX, window=trigger.window)).trigger
        )
        more = what_if.sliding(Dial.RESERVE, trigger.reserve + 5_000).settings()
        assert (more.free, more.onset) == (trigger.reserve + 5_000, None)
        wider = what_if.sliding(Dial.WINDOW, trigger.window + 100_000).settings()
        assert wider.usable == shown.tokens + 100_000
        session.close()

    def test_the_cut_of_one_strategy_is_not_taken_along(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl")
        with considered(tmp_path / "s.jsonl", keep_recent=2_000) as (_, what_if):
            what_if.choices = what_if.cutting(what_if.next_cut(1))
            assert what_if.choices.settings().cut is not None
            assert what_if.choices.settings(Strategy.OPENCODE).cut is None
            assert what_if.choices.by(Strategy.OPENCODE).settings().cut is None


class TestCuts:
    def test_the_next_cuts_are_legal_and_keep_less(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 8)
        with considered(tmp_path / "s.jsonl", keep_recent=1_500) as (_, what_if):
            kept = [what_if.plan.tokens.kept]
            while (position := what_if.next_cut(1)) >= 0:
                what_if.choices = what_if.cutting(position)
                what_if.replan()
                assert what_if.cut == position
                kept.append(what_if.plan.tokens.kept)
            assert len(kept) > 4
            assert all(one > other for one, other in pairwise(kept))
            assert what_if.slider(Dial.KEEP).value == kept[-1]
            while (position := what_if.next_cut(-1)) >= 0:
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
            assert what_if.next_cut(1) == -1
            with pytest.raises(IllegalCut, match="keeps only the user's messages"):
                what_if.cutting(what_if.sizes.cuts[3])

    def test_a_value_that_was_lowered_can_be_raised_again(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 4)
        with considered(tmp_path / "s.jsonl") as (_, what_if):
            usual = what_if.slider(Dial.KEEP).value
            what_if.choices = what_if.choices.keeping(usual // 2)
            what_if.replan()
            slider = what_if.slider(Dial.KEEP)
            assert slider.value < usual <= slider.most
            assert slider.stepped(1) > slider.value

    def test_sizes_are_provisional_while_summaries_are_made(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 30)
        with considered(tmp_path / "s.jsonl", keep_recent=2_000) as (_, what_if):

            def row(waiting: frozenset[Strategy]) -> str:
                block = plan_lines(what_if.view(waiting=waiting), 44, UNICODE)
                return next(line.text for line in block if line.text.startswith("after"))

            assert row(frozenset(Strategy)).count("…") == 3
            assert row(frozenset()).count("…") == 0

    def test_an_agent_without_rules_has_no_column_and_is_told_why(self) -> None:
        path = next((DATA / "2.1.330" / "projects").glob("*/*.jsonl"))
        session = opened_by(agent_named("claude"), path)
        what_if = begin(session, session.leaf, -1, Config())
        text = "\n".join(line.text for line in plan_lines(what_if.view(), 44, UNICODE))
        assert "No column for Claude Code: what it" in text
        assert "pi's rules are used." in text

    def test_ticks_are_what_legal_cuts_keep(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 30)
        with considered(tmp_path / "s.jsonl", keep_recent=2_000) as (_, what_if):
            ticks = what_if.ticks()
            assert len(ticks) == 29  # one for each turn but the first: mid-turn cuts would be a comb
            for tokens in ticks:
                made = plan(what_if.sizes, PlanSettings(keep_recent=tokens))
                assert made.tokens.kept == tokens
                assert not made.split_turn

    def test_turns_have_the_numbers_of_the_path(self, tmp_path: Path) -> None:
        file = working(tmp_path / "s.jsonl", 4)
        file.entry("compaction", summary="so far", firstKeptEntryId="none0000", tokensBefore=9_000)
        file.user("the fifth prompt")
        file.said("done")
        with considered(file.path) as (session, what_if):
            turns = what_if.turns
            for position, entry in enumerate(turns.sizes.entries):
                assert turns.number_of(position) == session.tree.prompts_upto(entry)
            assert turns.number_of(len(turns.sizes) - 1) == 5

    def test_the_places_below_are_named_with_their_rule(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 8)
        with considered(tmp_path / "s.jsonl", keep_recent=500) as (_, what_if):
            what_if.choices = what_if.cutting(what_if.sizes.cuts[-2])
            what_if.replan()
            found = neighbours(what_if.turns, what_if.plan, what_if.cut, 40, UNICODE, 4)
            assert [line.text.endswith("no cut") for line in found] == [True, True, False]
            assert "  keeps " in found[2].text
            assert "result without call" in found[0].text
            assert all(cell_len(line.text) == 40 for line in found)
            narrow = neighbours(what_if.turns, what_if.plan, what_if.cut, 36, UNICODE, 4)
            assert all("…" not in line.text for line in narrow)


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
                    sums[made.fate(row)] += what_if.turns.tokens(row.first, row.stop, what_if.plan.shown)
            tokens = what_if.plan.tokens
            assert sums == {
                Fate.SUMMARISED: tokens.summarize,
                Fate.PREFIX: tokens.turn_prefix,
                Fate.KEPT: tokens.kept,
            }

    @pytest.mark.parametrize("strategy", list(Strategy))
    def test_a_turn_has_the_size_that_the_tree_gives_it(self, tmp_path: Path, strategy: Strategy) -> None:
        file = working(tmp_path / "s.jsonl", 4)
        file.user("Zähle die Äpfel „genau“ – " + "ä" * 400)
        file.said("Drei Äpfel ✓ " + "ü" * 4_000, tokens=usage(30_000))
        with considered(file.path, strategy=strategy.value) as (session, what_if):
            turns = what_if.turns
            begins = [what_if.sizes.entries[first] for first in turns.first]
            metrics = EntryMetrics(session)
            metrics.fill(session, range(len(session)))
            ends = [*begins[1:], len(session)]
            tree = [metrics.sum([range(*pair)]).tokens for pair in zip(begins, ends, strict=True)]
            rows = CutRows(turns, what_if.plan, 20, opened=True)
            drawn = CutLines(rows, session.columns.kind, partial(headline, session), 80, UNICODE)
            sizes = [drawn[y].text.split()[-1] for y in range(len(rows)) if rows.row(y).kind is RowKind.TURN]
            assert sizes == [count(size) for size in tree]

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
                words = worded(session, range(len(session)), WANTED)
                for width in (24, 38, 90):
                    made = CutRows(what_if.turns, what_if.plan, 20, carried=True)
                    lines = CutLines(made, session.columns.kind, words.get, width, UNICODE)
                    assert {cell_len(lines[y].text) for y in range(len(lines))} == {width}
                    unknown = CutLines(made, session.columns.kind, lambda _entry: None, width, UNICODE)
                    assert {cell_len(unknown[y].text) for y in range(len(unknown))} == {width}

    def test_a_turn_that_an_edit_changed_says_so(self, tmp_path: Path) -> None:
        made = working(tmp_path / "s.jsonl", 3)
        long = made.user("look at this: " + "x" * 4_000)
        made.said("seen")
        content = [{"type": "text", "text": "(a long text)"}]
        made.entry("context_edit", targetId=long, replacement={"content": content})
        with considered(tmp_path / "s.jsonl") as (session, what_if):
            rows = CutRows(what_if.turns, what_if.plan, 20)
            lines = CutLines(rows, session.columns.kind, partial(headline, session), 60, UNICODE)
            marked = [lines[y].text for y in range(len(lines)) if "≠ edited" in lines[y].text]
        assert len(marked) == 1
        assert "look at this" in marked[0]

    def test_nothing_to_compact_keeps_all_and_has_no_cut(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 2)
        with considered(tmp_path / "s.jsonl") as (_, what_if):
            made = CutRows(what_if.turns, what_if.plan, 20)
            assert what_if.plan.nothing
            tokens, same = what_if.plan.tokens, ledger_of(what_if.plan, None, None)
            assert same.size == f"{tokens.before_sign}{count(tokens.counted_before)}" == count(same.total), (
                "what stays as it is was counted"
            )
            assert made.cut_y == -1
            assert [made.fate(made.row(y)) for y in range(len(made))] == [Fate.KEPT, Fate.KEPT]
            below = why_lines(what_if.turns, made, 78, 8, UNICODE)
            text = " ".join(below[y].text for y in range(len(below)))
            assert "nothing to compact" in text, "where only this tab is seen"
            # A cut can be asked for all the same.
            what_if.choices = what_if.cutting(what_if.next_cut(1))
            what_if.replan()
            assert not what_if.plan.nothing


def test_all_estimators_are_measured(tmp_path: Path) -> None:
    working(tmp_path / "s.jsonl", 4)
    with considered(tmp_path / "s.jsonl") as (session, what_if):
        assert set(what_if.sizes.counts) == set(ALL_ESTIMATORS)
        again = PathTurns(measure(session))
        assert len(again) == len(what_if.turns)


class TestAnOlderTurn:
    """The lab opened above the leaf."""

    def lines(self, path: Path, at: int) -> list[str]:
        with closing(Session.open(path)) as session:
            what_if = begin(session, at, -1, Config(keep_recent=20))
            rows = CutRows(what_if.turns, what_if.plan, 20, opened=True)
            lines = CutLines(rows, session.columns.kind, partial(headline, session), 80, UNICODE)
            return [lines[y].text for y in range(len(lines))]

    def test_has_no_leaf_and_says_where_the_path_goes_on(self, tmp_path: Path) -> None:
        made = working(tmp_path / "s.jsonl", 4)
        made.user("and on")
        made.said("done")
        with closing(Session.open(made.path)) as session:
            leaf, older = session.leaf, session.columns.parent[session.columns.parent[session.leaf]]
        here, there = self.lines(made.path, leaf), self.lines(made.path, older)
        assert sum("◎" in line for line in here) == 1
        assert not any("goes on" in line for line in here)
        assert not any("◎" in line for line in there)
        assert [line.split()[1:6] for line in there if "goes on" in line] == [
            ["the", "path", "goes", "on", "and"]
        ]

    def test_draws_the_path_as_no_branch(self, tmp_path: Path) -> None:
        file = forked(tmp_path / "s.jsonl")
        with closing(Session.open(file.path)) as session:
            fork = session.tree.content_at(session.columns.parent[session.columns.index(file.prompts["x"])])
        shown = self.lines(file.path, fork)
        assert sum("the path goes on" in line for line in shown) == 1
        assert sum("─▸" in line for line in shown) == 1, "the branch alone"


def test_the_cut_says_why_it_keeps_less_than_was_asked_for(tmp_path: Path) -> None:
    working(tmp_path / "s.jsonl", 30)
    with considered(tmp_path / "s.jsonl", keep_recent=1_500) as (_, what_if):
        rows = CutRows(what_if.turns, what_if.plan, 20)
        assert what_if.plan.tokens.kept < 1_500
        assert " of 1.5k: nearest cut" in cut_words(what_if.plan, rows, 60)
        assert cut_words(what_if.plan, rows, 32) == " keeps 1.4k of 1.5k: nearest cut"
        what_if.choices = what_if.cutting(what_if.next_cut(1))
        what_if.replan()
        chosen = CutRows(what_if.turns, what_if.plan, 20)
        assert "nearest cut" not in cut_words(what_if.plan, chosen, 60), "it was asked for"


def test_the_bar_of_the_plan_has_the_scale_of_the_window() -> None:
    half = Ledger(
        (
            LedgerPart("kept", 80, ""),
            LedgerPart("not in file", 20, ""),
        ),
        150,
        200,
    )
    bar = after_lines(half, 40, UNICODE)[1].text
    assert bar == "█" * 16 + "▒" * 4 + "░" * 20
