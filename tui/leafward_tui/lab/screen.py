"""The lab's screen: its panes, what its widgets say, and which keys work when."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.worker import Worker, WorkerState

from leafward_tui.lab.closing import Closing
from leafward_tui.lab.parts import AREAS, PAGES
from leafward_tui.ui.intents import bindings_for
from leafward_tui.ui.key_bar import Hint
from leafward_tui.ui.lines_view import LinesView
from leafward_tui.ui.row_keys import RowKeys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.binding import BindingType
    from textual.widget import Widget

    from leafward_tui.lab.model.choices import Choices
    from leafward_tui.ui.pane_head import PaneHead
    from leafward_tui.ui.results import XRayResult as Leaving


class LabScreen(RowKeys, Closing):
    """A compaction before it is one."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("lab")]

    def on_mount(self) -> None:
        """Shows the shell, and measures behind it."""
        super().on_mount()
        self.show_title()
        self.arrange_panes()
        self.go_to(self.area)
        self.call_after_refresh(self.begin)
        self.set_interval(self.shell.config.follow_interval, self.look)

    def on_unmount(self) -> None:
        """Whatever is under way is given up."""
        self.workers.cancel_node(self)

    def on_resize(self) -> None:
        """As many panes as there is room for."""
        self.call_after_refresh(self.arrange_panes)

    # --- panes --------------------------------------------------------------------------------------------------------

    def go_to(self, area: str, page: str | None = None) -> None:
        """Keys go to a pane, which is shown if it was not."""
        changed = page is not None and page != self.page
        self.area = area
        self.page = page or self.page
        if area == "fates" and self.page != "Summary":
            self.page, changed = "Summary", True
        self.arrange_panes()
        target: Widget = self.editor if self.editor is not None and area == "text" else self.view
        target.focus()
        if changed:
            self.show_text()
            if self.page == "Prompt" and self.sending is None:
                self.look_at_prompt()
        self.show_hints()

    def action_pane_next(self) -> None:
        """The next pane."""
        self._pane(1)

    def action_pane_previous(self) -> None:
        """The pane before."""
        self._pane(-1)

    def _pane(self, step: int) -> None:
        areas = [area for area in AREAS if area != "fates" or self.page == "Summary"]
        at = areas.index(self.area) if self.area in areas else 0
        self.go_to(areas[(at + step) % len(areas)])

    def action_lab_page(self) -> None:
        """Summary, prompt, injected text."""
        at = (PAGES.index(self.page) + 1) % len(PAGES) if self.area in ("text", "fates") else 0
        self.go_to("text", PAGES[at])

    def on_pane_head_tab_wanted(self, message: PaneHead.TabWanted) -> None:
        """A tab was clicked."""
        message.stop()
        if message.tab in PAGES:
            self.go_to("text", message.tab)
        else:
            self.go_to({"Cut": "cut", "Plan": "plan", "Lost": "fates"}[message.tab])

    def on_descendant_focus(self) -> None:
        """A pane that was clicked has the keys."""
        focused = self.focused
        areas = {
            self.cut_view: "cut",
            self.plan_view: "plan",
            self.text_view: "text",
            self.fates_view: "fates",
        }
        area = areas.get(focused) if isinstance(focused, LinesView) else None
        if area is not None and area != self.area:
            self.area = area
            self.show_heads()
            self.show_hints()

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """A click on a row puts the cut there, on a fact leads to its source, on a section switches it."""
        message.stop()
        view, key = message.view, message.key
        if view is self.cut_view or view is self.why_view:
            area, _, place = key.partition(":")
            if (area == "cut" and place) or (area == "at" and message.twice):
                self.cut_at(int(place))
        elif view is self.plan_view:
            self.plan_chosen(key, message.x)
        elif view is self.fates_view or (view is self.text_view and message.twice):
            self.go_to_source(view)

    # --- rows ---------------------------------------------------------------------------------------------------------

    @property
    def lines(self) -> LinesView:
        """The pane that row keys go to."""
        views = {"plan": self.plan_view, "text": self.text_view, "fates": self.fates_view}
        return views.get(self.area, self.cut_view)

    def step_rows(self, by: int) -> None:
        """Moves the cursor."""
        self.lines.move_by(by)

    def rows_seen(self) -> int:
        """Lines on the screen."""
        return self.lines.size.height

    def action_lab_choose(self) -> None:
        """In a list the source of the line; else writes the summary."""
        if self.area == "fates" or (self.area == "text" and self.text_view.line is not None):
            line = self.lines.line
            if line is not None and line.entry >= 0:
                self.go_to_source(self.lines)
                return
        if self.area == "plan" and self.plan_view.key.startswith("section:"):
            self.switch()
            return
        self.action_summary_run()

    def go_to_source(self, view: LinesView) -> None:
        """Shows the entry that a line comes from among the turns."""
        line = view.line
        if line is not None and line.entry >= 0 and self.show_entry(line.entry):
            self.tell(f"#{line.entry}   {' '.join(line.text.split())}"[:200])

    def show_entry(self, entry: int) -> bool:
        """Puts the cursor on the turn of an entry; whether it is among the turns."""
        what_if = self.what_if
        position = what_if.sizes.position(entry) if what_if is not None else -1
        if position < 0:
            self.tell(f"#{entry} is part of what was summarised before", "warn")
            return False
        if not self._show_position(position):
            self.unfolded = True
            self.show_cut()
            self._show_position(position)
        self.go_to("cut")
        return True

    def _show_position(self, position: int) -> bool:
        """Whether the row of a position could be shown without unfolding."""
        lines = self.cut_view.lines
        at = lines.find(f"at:{position}") if lines is not None else -1
        if lines is None or at < 0:
            return False
        folded = self.shell.glyphs.folded
        if not self.unfolded and f"{folded} " in lines[at].text:
            return False
        self.cut_view.move_to(at)
        return True

    def action_copy_text(self) -> None:
        """Copies what the right pane shows, or the line of the cursor."""
        draft = self.draft
        if self.area == "text" and self.page == "Summary" and draft is not None:
            self.shell.copy(draft.text)
        elif self.area == "text" and self.page == "Injected" and self.what_if is not None:
            injected = self.what_if.injected
            self.shell.copy(injected.text if injected is not None else "")
        else:
            line = self.lines.line
            if line is not None:
                self.shell.copy(" ".join(line.text.split()))

    # --- elsewhere ----------------------------------------------------------------------------------------------------

    def action_runs_compare(self) -> None:
        """The runs made so far, two of them side by side."""
        from leafward_tui.lab.runs import RunsScreen

        if len(self.runs) < 2:
            made = "one run so far" if self.runs else "no run yet"
            self.tell(f"{made}: other settings make another to hold it against", "warn")
            return

        def done(choices: Choices | None) -> None:
            if choices is not None:
                self.choose(choices)

        self.app.push_screen(RunsScreen(tuple(self.runs)), done)

    def action_draft_xray(self) -> None:
        """The context before and after, aligned."""
        from leafward_tui.xray import XRayScreen

        what_if = self.what_if
        if what_if is None:
            return

        def done(leaving: Leaving | None) -> None:
            if leaving is None:
                return
            if leaving.pins:
                self.pin_texts(leaving.pins)
            elif leaving.entry >= 0:
                self.show_entry(leaving.entry)

        self.app.push_screen(XRayScreen(self.session, plan=what_if.plan, draft=self.draft), done)

    # --- keys ---------------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What cannot work now does not."""
        if action in _ALWAYS:
            return super().check_action(action, parameters)
        if self.what_if is None:
            return None
        if self.editor is not None:
            return True if action in _EDITING else None
        return super().check_action(action, parameters)

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        if self.trouble or self.what_if is None:
            return (Hint("mode.leave", "leave"),)
        leave = Hint("mode.leave", "leave no trace", "leave")
        if self.editor is not None:
            return (Hint("mode.leave", "take it over", "done"), Hint("compaction.accept"))
        if self.asking:
            return (Hint("mode.leave", "cancel the summary", "cancel"),)
        accept: tuple[Hint, ...] = (Hint("summary.run", "summarise"),)
        if self.draft is not None:
            accept = (Hint("compaction.accept"),)
        slide = Hint(("slider.less", "slider.more"), "slide")
        strategies = Hint(("strategy.pi", "strategy.codex", "strategy.opencode"), "strategy")
        more = [Hint("summary.edit"), Hint("summarizer.choose"), Hint("draft.xray")]
        if len(self.runs) > 1:
            more.append(Hint("runs.compare"))
        if self.area == "fates":
            return (
                *accept,
                leave,
                Hint("lost.pin"),
                Hint("lost.pin_all"),
                Hint("lab.choose", "source"),
                *more,
            )
        if self.area == "text":
            return (*accept, leave, Hint("lab.page"), Hint("lab.choose", "source"), *more)
        if self.area == "plan":
            return (*accept, leave, slide, strategies, Hint("injection.switch"), *more)
        return (*accept, leave, slide, Hint(("cut.down", "cut.up"), "cut line"), strategies, *more)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of ours in a worker is said, not swallowed; the screen goes on."""
        if event.state is WorkerState.ERROR:
            self.writing = self.waiting = self.amending = self.asking = False
            self.streaming = None
            self.tell(f"internal error in {event.worker.group}: {event.worker.error!r}", "bad")


_ALWAYS = frozenset({"app_back", "app_help", "app_themes", "mode_leave", "pane_next", "pane_previous"})
_EDITING = frozenset({"compaction_accept"})
