"""The choices: sliders, cuts, strategies, sections. Each key makes another plan; no entry is decoded for it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from leafward.base.errors import Cancelled, LeafwardError
from leafward.base.strategies import Strategy
from leafward.compaction.strategies.cut_rules import IllegalCut
from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.model.fates import as_pinned
from leafward_tui.lab.model.plan_lines import strategy_at, track_cells
from leafward_tui.lab.model.sliders import Dial
from leafward_tui.lab.model.what_if import timed_plan
from leafward_tui.lab.state import Mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward.compaction.measure.measure import PathSizes
    from leafward.compaction.plan.settings import PlanSettings
    from leafward_tui.lab.controllers.display import Display
    from leafward_tui.lab.controllers.drafts import DraftMaker
    from leafward_tui.lab.model.choices import Choices
    from leafward_tui.lab.model.fates import LostFact
    from leafward_tui.lab.model.what_if import TimedPlan
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.panes.lines_view import LinesView


class Settings(LabController):
    """Owns the choices, their plans and their pins."""

    def __init__(self, means: LabMeans, display: Display, drafts: DraftMaker) -> None:
        super().__init__(means)
        self._display = display
        self._drafts = drafts
        self.actions = {
            "slider.less": partial(self.slide, -1),
            "slider.more": partial(self.slide, 1),
            "slider.less_fine": partial(self.slide, -1, fine=True),
            "slider.more_fine": partial(self.slide, 1, fine=True),
            "cut.down": partial(self._cut_beside, 1),
            "cut.up": partial(self._cut_beside, -1),
            "cut.here": self.cut_here,
            **{f"strategy.{one}": partial(self.by_strategy, one) for one in Strategy},
            "injection.switch": self.switch,
        }

    # --- choices ------------------------------------------------------------------------------------------------------

    def choose(self, choices: Choices) -> None:
        """Sets other choices: the plan follows at once, a draft once the settings rest."""
        what_if = self._state.what_if
        if what_if is None or choices == what_if.choices:
            return
        if self._state.mode is Mode.STREAM:
            self._view.tell(self._state.busy, "warn")
            return
        self._view.tell("")
        before, what_if.choices = what_if.choices, choices
        self.stop()
        if (before.focus, before.summarizer) != (choices.focus, choices.summarizer):
            # The title shows them; making the title takes too long for a step of a slider.
            self._view.show_title()
        missing = what_if.missing()
        if what_if.quick(missing):
            try:
                what_if.take(missing)
            except LeafwardError as error:
                self._view.tell(str(error), "warn")
                what_if.choices = replace(choices, cut=None)
                what_if.replan()
            self._planned([])
        else:
            work = partial(plans, what_if.sizes, tuple(missing.values()))
            self._drafts.expect()
            self._jobs.latest("plan", work, self._planned, self._drafts.fail)

    def stop(self) -> None:
        """Cancels the work for other choices."""
        self._jobs.cancel("plan")
        self._drafts.stop()

    def _planned(self, made: Sequence[TimedPlan]) -> None:
        """Shows the plans; drafts follow."""
        what_if = self._state.what_if
        if what_if is not None:
            what_if.keep(made)
            self._display.show()
            self._drafts.rest()

    def set_pins(self, pinned: list[LostFact], choices: Choices) -> None:
        """Sets other pins, and choices with them."""
        if self._state.what_if is not None and self._state.mode is not Mode.STREAM:
            self._state.what_if.pinned = pinned
        self.choose(choices)

    def take(self, choices: Choices) -> None:
        """Sets the choices of an earlier summary; its pins replace those of now."""
        if self._state.what_if is not None:
            self.set_pins(as_pinned(choices.pins, self._state.what_if.pinned), choices)

    # --- sliders ------------------------------------------------------------------------------------------------------

    def _dial(self) -> Dial | None:
        """The slider that arrows move: that of the cursor in the plan, else the one for kept tokens."""
        where = self._state.layout.area
        if where != "plan":
            return Dial.KEEP if where == "cut" else None
        area, _, name = self._view.panes.plan.key.partition(":")
        if area == "dial":
            return Dial[name.upper()]
        return None if area == "section" else Dial.KEEP

    def slide(self, by: int, *, fine: bool = False) -> None:
        """Moves the slider of the cursor some steps."""
        what_if, dial = self._state.what_if, self._dial()
        if what_if is None:
            return
        if dial is not None:
            self.choose(what_if.sliding(dial, what_if.slider(dial).stepped(by, fine=fine)))
        elif self._state.layout.area == "plan":
            self.switch()
        else:
            self._view.tell("no slider in this pane: they are in the plan", "warn")

    def drag(self, drag: LinesView.Dragged) -> None:
        """Moves the slider that the mouse holds to a cell, from beside its track to the end; a press beside it takes no hold."""
        what_if = self._state.what_if
        area, _, name = drag.key.partition(":")
        if what_if is None or area != "dial":
            return
        dial, (first, cells) = Dial[name.upper()], track_cells(self._view.panes.plan.cells)
        if drag.pressed:
            what_if.held = what_if.slider(dial) if first - 1 <= drag.x <= first + cells else None
        if what_if.held is None:
            return
        self.choose(what_if.sliding(dial, what_if.held.value_at(drag.x - first, cells)))
        if drag.done:
            what_if.held = None
            self._display.show_plan()

    # --- cuts ---------------------------------------------------------------------------------------------------------

    def _cut_beside(self, step: int) -> None:
        """Goes to the next legal cut below, or above."""
        what_if = self._state.what_if
        if what_if is None:
            return
        position = what_if.next_cut(step)
        if position < 0:
            way = "below" if step > 0 else "above"
            reason = (
                "this strategy keeps only the user's messages: there is no cut to move"
                if not what_if.cuttable
                else f"no cut is possible {way} this one"
            )
            self._view.tell(reason, "warn")
            return
        self.cut_at(position)

    def cut_at(self, position: int) -> None:
        """Puts the cut right before a position, or shows why it cannot stand there."""
        what_if = self._state.what_if
        if what_if is None or not 0 <= position < len(what_if.sizes):
            return
        try:
            choices = what_if.cutting(position)
        except IllegalCut as error:
            self._view.tell(str(error), "warn")
        else:
            self.choose(choices)
            self._view.panes.cut.go("cut")

    def cut_here(self) -> None:
        """Puts the cut before the row of the cursor; in the plan, switches a section."""
        if self._state.layout.area == "plan":
            self.switch()
            return
        area, _, place = self._view.panes.cut.key.partition(":")
        if area == "at":
            self.cut_at(int(place))
        else:
            self._view.tell("go to a turn first: the cut moves there", "warn")

    def turn_chosen(self, key: str, *, twice: bool) -> None:
        """Puts the cut before the clicked turn."""
        area, _, place = key.partition(":")
        if (area == "cut" and place) or (area == "at" and twice):
            self.cut_at(int(place))

    # --- strategies and sections --------------------------------------------------------------------------------------

    def by_strategy(self, strategy: Strategy) -> None:
        """Plans by the rules of another agent."""
        if self._state.what_if is not None:
            self.choose(self._state.what_if.choices.by(strategy))

    def switch(self) -> None:
        """Switches the section of the cursor, else the injected context as a whole."""
        what_if, layout, panes = self._state.what_if, self._state.layout, self._view.panes
        if what_if is None:
            return
        area, _, name = (panes.plan if layout.area == "plan" else panes.text).key.partition(":")
        injected_page = layout.area == "text" and layout.page == "Injected"
        if area == "section" and layout.area == "plan":
            self.choose(what_if.choices.switched(name))
        elif area == "inject" and injected_page and name.partition(":")[2]:
            self.choose(what_if.choices.switched(name.partition(":")[2]))
        else:
            self.choose(replace(what_if.choices, inject=not what_if.choices.inject))

    def plan_chosen(self, key: str, x: int) -> None:
        """Handles a click on a line of the plan."""
        if key == "strategies":
            found = strategy_at([one.value for one in Strategy], self._view.panes.plan.cells, x)
            if found >= 0:
                self.by_strategy(list(Strategy)[found])
        elif key.startswith("section:") or key == "injected":
            self.switch()


def plans(sizes: PathSizes, missing: Iterable[PlanSettings], job: Job) -> list[TimedPlan]:
    """Plans that take too long to be made between a key and the next frame. Raises Cancelled, LeafwardError."""
    made = []
    for settings in missing:
        if job.unwanted():
            raise Cancelled
        made.append(timed_plan(sizes, settings))
    return made
