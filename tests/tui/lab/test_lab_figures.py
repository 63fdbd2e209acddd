"""Figures of the lab agree with each other: ledger, slider, cut and fates; and what it says where nothing can be done."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.injection.injection import inject
from leafward.compaction.injection.values import InjectionSettings
from leafward.session.entries import EntryIndex
from leafward.session.session import Session
from leafward.summaries.facts.values import Fact, FactKind, Voice
from leafward.summaries.fates.report import SURVIVED, Fate, Status, Survival
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward_tui.inspector.model.compaction_outcome import survival_lines
from leafward_tui.inspector.model.sheet import Sheet
from leafward_tui.inspector.page_request import PageRequest
from leafward_tui.inspector.tab import Tab
from leafward_tui.lab.model.cut_lines import CutLines
from leafward_tui.lab.model.fates import fate_lines
from leafward_tui.lab.model.plan_lines import plan_lines
from leafward_tui.lab.model.sliders import Dial, Slider
from leafward_tui.lab.model.turns import CutRows
from leafward_tui.ui.appearance.glyphs import UNICODE
from tests.acting import usage
from tests.tui.considered import considered, considering, follow, said, stored, working
from tests.tui.inspector_data import single
from tests.tui.session_store import rows, shown, until

if TYPE_CHECKING:
    from pathlib import Path


class TestLedger:
    def test_what_is_sent_anyway_is_not_freed(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl", keep_recent=2_000) as (session, what_if):
            made = what_if.plan
            assert made.tokens.counted_before > made.tokens.parts
            injected = inject(session, session.leaf, InjectionSettings(budget=1_000))
            what_if.keep_injection(what_if.injection_key, injected)
            what_if.keep_draft(
                what_if.choices.draft_key(), draft(session, made, Extractive(), injection=injected)
            )
            ledger = what_if.ledger()
            tokens = made.tokens
            replaced = tokens.summarize + tokens.turn_prefix + tokens.previous_summary
            new = sum(part.tokens for part in ledger.parts if part.name in ("summary", "injected"))
            # What is replaced takes what was counted for it, which here is a little more than is estimated.
            assert abs(ledger.frees - (replaced - new)) < 20
            assert ledger.parts[-1].name in ("not in file", "estimation error")

    def test_nothing_to_compact_still_sums(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 2)
        with considered(tmp_path / "s.jsonl") as (_, what_if):
            made = what_if.plan
            assert made.nothing
            assert made.tokens.counted_before > made.tokens.parts
            parts = {part.name: part.tokens for part in what_if.ledger().parts}
            assert (
                parts.get("not in file", 0) + parts.get("estimation error", 0)
                == made.tokens.counted_before - made.tokens.parts
            )
            assert sum(parts.values()) == made.tokens.counted_before
            assert what_if.column(what_if.choices.strategy).kept == parts["kept"]
            text = "\n".join(line.text for line in plan_lines(what_if.view(), 48, UNICODE))
            assert "plus prompt and tools" not in text

    def test_the_remark_on_a_larger_context_has_the_figure_of_the_ledger(self, tmp_path: Path) -> None:
        """It fails where the remark is the plan's, which guesses the summary."""
        working(tmp_path / "s.jsonl", 2)
        with considered(tmp_path / "s.jsonl", keep_recent=200) as (session, what_if):
            pins = [f"rule {number} of the orchard, which is long" for number in range(900)]
            drafted = draft(session, what_if.plan, Extractive(), pins=pins)
            what_if.keep_draft(what_if.choices.draft_key(), drafted)
            assert drafted.growth
            text = " ".join(" ".join(line.text for line in plan_lines(what_if.view(), 70, UNICODE)).split())
            assert f"larger: about {drafted.counted_after:,} tokens instead of" in text
            assert "with a summary of about" not in text


class TestSlider:
    def test_a_step_down_from_where_nothing_changes_has_an_effect(self, tmp_path: Path) -> None:
        slider = Slider(Dial.KEEP, 20_000, 20_000, 500, 50, useful=7_225)
        assert slider.stepped(-1) == 7_000
        assert slider.stepped(-1, fine=True) == 7_200
        assert slider.stepped(1) == 20_000
        assert Slider(Dial.KEEP, 3_000, 7_225, 500, 50, useful=7_225).stepped(-1) == 2_500
        working(tmp_path / "s.jsonl", 6)
        with considered(tmp_path / "s.jsonl") as (_, what_if):
            assert what_if.plan.nothing
            what_if.choices = what_if.sliding(Dial.KEEP, what_if.slider(Dial.KEEP).stepped(-1))
            what_if.replan()
            assert not what_if.plan.nothing


class TestCut:
    def test_a_summary_that_stays_is_not_marked_as_summarised(self, tmp_path: Path) -> None:
        file = working(tmp_path / "s.jsonl", 4)
        file.compacted(str(file.leaf), "## Goal\n- the zebra")
        file.user("go on")
        file.said("gone on", tokens=usage(2_000))
        with considered(tmp_path / "s.jsonl") as (session, what_if):
            assert what_if.plan.nothing
            made = CutRows(what_if.turns, what_if.plan, 30, carried=True)
            lines = CutLines(made, session.columns.kind, lambda _entry: None, 60, UNICODE)
            assert lines[0].text.startswith("K ")
            assert {lines[y].text[0] for y in range(len(lines))} == {"K"}


class TestFates:
    @pytest.mark.parametrize("width", [32, 40, 76])
    def test_numbers_sum(self, tmp_path: Path, width: int) -> None:
        working(tmp_path / "s.jsonl", 20)
        with considered(tmp_path / "s.jsonl", keep_recent=2_000) as (session, what_if):
            survival = draft(session, what_if.plan, Extractive()).survival
        fates = [fate for fate in survival.fates if fate.status is not Status.INVENTED]
        kept = sum(fate.status in SURVIVED for fate in fates)
        wrong = sum(fate.status is Status.CONTRADICTED for fate in fates)
        text = [line.text for line in fate_lines(survival, [], width, 30, UNICODE)]
        assert "by weight" in text[0]
        if width > 32:
            assert f"{kept:,} of {len(fates):,}" in text[0]
        head = next(line for line in text if line.startswith("Lost"))
        assert head.split()[1] == f"{len(fates) - kept - wrong:,}"
        assert all("…" not in line for line in text[: text.index(head)])

    def test_lost_facts_that_begin_alike_are_told_apart(self, tmp_path: Path) -> None:
        """It fails where each of three commands in one folder is cut after the folder, in the lab or in the pane."""
        folder = "cd /home/ada/work/orchard && git"
        facts = [
            Fact(FactKind.COMMAND, name, f"{folder} {name}", EntryIndex(number), Voice.OUTPUT)
            for number, name in enumerate(("log", "show", "stash list"))
        ]
        survival = Survival(tuple(Fate(fact, Status.LOST) for fact in facts))
        in_lab = [line.text for line in fate_lines(survival, [], 34, 30, UNICODE)]
        working(tmp_path / "s.jsonl", 2)
        with closing(Session.open(tmp_path / "s.jsonl")) as session:
            sheet = Sheet(
                PageRequest(Tab.COMPACTION, single(session, session.leaf), 50, 40, UNICODE, Config())
            )
        survival_lines(sheet, survival)
        for lines in in_lab, [line.text for line in sheet.lines]:
            for name in ("log", "show", "stash list"):
                assert any(f"git {name}" in line for line in lines), name


class TestLab:
    async def test_what_is_said_of_nothing_follows_the_slider(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 2)
        async with considering(tmp_path / "s.jsonl", config=Config()) as (pilot, screen):
            before = shown(screen)
            await pilot.press("2", "1")
            screen.controllers.settings.choose(screen.state.what_if.choices.keeping(19_000))  # type: ignore[union-attr]  # it is measured
            await pilot.pause()
            assert "20,000" in before
            assert "19,000 to" in " ".join(shown(screen).split())
            await pilot.press("c", "tab")

    async def test_one_run_cannot_be_compared_and_that_is_said(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        async with considering(tmp_path / "s.jsonl") as (pilot, screen):
            await follow(pilot, screen)
            await pilot.press("d")
            assert pilot.app.screen is screen
            assert "only one run; change a setting to compare" in said(screen)

    async def test_a_file_that_is_only_read_offers_no_accepting(self, tmp_path: Path) -> None:
        file = working(tmp_path / "s.jsonl", 20)
        lines = file.path.read_text(encoding="utf-8").split("\n")
        lines[0] = json.dumps({**json.loads(lines[0]), "version": 99})
        file.path.write_text("\n".join(lines), encoding="utf-8")
        async with considering(file.path) as (pilot, screen):
            await follow(pilot, screen)
            assert "read only" in shown(screen)
            assert "accept" not in rows(pilot.app)[-1]
            before = stored(file.path)
            await pilot.press("ctrl+s")
            await until(pilot, lambda: "is read-only: the file is of version 99" in said(screen))
            assert stored(file.path) == before

    async def test_that_nobody_can_write_is_said_before_a_plan_is_made(self, tmp_path: Path) -> None:
        file = working(tmp_path / "s.jsonl", 20)
        file.path.chmod(0o444)
        async with considering(file.path) as (pilot, screen):
            await until(pilot, lambda: "its permissions make it read-only" in said(screen))
            await follow(pilot, screen)
            assert "read only" in shown(screen)
            assert "accept" not in rows(pilot.app)[-1]
            await pilot.press("ctrl+s")
            await pilot.pause()
            assert pilot.app.screen is screen, "no panel that promises a line"
            assert "its permissions make it read-only" in said(screen)
            assert "reload" not in said(screen)

    async def test_screens_are_loaded_before_their_key(self, tmp_path: Path) -> None:
        working(tmp_path / "s.jsonl", 20)
        names = ("leafward_tui.xray.screen", "leafward_tui.lab.runs", "textual.widgets._text_area")
        async with considering(tmp_path / "s.jsonl") as (pilot, _):
            await until(pilot, lambda: all(name in sys.modules for name in names))
