"""Opens the screens of features, importing each when it is shown; thus none of them knows another."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from textual.app import App
    from textual.dom import DOMNode
    from textual.screen import Screen

    from leafward.catalogue.cards.card import Card
    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.injection.values import Injection
    from leafward.compaction.plan.plan import Plan
    from leafward.session.lines.prefetch import Prefetch
    from leafward.session.session import Session
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.open_target import OpenTarget
    from leafward_tui.ui.screen_results import CompareResult, LabResult, XRayResult

_BLAME = "leafward_tui.blame.screen"
_LAB, _XRAY, _COMPARE = "leafward_tui.lab.screen", "leafward_tui.xray.screen", "leafward_tui.compare.screen"
_SOON = (
    "leafward_tui.ui.sheets.sheet",
    "leafward_tui.ui.sheets.reading_sheet",
    "leafward_tui.explorer.restore_sheet",
    "leafward_tui.explorer.controllers.heal",
    _XRAY,
    _LAB,
    _COMPARE,
    "leafward.query.select.evaluator",
)
"""Modules that a key needs and that take longer to load than a frame; loaded while the application is idle."""


def _names_session(path: Path) -> bool:
    """Whether a path is that of one session, including one inside a database."""
    if path.suffix == ".jsonl":
        return path.is_file()
    from leafward.agents.recognition import names_one

    return names_one(path)


def _loaded(names: Sequence[str], job: Job) -> None:
    """Loads modules; a job."""
    for name in names:
        if job.unwanted():
            return
        import_module(name)


class FeatureScreens:
    """The screens of the application; `ui.services.Screens` says what each method does."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._until_exit = ExitStack()
        self.demo_file: Path | None = None
        """The copy of the bundled session; None before it was opened."""
        self._wanted: tuple[str, Screen[Any]] | None = None
        """The module of the screen that opens once it is loaded, and the screen that asked for it."""

    def close(self) -> None:
        """Deletes the demo's copy."""
        self._until_exit.close()

    # --- modules ------------------------------------------------------------------------------------------------------

    def prefetch(self, owner: DOMNode) -> None:
        """Loads the modules of the screens in a job of a screen, so that the next screen opens at once."""
        missing = [name for name in _SOON if name not in sys.modules]
        if missing:
            services_of(self._app).jobs(owner).latest(
                "modules", partial(_loaded, missing), lambda _none: None
            )

    def _once_loaded(self, name: str, then: Callable[[], object]) -> None:
        """Calls `then` once a module is loaded: at once where it is already. Keys are handled meanwhile."""
        if name in sys.modules:
            then()
            return
        # The job of a screen that is closed meanwhile never delivers: another screen may ask for the same.
        asking = self._app.screen
        wanted = name, asking
        if self._wanted == wanted:
            return
        self._wanted = wanted

        def loaded(_none: None) -> None:
            if self._wanted == wanted:
                self._wanted = None
                if self._app.screen is asking:
                    then()

        def failed(reason: str) -> None:
            if self._wanted == wanted:
                self._wanted = None
            services_of(self._app).say(reason, problem=True)

        services_of(self._app).jobs(asking).latest("module", partial(_loaded, [name]), loaded, failed)

    # --- screens ------------------------------------------------------------------------------------------------------

    def first(self, paths: Sequence[Path], ahead: Prefetch | None) -> Screen[Any]:
        """The first screen: one session in the explorer, other paths as the catalogue of their sessions.

        `ahead` is the session's scan under way.
        """
        if len(paths) == 1 and _names_session(paths[0]):
            from leafward_tui.explorer.screen import ExplorerScreen

            return ExplorerScreen(paths[0], None, ahead)
        from leafward_tui.catalogue.screen import CatalogueScreen

        return CatalogueScreen(paths)

    def session(self, path: Path, agent: str | None = None, target: OpenTarget | None = None) -> None:
        from leafward_tui.explorer.screen import ExplorerScreen

        self._app.push_screen(ExplorerScreen(path, agent, None, target))

    def demo(self) -> None:
        from leafward.base.errors import LeafwardError
        from leafward.export.demo import demo_session

        if self.demo_file is None:
            try:
                self.demo_file = self._until_exit.enter_context(demo_session())
            except (LeafwardError, OSError) as error:
                services_of(self._app).say(str(error), problem=True)
                return
        self.session(self.demo_file)

    def search(
        self,
        paths: Sequence[Path],
        cards: Sequence[Card] | None,
        text: str,
        before: object,
        on_close: Callable[[object], None],
    ) -> None:
        from leafward_tui.search.screen import SearchScreen
        from leafward_tui.search.state import LeftSearch

        left = before if isinstance(before, LeftSearch) else None
        if text and (left is None or left.text != text):
            left = LeftSearch(text)
        self._app.push_screen(SearchScreen(paths, cards, left), on_close)

    def blame(self, path: Path, cards: Sequence[Card] | None, session: Path | None = None) -> None:
        def show() -> None:
            from leafward_tui.blame.screen import BlameScreen

            self._app.push_screen(BlameScreen(path, cards, session))

        self._once_loaded(_BLAME, show)

    def log(self, session: Session, on_close: Callable[[int | None], None]) -> None:
        from leafward_tui.log.screen import LogScreen

        self._app.push_screen(LogScreen(session), on_close)

    def lab(
        self,
        session: Session,
        entry: int,
        pins: tuple[str, ...],
        on_close: Callable[[LabResult | None], None],
    ) -> None:
        def show() -> None:
            from leafward_tui.lab.screen import LabScreen

            self._app.push_screen(LabScreen(session, entry, pins), on_close)

        self._once_loaded(_LAB, show)

    def xray(self, session: Session, compaction: int, on_close: Callable[[XRayResult | None], None]) -> None:
        def show() -> None:
            from leafward_tui.xray.screen import XRayScreen

            self._app.push_screen(XRayScreen(session, compaction), on_close)

        self._once_loaded(_XRAY, show)

    def planned_xray(
        self,
        session: Session,
        plan: Plan,
        draft: Draft | None,
        injection: Injection | None,
        on_close: Callable[[XRayResult | None], None],
    ) -> None:
        def show() -> None:
            from leafward_tui.xray.screen import XRayScreen

            self._app.push_screen(XRayScreen(session, plan=plan, draft=draft, injection=injection), on_close)

        self._once_loaded(_XRAY, show)

    def compare(
        self, session: Session, a: int, b: int, mark: int, on_close: Callable[[CompareResult | None], None]
    ) -> None:
        def show() -> None:
            from leafward_tui.compare.screen import CompareScreen

            self._app.push_screen(CompareScreen(session, a, b, mark=mark), on_close)

        self._once_loaded(_COMPARE, show)
