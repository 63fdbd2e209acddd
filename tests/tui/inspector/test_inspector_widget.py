from __future__ import annotations

from contextlib import asynccontextmanager, closing
from threading import Event
from typing import TYPE_CHECKING, ClassVar

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.selection import Selection as TextSelection

from leafward.base.config import Config
from leafward_tui.app.input_priority import InputPriority
from leafward_tui.inspector.messages import EntryWanted, TabChanged
from leafward_tui.inspector.model import pages
from leafward_tui.inspector.model.pages import build
from leafward_tui.inspector.page import ContextLimits, Page, PageLine
from leafward_tui.inspector.pane import Inspector
from leafward_tui.inspector.tab import Tab
from leafward_tui.inspector.widgets.page_view import paint
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.appearance.palette import Palettes, built_in_theme
from leafward_tui.ui.appearance.theme import Styles, textual_theme, theme_variable_defaults
from leafward_tui.ui.jobs import Jobs
from leafward_tui.ui.text.spans import Span
from tests.tui.inspector_data import call, line_with, reply, result, turn, user, write_session
from tests.tui.session_store import HELD, rested, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from textual.dom import DOMNode
    from textual.message import Message
    from textual.pilot import Pilot

    from leafward.session.session import Session
    from leafward_tui.inspector.page import Selection
    from leafward_tui.inspector.page_request import PageRequest
    from leafward_tui.ui.appearance.glyphs import Glyphs


class Host(App[None]):
    """Nothing but the inspector, and what it said."""

    CSS = "Screen { background: $lw-bg; overflow: hidden; }"
    glyphs: ClassVar[Glyphs] = UNICODE
    config: ClassVar[Config] = Config()

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Message] = []
        self.copied: list[str] = []
        self.input_priority = InputPriority()

    @property
    def styles_now(self) -> Styles:
        return Styles.of(built_in_theme(self.theme))

    def jobs(self, owner: DOMNode) -> Jobs:
        return Jobs(owner, self.input_priority.unwanted, self.notify)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_variable_defaults()

    def compose(self) -> ComposeResult:
        yield Inspector(limits=ContextLimits())

    def on_mount(self) -> None:
        for palette in Palettes().values():
            self.register_theme(textual_theme(palette))
        self.theme = "understory"

    def on_inspector_entry_wanted(self, message: EntryWanted) -> None:
        self.heard.append(message)

    def on_inspector_tab_changed(self, message: TabChanged) -> None:
        self.heard.append(message)

    def copy(self, text: str) -> None:
        self.copied.append(text)

    @property
    def inspector(self) -> Inspector:
        return self.query_one(Inspector)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return write_session(
        tmp_path / "s.jsonl",
        user("first prompt"),
        reply("done", call("bash", "c1", command="make"), call("bash", "c2", command="ls")),
        result("bash", "c1", "\n".join(f"output {number}" for number in range(60))),
        result("bash", "c2", "only"),
        user("second prompt"),
        reply("\n\n".join(f"paragraph {number}" for number in range(60))),
    )


async def settled(pilot: Pilot[None]) -> None:
    await pilot.pause()
    await rested(pilot)
    await pilot.pause()


def seen(app: Host) -> str:
    view = app.inspector.view
    return "\n".join(view.render_line(y).text.rstrip() for y in range(view.size.height))


@asynccontextmanager
async def inspecting(
    selection: Selection, rows: int = 30, *, tab: Tab = Tab.ENTRY, focused: bool = False
) -> AsyncIterator[tuple[Pilot[None], Host]]:
    """The inspector with the page of a selection, on a screen of some rows."""
    app = Host()
    async with app.run_test(size=(62, rows)) as pilot:
        app.inspector.show(selection)
        app.inspector.show_tab(tab)
        if focused:
            app.inspector.focus()
        await settled(pilot)
        yield pilot, app


async def test_a_selection_is_shown_once_its_page_is_built(session: Session) -> None:
    async with inspecting(turn(session)) as (pilot, app):
        assert "first prompt" in seen(app)
        assert app.inspector.state.measured[0] == 59
        built = app.inspector.state.built
        app.inspector.show(turn(session))
        await settled(pilot)
        assert app.inspector.state.built == built
        app.inspector.show(None)
        await settled(pilot)
        assert seen(app).strip() == ""


async def test_the_old_page_stays_until_then_and_late_ones_are_dropped(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Host()
    gate = Event()
    slow = turn(session)

    def waiting(request: PageRequest, stop: Callable[[], bool]) -> Page:
        if request.selection == slow:
            gate.wait(HELD)
        return build(request, stop)

    async with app.run_test(size=(62, 30)) as pilot:
        app.inspector.show(turn(session, 4))
        await settled(pilot)
        monkeypatch.setattr(pages, "build", waiting)
        app.inspector.show(slow)
        await until(pilot, lambda: "second prompt" in seen(app))
        app.inspector.show(turn(session, 4, number=2))
        await pilot.pause()
        gate.set()
        await settled(pilot)
        assert "Turn 2" in seen(app)
        assert "first prompt" not in seen(app)


def held_pages(monkeypatch: pytest.MonkeyPatch) -> Event:
    """Pages are built once the event is set."""
    gate = Event()

    def waiting(request: PageRequest, stop: Callable[[], bool]) -> Page:
        gate.wait(HELD)
        return build(request, stop)

    monkeypatch.setattr(pages, "build", waiting)
    return gate


async def test_a_tab_that_takes_its_time_does_not_show_the_page_of_the_tab_before(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with inspecting(turn(session)) as (pilot, app):
        assert "first prompt" in seen(app)
        gate = held_pages(monkeypatch)
        app.inspector.show_tab(Tab.COMPACTION)
        await until(pilot, lambda: "counting…" in seen(app))
        assert "first prompt" not in seen(app)
        gate.set()
        await settled(pilot)
        assert "counting…" not in seen(app)


async def test_a_first_tab_that_takes_its_time_says_so(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Host()
    gate = held_pages(monkeypatch)
    async with app.run_test(size=(62, 30)) as pilot:
        app.inspector.show(turn(session))
        app.inspector.show_tab(Tab.COMPACTION)
        await until(pilot, lambda: "counting…" in seen(app))
        gate.set()
        await settled(pilot)
        assert "counting…" not in seen(app)


async def test_tabs_by_key_and_by_mouse(session: Session) -> None:
    async with inspecting(turn(session), focused=True) as (pilot, app):
        await pilot.press("right")
        await settled(pilot)
        assert "Context  on the path" in seen(app)
        await pilot.press("left", "left")
        await settled(pilot)
        assert "#0  message  user" in seen(app)
        place = next(start for tab, start, _ in app.inspector.head.places() if tab is Tab.FILES)
        await pilot.click(app.inspector.head, offset=(place + 1, 0))
        await settled(pilot)
        assert "no tool has named a file" in seen(app)
        assert [message.tab for message in app.heard if isinstance(message, TabChanged)] == [
            Tab.CONTEXT,
            Tab.ENTRY,
            Tab.RAW,
            Tab.FILES,
        ]


async def test_the_rule_is_heavy_under_the_open_tab_and_lit_with_the_focus(session: Session) -> None:
    app = Host()
    async with app.run_test(size=(62, 30)) as pilot:
        app.screen.set_focus(None)
        await pilot.pause()
        head = app.inspector.head
        strip = head.render_line(1)
        assert strip.text == "━" * 7 + "─" * 55
        styles = app.styles_now.bg
        assert [segment.style for segment in strip if "━" in segment.text] == [styles.sub]
        app.inspector.focus()
        await pilot.pause()
        assert [segment.style for segment in head.render_line(1) if "━" in segment.text] == [styles.leaf]


async def test_enter_opens_and_closes_where_the_cursor_rests(session: Session) -> None:
    async with inspecting(turn(session), 60, focused=True) as (pilot, app):
        view, page = app.inspector.view, app.inspector.page
        assert page is not None
        command = line_with(page, "$ make")
        while view.cursor != command:
            before = view.cursor
            await pilot.press("j")
            assert view.cursor > before
        assert view.render_line(command).text.startswith("▌")
        await pilot.press("enter")
        await settled(pilot)
        assert view.cursor == command
        assert "output 3" in seen(app)
        await pilot.press("space")
        await settled(pilot)
        assert "output 3" not in seen(app)


async def test_what_opens_at_the_lower_edge_is_scrolled_into_sight(session: Session) -> None:
    async with inspecting(turn(session)) as (pilot, app):
        view, page = app.inspector.view, app.inspector.page
        assert page is not None
        app.inspector.focus()
        at = next(at for at, line in enumerate(page.lines) if line.toggle and "make" in line.text)
        await pilot.resize_terminal(62, at + 2 + app.size.height - view.size.height)
        await settled(pilot)
        while view.cursor != at:
            before = view.cursor
            await pilot.press("j")
            await settled(pilot)
            assert view.cursor != before
        assert view.cursor >= view.scroll_offset.y + view.size.height * 2 // 3
        assert "output 0" not in seen(app)
        await pilot.press("enter")
        await settled(pilot)
        assert "output 0" in seen(app)
        assert "output 1" in seen(app)


async def test_enter_on_a_source_asks_for_the_entry(session: Session) -> None:
    async with inspecting(turn(session), 40, tab=Tab.CONTEXT, focused=True) as (pilot, app):
        await pilot.press("G", "enter")
        await pilot.pause()
        wanted = [message.entry for message in app.heard if isinstance(message, EntryWanted)]
        assert wanted == [3]
        page = sure(app.inspector.page)
        await pilot.click(app.inspector.view, offset=(9, line_with(page, "first prompt")))
        wanted = [message.entry for message in app.heard if isinstance(message, EntryWanted)]
        assert wanted == [3, 0]


async def test_keys_scroll_where_nothing_can_be_opened(session: Session) -> None:
    async with inspecting(turn(session, 4), 20, focused=True) as (pilot, app):
        view = app.inspector.view
        assert view.max_scroll_y > 40
        for _ in range(6):
            await pilot.press("j")
        assert view.scroll_offset.y >= 4
        await pilot.press("pagedown")
        assert view.scroll_offset.y > 16
        await pilot.press("G")
        assert view.scroll_offset.y == view.max_scroll_y
        assert "paragraph 59" in seen(app)
        await pilot.press("k")
        assert view.scroll_offset.y == view.max_scroll_y - 1
        await pilot.press("g")
        assert view.scroll_offset.y == 0


@pytest.mark.frames
async def test_only_lines_on_the_screen_are_painted(tmp_path: Path) -> None:
    session = write_session(tmp_path / "long.jsonl", *(user(f"prompt {number}") for number in range(2000)))
    app = Host()
    async with app.run_test(size=(62, 30)) as pilot:
        app.inspector.show_tab(Tab.CONTEXT)
        app.inspector.show(turn(session, 1999))
        await settled(pilot)
        view = app.inspector.view
        assert 20 <= view.rendered <= 40
        app.inspector.focus()
        await pilot.press("G")
        await until(pilot, lambda: "prompt 1999" in seen(app))
        assert view.rendered <= 120


async def test_copy_takes_what_is_under_the_cursor(session: Session) -> None:
    async with inspecting(turn(session), 60) as (pilot, app):
        app.screen.set_focus(None)
        await until(pilot, lambda: app.inspector.view.copied_text() == "first prompt\n\ndone")
        app.inspector.focus()
        await pilot.pause()
        page = sure(app.inspector.page)
        while app.inspector.view.cursor != line_with(page, "$ make"):
            await pilot.press("j")
        await pilot.press("y")
        await pilot.pause()
        assert app.copied == ["make"]


async def test_another_width_is_another_page_at_the_same_place(session: Session) -> None:
    async with inspecting(turn(session, 4), 20, focused=True) as (pilot, app):
        await pilot.press("pagedown")
        place = app.inspector.view.scroll_offset.y
        await pilot.resize_terminal(90, 20)
        await settled(pilot)
        assert app.inspector.state.measured[0] == 87
        assert app.inspector.view.scroll_offset.y == place


@pytest.mark.frames
async def test_another_theme_repaints_without_building(session: Session) -> None:
    async with inspecting(turn(session), 20) as (pilot, app):
        built = app.inspector.state.built
        before = app.inspector.view.render_line(1)
        app.theme = "clearing"
        await settled(pilot)
        assert app.inspector.state.built == built
        after = app.inspector.view.render_line(1)
        assert after.text == before.text
        assert [segment.style for segment in after] != [segment.style for segment in before]


async def test_a_file_that_went_away_is_said_in_a_line(session: Session) -> None:
    app = Host()
    async with app.run_test(size=(62, 20)) as pilot:
        session.close()
        app.inspector.show(turn(session))
        await settled(pilot)
        assert "! this cannot be shown" in seen(app)


async def test_a_drag_selects_text_and_is_no_click(session: Session) -> None:
    async with inspecting(turn(session), 40) as (pilot, app):
        page = sure(app.inspector.page)
        view = app.inspector.view
        row = line_with(page, "first prompt")
        await pilot.mouse_down(view, offset=(6, row))
        await pilot.hover(view, offset=(11, row))
        await pilot.mouse_up(view, offset=(11, row))
        await until(pilot, lambda: app.screen.get_selected_text() in {"first", "first "})
        assert not [message for message in app.heard if isinstance(message, EntryWanted)]


@pytest.mark.parametrize(("text", "chosen"), [("漢字 and more", "字 and"), ("é́ café noir", " café")])
async def test_a_selection_is_marked_where_its_text_stands(tmp_path: Path, text: str, chosen: str) -> None:
    """Textual counts the ends of a selection in characters, a strip is cut by cells."""
    with closing(write_session(tmp_path / "wide.jsonl", user(text))) as wide:
        async with inspecting(turn(wide), 40) as (pilot, app):
            view, page = app.inspector.view, sure(app.inspector.page)
            row = line_with(page, text)
            start = 1 + page.lines[row].text.index(chosen)
            ends = Offset(start, row), Offset(start + len(chosen), row)
            app.screen.selections = {view: TextSelection(*ends)}
            await pilot.pause()
            marked = app.styles_now.ghost_tint.text.bgcolor
            strip = view.render_line(row)
            found = (one.text for one in strip if one.style is not None and one.style.bgcolor == marked)
            assert "".join(found) == chosen


@pytest.mark.parametrize("size", [(20, 5), (9, 3), (4, 2)])
async def test_tiny_panes_do_not_break_it(session: Session, size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        app.inspector.show(turn(session))
        for tab in Tab:
            app.inspector.show_tab(tab)
            await settled(pilot)


def test_a_line_is_painted_to_its_width_on_every_ground() -> None:
    styles = Styles.of(built_in_theme("understory"))
    line = PageLine((Span("漢字", "strong"), Span(" x ", "text", "leaf_tint")))
    plain, chosen = paint(line, 20, styles), paint(line, 20, styles, cursor="▌")
    assert plain.cell_length == chosen.cell_length == 20
    assert plain.text == " 漢字 x             "[:20].ljust(18)
    assert chosen.text.startswith("▌漢字")
    assert [segment.style for segment in chosen][1] == styles.sel.strong
    assert [segment.style for segment in chosen][2] == styles.leaf_tint.text
