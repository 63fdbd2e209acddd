"""Summaries that are only shown: what a move would leave, down to the mark, copied, saved, asked for again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.tui.explored import NARROW, Named, exploring, forked, here, lines, note
from tests.tui.session_store import reached, rows, shown, until, whole_text
from tests.tui.summed import at_rest, on_demo, saved

if TYPE_CHECKING:
    import threading
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Named:
    """Turns a b c d are the path; x y leave b, z leaves x."""
    return forked(tmp_path / "session.jsonl", cwd=tmp_path)


class TestShowing:
    async def test_what_a_move_would_leave_is_only_shown(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K", "s")
            await whole_text(pilot)
            await pilot.pause()
            said = shown(pilot)
            assert "Summary of the abandoned branch" in said
            assert "extractive, made locally" in said
            assert "Critical Context" in said
            assert "move to #" in said
            await pilot.press("j", "G", "g", "ctrl+d", "escape")
            await at_rest(pilot, screen)
            assert file.path.read_bytes() == before

    async def test_and_can_be_moved_with(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K", "s")
            sheet = await whole_text(pilot)
            text = sheet.text
            await pilot.press("enter")
            await until(pilot, lambda: "with a summary of 4 messages" in note(screen))
            line = lines(file.path)[-1]
            assert (line["type"], line["parentId"], line["summary"]) == (
                "branch_summary",
                file.ends["b"],
                text,
            )

    async def test_where_the_move_fails_the_summary_stays_on_show(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K", "s")
            sheet = await whole_text(pilot)
            text = sheet.text
            file.turn("e")
            before = file.path.read_bytes()
            await pilot.press("enter")
            await until(pilot, lambda: "the summary stays here" in shown(pilot))
            sheet = await reached(pilot, ReadingSheet)
            assert sheet.text == text
            await pilot.press("escape")
            await at_rest(pilot, screen)
            assert file.path.read_bytes() == before

    async def test_off_the_path_it_is_asked_which_way(self, file: Named) -> None:
        before = file.path.read_bytes()
        async with exploring(file.path) as (pilot, screen):
            while here(screen) != "x":
                await pilot.press("k")
            await pilot.press("s")
            ways = await reached(pilot, ChoiceSheet)
            assert [choice.key for choice in ways.rows.choices] == ["b", "p"]
            await pilot.press("b")
            sheet = await whole_text(pilot)
            assert "Summary of this branch" in shown(pilot)
            assert "src/y.py" in sheet.text
            assert "src/b.py" not in sheet.text
            await pilot.press("enter")
            await until(pilot, lambda: pilot.app.screen is sheet)
            assert "nothing is moved" in shown(pilot)
            await pilot.press("escape")
            await at_rest(pilot, screen)
            assert file.path.read_bytes() == before

    async def test_down_to_the_mark(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K", "K", "m", "G", "s")
            await whole_text(pilot)
            assert screen.state.exploration is not None
            assert screen.state.session is not None
            first = screen.state.session.columns.index(file.prompts["b"])
            assert f"#{first} – #{screen.state.session.place}" in shown(pilot)
            await pilot.press("escape")

    async def test_on_the_leaf_it_says_what_is_missing(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("s")
            await until(pilot, lambda: "no branch to summarise" in note(screen))

    async def test_the_row_it_is_about_stays_in_sight_when_the_terminal_shrinks(self) -> None:
        async with on_demo(size=(120, 50)) as (pilot, screen, _):
            await pilot.press("s")
            await whole_text(pilot)
            for size in ((120, 32), (80, 24), (120, 50), (100, 30)):
                await pilot.resize_terminal(*size)
                await pilot.pause()
                await pilot.pause()
                covered = next(y for y, row in enumerate(rows(pilot.app)) if row.startswith("━" * size[0]))
                graph = screen.panes.tree
                row = graph.region.y + graph.state.cursor * graph.line_height - graph.scroll_offset.y
                assert graph.region.y <= row < covered, size

    async def test_copy_and_export(
        self, file: Named, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        async with exploring(file.path) as (pilot, screen):
            copied: list[str] = []
            monkeypatch.setattr(screen.services, "copy", lambda text, _what="": copied.append(text))
            await pilot.press("K", "K", "s")
            sheet = await whole_text(pilot)
            await pilot.press("y", "e")
            await until(pilot, lambda: len(saved(tmp_path)) == 1)
            await pilot.press("e")
            await until(pilot, lambda: len(saved(tmp_path)) == 2)
            text = sheet.text
            assert copied == [text]
        for path in saved(tmp_path):
            assert path.read_text(encoding="utf-8") == text.rstrip("\n") + "\n"
            assert path.stat().st_mode & 0o077 == 0

    async def test_another_way_asks_for_a_focus(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, _):
            await pilot.press("K", "K", "s")
            await whole_text(pilot)
            await pilot.press("s")
            await reached(pilot, ChoiceSheet)
            assert "Extractive" in shown(pilot)
            await pilot.press("f")
            await reached(pilot, TextSheet)
            await pilot.press(*"answers", "enter")
            await reached(pilot, ReadingSheet)
            await until(pilot, lambda: "Summary of the abandoned branch: answers" in shown(pilot))

    async def test_it_grows_where_it_will_stand_and_escape_gives_it_up(
        self, file: Named, gate: threading.Event
    ) -> None:
        async with exploring(file.path) as (pilot, screen):
            await pilot.press("K", "K", "s")
            await reached(pilot, ReadingSheet)
            await until(pilot, lambda: "half of it" in shown(pilot))
            assert "esc cancel" in shown(pilot)
            await pilot.press("escape")
            await at_rest(pilot, screen)
            assert "nothing was written" in note(screen)

    async def test_help_lists_its_keys(self, file: Named) -> None:
        async with exploring(file.path) as (pilot, _):
            await pilot.press("k", "s")
            await reached(pilot, ReadingSheet)
            await pilot.press("question_mark")
            await until(pilot, lambda: "Export this text to a file" in shown(pilot))

    async def test_its_keys_can_be_bound_anew(self, file: Named) -> None:
        config = Config(
            follow_interval=0.02,
            keymap={"branch.summarise": ("B",), "draft.move": ("w",), "mode.leave": ("Q",)},
        )
        async with exploring(file.path, config=config) as (pilot, screen):
            await pilot.press("K", "K", "s", "B")
            await whole_text(pilot)
            await until(pilot, lambda: "w move to #" in shown(pilot))
            assert "Q cancel" in shown(pilot)
            await pilot.press("w")
            await until(pilot, lambda: lines(file.path)[-1]["type"] == "branch_summary")
            await at_rest(pilot, screen)

    @pytest.mark.parametrize("size", [NARROW, (60, 16), (200, 60)])
    async def test_every_size_is_filled_to_the_cell(self, size: tuple[int, int]) -> None:
        async with on_demo(size) as (pilot, _, _path):
            await pilot.press("s")
            await whole_text(pilot)
            await pilot.pause()
            strips: list[Any] = list(pilot.app.screen._compositor.render_strips())
            for strip in strips:
                parts = strip if isinstance(strip, list) else [strip]
                assert sum(part.cell_length for part in parts) == size[0]
            assert "Goal" in shown(pilot)
