"""An explorer without a screen: its controllers on a session that is read, a view that keeps what it is told."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from leafward.base.config import Config
from leafward.session.tree.density import Density
from leafward_tui.explorer.assembly import Controllers
from leafward_tui.explorer.state import ExplorerState
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.appearance.palette import DEFAULT_DARK, built_in_theme
from leafward_tui.ui.appearance.theme import Styles
from leafward_tui.ui.routed_screen import Routes
from leafward_tui.ui.screens.screen_controller import Means
from tests.tui.sure import sure
from tests.tui.waiting_jobs import WaitingJobs

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.session.session import Session
    from leafward_tui.explorer.display import ExplorerDisplay
    from leafward_tui.explorer.model.folds import LineKind, ShownLine
    from leafward_tui.ui.services import AppServices
    from tests.tui.explored import Named


class Silent:
    """Takes every message and answers nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_values, **_named: None


def _nothing(_value: object) -> None:
    """Takes messages and drops them."""


class Tree(Silent):
    """Rows without a screen, all of them on it."""

    page_rows = 20
    jumping = False

    def __init__(self, state: ExplorerState) -> None:
        self._state = state
        self.cursor = 0
        self.hits: frozenset[int] = frozenset()

    @property
    def line(self) -> ShownLine | None:
        exploration = self._state.exploration
        return exploration.lines.line(self.cursor) if exploration is not None else None

    @property
    def row(self) -> int:
        return self.line.row if self.line is not None else -1

    def rows_on_screen(self) -> range:
        return range(len(self._state.exploration.lines) if self._state.exploration is not None else 0)

    def show(self, painter: Any, row: int) -> None:
        self.cursor = painter.lines.y_of(row)

    def move_to_row(self, row: int) -> None:
        self.cursor = sure(self._state.exploration).lines.y_of(row)

    def move_by(self, step: int) -> None:
        self.cursor = max(0, min(len(self.rows_on_screen()) - 1, self.cursor + step))

    def set_hits(self, rows: frozenset[int], _text: str) -> None:
        self.hits = rows


class View(Silent):
    """The screen as controllers see it: what is said, asked and run is kept."""

    in_tree = two_panes = on_top = True
    size = (120, 40)

    def __init__(self, state: ExplorerState) -> None:
        self.tree = Tree(state)
        self.sought: list[str] = []
        self.inspector = SimpleNamespace(
            tab=Tab.ENTRY, show=_nothing, set_limits=_nothing, seek=self.seek, reload=Silent().reload
        )
        self.strip = self.gauge = self.peek = self.price_line = self.title_bar = Silent()
        self.said: list[str] = []
        self.note = ""
        self.asked: list[tuple[Any, Any]] = []
        self.ran: list[str] = []

    def tell(self, text: str, *_rest: Any, **_named: Any) -> None:
        self.note = text
        if text:
            self.said.append(text)

    refuse = fail = tell

    def key_hints(self, *_wanted: Any) -> tuple[()]:
        return ()

    def seek(self, words: str, *_place: int) -> None:
        self.sought.append(words)

    def open_sheet(self, sheet: Any, done: Any = None) -> None:
        self.asked.append((sheet, done or sheet.take))

    def answer(self, value: str | None) -> None:
        self.asked.pop()[1](value)

    def after(self, _seconds: float, _then: Any) -> Silent:
        return Silent()

    def run_intent(self, intent_id: str) -> None:
        self.ran.append(intent_id)


class Services(Silent):
    """The services of an application."""

    config = Config()
    glyphs = UNICODE
    styles_now = Styles.of(built_in_theme(DEFAULT_DARK))
    collector = Silent()

    def clock(self) -> datetime:
        return datetime.now(UTC)

    def recall(self, _key: str) -> None:
        return None


class Explorer:
    """An explorer without a screen, on a session that is read."""

    def __init__(self, file: Named) -> None:
        self.file = file
        self.state = ExplorerState(file.path, "pi")
        self.view, self.jobs = View(self.state), WaitingJobs()
        view, services = cast("ExplorerDisplay", self.view), cast("AppServices", Services())
        self.its = Controllers(Means(self.state, view, services, self.jobs))
        self.its.navigation.begin(Density.TURNS)
        self.its.loader.open(None, None)
        self.jobs.run("read")
        self.jobs.run("count")

    @property
    def session(self) -> Session:
        assert self.state.session is not None
        return self.state.session

    @property
    def cursor(self) -> int:
        """The entry that the row of the cursor begins with."""
        return self.its.navigation.head_here()

    @property
    def lines(self) -> list[ShownLine]:
        """The lines on show."""
        assert self.state.exploration is not None
        return [*map(self.state.exploration.lines.line, range(len(self.state.exploration.lines)))]

    def kind_here(self) -> LineKind:
        """The line of the cursor."""
        return sure(self.view.tree.line).kind

    def prompt(self, name: str) -> int:
        return self.session.columns.index(self.file.prompts[name])

    def press(self, intent_id: str) -> None:
        """Runs what a key does, if it does something now."""
        routes = Routes(*self.its.routed, condition=lambda _: self.state.exploration is not None)
        if routes.enabled(intent_id):
            routes.run(intent_id)
