"""The plan of the lab: measuring once, then sliders, cuts, strategies and sections, each key a new plan and no decoding."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from textual import work
from textual.worker import get_current_worker

from leafward.base.errors import LeafwardError
from leafward.base.safe_text import safe_line
from leafward.compaction import Strategy
from leafward.compaction.cuts import IllegalCut
from leafward.session.entries import Kind
from leafward.session.headline import headline
from leafward.summaries.survival import Status
from leafward_tui.lab.model.choices import AS_IT_IS
from leafward_tui.lab.model.cut_lines import CutLines, why_lines
from leafward_tui.lab.model.fates import LostFact
from leafward_tui.lab.model.plan_lines import plan_lines, strategy_at, track_cells
from leafward_tui.lab.model.sliders import Dial
from leafward_tui.lab.model.turns import CutRows
from leafward_tui.lab.parts import LabParts
from leafward_tui.lab.results import Failed, Measured, Planned, Worded
from leafward_tui.ui.pane_lines import Block, LabLine, Span
from leafward_tui.ui.title_bar import Fact

if TYPE_CHECKING:
    from leafward.base.config import Config
    from leafward.compaction import Plan, PlanSettings
    from leafward_tui.lab.model.choices import Choices
    from leafward_tui.lab.model.what_if import WhatIf
    from leafward_tui.ui.lines_view import LinesView
    from leafward_tui.ui.pane_lines import Lines

_SOON = ("textual.widgets._text_area", "leafward_tui.lab.runs", "leafward_tui.xray")
"""Modules that keys of the lab need; loaded here, where that keeps nobody waiting."""
_AHEAD = 40
"""Rows around those on the screen that are worded with them."""


class Planning(LabParts):
    """Actions that change the plan."""

    # --- measuring ----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Measures the path anew; what is chosen stays."""
        self.generation += 1
        before = self.what_if
        self.words = {}
        self._measure(self.generation, self.shell.config, before)

    @work(thread=True, exclusive=True, group="measure", exit_on_error=False)
    def _measure(self, run: int, config: Config, before: WhatIf | None) -> None:
        from leafward.compaction.pins import pins_in
        from leafward_tui.lab.work import begin, point_of

        try:
            self.at, self.beside = point_of(self.session, self.entry)
            what_if = begin(self.session, self.at, self.beside, config)
            if before is None:
                pins = self.given_pins
                if pins and self.beside >= 0:
                    # A correction keeps the summary, and what was pinned into it before.
                    pins = tuple(dict.fromkeys([*pins_in(self.session.body(self.beside) or {}), *pins]))
                    what_if.choices = replace(what_if.choices, summarizer=AS_IT_IS)
                what_if.choices = replace(what_if.choices, pins=pins)
                what_if.pinned = [LostFact(pin, -1, Status.LOST, pin, pinned=True) for pin in pins]
            else:
                what_if.choices = replace(before.choices, cut=None)
                what_if.pinned = list(before.pinned)
                what_if.replan()
        except (LeafwardError, OSError) as error:
            self.post_message(Failed(run, str(error), fatal=True))
        else:
            self.post_message(Measured(run, what_if))
        for name in _SOON:
            import_module(name)

    def on_measured(self, message: Measured) -> None:
        """Shows the plan; a draft follows behind."""
        if message.run != self.generation:
            return
        fresh = self.what_if is None
        self.what_if = message.what_if
        self.trouble = ""
        self.show_title()
        self.show_all()
        self.cut_view.go("cut")
        self.rest()
        self.take_up_kept(offer=fresh)

    def take_up_kept(self, *, offer: bool) -> None:
        """Puts drafts back that were made here before and not appended; offers the last one."""
        raise NotImplementedError

    def show_title(self) -> None:
        """The session, and the point that the what-if stands at."""
        session = self.session
        first = session.columns.kind.find(Kind.USER)
        title = session.title or (headline(session, first).text if first >= 0 else session.path.stem)
        project = safe_line(session.cwd.rstrip("/").rpartition("/")[2], 40)
        place = f"#{self.at}" if self.at >= 0 else "the beginning"
        where = f"what if at {place}"
        if self.beside >= 0:
            compaction = f"{self.shell.glyphs.compaction} #{self.beside}"
            corrects = self.what_if is not None and self.what_if.choices.summarizer == AS_IT_IS
            where = f"Correcting {compaction}" if corrects else f"{where} beside {compaction}"
        facts = [Fact(where, short=where, keep=3, hue="text")]
        if self.grew:
            facts.append(Fact("the file went on", short="file went on", keep=4, hue="warn"))
        if session.read_only:
            facts.append(Fact("read only", keep=4, hue="warn"))
        else:
            facts.append(Fact("nothing is written until you accept", short="", keep=1))
        crumb = f"{project} {self.shell.glyphs.crumb} {safe_line(title, 36)}" if project else ""
        self.title_bar.show("Compaction lab", crumb=crumb or safe_line(title, 36), facts=facts)

    # --- choices ------------------------------------------------------------------------------------------------------

    def choose(self, choices: Choices) -> None:
        """Takes other choices: the plan follows at once, a draft once the settings rest."""
        what_if = self.what_if
        if what_if is None or choices == what_if.choices:
            return
        if self.asking:
            self.tell("a summary is being written: esc cancels it, then settings can change", "warn")
            return
        self.tell("")
        what_if.choices = choices
        self.generation += 1
        missing = what_if.missing()
        if what_if.quick(missing):
            try:
                what_if.take(missing)
            except LeafwardError as error:
                self.tell(str(error), "warn")
                what_if.choices = replace(choices, cut=None)
                what_if.replan()
            self.show_all()
            self.rest()
        else:
            self._plan(self.generation, what_if, missing)

    @work(thread=True, exclusive=True, group="plan", exit_on_error=False)
    def _plan(self, run: int, what_if: WhatIf, missing: dict[Strategy, PlanSettings]) -> None:
        stop = self.shell.keys_first.stop(get_current_worker())
        made: dict[Strategy, tuple[PlanSettings, Plan]] = {}
        try:
            for strategy, settings in missing.items():
                if stop():
                    return
                made[strategy] = (settings, what_if.make(settings))
        except LeafwardError as error:
            self.post_message(Failed(run, str(error)))
        else:
            self.post_message(Planned(run, made))

    def on_planned(self, message: Planned) -> None:
        """Shows plans that took their time."""
        if message.run == self.generation and self.what_if is not None:
            self.what_if.keep(message.plans)
            self.show_all()
            self.rest()

    # --- what is shown ------------------------------------------------------------------------------------------------

    def show_all(self) -> None:
        """Every pane, after the choices changed."""
        self.show_cut()
        self.show_plan()
        self.show_text()
        self.show_heads()
        self.show_hints()

    def show_cut(self) -> None:
        """The rows of the path, and why the cut does not stand lower."""
        what_if = self.what_if
        if what_if is None:
            return
        kinds, glyphs = self.session.columns.kind, self.shell.glyphs
        carried = what_if.plan.previous_summary is not None

        def rows(width: int, height: int) -> Lines:
            if not len(what_if.turns):
                return Block([LabLine((Span("nothing was said up to here", "nothing"),))])
            made = CutRows(what_if.turns, what_if.plan, height, opened=self.unfolded, carried=carried)
            return CutLines(made, kinds, self.words.get, width, glyphs)

        def why(width: int, height: int) -> Lines:
            made = CutRows(what_if.turns, what_if.plan, 24)
            return why_lines(what_if.turns, made, width, height, glyphs)

        self.cut_view.show(rows)
        self.why_view.show(why)

    def show_plan(self) -> None:
        """Sliders, strategies, ledger, injected sections."""
        what_if = self.what_if
        if what_if is None:
            return
        waiting = frozenset(Strategy) if self.waiting else frozenset()
        view = what_if.view(waiting=waiting)
        self.plan_view.show(lambda width, _height: plan_lines(view, width, self.shell.glyphs))

    def on_lines_view_lines_shown(self, message: LinesView.LinesShown) -> None:
        """Rows that came on the screen are worded behind."""
        message.stop()
        lines = self.cut_view.lines
        if message.view is not self.cut_view or not isinstance(lines, CutLines):
            return
        if all(entry in self.words for entry in self.entries_shown()):
            return
        shown = self.cut_view.shown()
        around = range(max(0, shown.start - _AHEAD), min(len(lines), shown.stop + _AHEAD))
        wanted = [entry for entry in lines.entries(shown) if entry not in self.words]
        wanted += [entry for entry in lines.entries(around) if entry not in self.words]
        self._word(self.generation, list(dict.fromkeys(wanted)))

    def entries_shown(self) -> list[int]:
        """The entries that are named on the screen."""
        lines = self.cut_view.lines
        return lines.entries(self.cut_view.shown()) if isinstance(lines, CutLines) else []

    @work(thread=True, exclusive=True, group="words", exit_on_error=False)
    def _word(self, run: int, entries: list[int]) -> None:
        from leafward_tui.lab.work import worded

        stop = self.shell.keys_first.stop(get_current_worker())
        try:
            words = worded(self.session, entries, stop)
        except OSError as error:
            self.post_message(Failed(run, f"cannot read the session any more: {error}"))
        else:
            self.post_message(Worded(run, words))

    def on_worded(self, message: Worded) -> None:
        """Words fill in; they hold for every plan of the session."""
        self.words.update(message.words)
        self.cut_view.redraw()

    # --- sliders ------------------------------------------------------------------------------------------------------

    def _dial(self) -> Dial | None:
        """The slider that arrows move: that of the cursor in the plan, else what is kept."""
        if self.area != "plan":
            return Dial.KEEP if self.area == "cut" else None
        area, _, name = self.plan_view.key.partition(":")
        if area == "dial":
            return Dial[name.upper()]
        return None if area == "section" else Dial.KEEP

    def slide(self, by: int, *, fine: bool = False) -> None:
        """Moves the slider of the cursor some steps."""
        what_if, dial = self.what_if, self._dial()
        if what_if is None:
            return
        if dial is None:
            if self.area == "plan":
                self.switch()
            return
        self.choose(what_if.sliding(dial, what_if.slider(dial).stepped(by, fine=fine)))

    def action_slider_less(self) -> None:
        """One step down."""
        self.slide(-1)

    def action_slider_more(self) -> None:
        """One step up."""
        self.slide(1)

    def action_slider_less_fine(self) -> None:
        """A fine step down."""
        self.slide(-1, fine=True)

    def action_slider_more_fine(self) -> None:
        """A fine step up."""
        self.slide(1, fine=True)

    def on_lines_view_dragged(self, message: LinesView.Dragged) -> None:
        """The mouse holds a slider."""
        message.stop()
        what_if = self.what_if
        area, _, name = message.key.partition(":")
        if what_if is None or area != "dial":
            return
        dial = Dial[name.upper()]
        first, cells = track_cells(self.plan_view.cells)
        if message.done or (first - 1 <= message.x <= first + cells):
            value = what_if.slider(dial).value_at(message.x - first, cells)
            if not message.done or first - 1 <= message.x <= first + cells:
                self.choose(what_if.sliding(dial, value))

    # --- cuts ---------------------------------------------------------------------------------------------------------

    def _cut_beside(self, step: int) -> None:
        what_if = self.what_if
        if what_if is None:
            return
        position = what_if.beside(step)
        if position < 0:
            way = "below" if step > 0 else "above"
            reason = "this strategy keeps no tail" if not what_if.cuttable else f"no legal cut {way} this one"
            self.tell(reason, "warn")
            return
        self.cut_at(position)

    def cut_at(self, position: int) -> None:
        """Puts the cut right before a position, or says why it cannot stand there."""
        what_if = self.what_if
        if what_if is None or not 0 <= position < len(what_if.sizes):
            return
        try:
            choices = what_if.cutting(position)
        except IllegalCut as error:
            self.tell(str(error), "warn")
        else:
            self.choose(choices)
            self.cut_view.go("cut")

    def action_cut_down(self) -> None:
        """The next legal cut below."""
        self._cut_beside(1)

    def action_cut_up(self) -> None:
        """The next legal cut above."""
        self._cut_beside(-1)

    def action_cut_here(self) -> None:
        """The cut goes before the row of the cursor; in the plan, a section is switched."""
        if self.area == "plan":
            self.switch()
            return
        area, _, place = self.cut_view.key.partition(":")
        if area == "at":
            self.cut_at(int(place))

    def action_lab_unfold(self) -> None:
        """Every turn a row, or only those around the cut."""
        self.unfolded = not self.unfolded
        self.show_cut()
        self.cut_view.reveal()

    # --- strategies and sections --------------------------------------------------------------------------------------

    def by_strategy(self, strategy: Strategy) -> None:
        """Plans by the rules of another agent."""
        if self.what_if is not None:
            self.choose(self.what_if.choices.by(strategy))

    def action_strategy_pi(self) -> None:
        """By the rules of pi."""
        self.by_strategy(Strategy.PI)

    def action_strategy_codex(self) -> None:
        """By the rules of Codex."""
        self.by_strategy(Strategy.CODEX)

    def action_strategy_opencode(self) -> None:
        """By the rules of opencode."""
        self.by_strategy(Strategy.OPENCODE)

    def switch(self) -> None:
        """Switches the section of the cursor, else the injected context as a whole."""
        what_if = self.what_if
        if what_if is None:
            return
        view = self.plan_view if self.area == "plan" else self.text_view
        area, _, name = view.key.partition(":")
        injected_page = self.area == "text" and self.page == "Injected"
        if area == "section" and self.area == "plan":
            self.choose(what_if.choices.switched(name))
        elif area == "inject" and injected_page and name.partition(":")[2]:
            self.choose(what_if.choices.switched(name.partition(":")[2]))
        else:
            self.choose(replace(what_if.choices, inject=not what_if.choices.inject))

    def action_injection_switch(self) -> None:
        """The injected context on or off; where the cursor is on a section, that one."""
        self.switch()

    def plan_chosen(self, key: str, x: int) -> None:
        """A line of the plan was clicked."""
        what_if = self.what_if
        if what_if is None:
            return
        if key == "strategies":
            found = strategy_at([one.value for one in Strategy], self.plan_view.cells, x)
            if found >= 0:
                self.by_strategy(list(Strategy)[found])
        elif key.startswith("section:") or key == "injected":
            self.switch()
