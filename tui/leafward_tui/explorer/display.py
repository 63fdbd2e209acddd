"""The widgets of the explorer and their drawing, the panes on show and the notes at the foot: all that its controllers see of the screen."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.model.summary_request import progress_words
from leafward_tui.explorer.state import Mode
from leafward_tui.explorer.widgets.gauge import Gauge
from leafward_tui.explorer.widgets.graph_view import GraphView
from leafward_tui.explorer.widgets.peek import Peek
from leafward_tui.explorer.widgets.strip import StripView
from leafward_tui.inspector.pane import Inspector
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.bars.price_line import KeyHint, PriceLine
from leafward_tui.ui.panes.hairline import RowRule
from leafward_tui.ui.panes.tab_head import TabHead
from leafward_tui.ui.panes.two_panes import has_two_panes
from leafward_tui.ui.screens.session_watch import warn_sheet
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.timer import Timer

    from leafward.agents.resume import Resume
    from leafward_tui.explorer.state import ExplorerState
    from leafward_tui.ui.panes.divider import Divider
    from leafward_tui.ui.screens.screen import BaseScreen

TABS = ("Tree", "Entry", "Context", "Compaction", "Files", "Raw")
"""Panes of a narrow screen, as its tabs name them."""
_PROBLEM = 300
"""Characters of a problem that are shown."""
_REFUSAL_SECONDS = 2.5
"""Seconds that a refusal stays before the progress of a summary is shown again."""


class ExplorerDisplay:
    """The screen as its controllers see it."""

    def __init__(self, screen: BaseScreen[Any], state: ExplorerState, divider: Divider) -> None:
        """The screen must have its widgets."""
        self._screen, self._state, self._divider = screen, state, divider
        self.head = screen.query_one("#head", TabHead)
        self.tree = screen.query_one(GraphView)
        self.inspector = screen.query_one(Inspector)
        self.peek = screen.query_one(Peek)
        self.strip = screen.query_one(StripView)
        self.gauge = screen.query_one(Gauge)
        self.price_line = screen.query_one(PriceLine)
        self.column_rule = divider.rule
        divider.arrange = self.arrange
        self.strip_rule = screen.query_one("#strip-rule", RowRule)
        self.title_bar = screen.title_bar
        self.open_sheet = screen.open_sheet
        self.warn_sheet = partial(warn_sheet, screen)
        self.run_intent = screen.run_intent
        self.show_hints = screen.show_hints
        self._left = divider.left(screen.app.size.width) if self.two_panes else None
        """Cells of the tree, as the screen was composed; None where the style sheet says them."""
        self._stays = False
        """Whether the next move of the cursor leaves the note standing."""
        self._refused_until = 0.0
        """The end of a refusal's time, by the monotonic clock."""

    # --- panes --------------------------------------------------------------------------------------------------------

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the terminal, in cells."""
        return self._screen.app.size.width, self._screen.app.size.height

    @property
    def on_top(self) -> bool:
        """Whether this screen exists and nothing lies over it."""
        return self._screen.is_attached and self._screen.app.screen is self._screen

    @property
    def in_tree(self) -> bool:
        """Whether keys go to the tree."""
        return self.tree.has_focus

    @property
    def two_panes(self) -> bool:
        """Whether tree and inspector are beside each other."""
        return has_two_panes(self._screen.app.size)

    def arrange(self) -> None:
        """Fits panes, rules and heads to the size of the screen."""
        two = self.two_panes
        self._screen.set_class(not two, "-one-pane")
        # Textual lays out everything where a style is set, also to what it was.
        left = self._divider.left(self._screen.app.size.width) if two else None
        if left != self._left:
            self._left = left
            self._screen.query_one("#tree").styles.width = left
        self.inspector.show_tabs(two)
        if two:
            self._screen.remove_class("-inspecting")
        # The end of the column rule is known once the panes are laid out again.
        self._screen.call_after_refresh(self._join_rules)
        self.show_head()

    def _join_rules(self) -> None:
        self.strip_rule.join(*([self.column_rule.region.x + 1] if self.two_panes else []))

    def show_head(self) -> None:
        """Tabs and headings over the tree."""
        exploration = self._state.exploration
        note = ""
        if exploration is not None:
            note = exploration.layout.density.value
            if exploration.filter is not Filter.CONVERSATION:
                touching = exploration.filter is Filter.CHOSEN and exploration.touching
                note += ", timeline of a file" if touching else f", {exploration.filter.value}"
        narrow = not self.two_panes
        pane = self.inspector.tab.value if narrow and self._inspecting else "Tree"
        self.head.show(
            tabs=TABS if narrow else ("Tree",),
            active=pane,
            note="" if narrow else note,
            columns=self.tree.columns if pane == "Tree" else None,
            focused=self.in_tree or narrow,
        )

    @property
    def _inspecting(self) -> bool:
        return self._screen.has_class("-inspecting")

    def show_tree(self) -> None:
        """Gives the keys to the tree."""
        self._screen.remove_class("-inspecting")
        self.tree.focus()
        self.show_head()

    def show_tab(self, tab: Tab) -> None:
        """Shows a tab of the inspector; on a narrow screen in place of the tree."""
        self.inspector.show_tab(tab)
        if not self.two_panes:
            self._screen.add_class("-inspecting")
            self.inspector.focus()
        self.show_head()

    def show_pane(self, name: str) -> None:
        """Shows the pane of a tab of the head."""
        if name == TABS[0]:
            self.show_tree()
        else:
            self.show_tab(Tab(name))

    def step_pane(self, step: int) -> None:
        """Goes to the other pane; on a narrow screen to the next tab, or the one before."""
        if self.two_panes:
            (self.inspector if self.in_tree else self.tree).focus()
            self.show_head()
        else:
            now = TABS.index(self.inspector.tab.value) if self._inspecting else 0
            self.show_pane(TABS[(now + step) % len(TABS)])

    # --- notes --------------------------------------------------------------------------------------------------------

    def tell(
        self,
        text: str,
        tone: str = "",
        keys: Sequence[KeyHint] = (),
        *,
        stays: bool = False,
        tail: str = "",
    ) -> None:
        """Shows a note in the place of the price line, with keys that help; its `tail` where there is room for all of it.

        An empty text shows the progress of a summary, or why there is no tree; else nothing.
        """
        state = self._state
        self._stays, beneath = stays, ""
        if state.summary is None:
            self._refused_until = 0.0
        if not text and state.summary is not None:
            if time.monotonic() < self._refused_until and not state.summary.stop.is_set():
                return
            text, tone, keys = progress_words(state.summary), "", self.key_hints(("mode.leave", "cancel"))
            beneath = state.summary.growth.last_line if state.summary.growth is not None else ""
        elif not text and state.trouble:
            text, tone = state.trouble, "bad"
        elif not text and state.bare:
            text, tone = "nothing was said in this session yet", "faint"
            entries = len(state.session) if state.session is not None else 0
            if entries:
                # Metadata has rows under one filter only, whatever the density.
                keys = self.key_hints(
                    ("filter.choose", f"all shows its {counted(entries, 'entry', 'entries')}")
                )
        self.price_line.note(text, tone, keys, beneath, tail)

    def fail(self, problem: str) -> None:
        """Shows a problem."""
        self.tell(safe_line(problem, _PROBLEM), "bad")

    def refuse(self, text: str, keys: Sequence[KeyHint]) -> None:
        """Shows for a moment why a key does nothing while a summary is made."""
        self._refused_until = time.monotonic() + _REFUSAL_SECONDS
        self.after(_REFUSAL_SECONDS, self._end_refusal)
        self.price_line.note(text, "bad", keys)

    def _end_refusal(self) -> None:
        if self._state.summary is not None:
            self.tell("")

    def begin_key(self) -> None:
        """Clears the note of the key before; a search or filter keeps its note."""
        if self._state.mode is Mode.BROWSING:
            self.tell("")

    def clear_note(self) -> None:
        """Clears the note after a move of the cursor, unless it was to stay once."""
        if self._stays:
            self._stays = False
        else:
            self.tell("")

    def key_hints(self, *intents: tuple[str, str]) -> tuple[KeyHint, ...]:
        """Keys of intents by the user's keymap, with words for their effect."""
        label = services_of(self._screen).keymap.label
        return tuple(KeyHint(intent_id, label(intent_id), words) for intent_id, words in intents)

    # --- of the application -------------------------------------------------------------------------------------------

    def after(self, seconds: float, then: Callable[[], object]) -> Timer:
        """Calls `then` later, as long as the screen exists."""
        return self._screen.set_timer(seconds, then)

    def prefetch(self) -> None:
        """Loads the modules of other screens, so that the next of them opens at once."""
        services_of(self._screen).screens.prefetch(self._screen)

    def hand_over(self, command: Resume) -> str | None:
        """Gives the terminal to an agent until it ends; the error as one line, None when it ran."""
        from leafward_tui.ui.agent_run import run_in_agent

        return run_in_agent(self._screen.app, command)
