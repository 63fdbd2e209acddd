"""What the lab is made of: its panes, its state, and what its actions share."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, Vertical

from leafward.session.entries import NO_ENTRY
from leafward.session.journal import Write
from leafward_tui.lab.widgets.state_line import StateLine
from leafward_tui.ui.hairline import ColumnRule, RowRule
from leafward_tui.ui.lines_view import LinesView
from leafward_tui.ui.pane_head import PaneHead
from leafward_tui.ui.price_line import KeyHint, PriceLine
from leafward_tui.ui.screen import BaseScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.timer import Timer
    from textual.widget import Widget
    from textual.widgets import TextArea

    from leafward.compaction.draft import Draft
    from leafward.compaction.injection import Collected
    from leafward.session.headline import Headline
    from leafward.session.session import Session
    from leafward.summaries.summarizers.model import Outgoing
    from leafward_tui.lab.model.runs import Run
    from leafward_tui.lab.model.what_if import WhatIf

AREAS = ("cut", "plan", "text", "fates")
"""Where keys can go, in the order of `tab`."""
PAGES = ("Summary", "Prompt", "Injected")
"""What the text pane can show."""


class LabParts(BaseScreen[Write | None]):
    """Composition and state of the lab. Ends with what was written, or with None."""

    NAME: ClassVar[str] = "lab"

    DEFAULT_CSS = """
    LabParts {
        #columns { height: 1fr; width: 1fr; }
        #columns > Vertical { height: 1fr; }
        #cut-pane { width: 31%; }
        #plan-pane { width: 36%; }
        #text-pane { width: 1fr; }
        #why { height: 4; }
        #fates { height: 50%; }
        #note { height: 1; }
        #edit {
            height: 1fr; width: 1fr; border: none; padding: 0 1;
            background: $lw-raise; color: $lw-text;
            scrollbar-size-vertical: 1;
            & > .text-area--cursor-line { background: $lw-raise; }
            & > .text-area--cursor { background: $lw-leaf; color: $lw-bg; }
            & > .text-area--selection { background: $lw-ghost-tint; }
        }
        &.-tall #why { height: 7; }
        &.-high #why { height: 8; }
        &.-one #cut-pane, &.-one #plan-pane, &.-one #text-pane { width: 1fr; }
        &.-two #cut-pane { width: 46%; }
        &.-two #plan-pane, &.-two #text-pane { width: 1fr; }
    }
    """

    def __init__(self, session: Session, entry: int, pins: tuple[str, ...] = ()) -> None:
        """`entry` is where it is opened: an entry, or a compaction to stand beside; `pins` go into the summary."""
        super().__init__()
        self.given_pins = pins
        self.session = session
        self.entry = entry
        self.at = NO_ENTRY
        self.beside = NO_ENTRY
        """The compaction that the what-if stands beside; -1 for none."""
        self.what_if: WhatIf | None = None
        self.collected: Collected | None = None
        """What the injected context is built from, read once."""
        self.generation = 0
        """Counts changes of the settings; results of an earlier one are dropped."""
        self.words: dict[int, Headline] = {}
        """Headlines by entry, as far as they are known."""
        self.unfolded = False
        self.area = "cut"
        self.page = "Summary"
        self.runs: list[Run] = []
        """Runs made so far, the compaction in the session first."""
        self.streaming: str | None = None
        """The summary that is being written, so far; None where none is."""
        self.streaming_since = 0.0
        self.asking = False
        """Whether what is being written was asked for: then it goes on while settings change."""
        self.waiting = False
        """Whether drafts are being made behind."""
        self.amending = False
        """Whether a changed summary is being put together."""
        self.writing = False
        """Whether the compaction is being appended."""
        self.editor: TextArea | None = None
        self.sending: Outgoing | None = None
        """What a model would be sent, for the present choices."""
        self.last: Draft | None = None
        """The draft shown last: it stays while the next one is made."""
        self.outcome = "compacted"
        """What was written, in a few words; told where the lab was opened from."""
        self.trouble = ""
        self.grew = False
        """Whether the file went on since it was read."""
        self.resting: Timer | None = None

    def compose_content(self) -> ComposeResult:
        """Three columns: what happens to each turn, the plan, the summary with what survives."""
        self.cut_head = PaneHead(id="cut-head")
        self.cut_view = LinesView(id="cut")
        self.why_view = LinesView(id="why", cursor=False)
        self.first_rule = ColumnRule()
        self.plan_head = PaneHead(id="plan-head")
        self.plan_view = LinesView(id="plan", drags="dial")
        self.second_rule = ColumnRule()
        self.text_head = PaneHead(id="text-head")
        self.state_line = StateLine()
        self.text_view = LinesView(id="text")
        self.fates_rule = RowRule()
        self.fates_view = LinesView(id="fates")
        self.note = PriceLine(id="note")
        with Horizontal(id="columns"):
            with Vertical(id="cut-pane") as self.cut_pane:
                yield self.cut_head
                yield self.cut_view
                yield self.why_view
            yield self.first_rule
            with Vertical(id="plan-pane") as self.plan_pane:
                yield self.plan_head
                yield self.plan_view
            yield self.second_rule
            with Vertical(id="text-pane") as self.text_pane:
                yield self.text_head
                yield self.state_line
                yield self.text_view
                yield self.fates_rule
                yield self.fates_view
        yield self.note

    # --- arrangement --------------------------------------------------------------------------------------------------

    @property
    def columns_shown(self) -> int:
        """How many panes stand beside each other."""
        width, height = self.app.size
        if width >= 120 and height >= 30:
            return 3
        return 2 if width >= 100 and height >= 30 else 1

    @property
    def view(self) -> Widget:
        """The widget that keys go to."""
        views = {"cut": self.cut_view, "plan": self.plan_view, "text": self.text_view}
        return views.get(self.area, self.fates_view)

    def arrange_panes(self) -> None:
        """Shows as many panes as there is room for, the one with the keys among them."""
        shown = self.columns_shown
        area = self.area
        self.set_class(shown == 1, "-one")
        self.set_class(shown == 2, "-two")
        texts = area in ("text", "fates")
        self.cut_pane.display = shown > 1 or area == "cut"
        self.plan_pane.display = shown == 3 or area == "plan" or (shown == 2 and area == "cut")
        self.text_pane.display = shown == 3 or texts
        self.first_rule.display = shown > 1
        self.second_rule.display = shown == 3
        alone = shown == 1
        # One pane has no room for both halves of the right column.
        text = not (alone and area == "fates")
        self.state_line.display = self.text_view.display = text
        if self.editor is not None:
            self.editor.display = text
            self.text_view.display = False
        fates = self.page == "Summary" and not (alone and area != "fates")
        self.fates_view.display = fates
        self.fates_rule.display = fates and not alone
        self.fates_view.styles.height = "1fr" if alone else "50%"
        self.show_heads()

    def show_heads(self) -> None:
        """Tabs of every pane, the pane with the keys marked."""
        shown = self.columns_shown
        what_if = self.what_if
        rules = ""
        if what_if is not None:
            plan = what_if.plan
            ours = sum(1 for remark in plan.diagnostics if remark.pi_would is not None)
            rules = f"{plan.settings.strategy.value} rules"
            rules += f", {ours} correction{'' if ours == 1 else 's'}" if ours else ""
        if shown == 1:
            tabs = ("Cut", "Plan", *PAGES[:1], "Lost", *PAGES[1:])
            active = {"cut": "Cut", "plan": "Plan", "text": self.page, "fates": "Lost"}[self.area]
            for head in (self.cut_head, self.plan_head, self.text_head):
                head.show(tabs, active, right="tok" if self.area == "cut" else "", focused=True)
            return
        self.cut_head.show(
            ("Cut",), "Cut", note="what happens to each turn", right="tok", focused=self.area == "cut"
        )
        pages = PAGES if shown == 3 else ("Plan", *PAGES)
        self.plan_head.show(
            ("Plan",) if shown == 3 else pages, "Plan", right=rules, focused=self.area == "plan"
        )
        self.text_head.show(pages, self.page, focused=self.area in ("text", "fates"))

    def go_to(self, area: str, page: str | None = None) -> None:
        """Keys go to a pane, which is shown if it was not."""
        raise NotImplementedError

    # --- what the actions share ---------------------------------------------------------------------------------------

    @property
    def refusal(self) -> str:
        """Why nothing can be written to the session, by its own statement; empty where it can."""
        return self.session.read_only or ""

    @property
    def draft(self) -> Draft | None:
        """The draft of the present choices; None where there is none yet."""
        return self.what_if.draft() if self.what_if is not None else None

    def tell(self, text: str, tone: str = "", keys: Sequence[KeyHint] = ()) -> None:
        """Says something in the row over the keys; nothing where the text is empty."""
        self.note.note(text or None, tone, keys)

    def show_all(self) -> None:
        """Everything anew, after the choices changed."""
        raise NotImplementedError

    def show_plan(self) -> None:
        """The middle pane anew."""
        raise NotImplementedError

    def show_text(self) -> None:
        """The right pane anew."""
        raise NotImplementedError

    def rest(self) -> None:
        """Drafts are made once the settings rest."""
        raise NotImplementedError
