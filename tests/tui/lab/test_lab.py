"""The compaction lab on the screen: the plan under keys and mouse, every layout, and how little a step costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.base.strategies import Strategy
from leafward.session import native_file
from leafward.session.lines import line_decoding
from leafward_tui.lab.controllers.drafts import DraftMaker
from leafward_tui.lab.controllers.turns import TurnsPane
from leafward_tui.lab.model.sliders import Dial
from leafward_tui.lab.runs import RunsScreen
from leafward_tui.lab.screen import LabScreen
from leafward_tui.lab.widgets.state_line import Writing
from leafward_tui.ui.keys.intents import APP_ACTIONS, intents_for
from tests.acting import Acting, call
from tests.bench.generate import write_session
from tests.tui.considered import SMALL, chosen, considering, follow, said
from tests.tui.explored import NARROW, WIDE, exploring
from tests.tui.session_store import reached, rows, shown, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.entries import Body


class TestPlan:
    async def test_opens_at_the_cursor_with_all_panes(self, path: Path) -> None:
        async with considering(path) as (_, screen):
            text = shown(screen)
            for words in (
                "Compaction lab",
                "planned at #",
                "keep recent",
                "Next cut below",
                "Context after",
                "Facts kept",
            ):
                assert words in text
            assert screen.state.path.at == screen.state.session.place
            assert "## Goal" in text

    async def test_the_panes_name_the_keys_that_the_user_bound(self, path: Path) -> None:
        keymap = {
            "lost.pin": ("f5",),
            "lost.pin_all": (),
            "cut.down": ("f6",),
            "cut.up": ("f7",),
            "injection.switch": ("f8",),
        }
        async with considering(path, (240, 50), SMALL._replace(keymap=keymap)) as (pilot, screen):
            drawn = [line.rstrip() for line in shown(screen).splitlines()]
            assert any(" cut " in line and " f6 f7 " in line for line in drawn)
            assert any("Lost  " in line and "  f5 pin" in line and "all" not in line for line in drawn)
            await follow(pilot, screen, "f8")
            assert "f8 switches it on" in shown(screen)

    async def test_the_name_of_the_summariser_is_whole_in_a_narrow_pane(self, path: Path) -> None:
        """It fails where `extracti…` stands beside a key that the key bar has too."""
        async with considering(path) as (_, screen):
            line = screen.panes.state_line
            line.show(Writing("extractive", 1_320, key="E", words="edit"))
            pieces = line.pieces(0, 32, screen.services.styles_now.bg)
            assert "".join(piece.text for piece in pieces).split() == ["extractive", "1,320", "tokens"]

    async def test_every_strategy_that_was_chosen_is_a_run(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            assert len(screen.state.drafts.runs) == 1
            for key in ("3", "1", "3"):
                await follow(pilot, screen, key)
            await until(pilot, lambda: len(screen.state.drafts.runs) == 2)
            assert [run.name.split()[0] for run in screen.state.drafts.runs] == ["pi", "opencode"]
            await pilot.press("d")
            await reached(pilot, RunsScreen)

    async def test_arrows_slide_and_shift_slides_a_little(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            what_if = sure(screen.state.what_if)
            await pilot.press("right")
            await until(pilot, lambda: what_if.choices.settings().budget == 1_600)
            kept = what_if.plan.tokens.kept
            await pilot.press("right", "right", "right")
            await until(pilot, lambda: what_if.plan.tokens.kept > kept)
            await pilot.press("shift+left")
            await until(pilot, lambda: what_if.choices.settings().budget == 2_180)
            await until(pilot, lambda: "2,180" in shown(screen))
            await pilot.press("tab", "j", "right")
            await until(pilot, lambda: what_if.choices.settings().reserved == 17_408)
            await pilot.press("j", "left")
            await until(pilot, lambda: what_if.choices.window == 190_000)
            await until(pilot, lambda: "190k" in shown(screen))

    async def test_the_cut_goes_from_one_legal_place_to_the_next(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            what_if = sure(screen.state.what_if)
            first = what_if.cut
            await pilot.press("minus")
            # A plan that takes long is made in a job.
            await until(pilot, lambda: what_if.cut > first)
            assert what_if.cut in what_if.turns.cuts
            assert screen.panes.cut.key == "cut"
            await pilot.press("plus", "plus")
            await until(pilot, lambda: what_if.cut < first)
            for _ in range(60):
                await pilot.press("minus")
            await until(pilot, lambda: "no cut is possible below" in said(screen))

    async def test_space_cuts_before_the_row_and_says_why_it_cannot(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            what_if = sure(screen.state.what_if)
            await pilot.press("G", "equals_sign")
            assert what_if.cut == what_if.turns.first[len(what_if.turns) - 1]
            result = what_if.sizes.results[-1]
            screen.controllers.settings.cut_at(result)
            assert "a result without its call" in said(screen)
            assert what_if.cut == what_if.turns.first[len(what_if.turns) - 1]

    async def test_strategies_and_their_columns(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            what_if = sure(screen.state.what_if)
            await follow(pilot, screen, "2")
            assert chosen(screen) is Strategy.CODEX
            assert "prompt kept" in shown(screen)
            await pilot.press("minus")
            assert "keeps only the user's messages" in said(screen)
            await follow(pilot, screen, "3")
            await until(pilot, lambda: all(what_if.column(one).facts is not None for one in Strategy))
            await follow(pilot, screen, "1")
            assert chosen(screen) is Strategy.PI
            assert "pi rules" in shown(screen)

    async def test_unfolding_shows_every_turn(self, path: Path) -> None:
        async with considering(path, (120, 32)) as (pilot, screen):
            assert any("turns" in row for row in rows(screen.app))
            await pilot.press("z")
            assert screen.panes.cut.lines is not None
            assert len(screen.panes.cut.lines) > 20
            await pilot.press("z")
            assert len(screen.panes.cut.lines) < len(screen.panes.cut.lines.rows.turns.first) + 20  # type: ignore[attr-defined]

    async def test_a_slider_that_the_mouse_holds_goes_to_its_ends_and_not_beyond(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            plan, what_if = screen.panes.plan, sure(screen.state.what_if)
            y = sure(plan.lines).find("dial:reserve")
            before = what_if.slider(Dial.RESERVE)
            await pilot.mouse_down(plan, offset=(3, y))
            await pilot.hover(plan, offset=(22, y))
            await pilot.mouse_up(plan, offset=(22, y))
            assert what_if.slider(Dial.RESERVE) == before, "pressed on its name"
            await pilot.mouse_down(plan, offset=(20, y))
            for x in (22, plan.size.width - 2, plan.size.width - 3):
                await pilot.hover(plan, offset=(x, y))
            held = what_if.slider(Dial.RESERVE)
            assert (held.value, held.most) == (before.most, before.most)
            await pilot.hover(plan, offset=(2, y + 2))
            assert what_if.slider(Dial.RESERVE).value == 0
            await pilot.hover(plan, offset=(plan.size.width - 2, y))
            await pilot.mouse_up(plan, offset=(plan.size.width - 2, y))
            released = what_if.slider(Dial.RESERVE)
            assert (released.value, released.most) == (before.most, 2 * before.most)

    async def test_the_mouse_drags_a_slider_and_clicks_cuts_and_columns(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            what_if = sure(screen.state.what_if)
            before = what_if.choices.settings().budget
            region = screen.panes.plan.region
            await pilot.mouse_down(offset=(region.x + 20, region.y))
            await pilot.hover(offset=(region.x + 30, region.y))
            await pilot.mouse_up(offset=(region.x + 30, region.y))
            await until(pilot, lambda: what_if.choices.settings().budget > before)
            await pilot.click(offset=(region.x + 30, region.y + 4))
            await until(pilot, lambda: chosen(screen) is not Strategy.PI)
            await pilot.press("1")
            cut = what_if.cut
            why = screen.panes.why
            legal = next(
                y
                for y in range(len(why.lines or ()))
                if "keeps " in why.lines[y].text  # type: ignore[index]
            )
            await pilot.click(offset=(why.region.x + 4, why.region.y + legal))
            await until(pilot, lambda: what_if.cut > cut)
            last = sure(screen.panes.cut.lines)
            y = len(last) - 1
            await pilot.click(offset=(screen.panes.cut.region.x + 8, screen.panes.cut.region.y + y), times=2)
            await until(pilot, lambda: what_if.cut == what_if.turns.first[len(what_if.turns) - 1])


async def test_every_intent_has_its_controller(path: Path) -> None:
    async with considering(path) as (pilot, screen):
        await follow(pilot, screen, "right")
        await pilot.press("d")
        for shown_now in (screen, await reached(pilot, RunsScreen)):
            ours = [entry.id for entry in intents_for(shown_now.NAME) if entry.id not in APP_ACTIONS]
            assert len(ours) > 10
            assert [intent_id for intent_id in ours if intent_id not in shown_now.routes] == []


class TestLayouts:
    @pytest.mark.parametrize("size", [WIDE, (100, 30), NARROW, (60, 16)], ids=str)
    async def test_every_pane_can_be_reached(self, path: Path, size: tuple[int, int]) -> None:
        async with considering(path, size) as (pilot, screen):
            seen = []
            for _ in range(4):
                seen.append(screen.state.layout.area)
                assert screen.panes.pane(screen.state.layout.area).region.area > 0, screen.state.layout.area
                assert screen.panes.pane(screen.state.layout.area).has_focus
                await pilot.press("tab")
            assert seen == ["cut", "plan", "text", "fates"]
            await pilot.press("v")
            await until(pilot, lambda: all(len(row) <= size[0] for row in rows(screen.app)))

    async def test_tab_visits_every_page_of_the_one_bar(self, path: Path) -> None:
        async with considering(path, NARROW) as (pilot, screen):
            assert "tab page" in rows(screen.app)[-1]
            seen = []
            for _ in range(8):
                layout = screen.state.layout
                seen.append({"text": layout.page}.get(layout.area, layout.area))
                await pilot.press("tab")
            assert seen == ["cut", "plan", "Summary", "fates", "Prompt", "Injected", "Exam", "cut"]

    async def test_too_small_says_so(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            await pilot.resize_terminal(59, 15)
            await until(pilot, lambda: "needs 60" in shown(screen))

    async def test_tabs_of_one_pane_can_be_clicked(self, path: Path) -> None:
        async with considering(path, NARROW) as (pilot, screen):
            for area, words in (("plan", "Plan"), ("fates", "Lost"), ("text", "Injected"), ("cut", "Cut")):
                heads = (screen.panes.cut_head, screen.panes.plan_head, screen.panes.text_head)
                head = next(one for one in heads if one.region.area)
                x = rows(screen.app)[head.region.y].index(words)
                await pilot.click(offset=(x + 1, head.region.y))
                await until(pilot, lambda area=area: screen.state.layout.area == area)  # type: ignore[misc]  # bound now

    async def test_hostile_text_is_shown_and_never_acts(self, tmp_path: Path) -> None:
        file = Acting(tmp_path / "session.jsonl")
        for turn in range(8):
            file.user(f"[/nope] \x1b]52;c;eA==\x07 turn {turn} \u202e {'word ' * 400}")
            file.said(call("bash", f"b{turn}", command="echo \x1b[31m [bold]"))
            file.answered(f"b{turn}", "bash", "\x1b[2J[/x]" * 20)
            file.said("[/] done")
        async with considering(file.path) as (pilot, screen):
            for key in ("tab", "tab", "v", "v", "v", "tab", "P"):
                await pilot.press(key)
            text = shown(screen)
            assert "\x1b" not in text
            assert "\u202e" not in text


class TestWork:
    @pytest.mark.frames
    async def test_a_step_decodes_nothing_and_draws_what_is_seen(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "long.jsonl"
        write_session(path, 10_000, branch_every=0, compact_every=0)
        decoded = 0
        really = line_decoding.decode_line

        def counting(line: bytes) -> Body | None:
            nonlocal decoded
            decoded += 1
            return really(line)

        async with exploring(path, (140, 40), Config(follow_interval=5)) as (pilot, explorer):
            # Drafts and words come behind, once the settings rest: here only the steps are looked at.
            monkeypatch.setattr(DraftMaker, "rest", lambda _drafts: None)
            monkeypatch.setattr(TurnsPane, "word_shown", lambda _turns: None)
            await pilot.press("c")
            screen = await reached(pilot, LabScreen)
            await until(pilot, lambda: screen.state.what_if is not None)
            await pilot.pause()
            monkeypatch.setattr(native_file, "decode_line", counting)
            views = (
                screen.panes.cut,
                screen.panes.why,
                screen.panes.plan,
                screen.panes.text,
                screen.panes.fates,
            )
            rendered = sum(view.rendered for view in views)
            seen = sum(view.size.height for view in views)
            steps = 12
            for _ in range(steps):
                await pilot.press("right")
            await until(pilot, lambda: sure(screen.state.what_if).choices.settings().budget > 20_000)
            assert decoded == 0
            assert sum(view.rendered for view in views) - rendered <= (steps + 1) * seen
        assert explorer is not None
