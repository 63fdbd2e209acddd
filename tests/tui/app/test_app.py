"""Opening, themes, keymaps, help, and settings that are remembered."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from leafward.base.config import Config
from leafward.base.paths import config_dir, state_dir
from leafward_tui.app.memory import Memory
from leafward_tui.catalogue.screen import CatalogueScreen
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE
from leafward_tui.ui.appearance.terminal import Depth
from leafward_tui.ui.keys.intents import intents_for
from leafward_tui.ui.sheets.key_help import HelpScreen
from leafward_tui.ui.sheets.theme_choice import ThemesScreen
from tests.tui.explored import WIDE
from tests.tui.session_store import SessionFile, app_over, listed, reached, rows, until

if TYPE_CHECKING:
    from pathlib import Path

    from leafward_tui.app.app import LeafwardApp

THEME = """
name = "{name}"
title = "Own"
dark = true

[palette]
bg = "#000000"
panel = "#050505"
raise = "#101010"
sel = "#202020"
line = "#303030"
edge = "#404040"
faint = "#a0a0a0"
sub = "#c0c0c0"
text = "#ffffff"
leaf = "#00ff00"
memory = "#ff88ff"
ghost = "#88ffff"
warn = "#ffff00"
bad = "#ff8888"

[tint]
leaf = "#001000"
memory = "#100010"
ghost = "#001010"
warn = "#101000"
bad = "#100000"
"""


def own_theme(name: str, text: str | None = None) -> None:
    folder = config_dir() / "themes"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.toml").write_text(text or THEME.format(name=name))


def toasts(app: LeafwardApp) -> list[str]:
    return [one.message for one in app._notifications]


# --- what is opened ---------------------------------------------------------------------------------------------------


async def test_one_file_opens_in_the_explorer_and_q_quits(tmp_path: Path) -> None:
    session = SessionFile(tmp_path, "/home/ada/orchard", "first", ago=timedelta(hours=1))
    app = app_over(session.path)
    async with app.run_test(size=WIDE) as pilot:
        await reached(pilot, ExplorerScreen)
        assert len(app.screen_stack) == 1
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)
    assert app.return_code == 0


async def test_a_folder_opens_as_a_catalogue(tmp_path: Path) -> None:
    app = app_over(tmp_path)
    async with app.run_test(size=WIDE):
        assert isinstance(app.screen, CatalogueScreen)


def test_the_first_screen_needs_neither_a_model_library_nor_the_explorer() -> None:
    code = (
        "import sys; from leafward_tui.app.app import LeafwardApp; import leafward_tui.catalogue.screen; LeafwardApp();"
        "print([m for m in ('litellm', 'leafward_tui.explorer', 'leafward_tui.ui.sheets.key_help', 'leafward_tui.ui.sheets.sheet',"
        "'leafward.session.journal',"
        "'leafward_tui.app.command_palette', 'markdown_it', 'pygments') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.strip() == "[]"


async def test_ctrl_c_copies_what_is_selected_and_else_says_how_to_quit(tmp_path: Path) -> None:
    app = app_over(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        screen = await listed(pilot)
        await pilot.press("ctrl+c")
        assert toasts(app) == ["ctrl+q quits, q goes back"]
        screen.get_selected_text = lambda: "chosen"  # type: ignore[method-assign]  # as if dragged over
        await pilot.press("ctrl+c")
        assert app.clipboard == "chosen"
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)


# --- themes -----------------------------------------------------------------------------------------------------------


async def test_a_theme_is_seen_while_moving_and_esc_brings_back_the_one_before(tmp_path: Path) -> None:
    app = app_over(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await listed(pilot)
        before = app.styles_now
        await pilot.press("t", "j")
        assert isinstance(app.screen, ThemesScreen)
        assert app.theme == "clearing"
        assert app.styles_now is not before
        await pilot.press("escape")
        assert app.theme == "understory"
        assert app.styles_now is before
        assert app.recall("theme") is None


async def test_a_theme_kept_is_there_at_the_next_start_until_the_configuration_says_otherwise(
    tmp_path: Path,
) -> None:
    app = app_over(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await listed(pilot)
        await pilot.press("t", "j", "enter")
        await until(pilot, lambda: app.theme == "clearing")
    assert app_over(tmp_path).theme == "clearing"
    assert app_over(tmp_path, config=Config(theme="frost")).theme == "frost"


async def test_every_theme_stands_in_the_list_and_can_be_used(tmp_path: Path) -> None:
    own_theme("own")
    app = app_over(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await listed(pilot)
        await pilot.press("t")
        for _ in app.themes.palettes:
            await pilot.press("j")
        assert "The forest floor" in "\n".join(rows(app))
        assert not [row for row in rows(app) if " dark " in row and "…" in row], "no description is cut"
        assert app.theme == "own"
        assert app.palette_now.text == "#ffffff"


async def test_a_broken_theme_is_named_and_skipped(tmp_path: Path) -> None:
    own_theme("broken", THEME.format(name="broken").replace('"#00ff00"', '"grenn"'))
    own_theme("own")
    app = app_over(tmp_path, config=Config(theme="broken"))
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: toasts(app))
        assert app.theme == "understory"
        assert "broken" not in app.themes.palettes
        assert "own" in app.themes.palettes
        assert "broken.toml: palette.leaf: 'grenn' is no colour" in toasts(app)[0]
        assert "there is no theme 'broken'" in toasts(app)[0]


@pytest.mark.parametrize(
    ("env", "depth", "grey"),
    [
        ({"COLORTERM": "", "TERM": "xterm"}, Depth.SIXTEEN, False),
        ({"COLORTERM": ""}, Depth.EIGHT_BIT, False),
        ({"NO_COLOR": "1"}, Depth.TRUE, True),
    ],
)
async def test_the_theme_suits_the_terminal(
    tmp_path: Path, env: dict[str, str], depth: Depth, grey: bool
) -> None:
    app = app_over(tmp_path, env=env)
    assert app.terminal.depth is depth
    leaf = app.palette_now.leaf
    assert leaf.startswith("ansi_") == (depth is Depth.SIXTEEN)
    if grey:
        assert len({leaf[1:3], leaf[3:5], leaf[5:7]}) == 1
    async with app.run_test(size=WIDE) as pilot:
        await listed(pilot)


def test_the_locale_decides_the_glyphs_unless_the_configuration_does(tmp_path: Path) -> None:
    assert app_over(tmp_path, env={"LC_ALL": "C"}).glyphs is ASCII
    assert app_over(tmp_path).glyphs is UNICODE
    forced = Config(ascii=False)
    assert app_over(tmp_path, env={"LC_ALL": "C"}, config=forced).glyphs is UNICODE


# --- keymap -----------------------------------------------------------------------------------------------------------


async def test_a_keymap_holds_in_keys_key_bar_and_help(tmp_path: Path) -> None:
    config = Config(keymap={"app.help": ("f1",), "app.palette": ("ctrl+k",)})
    app = app_over(tmp_path, config=config)
    async with app.run_test(size=WIDE) as pilot:
        await listed(pilot)
        assert "f1 keys   ctrl+k commands" in rows(app)[-1]
        await pilot.press("question_mark")
        assert isinstance(app.screen, CatalogueScreen)
        await pilot.press("f1")
        assert isinstance(app.screen, HelpScreen)
        await until(pilot, lambda: any("ctrl+k" in row and "Show all commands" in row for row in rows(app)))


async def test_what_is_wrong_with_a_keymap_is_told(tmp_path: Path) -> None:
    app = app_over(tmp_path, config=Config(keymap={"app.hlep": ("f1",)}))
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: toasts(app))
        assert "did you mean app.help?" in toasts(app)[0]


async def test_many_problems_are_told_in_a_few_lines(tmp_path: Path) -> None:
    keymap = {f"nothing.like{number}": ("x",) for number in range(9)}
    app = app_over(tmp_path, config=Config(keymap=keymap))
    async with app.run_test(size=WIDE) as pilot:
        await until(pilot, lambda: toasts(app))
        assert len(toasts(app)[0].splitlines()) == 5
        assert "and 5 more" in toasts(app)[0]


# --- help -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_the_help_shows_every_key_of_the_screen_within_its_frame(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    app = app_over(tmp_path)
    async with app.run_test(size=size) as pilot:
        await listed(pilot)
        await pilot.press("question_mark")
        modal = app.screen
        assert isinstance(modal, HelpScreen)
        await until(pilot, lambda: modal.rows.outer_size.width <= size[0])
        assert modal.rows.outer_size.height <= size[1]
        seen: list[str] = []
        for _ in range(8):
            seen += rows(app)
            await pilot.press("pagedown")
            await pilot.pause()
        words = set(" ".join(seen).split())  # a title that is too long goes on in the next line of its column
        assert [
            entry.id for entry in intents_for("catalogue") if not words.issuperset(entry.title.split())
        ] == []
        await pilot.press("question_mark")
        assert isinstance(app.screen, CatalogueScreen)


# --- memory -----------------------------------------------------------------------------------------------------------


def test_memory_lasts_and_a_broken_file_is_an_empty_one() -> None:
    memory = Memory()
    assert memory.get("theme") is None
    memory.keep("theme", ["frost", None])
    assert Memory().get("theme") == ["frost", None]
    (state_dir() / "app.json").write_text("{ broken")
    assert Memory().get("theme") is None
    (state_dir() / "app.json").write_text("[]")
    broken = Memory()
    broken.keep("a", 1)
    assert Memory().get("a") == 1


def test_what_one_application_keeps_stays_when_another_keeps_something() -> None:
    one, other = Memory(), Memory()
    assert one.get("theme") is None
    assert other.get("theme") is None
    one.keep("theme", ["frost", None])
    other.keep("catalogue", {"sort": "cost"})
    assert Memory().get("theme") == ["frost", None]
    one.keep("theme", ["ember", None])
    other.keep("theme", ["frost", None])
    assert Memory().get("theme") == ["frost", None]
    (state_dir() / "app.json").unlink()
    one.keep("based", True)
    assert Memory().get("theme") == ["ember", None], "what it kept itself is not lost with the file"
