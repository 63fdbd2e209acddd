"""The redrawing of all panes, after a change that several of them show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.base.strategies import Strategy
from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.model.plan_lines import plan_lines

if TYPE_CHECKING:
    from leafward_tui.lab.controllers.text import TextPane
    from leafward_tui.lab.controllers.turns import TurnsPane


class Display(LabController):
    """Draws the state; changes nothing of it."""

    def __init__(self, means: LabMeans, turns: TurnsPane, text: TextPane) -> None:
        super().__init__(means)
        self._turns = turns
        self._text = text

    def show(self) -> None:
        """Draws every pane, after the choices changed."""
        self._turns.show()
        self.show_plan()
        self._text.show()
        self.show_heads()
        self._view.show_hints()

    def show_turns(self) -> None:
        """Draws the left pane."""
        self._turns.show()

    def show_plan(self) -> None:
        """Draws sliders, strategies, ledger and injected sections."""
        what_if = self._state.what_if
        if what_if is not None:
            waiting = frozenset(Strategy) if self._state.drafts.waiting else frozenset()
            shown, glyphs = what_if.view(waiting=waiting), self._services.glyphs
            switch = self._services.keymap.label("injection.switch")
            self._view.panes.plan.show(lambda width, _height: plan_lines(shown, width, glyphs, switch))

    def show_text(self) -> None:
        """Draws the right pane."""
        self._text.show()

    def show_state(self) -> None:
        """Draws the row over the summary."""
        self._text.show_state()

    def show_heads(self) -> None:
        """Draws the tabs of every pane, the pane with the keys marked."""
        layout = self._state.layout
        self._view.panes.show_heads(layout.area, layout.page, self._rules())

    def arrange(self) -> None:
        """Shows as many panes as there is room for."""
        layout = self._state.layout
        self._view.panes.show_area(layout.area, layout.page, self._rules(), whole=layout.whole)

    def _rules(self) -> str:
        """The strategy of the plan, and the number of its known bugs that the plan does not repeat."""
        what_if = self._state.what_if
        if what_if is None:
            return ""
        plan = what_if.plan
        ours = sum(1 for remark in plan.diagnostics if remark.pi_would is not None)
        avoided = f", {counted(ours, 'known bug')} avoided" if ours else ""
        return f"{plan.settings.strategy.value} rules{avoided}"
