"""Destinations of the cursor: the source of a line, its text, the runs side by side, the context before and after."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.model.exam_lines import SIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward_tui.lab.controllers.drafts import DraftMaker
    from leafward_tui.lab.controllers.layout import PaneLayout
    from leafward_tui.lab.controllers.pins import Pins
    from leafward_tui.lab.controllers.request import SummaryRequest
    from leafward_tui.lab.controllers.settings import Settings
    from leafward_tui.lab.controllers.turns import TurnsPane
    from leafward_tui.lab.model.choices import Choices
    from leafward_tui.ui.panes.lines_view import LinesView
    from leafward_tui.ui.screen_results import XRayResult


class Sources(LabController):
    """Goes to these places; changes nothing itself."""

    def __init__(
        self,
        means: LabMeans,
        turns: TurnsPane,
        layout: PaneLayout,
        settings: Settings,
        pins: Pins,
        request: SummaryRequest,
        drafts: DraftMaker,
        sit: Callable[[], object],
        reload: Callable[[], object],
    ) -> None:
        """`sit` has a model answer the exam of the draft, `reload` reads the session anew."""
        super().__init__(means)
        self._turns = turns
        self._layout = layout
        self._settings = settings
        self._pins = pins
        self._request = request
        self._sit = sit
        self._reload = reload
        self.actions = {
            "lab.choose": self.choose,
            "copy.text": self.copy,
            "runs.compare": self.compare_runs,
            "draft.xray": partial(
                drafts.when_made, self.open_xray, "the X-ray opens once the summary is there"
            ),
        }

    @property
    def pane(self) -> LinesView:
        """The pane for the row keys."""
        panes = self._view.panes
        views = {"plan": panes.plan, "text": panes.text, "fates": panes.fates}
        return views.get(self._state.layout.area, panes.cut)

    def choose(self) -> None:
        """Goes to a line's source, has a model sit the exam, or switches a section; elsewhere, writes the summary."""
        area, line = self._state.layout.area, self.pane.line
        if area in ("text", "fates") and line is not None and line.entry >= 0:
            self.go_to_source(self.pane)
        elif area == "text" and line is not None and self.pane.key == SIT:
            self._sit()
        elif area == "plan" and self._view.panes.plan.key.startswith("section:"):
            self._settings.switch()
        else:
            self._request.run()

    def go_to_source(self, pane: LinesView) -> None:
        """Goes to the entry that a line comes from, among the turns."""
        line = pane.line
        if line is not None and line.entry >= 0 and self.show_entry(line.entry):
            self._view.tell(f"#{line.entry:,}   {' '.join(line.text.split())}"[:200])

    def show_entry(self, entry: int) -> bool:
        """Puts the cursor on the turn of an entry; whether it is among the turns."""
        what_if = self._state.what_if
        position = what_if.sizes.position(entry) if what_if is not None else -1
        if position < 0:
            self._view.tell(f"#{entry:,} is part of what was summarised before", "warn")
            return False
        self._turns.go_to_position(position)
        self._layout.go_to("cut")
        return True

    def copy(self) -> None:
        """Copies the text of the right pane, or the line of the cursor."""
        state, copy = self._state, self._services.copy
        layout, draft, what_if = state.layout, state.draft, state.what_if
        if layout.area == "text" and layout.page == "Summary" and draft is not None:
            copy(draft.text)
        elif layout.area == "text" and layout.page == "Injected" and what_if is not None:
            if what_if.injected is not None and what_if.injected.text:
                copy(what_if.injected.text)
            else:
                self._view.tell("nothing is injected", "warn")
        elif (line := self.pane.line) is not None:
            copy(" ".join(line.text.split()))

    def compare_runs(self) -> None:
        """Opens the comparison of the runs made so far."""
        from leafward_tui.lab.runs import RunsScreen

        runs = self._state.drafts.runs
        if len(runs) < 2:
            made = "only one run" if runs else "no run yet"
            self._view.tell(f"{made}; change a setting to compare", "warn")
            return

        def done(choices: Choices | None) -> None:
            if choices is not None:
                self._settings.take(choices)

        self._view.open_sheet(RunsScreen(runs), done)

    def open_xray(self) -> None:
        """Opens the X-ray of the plan."""
        what_if = self._state.what_if
        if what_if is None:
            return

        def done(result: XRayResult | None) -> None:
            if result is None:
                return
            if result.reload:
                self._reload()
            elif result.pins:
                self._pins.pin_texts(result.pins)
            elif result.entry >= 0:
                self.show_entry(result.entry)

        self._services.screens.planned_xray(
            self._state.session, what_if.plan, self._state.draft, what_if.injected, done
        )
