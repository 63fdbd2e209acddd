"""The explorer: opening, every key, every size."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from textual import events
from textual.widgets._toast import ToastRack

from leafward.export.demo import demo_session
from leafward.session.entries import Kind
from leafward.session.journal.session_operations import label
from leafward.session.journal.write import Writing
from leafward.session.session import Session
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.explorer.state import ExplorerState
from leafward_tui.ui.keys.intents import APP_ACTIONS, intents_for
from leafward_tui.ui.panes.two_panes import has_two_panes
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from tests.acting import Acting, call
from tests.tui.explored import (
    NARROW,
    WIDE,
    Named,
    chosen,
    exploring,
    here,
    lines,
    note,
    ready,
    tree,
)
from tests.tui.session_store import app_over, rows, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward_tui.explorer.display import ExplorerDisplay


async def test_every_key_of_the_explorer_has_a_controller(file: Named) -> None:
    async with exploring(file.path) as (_, screen):
        keys = [one.id for one in intents_for("explorer") if one.id not in APP_ACTIONS]
        assert [one for one in keys if one not in screen.routes] == []


def column_ends(panes: ExplorerDisplay) -> tuple[int, ...]:
    """Where the rule between the panes ends, in cells; nowhere where there is one pane."""
    return (panes.column_rule.region.x + 1,) if panes.two_panes else ()


@pytest.mark.parametrize("size", [NARROW, WIDE, (200, 60)])
async def test_a_toast_covers_no_strip(file: Named, size: tuple[int, int]) -> None:
    app = app_over(file.path)
    async with app.run_test(size=size, notifications=True) as pilot:
        screen = app.screen
        assert isinstance(screen, ExplorerScreen)
        await until(pilot, lambda: ready(screen))
        rack = screen.get_child_by_type(ToastRack)
        # It stands at the bottom, above its margin.
        await until(pilot, lambda: screen.panes.strip.region.y)
        assert size[1] - rack.styles.margin.bottom <= screen.panes.strip.region.y


@pytest.mark.parametrize(
    ("size", "labels", "numbers"),
    [
        (NARROW, "[label 0] [label 1] [label 2] [label 3] +2", "1 34"),
        (WIDE, "[label 0] [label 1] +4", "1 2 34"),
    ],
)
async def test_labels_leave_the_row_its_words_and_its_numbers(
    file: Named, size: tuple[int, int], labels: str, numbers: str
) -> None:
    file.working_turn("much")
    with closing(Session.open(file.path)) as session:
        first = session.columns.index(file.prompts["much"])
        for number in range(6):
            label(session, first + number, f"label {number}", Writing())
    file.turn("last", "much")
    async with exploring(file.path, size) as (_, screen):
        row = next(row for row in tree(screen) if "much" in row)
        assert row.split()[1:] == ["much", "prompt", *labels.split(), *numbers.split()]


async def test_metadata_alone_is_shown_by_the_key_that_is_offered(tmp_path: Path) -> None:
    file = Named(tmp_path / "session.jsonl")
    file.entry("model_change", provider="p", modelId="quince-1")
    async with exploring(file.path, NARROW) as (pilot, screen):
        assert note(screen) == "nothing was said in this session yet   & all shows its 1 entry"
        assert "& show all" in rows(pilot.app)[-1]
        await chosen(pilot, "ampersand", "a")
        await until(pilot, lambda: any("quince-1" in row for row in tree(screen)))


class TestOpening:
    async def test_the_cursor_is_on_the_leaf(self, file: Named) -> None:
        async with exploring(file.path) as (_, screen):
            assert here(screen) == "d"
            assert screen.panes.tree.has_focus
            drawn = tree(screen)
            assert "d prompt" in drawn[screen.panes.tree.state.cursor]
            assert "leaf" in drawn[screen.panes.tree.state.cursor]
            head = rows(screen.app)[0]
            assert "orchard › a prompt" in head
            assert f"{len(lines(file.path)) - 1} entries" in head
            assert "2 branches" in head
            assert "follows the file" in head

    async def test_numbers_of_a_turn_are_in_their_columns(self, file: Named) -> None:
        async with exploring(file.path, (160, 40)) as (_, screen):
            assert [name for name, _ in screen.panes.tree.columns.numbers] == ["edits", "calls", "tokens"]
            row = next(row for row in tree(screen) if "b prompt" in row)
            assert row.split()[-3:-1] == ["1", "2"]
            failed = next(row for row in tree(screen) if "y prompt" in row)
            assert failed.split()[-4:-1] == ["×", "1", "2"]
            silent = next(row for row in tree(screen) if "a prompt" in row)
            assert silent.split()[-3:-1] == ["·", "·"]

    async def test_the_demo(self) -> None:
        with demo_session() as path:
            async with exploring(path) as (_, screen):
                assert "Stop jobs running twice" in rows(screen.app)[0]
                assert not sure(screen.state.exploration).session.columns.damage
                assert any("compaction" in row for row in tree(screen))

    @pytest.mark.parametrize("size", [(60, 16), NARROW, (100, 30), WIDE, (200, 60)])
    async def test_every_size_is_filled_to_the_cell(self, size: tuple[int, int], file: Named) -> None:
        async with exploring(file.path, size) as (pilot, screen):
            assert "d prompt" in "\n".join(rows(screen.app))
            strips: list[Any] = list(screen._compositor.render_strips())
            for strip in strips:
                parts = strip if isinstance(strip, list) else [strip]
                assert sum(part.cell_length for part in parts) == size[0]
            await pilot.press("k", "k", "enter")
            assert isinstance(screen.app.screen, ChoiceSheet)

    @pytest.mark.parametrize("size", [(59, 16), (60, 15), (40, 10)])
    async def test_below_sixty_by_sixteen_it_says_so(self, size: tuple[int, int], file: Named) -> None:
        app = app_over(file.path)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            shown = [row.strip() for row in rows(app) if row.strip()]
            assert shown == [f"needs 60 × 16, has {size[0]} × {size[1]}", "ctrl+q quit"]

    @pytest.mark.parametrize("opened", ["enter", "question_mark", "ctrl+p", "x"])
    async def test_there_only_the_key_that_quits_works_whatever_is_open(
        self, opened: str, file: Named
    ) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("k", "k")
            cursor = screen.panes.tree.cursor
            await pilot.press(opened)
            await pilot.pause()
            over = screen.app.screen
            await pilot.resize_terminal(40, 12)
            await pilot.pause()
            shown = [row.strip() for row in rows(screen.app) if row.strip()]
            assert shown == ["needs 60 × 16, has 40 × 12", "ctrl+q quit"]
            await pilot.press("j", "A", "enter", "c", "escape", "dollar_sign", "q")
            await until(pilot, lambda: screen.app.screen is over)
            assert screen.panes.tree.cursor == cursor
            # Nor does the mouse, as the terminal reports it: what lies under it is not seen either.
            for kind in (events.MouseDown, events.MouseUp) * 2:
                screen.app.post_message(kind(None, 5, 4, 0, 0, 1, False, False, False, 5, 4))
            await until(pilot, lambda: screen.app.screen is over)
            assert screen.panes.tree.cursor == cursor
            assert file.path.read_bytes() == before
            await pilot.resize_terminal(*NARROW)
            await until(pilot, lambda: "needs" not in "\n".join(rows(screen.app)))
            await pilot.resize_terminal(40, 12)
            await pilot.press("ctrl+q")
            await until(pilot, lambda: screen.app.return_code is not None or not screen.app.is_running)

    async def test_the_heads_stand_above_their_columns_at_every_size(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            for size in ((80, 24), (200, 60), (104, 30), (70, 20), (140, 50)):
                await pilot.resize_terminal(*size)
                await settled(pilot)
                check_heads(screen)

    async def test_the_rule_between_the_panes_ends_on_the_one_below_at_every_size(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            for size in (NARROW, WIDE, NARROW, (200, 60), (120, 32)):
                await pilot.resize_terminal(*size)
                await settled(pilot)
                await until(pilot, lambda: screen.panes.strip_rule.joins == column_ends(screen.panes))

    @pytest.mark.parametrize("key", ["p", "e", "a"])
    async def test_the_heads_stand_above_their_columns_under_a_filter(self, key: str, tmp_path: Path) -> None:
        file = Named(tmp_path / "long.jsonl")
        for number in range(40):
            file.turn(f"t{number}")
        async with exploring(file.path) as (pilot, screen):
            await chosen(pilot, "ampersand", key)
            await settled(pilot)
            check_heads(screen)
            await pilot.press("escape")
            await settled(pilot)
            check_heads(screen)

    async def test_another_theme_is_all_over_the_tree(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K")
            services = services_of(screen)
            for name in ("clearing", "understory", "snowfield"):
                services.show_theme(name)
                await settled(pilot)
                view, ground = screen.panes.tree, services.styles_now
                grounds = {each.blank.bgcolor for each in ground}
                drawn = {
                    segment.style.bgcolor
                    for y in range(view.size.height)
                    for segment in view.render_line(y)
                    if segment.style is not None
                }
                assert drawn <= grounds, name
                prompt = next(segment for segment in view.render_line(0) if "a prompt" in segment.text)
                assert prompt.style == ground.bg.text

    async def test_from_small_to_large_and_back(self, file: Named) -> None:
        async with exploring(file.path, (40, 10)) as (pilot, screen):
            await pilot.resize_terminal(*WIDE)
            await pilot.pause()
            panes = [has_two_panes(screen.app.size)]
            await pilot.resize_terminal(*NARROW)
            await pilot.pause()
            panes.append(has_two_panes(screen.app.size))
            assert panes == [True, False]
            assert any("d prompt" in row for row in tree(screen))

    async def test_the_rows_on_the_screen_are_those_of_the_new_width(self, demo: Path) -> None:
        """The terminal's own content, not a new drawing of the tree."""
        async with exploring(demo, WIDE) as (pilot, screen):
            await until(pilot, lambda: any("facts lost" in row for row in rows(screen.app)))
            await settled(pilot)
            wide = rows(screen.app)
            await pilot.resize_terminal(*NARROW)
            await settled(pilot)
            await pilot.resize_terminal(*WIDE)
            await until(pilot, lambda: rows(screen.app)[3:20] == wide[3:20])

    async def test_words_take_the_cells_of_an_outcome_that_there_is_not(self, tmp_path: Path) -> None:
        words = "one two three four five six seven"
        file = Acting(tmp_path / "spoken.jsonl")
        file.user(words)
        file.said(call("bash", "c0", command=words))
        file.answered("c0", "bash", "done")
        async with exploring(file.path, (120, 32)) as (pilot, screen):
            await pilot.press("v", "g")
            await settled(pilot)
            prompt, command = (row for row in tree(screen) if "one two" in row)
            assert words in prompt
            assert words not in command, "what comes of a command keeps its place"

    async def test_a_key_before_it_is_read_says_what_is_waited_for(
        self, file: Named, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with exploring(file.path) as (_, screen):
            assert "still being read" not in screen.reason("lab.open")
            with monkeypatch.context() as patch:
                patch.setattr(ExplorerState, "is_read", False)
                assert screen.reason("lab.open") == "compact: the session is still being read"

    async def test_keys_before_it_is_read_do_nothing(self, file: Named) -> None:
        app = app_over(file.path)
        async with app.run_test(size=WIDE) as pilot:
            screen = app.screen
            assert isinstance(screen, ExplorerScreen)
            if screen.state.exploration is None:
                await pilot.press("j", "enter", "slash", "ampersand", "z", "v", "u", "l")
            await until(pilot, lambda: ready(screen))


async def settled(pilot: Pilot[int]) -> None:
    for _ in range(3):
        await pilot.pause()


def check_heads(screen: ExplorerScreen) -> None:
    """Checks that numbers end where their headings end."""
    columns, region = screen.panes.tree.columns, screen.panes.head.region
    head = rows(screen.app)[region.y][region.x : region.right]
    end = columns.width - 1
    for name, cells in reversed(columns.numbers):
        assert head[:end].endswith(f" {name}"), (name, head, columns)
        end -= cells


async def test_every_intent_of_the_explorer_can_be_run_anywhere(file: Named) -> None:
    async with exploring(file.path) as (pilot, screen):
        for intent in intents_for("explorer"):
            if intent.id in ("app.back", "app.quit", "agent.resume"):
                continue
            screen.run_intent(intent.id)
            await pilot.pause()
            for _ in range(4):
                if screen.app.screen is screen:
                    break
                await pilot.press("escape")
                await pilot.pause()
            assert screen.app.screen is screen, intent.id
        await until(pilot, lambda: not screen.state.busy)
    assert all(line["type"] for line in lines(file.path))


async def test_marks_of_every_kind_are_drawn(tmp_path: Path) -> None:
    file = Named(tmp_path / "kinds.jsonl")
    file.turn("a")
    file.compacted(file.prompts["a"])
    file.turn("b")
    file.entry("branch_summary", fromId="root", summary="elsewhere")
    file.entry("custom", customType="note", data={})
    file.turn("c")
    async with exploring(file.path) as (pilot, screen):
        assert any("◆" in row and "compaction" in row for row in tree(screen))
        assert any("◇" in row and "branch summary" in row for row in tree(screen))
        assert Kind.CUSTOM in sure(screen.state.session).columns.kind
        await chosen(pilot, "ampersand", "a")
        assert any("note" in row for row in tree(screen))
