"""Measures the path that is planned on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.lab.jobs import measured, modules

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward_tui.lab.controllers.display import Display
    from leafward_tui.lab.controllers.drafts import DraftMaker
    from leafward_tui.lab.controllers.kept import KeptSummaries
    from leafward_tui.lab.controllers.settings import Settings
    from leafward_tui.lab.controllers.turns import TurnsPane
    from leafward_tui.lab.jobs import Measured
    from leafward_tui.lab.ports import LabPort
    from leafward_tui.lab.state import LabState
    from leafward_tui.ui.services import AppServices, Jobs

__all__ = ["PathReader"]


class PathReader:
    """Owns `state.path`."""

    def __init__(
        self,
        state: LabState,
        view: LabPort,
        jobs: Jobs,
        services: AppServices,
        display: Display,
        turns: TurnsPane,
        settings: Settings,
        drafts: DraftMaker,
        kept: KeptSummaries,
        prefetch: Callable[[], object],
    ) -> None:
        self._state = state
        self._view = view
        self._jobs = jobs
        self._services = services
        self._display = display
        self._turns = turns
        self._settings = settings
        self._drafts = drafts
        self._kept = kept
        self._prefetch = prefetch

    def forget(self) -> None:
        """The session changes: what is being made of it does not count."""
        self._settings.stop()
        self._drafts.forget()
        self._turns.forget_words()

    def measure(self) -> None:
        """Measures the path anew; what is chosen stays."""
        state = self._state
        self.forget()
        before = state.what_if.choices if state.what_if is not None else None
        work = partial(measured, state.session, state.entry, self._services.config, state.given_pins, before)
        self._jobs.latest("measure", work, self._measured, self._failed)

    def _measured(self, found: Measured) -> None:
        """Shows the plan; a draft follows behind."""
        path, before = self._state.path, self._state.what_if
        self.forget()
        if before is not None:
            found.what_if.pinned = list(before.pinned)
        path.at, path.beside, path.what_if, path.trouble = found.at, found.beside, found.what_if, ""
        self._view.show_title()
        self._display.show()
        self._view.panes.cut.go("cut")
        self._drafts.rest()
        if before is not None:
            # What was chosen while the path was measured holds.
            self._settings.choose(replace(before.choices, cut=None))
        self._kept.take_up(offer=before is None)
        self._jobs.latest("lab modules", modules, lambda _none: self._prefetch())

    def _failed(self, text: str) -> None:
        self._state.path.trouble = text
        self._view.show_hints()
        self._view.tell(text, "bad")
