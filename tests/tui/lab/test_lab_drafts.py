"""Drafts of the compaction lab: they follow the settings, take pins, edits and what is injected, and are compared."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from leafward.compaction.exam.grade import exam_of_draft
from leafward.compaction.exam.questions import Topic
from leafward.compaction.stored_summary.pins import is_bare
from leafward.summaries.summarizers.summary import tokens_of
from leafward_tui.lab.runs import RunsScreen
from leafward_tui.lab.screen import LabScreen
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.tui.considered import considering, follow, said, settled
from tests.tui.session_store import reached, rows, shown, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


def on_screen(pilot: Pilot[int], text: str) -> bool:
    return any(text in row for row in rows(pilot.app))


class TestDrafts:
    async def test_a_draft_follows_the_settings(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            first = sure(screen.state.draft)
            await follow(pilot, screen, "right", "right")
            assert screen.state.draft is not first
            assert sure(screen.state.draft).plan == (screen.state.what_if and screen.state.what_if.plan)
            await follow(
                pilot,
                screen,
                "left",
                "left",
                "shift+left",
                "shift+left",
                "shift+left",
                "shift+left",
                "shift+left",
            )
            assert len(screen.state.drafts.runs) >= 2

    async def test_pins_go_into_the_summary_and_out_again(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            lost = screen.controllers.pins.lost()
            assert lost
            await pilot.press("tab", "tab", "tab")
            assert screen.state.layout.area == "fates"
            await follow(pilot, screen, "p")
            draft = sure(screen.state.draft)
            assert lost[0].pin in draft.summary.text
            assert "✓" in shown(screen)
            await pilot.press("g")
            await follow(pilot, screen, "p")
            assert not sure(screen.state.what_if).choices.pins

    async def test_pinning_many_asks_how_many(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            lost = screen.controllers.pins.lost()
            await pilot.press("P")
            if len(lost) > 12:
                await reached(pilot, ChoiceSheet)
                await pilot.press("a")
            await until(pilot, lambda: screen.state.draft is not None and settled(screen))
            pins = sure(screen.state.what_if).choices.pins
            assert len(pins) <= len({fact.pin for fact in lost})
            assert any(is_bare(fact.text) for fact in lost)
            assert not any(is_bare(pin) for pin in pins)

    async def test_enter_on_a_lost_fact_shows_its_source(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            await pilot.press("tab", "tab", "tab")
            fact = screen.controllers.pins.lost()[0]
            await pilot.press("enter")
            assert screen.state.layout.area == "cut"
            position = sure(screen.state.what_if).sizes.position(fact.entry)
            row = screen.panes.cut.lines.rows.row(screen.panes.cut.cursor)  # type: ignore[union-attr]
            assert row.first <= position < row.stop
            assert f"#{fact.entry}" in said(screen)

    async def test_the_summary_can_be_edited(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            await pilot.press("E")
            await until(pilot, lambda: screen.panes.editor is not None and screen.panes.editor.has_focus)
            assert screen.panes.editor is not None
            assert screen.state.draft is not None
            size = screen.state.draft.summary_tokens
            assert f"editing   {size:,} tokens" in shown(screen)
            assert "esc keep edit" in shown(screen)
            screen.panes.editor.text = "## Goal\n- mind the zebra in src/queue_3.py"
            await pilot.press("j")  # a letter, not a row
            assert "zebra" in screen.panes.editor.text
            await pilot.press("escape")
            await until(pilot, lambda: screen.state.draft is not None and screen.state.draft.changed)
            assert screen.state.draft is not None
            assert "zebra" in screen.state.draft.text
            # The field and the stored summary have one basis: the lists of files are counted in both.
            size = screen.state.draft.summary_tokens
            assert tokens_of(screen.state.draft.summary.text) < size
            assert f"edited   {size:,} tokens" in shown(screen)
            await pilot.press("E")
            await until(pilot, lambda: f"editing   {size:,} tokens" in shown(screen))
            await pilot.press("escape")
            # Settings that change make another draft; the edit is found again where it was made.
            await follow(pilot, screen, "tab", "tab", "right")
            assert "zebra" not in screen.state.draft.text

    async def test_injected_context_and_its_sections_are_switched(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            what_if = sure(screen.state.what_if)
            assert screen.state.draft is not None
            assert "leafward-context" in screen.state.draft.text
            await follow(pilot, screen, "i")
            assert "leafward-context" not in screen.state.draft.text
            await follow(pilot, screen, "i", "tab")
            assert screen.panes.plan.go(f"section:{what_if.sections[0].key}")
            await follow(pilot, screen, "i")
            assert what_if.choices.off == {what_if.sections[0].key}
            assert "leafward-context" in screen.state.draft.text
            await pilot.press("tab", "v", "v")
            assert screen.state.layout.page == "Injected"
            assert screen.panes.text.lines is not None
            heading = next(
                y
                for y in range(len(screen.panes.text.lines))
                if screen.panes.text.lines[y].text.startswith("##")
            )
            screen.panes.text.move_to(heading)
            await follow(pilot, screen, "i")
            assert len(what_if.choices.off) == 2

    async def test_runs_are_held_against_each_other(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            first = screen.state.what_if and screen.state.what_if.choices
            await pilot.press("d")
            assert isinstance(pilot.app.screen, LabScreen)  # one run is nothing to compare
            await follow(pilot, screen, "right")
            await pilot.press("d")
            await reached(pilot, RunsScreen)
            await pilot.pause()
            text = "\n".join(rows(pilot.app))
            assert "A   pi" in text
            assert "B   pi" in text
            runs = await reached(pilot, RunsScreen)
            await until(pilot, lambda: len(runs.state.exams) == 2)
            await pilot.pause()
            text = "\n".join(rows(pilot.app))
            for number in (0, 1):
                one = runs.state.runs[number]
                assert one.draft is not None
                assert runs.state.exams[number] == exam_of_draft(one.draft)
                topics = [graded.question.topic for graded in runs.state.exams[number].graded]
                told = "of `make test-0` and those after it"
                assert topics[:2] == [Topic.TEST_COMMAND, Topic.TEST_RESULT], told
            assert "1 of 1" in text
            both = runs.state.runs
            runs.state.runs = (replace(both[0], choices=None), both[1])
            await pilot.press("k", "enter")
            assert "a stored compaction has no settings" in shown(pilot)
            runs.state.runs = both
            await pilot.press("enter")
            await until(pilot, lambda: pilot.app.screen is screen)
            assert sure(screen.state.what_if).choices == first

    async def test_every_kind_and_topic_of_two_runs_is_reached_on_a_low_screen(self, path: Path) -> None:
        async with considering(path, (80, 24)) as (pilot, screen):
            await follow(pilot, screen, "right")
            await pilot.press("d")
            runs = await reached(pilot, RunsScreen)
            await until(pilot, lambda: len(runs.state.exams) == 2)
            await pilot.pause()
            for view in (runs.view.facts, runs.view.exams):
                await pilot.press("tab", "G")
                assert view.has_focus
                last = sure(view.lines)[-1].text.strip()
                await until(pilot, partial(on_screen, pilot, last))
            await pilot.press("tab", "tab", "tab")
            assert runs.view.table.has_focus

    async def test_what_the_summary_should_dwell_on(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            await pilot.press("asterisk")
            await reached(pilot, TextSheet)
            await pilot.press(*"retry", "enter")
            await until(pilot, lambda: screen.state.draft is not None and screen.state.draft.focus == "retry")

    async def test_a_focus_is_shown_and_said_to_change_nothing(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            await pilot.press("asterisk")
            await reached(pilot, TextSheet)
            await pilot.press(*"zebra", "enter")
            await until(pilot, lambda: screen.state.draft is not None and screen.state.draft.focus == "zebra")
            await until(pilot, lambda: "changes no line" in said(screen))
            assert "focus: zebra" in rows(pilot.app)[0]
            assert [("focus: zebra" in run.about) for run in screen.state.drafts.runs] == [False, True]
            # In a narrow table the end is cut: what tells the runs apart stands before it.
            assert screen.state.drafts.runs[1].about.index("focus:") < screen.state.drafts.runs[
                1
            ].about.index("window")

    async def test_a_lost_fact_that_is_not_shown_is_not_pinned(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            await pilot.press("tab", "tab", "v", "v")
            assert (screen.state.layout.area, screen.state.layout.page) == ("text", "Injected")
            await pilot.press("p")
            assert "lost facts are not shown" in said(screen)
            assert not sure(screen.state.what_if).choices.pins
