"""The compaction lab on the screen: keys and mouse, drafts that follow, pins, edits, accepting, leaving without a trace."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from leafward import scan as scan_module
from leafward import session as session_module
from leafward.compaction import Strategy
from leafward.config import Config
from leafward.context import context_at
from leafward.entries import Kind
from leafward.journal import operations
from leafward.session import Session
from leafward_tui.intents import APP_ACTIONS, intents_for
from leafward_tui.lab.choices import EXTRACTIVE
from leafward_tui.screens.explorer import ExplorerScreen
from leafward_tui.screens.lab import LabScreen
from leafward_tui.screens.lab.runs import RunsScreen
from leafward_tui.screens.xray import Leaving, XRayScreen
from leafward_tui.widgets.sheet import ChoiceSheet, TextSheet
from tests.acting import Acting, call, usage
from tests.bench.generate import write_session
from tests.tui.explored import NARROW, WIDE, exploring, note
from tests.tui.session_store import rows, until
from tests.tui.test_lab_values import working

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward.entries import Body

SMALL = Config(keep_recent=1_500, follow_interval=0.02)


def settled(screen: LabScreen) -> bool:
    """Whether everything follows the settings: plans, drafts of all strategies, injected text, words."""
    what_if = screen.what_if
    if screen.trouble:
        return True
    if what_if is None or screen.streaming is not None or screen.waiting or not what_if.injections:
        return False
    if screen.beside >= 0 and not any(run.choices is None for run in screen.runs):
        return False
    by_model = what_if.choices.summarizer != EXTRACTIVE
    return what_if.plan.nothing or by_model or what_if.draft() is not None


@asynccontextmanager
async def considering(
    path: Path, size: tuple[int, int] = (140, 40), config: Config = SMALL, *, entry: int | None = None
) -> AsyncIterator[tuple[Pilot[int], LabScreen]]:
    """The lab, opened with its key on the row of an entry; the leaf by default."""
    async with exploring(path, size, config) as (pilot, explorer):
        if entry is not None:
            explorer.go_to_entry(entry)
        await pilot.press("c")
        await until(pilot, lambda: isinstance(pilot.app.screen, LabScreen))
        screen = pilot.app.screen
        assert isinstance(screen, LabScreen)
        await until(pilot, lambda: settled(screen))
        await pilot.pause()
        yield pilot, screen


def stored(path: Path) -> bytes:
    """What the file holds now."""
    return path.read_bytes()


def chosen(screen: LabScreen) -> Strategy:
    """The strategy that is chosen now."""
    assert screen.what_if is not None
    return screen.what_if.choices.strategy


def shown(screen: LabScreen) -> str:
    return "\n".join(rows(screen.app))


def said(screen: LabScreen) -> str:
    region = screen.note.region
    return " ".join(row.strip() for row in rows(screen.app)[region.y : region.bottom]).strip()


async def follow(pilot: Pilot[int], screen: LabScreen, *keys: str) -> None:
    """Presses keys and waits until everything follows."""
    for key in keys:
        await pilot.press(key)
    await until(pilot, lambda: screen.draft is not None and settled(screen))
    await pilot.pause()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    working(tmp_path / "session.jsonl", 20)
    return tmp_path / "session.jsonl"


class TestPlan:
    async def test_opens_at_the_cursor_with_all_panes(self, path: Path) -> None:
        async with considering(path) as (_, screen):
            text = shown(screen)
            for words in (
                "Compaction lab",
                "what if at #",
                "keep recent",
                "Why not lower",
                "Context after",
                "Survival",
            ):
                assert words in text
            assert screen.at == screen.session.place
            assert "## Goal" in text

    async def test_every_strategy_that_was_chosen_is_a_run(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            assert len(screen.runs) == 1
            for key in ("3", "1", "3"):
                await follow(pilot, screen, key)
            await until(pilot, lambda: len(screen.runs) == 2)
            assert [run.name.split()[0] for run in screen.runs] == ["pi", "opencode"]
            await pilot.press("b")
            await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))

    async def test_arrows_slide_and_shift_slides_a_little(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            what_if = screen.what_if
            assert what_if is not None
            await pilot.press("right")
            assert what_if.choices.settings().budget == 1_600
            kept = what_if.plan.tokens.kept
            await pilot.press("right", "right", "right")
            assert what_if.plan.tokens.kept > kept
            await pilot.press("shift+left")
            assert what_if.choices.settings().budget == 2_180
            assert "2,180" in shown(screen)
            await pilot.press("tab", "j", "right")
            assert what_if.choices.settings().reserved == 17_408
            await pilot.press("j", "left")
            assert what_if.choices.window == 190_000
            assert "190k" in shown(screen)

    async def test_the_cut_goes_from_one_legal_place_to_the_next(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            what_if = screen.what_if
            assert what_if is not None
            first = what_if.cut
            await pilot.press("J")
            assert what_if.cut > first
            assert what_if.cut in what_if.turns.cuts
            assert screen.cut_view.key == "cut"
            await pilot.press("K", "K")
            assert what_if.cut < first
            for _ in range(60):
                await pilot.press("J")
            assert "no legal cut below" in said(screen)

    async def test_space_cuts_before_the_row_and_says_why_it_cannot(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            what_if = screen.what_if
            assert what_if is not None
            await pilot.press("G", "space")
            assert what_if.cut == what_if.turns.first[len(what_if.turns) - 1]
            result = what_if.sizes.results[-1]
            screen.cut_at(result)
            assert "a result without its call" in said(screen)
            assert what_if.cut == what_if.turns.first[len(what_if.turns) - 1]

    async def test_strategies_and_their_columns(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            what_if = screen.what_if
            assert what_if is not None
            await follow(pilot, screen, "2")
            assert chosen(screen) is Strategy.CODEX
            assert "quoted" in shown(screen)
            await pilot.press("J")
            assert "keeps no tail" in said(screen)
            await follow(pilot, screen, "3")
            await until(pilot, lambda: all(what_if.column(one).facts is not None for one in Strategy))
            await follow(pilot, screen, "1")
            assert chosen(screen) is Strategy.PI
            assert "pi rules" in shown(screen)

    async def test_unfolding_shows_every_turn(self, path: Path) -> None:
        async with considering(path, (120, 32)) as (pilot, screen):
            assert any("turns" in row for row in rows(screen.app))
            await pilot.press("z")
            assert screen.cut_view.lines is not None
            assert len(screen.cut_view.lines) > 20
            await pilot.press("z")
            assert len(screen.cut_view.lines) < len(screen.cut_view.lines.rows.turns.first) + 20  # type: ignore[attr-defined]

    async def test_the_mouse_drags_a_slider_and_clicks_cuts_and_columns(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            what_if = screen.what_if
            assert what_if is not None
            before = what_if.choices.settings().budget
            region = screen.plan_view.region
            await pilot.mouse_down(offset=(region.x + 20, region.y))
            await pilot.hover(offset=(region.x + 30, region.y))
            await pilot.mouse_up(offset=(region.x + 30, region.y))
            await pilot.pause()
            assert what_if.choices.settings().budget > before
            await pilot.click(offset=(region.x + 30, region.y + 4))
            await pilot.pause()
            assert chosen(screen) is not Strategy.PI
            await pilot.press("1")
            cut = what_if.cut
            why = screen.why_view
            legal = next(
                y
                for y in range(len(why.lines or ()))
                if "legal" in why.lines[y].text.split()[-1:]  # type: ignore[index]
            )
            await pilot.click(offset=(why.region.x + 4, why.region.y + legal))
            await pilot.pause()
            assert what_if.cut > cut
            last = screen.cut_view.lines
            assert last is not None
            y = len(last) - 1
            await pilot.click(offset=(screen.cut_view.region.x + 8, screen.cut_view.region.y + y), times=2)
            await pilot.pause()
            assert what_if.cut == what_if.turns.first[len(what_if.turns) - 1]


class TestDrafts:
    async def test_a_draft_follows_the_settings(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            first = screen.draft
            assert first is not None
            await follow(pilot, screen, "right", "right")
            assert screen.draft is not first
            assert screen.draft is not None
            assert screen.draft.plan == (screen.what_if and screen.what_if.plan)
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
            assert len(screen.runs) >= 2

    async def test_pins_go_into_the_summary_and_out_again(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            lost = screen.lost()
            assert lost
            await pilot.press("tab", "tab", "tab")
            assert screen.area == "fates"
            await follow(pilot, screen, "p")
            draft = screen.draft
            assert draft is not None
            assert lost[0].pin in draft.summary.text
            assert "✓" in shown(screen)
            await pilot.press("g")
            await follow(pilot, screen, "p")
            assert screen.what_if is not None
            assert not screen.what_if.choices.pins

    async def test_pinning_many_asks_how_many(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            lost = screen.lost()
            await pilot.press("P")
            if len(lost) > 12:
                await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceSheet))
                await pilot.press("a")
            await until(pilot, lambda: screen.draft is not None and settled(screen))
            assert screen.what_if is not None
            assert len(screen.what_if.choices.pins) == len({fact.pin for fact in lost})

    async def test_enter_on_a_lost_fact_shows_its_source(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            await pilot.press("tab", "tab", "tab")
            fact = screen.lost()[0]
            await pilot.press("enter")
            assert screen.area == "cut"
            assert screen.what_if is not None
            position = screen.what_if.sizes.position(fact.entry)
            row = screen.cut_view.lines.rows.row(screen.cut_view.cursor)  # type: ignore[union-attr]
            assert row.first <= position < row.stop
            assert f"#{fact.entry}" in said(screen)

    async def test_the_summary_can_be_edited(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            await pilot.press("e")
            await until(pilot, lambda: screen.editor is not None and screen.editor.has_focus)
            assert screen.editor is not None
            screen.editor.text = "## Goal\n- mind the zebra in src/queue_3.py"
            await pilot.press("j")  # a letter, not a row
            assert "zebra" in screen.editor.text
            await pilot.press("escape")
            await until(pilot, lambda: screen.draft is not None and screen.draft.changed)
            assert screen.draft is not None
            assert "zebra" in screen.draft.text
            assert "edited" in shown(screen)
            # Settings that change make another draft; the edit is found again where it was made.
            await follow(pilot, screen, "tab", "tab", "right")
            assert "zebra" not in screen.draft.text

    async def test_injected_context_and_its_sections_are_switched(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            what_if = screen.what_if
            assert what_if is not None
            assert screen.draft is not None
            assert "leafward-context" in screen.draft.text
            await follow(pilot, screen, "i")
            assert "leafward-context" not in screen.draft.text
            await follow(pilot, screen, "i", "tab")
            assert screen.plan_view.go(f"section:{what_if.sections[0].key}")
            await follow(pilot, screen, "i")
            assert what_if.choices.off == {what_if.sections[0].key}
            assert "leafward-context" in screen.draft.text
            await pilot.press("tab", "v", "v")
            assert screen.page == "Injected"
            assert screen.text_view.lines is not None
            heading = next(
                y
                for y in range(len(screen.text_view.lines))
                if screen.text_view.lines[y].text.startswith("##")
            )
            screen.text_view.move_to(heading)
            await follow(pilot, screen, "i")
            assert len(what_if.choices.off) == 2

    async def test_runs_are_held_against_each_other(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            first = screen.what_if and screen.what_if.choices
            await pilot.press("b")
            assert isinstance(pilot.app.screen, LabScreen)  # one run is nothing to compare
            await follow(pilot, screen, "right")
            await pilot.press("b")
            await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
            await pilot.pause()
            text = "\n".join(rows(pilot.app))
            assert "A   pi" in text
            assert "B   pi" in text
            await pilot.press("k", "enter")
            await until(pilot, lambda: pilot.app.screen is screen)
            assert screen.what_if is not None
            assert screen.what_if.choices == first

    async def test_what_the_summary_should_dwell_on(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            await pilot.press("f")
            await until(pilot, lambda: isinstance(pilot.app.screen, TextSheet))
            await pilot.press(*"retry", "enter")
            await until(pilot, lambda: screen.draft is not None and screen.draft.focus == "retry")


@pytest.mark.parametrize("screen", [LabScreen, RunsScreen])
def test_every_intent_has_its_action(screen: type[LabScreen | RunsScreen]) -> None:
    ours = [entry for entry in intents_for(screen.NAME) if entry.id not in APP_ACTIONS]
    assert len(ours) > 10
    assert [entry.id for entry in ours if not hasattr(screen, f"action_{entry.action}")] == []


class TestXRay:
    async def test_the_plan_is_seen_through_and_pins_come_back(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            await pilot.press("x")
            await until(pilot, lambda: isinstance(pilot.app.screen, XRayScreen))
            await until(pilot, lambda: "Before" in "\n".join(rows(pilot.app)))
            xray = pilot.app.screen
            assert isinstance(xray, XRayScreen)
            fact = screen.lost()[0]
            xray.dismiss(Leaving(pins=(fact.pin,)))
            await until(pilot, lambda: pilot.app.screen is screen)
            await until(pilot, lambda: screen.draft is not None and fact.pin in screen.draft.pins)


class TestEnding:
    async def test_leaving_leaves_no_trace(self, path: Path) -> None:
        before = stored(path)
        async with considering(path) as (pilot, screen):
            await follow(pilot, screen, "right", "J")
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(pilot.app.screen, ExplorerScreen))
        assert stored(path) == before

    async def test_accepting_appends_the_line_that_was_shown_and_undo_takes_it_back(self, path: Path) -> None:
        lines = stored(path).count(b"\n")
        async with considering(path) as (pilot, screen):
            draft = screen.draft
            assert draft is not None
            await pilot.press("ctrl+s")
            await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceSheet))
            text = "\n".join(rows(pilot.app))
            assert "append 1 line to session.jsonl" in text
            assert stored(path).count(b"\n") == lines
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, ExplorerScreen))
            explorer = pilot.app.screen
            assert isinstance(explorer, ExplorerScreen)
            await until(pilot, lambda: "compacted" in note(explorer))
            last: dict[str, Any] = json.loads(stored(path).splitlines()[-1])
            assert last["type"] == "compaction"
            assert last["summary"] == draft.text
            session = explorer.session
            assert session is not None
            assert context_at(session, session.leaf).size.total == draft.tokens_after
            assert any("compaction" in row for row in rows(pilot.app))
            await pilot.press("u")
            await until(pilot, lambda: "undone" in note(explorer))
            assert session.columns.kind[session.place] != Kind.COMPACTION
        with_log = Session.open(path)
        assert [one.kind.value for one in operations(with_log)][-2:] == ["compact", "undo"]
        with_log.close()

    async def test_a_file_that_went_on_is_refused_and_read_anew(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            file = Acting.__new__(Acting)
            file.path, file.count, file.leaf = path, 900, screen.session.columns.id(screen.session.leaf)
            file.user("one more thing")
            await until(pilot, lambda: screen.grew)
            assert "went on" in said(screen)
            await pilot.press("ctrl+s")
            assert pilot.app.screen is screen
            await pilot.press("r")
            await until(pilot, lambda: not screen.grew and settled(screen) and screen.draft is not None)
            await pilot.press("ctrl+s")
            await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceSheet))

    async def test_nothing_to_compact_is_said(self, tmp_path: Path) -> None:
        working(tmp_path / "small.jsonl", 2)
        async with considering(tmp_path / "small.jsonl", config=Config()) as (pilot, screen):
            assert "nothing to compact" in shown(screen)
            await pilot.press("ctrl+s")
            assert pilot.app.screen is screen
            assert "nothing to compact" in said(screen)

    async def test_a_compaction_opens_with_a_what_if_beside_it(self, tmp_path: Path) -> None:
        file = working(tmp_path / "session.jsonl", 12)
        prompts = [json.loads(line) for line in file.path.read_text().splitlines()]
        kept = next(line["id"] for line in prompts if "prompt 9" in json.dumps(line))
        parent = file.leaf
        compaction = file.compacted(kept, "## Goal\n- the zebra")
        file.user("go on")
        file.said("gone on", tokens=usage(2_000))
        with_session = Session.open(file.path)
        index = with_session.columns.index(compaction)
        with_session.close()
        async with considering(file.path, entry=index) as (pilot, screen):
            assert screen.beside == index
            assert screen.session.columns.id(screen.at) == parent
            assert screen.what_if is not None
            assert screen.session.columns.id(screen.what_if.plan.first_kept) == kept
            assert f"beside ◆ #{index}" in shown(screen)
            assert screen.runs[0].choices is None
            assert "zebra" in screen.runs[0].text
            await pilot.press("ctrl+s")
            await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceSheet))
            await pilot.pause()
            assert "the leaf moves" in "\n".join(rows(pilot.app))
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, ExplorerScreen))
        lines = [json.loads(line) for line in file.path.read_text().splitlines()]
        assert lines[-1]["type"] == "compaction"
        assert lines[-1]["parentId"] == parent

    async def test_an_empty_session_has_an_empty_lab(self, tmp_path: Path) -> None:
        file = Acting(tmp_path / "empty.jsonl")
        file.user("hello")
        async with considering(file.path) as (pilot, screen):
            assert "nothing to compact" in shown(screen)
            await pilot.press("J", "K", "right", "p", "z", "v", "v", "e", "x")
            await pilot.pause()


class TestLayouts:
    @pytest.mark.parametrize("size", [WIDE, (100, 30), NARROW, (60, 16)], ids=str)
    async def test_every_pane_can_be_reached(self, path: Path, size: tuple[int, int]) -> None:
        async with considering(path, size) as (pilot, screen):
            seen = []
            for _ in range(4):
                seen.append(screen.area)
                assert screen.view.region.area > 0, screen.area
                assert screen.view.has_focus
                await pilot.press("tab")
            assert seen == ["cut", "plan", "text", "fates"]
            await pilot.press("v")
            await pilot.pause()
            assert all(len(row) <= size[0] for row in rows(screen.app))

    async def test_too_small_says_so(self, path: Path) -> None:
        async with considering(path) as (pilot, screen):
            await pilot.resize_terminal(59, 15)
            await pilot.pause()
            assert "needs 60" in shown(screen)

    async def test_tabs_of_one_pane_can_be_clicked(self, path: Path) -> None:
        async with considering(path, NARROW) as (pilot, screen):
            for area, words in (("plan", "Plan"), ("fates", "Lost"), ("text", "Injected"), ("cut", "Cut")):
                heads = (screen.cut_head, screen.plan_head, screen.text_head)
                head = next(one for one in heads if one.region.area)
                x = rows(screen.app)[head.region.y].index(words)
                await pilot.click(offset=(x + 1, head.region.y))
                await pilot.pause()
                assert screen.area == area

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
    async def test_a_step_decodes_nothing_and_draws_what_is_seen(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "long.jsonl"
        write_session(path, 10_000, branch_every=0, compact_every=0)
        decoded = 0
        really = scan_module.decode_line

        def counting(line: bytes) -> Body | None:
            nonlocal decoded
            decoded += 1
            return really(line)

        async with exploring(path, (140, 40), Config(follow_interval=5)) as (pilot, explorer):
            # Drafts and words come behind, once the settings rest: here only the steps are looked at.
            monkeypatch.setattr(LabScreen, "rest", lambda _screen: None)
            monkeypatch.setattr(LabScreen, "_word", lambda *_arguments: None)
            await pilot.press("c")
            await until(pilot, lambda: isinstance(pilot.app.screen, LabScreen))
            screen = pilot.app.screen
            assert isinstance(screen, LabScreen)
            await until(pilot, lambda: screen.what_if is not None)
            await pilot.pause()
            monkeypatch.setattr(session_module, "decode_line", counting)
            views = (screen.cut_view, screen.why_view, screen.plan_view, screen.text_view, screen.fates_view)
            rendered = sum(view.rendered for view in views)
            seen = sum(view.size.height for view in views)
            steps = 12
            for _ in range(steps):
                await pilot.press("right")
            await pilot.pause()
            assert screen.what_if is not None
            assert screen.what_if.choices.settings().budget > 20_000
            assert decoded == 0
            assert sum(view.rendered for view in views) - rendered <= (steps + 1) * seen
        assert explorer is not None
