"""Work of the explorer in counts: lines drawn and decoded, modules loaded."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from leafward.branches.diff.sides import sides
from leafward.context.entry_metrics import EntryMetrics
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.steps import StepOutcome
from leafward.session.session import Session
from leafward.session.tree import tree_layout
from leafward.session.tree.density import Density
from leafward_tui.compare.model.compared_sides import compared_sides
from leafward_tui.compare.model.files import FileLines
from leafward_tui.compare.screen import CompareScreen
from leafward_tui.explorer.controllers import row_metrics
from leafward_tui.explorer.controllers.row_metrics import REST
from leafward_tui.explorer.model import exploration as exploration_model
from leafward_tui.explorer.model.exploration import Exploration
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.overview import Overview, SideBranch
from leafward_tui.explorer.model.overview_drawing import draw
from leafward_tui.explorer.model.row_columns import RowColumns, RowState
from leafward_tui.explorer.model.row_texts import RowTexts
from leafward_tui.explorer.model.rows import RowPainter
from leafward_tui.inspector.widgets.page_view import PageView
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.appearance.palette import DEFAULT_DARK, built_in_theme
from leafward_tui.ui.appearance.theme import Styles
from tests.bench.generate import write_session
from tests.tui.explored import exploring
from tests.tui.session_store import reached, rested, until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward.session.tree.tree import SessionTree
    from leafward.session.tree.tree_layout import Layout
    from leafward_tui.explorer.screen import ExplorerScreen
    from leafward_tui.explorer.widgets.graph_view import GraphView

pytestmark = pytest.mark.frames

HEIGHT = 30


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("generated") / "session.jsonl"
    write_session(path, 2000, compact_every=500)
    return path


def test_the_tree_is_laid_out_once_for_opening_and_for_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arranged: list[Density] = []

    def arrange(tree: SessionTree, leaf: int, density: Density, **given: Any) -> Layout:
        arranged.append(density)
        return tree_layout.arrange(tree, leaf, density, **given)

    monkeypatch.setattr(exploration_model, "arrange", arrange)
    path = tmp_path / "path.jsonl"
    write_session(path, 1000, branch_every=0, compact_every=0)
    with closing(Session.open(path)) as session:
        exploration = Exploration(session, height=HEIGHT)
        assert sure(exploration.folds).divides
        exploration.mark = session.leaf
        exploration.lay_out()
        assert arranged == [Density.TURNS]


async def _frame(graph: GraphView, scrolled: float, drawn: int) -> None:
    """Waits for the frame of a tree that is scrolled beyond that, and no longer: more is drawn behind it."""
    for _ in range(20_000):
        if graph.scroll_offset.y > scrolled and graph.painted.shown > drawn:
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it was never drawn")


class TestPainting:
    async def _still(self, pilot: Pilot[int], screen: ExplorerScreen) -> None:
        """Until nothing more is drawn: what follows the cursor has followed."""
        await pilot.pause(2 * REST)
        await rested(pilot)
        before = -1

        def rests() -> bool:
            nonlocal before
            now, before = screen.panes.tree.painted.shown, screen.panes.tree.painted.shown
            return now == before and not [worker for worker in pilot.app.workers if worker.is_running]

        await until(pilot, rests)

    async def test_a_row_down_draws_two_lines(self, generated: Path) -> None:
        async with exploring(generated, (120, HEIGHT)) as (pilot, screen):
            graph = screen.panes.tree
            await pilot.press("Z", "g")
            await self._still(pilot, screen)
            graph.move_to(5)
            await self._still(pilot, screen)
            for _ in range(5):
                scrolled, drawn = graph.scroll_offset.y, graph.painted.shown
                cursor = graph.state.cursor
                await pilot.press("down")
                await until(pilot, lambda drawn=drawn: graph.painted.shown > drawn)  # type: ignore[misc]  # bound now
                assert graph.state.cursor == cursor + 1
                assert graph.scroll_offset.y == scrolled
                assert graph.painted.shown - drawn <= 2

    async def test_a_page_down_draws_a_page(self, generated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Notes of rows come behind that frame, and are no part of it."""
        async with exploring(generated, (120, HEIGHT)) as (pilot, screen):
            graph = screen.panes.tree
            await pilot.press("Z", "g")
            await self._still(pilot, screen)
            monkeypatch.setattr(row_metrics, "REST", 60)
            for _ in range(3):
                await self._still(pilot, screen)
                scrolled, drawn = graph.scroll_offset.y, graph.painted.shown
                cursor = graph.state.cursor
                screen.run_intent("page.down")
                await _frame(graph, scrolled, drawn)
                assert graph.state.cursor > cursor + 10
                assert graph.painted.shown - drawn <= graph.size.height + 2

    async def test_a_page_that_was_painted_ahead_is_there_at_once(
        self, generated: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Details of the cursor may come late on a busy machine and redraw everything, but not at every page."""
        monkeypatch.setattr(row_metrics, "REST", 60)
        monkeypatch.setattr(row_metrics, "IDLE", 60)
        async with exploring(generated, (120, HEIGHT)) as (pilot, screen):
            graph = screen.panes.tree
            await pilot.press("Z", "g", "pagedown")
            for _ in range(12):
                await self._still(pilot, screen)
                ahead = graph.painted.ahead
                graph.redraw_rows()
                await until(pilot, lambda ahead=ahead: graph.painted.ahead >= ahead + graph.page_rows)  # type: ignore[misc]  # bound now
                await self._still(pilot, screen)
                scrolled, drawn = graph.scroll_offset.y, graph.painted.shown
                screen.run_intent("page.down")
                await _frame(graph, scrolled + 10, drawn)
                if graph.painted.shown - drawn <= 3:
                    return
            raise AssertionError("each page was painted when it was shown")

    async def test_painting_ahead_ends(self, generated: Path) -> None:
        """A page down and one up, however often there is time for more."""
        async with exploring(generated, (120, HEIGHT)) as (pilot, screen):
            graph = screen.panes.tree
            await pilot.press("Z", "g")
            graph.move_to(100)
            await self._still(pilot, screen)
            before = graph.painted.ahead
            graph.redraw_rows()
            await until(pilot, lambda: graph.painted.ahead >= before + 2 * graph.size.height)
            for _ in range(3):
                await self._still(pilot, screen)
            # Once more where something that came late had all drawn again.
            assert graph.painted.ahead <= before + 4 * graph.size.height

    async def test_moving_the_cursor_lays_nothing_out(
        self, generated: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Details of the cursor are longer and shorter, with and without a scrollbar."""
        async with exploring(generated, (120, HEIGHT)) as (pilot, screen):
            await pilot.press("Z", "g")
            await self._still(pilot, screen)
            view = screen.query_one(PageView)
            laid_out = 0
            refresh_layout = screen._refresh_layout

            def counted(*args: object, **options: object) -> None:
                nonlocal laid_out
                laid_out += 1
                refresh_layout(*args, **options)  # type: ignore[arg-type]  # as it came

            monkeypatch.setattr(screen, "_refresh_layout", counted)
            heights = set()
            for _ in range(12):
                await pilot.press("down")
                await self._still(pilot, screen)
                heights.add(view.virtual_size.height)
                if view.show_vertical_scrollbar:
                    assert view.vertical_scrollbar.window_virtual_size == view.virtual_size.height
            assert min(heights) <= view.size.height < max(heights)
            # The first page that needs a scrollbar makes room for it.
            assert laid_out <= 2

    async def test_arrow_and_page_keys_move_the_cursor(self, generated: Path) -> None:
        """Textual's own scrolling would leave it behind, with whatever is worked out for its line going on."""
        async with exploring(generated, (120, HEIGHT)) as (pilot, screen):
            await pilot.press("Z", "g", "down", "down", "up")
            assert screen.panes.tree.state.cursor == 1
            await pilot.press("pagedown")
            assert screen.panes.tree.state.cursor > 10
            await pilot.press("pageup")
            assert screen.panes.tree.state.cursor == 1
            await pilot.press("end", "home")
            assert screen.panes.tree.state.cursor == 0

    async def test_lines_off_the_screen_are_never_drawn(self, generated: Path) -> None:
        async with exploring(generated, (120, HEIGHT)) as (pilot, screen):
            graph = screen.panes.tree
            before = graph.painted.shown
            await pilot.press("Z")
            await self._still(pilot, screen)
            assert graph.lines is not None
            assert len(graph.lines) > 4 * HEIGHT
            repaints = 6
            assert graph.painted.shown - before <= repaints * (graph.size.height + 1)


def far_apart(session: Session) -> tuple[int, int]:
    """Two branches that both touched many files."""
    leaves = sorted(session.tree.leaves(), key=lambda leaf: len(session.tree.path(leaf)))
    return leaves[-1], leaves[0]


def test_a_glance_at_two_branches_decodes_their_first_words(generated: Path, decoded: Counter[str]) -> None:
    with closing(Session.open(generated)) as session:
        a, b = far_apart(session)
        decoded.clear()
        found = compared_sides(sides(session, a, b), -1)
        assert len(found.sets) > 200
        made = [step for side in (found.sides.shared, found.sides.a, found.sides.b) for step in side.steps]
        undone = sum(
            step.operation is FileOperation.EDIT and step.outcome is not StepOutcome.DONE for step in made
        )
        assert undone < len(made) / 20
        assert decoded["lines"] <= 5 + undone, "no result of what was done, and no reply that asked for it"


async def test_a_comparison_makes_the_lines_that_are_seen(generated: Path) -> None:
    async with exploring(generated, (140, HEIGHT)) as (pilot, explorer):
        session = sure(explorer.state.session)
        explorer.controllers.comparison.open(*far_apart(session))
        screen = await reached(pilot, CompareScreen)
        await until(
            pilot, lambda: screen.state.read.carried is not None and screen.state.content.shown is not None
        )
        views = [view.lines for view in screen.view.lists.values()]
        made = [lines.made for lines in views if isinstance(lines, FileLines)]
        assert len(made) == 3
        assert sum(len(lines) for lines in views if lines is not None) > 200
        assert max(made) <= 2 * HEIGHT


@pytest.mark.parametrize("density", list(Density))
def test_a_screen_decodes_what_its_rows_say(density: Density, generated: Path, decoded: Counter[str]) -> None:
    with closing(Session.open(generated)) as session:
        exploration = Exploration(session, density, HEIGHT)
        exploration.fold_everything()
        styles = Styles.of(built_in_theme(DEFAULT_DARK))
        painter = RowPainter(exploration, EntryMetrics(session), RowTexts(), styles, UNICODE)
        columns = RowColumns.fitting(70, exploration.lines.lanes, density)
        middle = len(exploration.lines) // 2
        shown = range(middle, middle + HEIGHT)
        assert shown.stop <= len(exploration.lines)
        decoded.clear()
        for y in shown:
            painter.paint(y, columns, RowState(cursor=middle))
        rows = sum(exploration.lines.line(y).kind is LineKind.ROW for y in shown)
        # Each row's own line, and for a tool's result the reply that called it.
        assert rows <= decoded["lines"] + HEIGHT
        assert decoded["lines"] <= 2 * HEIGHT
        decoded.clear()
        for y in shown:
            painter.paint(y, columns, RowState(cursor=middle + 1))
        assert not decoded["lines"]


FIRST_FRAME = """
import asyncio, dataclasses, json, sys
from pathlib import Path
from textual._styles_cache import StylesCache
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.widget import Widget
from leafward_tui.app.app import LeafwardApp

shown = {}
done = {"styled": 0, "drawn": 0}

def counted(owner, name, what, only=object):
    real = getattr(owner, name)

    def call(self, first, *args, **options):
        done[what] += isinstance(first, only)
        return real(self, first, *args, **options)

    setattr(owner, name, call)

counted(Stylesheet, "apply", "styled", Widget)
counted(StylesCache, "render_line", "drawn")

async def main():
    app = LeafwardApp([Path(sys.argv[1])])
    display = app._display

    def displayed(screen, renderable):
        if not shown and renderable is not None and screen is app.screen:
            shown["modules"] = sorted(sys.modules)
            ours = [module for name, module in sys.modules.items() if name.startswith("leafward")]
            values = {value for module in ours for value in vars(module).values() if isinstance(value, type)}
            shown["dataclasses"] = sorted(value.__name__ for value in values if dataclasses.is_dataclass(value))
            shown["nodes"] = sorted(value.__name__ for value in values if issubclass(value, DOMNode))
            shown["thrown_away"] = app._batch_count
            shown["widgets"] = 1 + len(list(app.screen.walk_children()))
            shown.update(done)
        display(screen, renderable)

    app._display = displayed
    async with app.run_test(size=(120, 32)) as pilot:
        while not shown or not app.screen.ready or app.screen.state.exploration is None:
            await pilot.pause()
        shown["later"] = sorted(sys.modules)

asyncio.run(main())
print(json.dumps(shown))
"""

NOT_YET = {
    "hashlib",
    "importlib.resources",
    "leafward.agents.base",
    "leafward.catalogue.listing",
    "leafward.context.model_context",
    "leafward.export.documents.session_export",
    "leafward.files.working_set",
    "leafward.session.journal.write",
    "leafward.context.price",
    "leafward.session.session",
    "leafward.context.entry_metrics",
    "leafward_tui.explorer.assembly",
    "leafward_tui.explorer.controllers.navigation",
    "leafward_tui.explorer.model.overview",
    "leafward_tui.explorer.model.rows",
    "leafward_tui.explorer.state",
    "leafward_tui.catalogue.screen",
    "leafward_tui.inspector.model.entry",
    "leafward_tui.ui.text.markdown",
    "leafward_tui.inspector.page",
    "leafward_tui.explorer.model.view_state",
    "leafward_tui.ui.sheets.sheet",
    "markdown_it",
    "portalocker",
    "pygments",
    "textual.widgets._markdown",
}
"""Modules that the first frame does without."""

DATACLASSES = 3
"""As many are made before the first frame at most. Each takes as long as loading a module; a named tuple an eighth of it."""
NODES = 30
"""As many classes are of Textual's kind then at most. Each takes as long as loading two modules."""

PAINTED = 96
"""Lines drawn for it at most: 32 rows, most of them parted into two panes, and the ground of the screen."""


def test_the_first_frame_takes_no_more_than_it_shows(generated: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_FRAME, str(generated)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    first, later = set(told["modules"]), set(told["later"])
    assert {"leafward_tui.explorer.screen", "leafward_tui.explorer.widgets.graph_view"} <= first
    assert sorted(first & NOT_YET) == []
    assert len(told["dataclasses"]) <= DATACLASSES, told["dataclasses"]
    assert len(told["nodes"]) <= NODES, told["nodes"]
    assert told["styled"] <= told["widgets"] + 1, "each widget is styled once, the screen again for its size"
    assert told["drawn"] <= PAINTED, "a line for each row of a pane, none for the containers"
    assert not told["thrown_away"], "the first frame is drawn before Textual paints what is drawn"
    assert {"leafward.session.journal", "leafward.session.session"} <= later
    assert "litellm" not in later


OPENING = """
import sys
from pathlib import Path
from leafward.base.config import Config
from leafward.session.tree.density import Density
from leafward_tui.explorer.controllers.session_loader import open_session

class Job:
    def unwanted(self): return False
    def report(self, tell): tell()

opened = open_session(Path(sys.argv[1]), Density.TURNS, 20, Config(), None, lambda *_: None, Job())
assert len(opened.exploration.session)
print(*[name for name in sys.modules if name == "hashlib" or name.startswith("leafward.catalogue")])
"""


def test_a_file_that_says_whose_it_is_opens_without_what_lists_or_hashes(generated: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OPENING, str(generated)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_what_starts_the_reading_of_a_session_loads_nothing_that_reads() -> None:
    code = (
        "import sys\n"
        "import leafward_tui.explorer.screen, leafward_tui.explorer.controllers.session_loader, leafward_tui.explorer.lost_facts\n"
        "print(*sys.modules, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    reads = {
        "leafward.agents",
        "leafward.catalogue",
        "leafward.context",
        "leafward.files",
        "leafward.summaries",
    }
    assert sorted(reads & set(done.stdout.split())) == []


class Looked(tuple[SideBranch, ...]):
    """Branches that count how often they are gone through."""

    __slots__ = ()
    times: ClassVar[int] = 0

    def __iter__(self) -> Iterator[SideBranch]:
        Looked.times += 1
        return super().__iter__()


def test_a_proposed_move_is_drawn_without_another_look_at_the_branches(generated: Path) -> None:
    with closing(Session.open(generated)) as session:
        tallies = EntryMetrics(session)
        tallies.fill(session, range(len(session)))
        made = sure(Overview.of(session, tallies))
        assert len(made.hanging) > 10
        watched = replace(made, hanging=Looked(made.hanging))
        bare = draw(watched, 80, 4, UNICODE)
        looked = Looked.times
        assert looked
        moved = draw(watched, 80, 4, UNICODE, watched.detour(made.hanging[3].tip))
        assert moved.signs != bare.signs
        assert draw(watched, 80, 4, UNICODE, hits=[1, 2]).signs != bare.signs
        assert Looked.times == looked


async def test_an_embedded_application_leaves_the_collector_alone(generated: Path) -> None:
    before, frozen = (gc.get_threshold(), gc.isenabled()), gc.get_freeze_count()
    async with exploring(generated, (120, HEIGHT)) as (pilot, screen):
        await until(pilot, lambda: screen.state.overview is not None)
        assert (gc.get_threshold(), gc.isenabled()) == before
        # What was frozen before may be freed meanwhile.
        assert gc.get_freeze_count() <= frozen
    assert (gc.get_threshold(), gc.isenabled()) == before
    assert gc.get_freeze_count() <= frozen
