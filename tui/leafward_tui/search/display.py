"""The widgets of the search and their drawing: all that its controllers see of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.query.vocabulary import PARTS
from leafward_tui.search.widgets.hit_view import HitView
from leafward_tui.search.widgets.result_list import ResultList
from leafward_tui.ui.bars.filter_bar import FilterBar
from leafward_tui.ui.panes.divider import RULE, Divider
from leafward_tui.ui.panes.hairline import ColumnRule
from leafward_tui.ui.panes.tab_head import TabHead
from leafward_tui.ui.panes.two_panes import Panes, has_two_panes
from leafward_tui.ui.text.cells import exact

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.query.search.text_match import Hit
    from leafward_tui.search.model.finds import FindLine, Finds, HitText
    from leafward_tui.search.state import SearchState
    from leafward_tui.ui.screens.screen import BaseScreen

_PLACEHOLDER = 'words   "a phrase"   /pattern/   file:   tool:   in:summary   error:   since:'


class SearchDisplay:
    """The screen as its controllers see it."""

    def __init__(self, screen: BaseScreen[object], state: SearchState, look: Callable[[], object]) -> None:
        """`look` fills the text."""
        self._screen, self._state = screen, state
        self.set_timer = screen.set_timer
        self.bar = FilterBar(_PLACEHOLDER, whole=True)
        self.head = TabHead()
        self.results = ResultList()
        self.hit = HitView()
        self.rule = ColumnRule()
        self.divider = Divider(screen.services, screen.NAME, self.rule, self.arrange_panes)
        self.panes = Panes(self, lambda: self.line is not None)
        """Results and text, and which one has the keys."""
        self.look = look
        self.go_back, self.show_hints = screen.go_back, screen.show_hints
        self.show_progress = screen.title_bar.progress
        self.show_finds, self.finds_grew = self.results.show, self.results.grew
        self.opened_up, self.move_to = self.results.opened_up, self.results.move_to
        self.show_hit = self.hit.show
        """Shows the place of a hit, until its text is read."""
        self.edit, self.focus_results = self.bar.edit, self.results.focus

    # --- content ------------------------------------------------------------------------------------------------------

    @property
    def finds(self) -> Finds:
        """The results."""
        return self.results.finds

    @property
    def line(self) -> FindLine | None:
        """The line under the cursor; None where there is none."""
        return self.results.line

    @property
    def two_panes(self) -> bool:
        """Whether there is room for results and text beside each other."""
        return has_two_panes(self._screen.app.size)

    @property
    def in_field(self) -> bool:
        """Whether the field has the keys."""
        return self.bar.editing

    @property
    def text_shown(self) -> bool:
        """Whether the text of a hit is on the screen."""
        return self.hit.display

    @property
    def in_text(self) -> bool:
        """Whether the text has the keys."""
        return self.panes.side and self.hit.display

    # --- showing ------------------------------------------------------------------------------------------------------

    def show_state(self) -> None:
        """Shows everything around the lines: title, counts, and words for an empty list."""
        state, finds = self._state, self.finds
        where, remark = state.words
        self._screen.title_bar.show("Search", note="all text of all sessions")
        problem = state.query.problem
        if finds.hits:
            words = f" {'hit' if finds.hits == 1 else 'hits'} in {counted(len(finds.sessions), 'session')}"
            self.bar.show(exact(finds.hits), words, problem or remark, problem=bool(problem))
        else:
            # A broken query is reported below, where there is room for all of it.
            problem = "" if state.query.broken else problem
            self.bar.show("", where, problem, problem=bool(problem))
        self.results.say_empty(self._empty_words(where, remark))
        self.show_hints()

    def _empty_words(self, where: str, remark: str) -> list[tuple[str, str]]:
        state = self._state
        if state.query.broken:
            return [("text", "This cannot be searched for."), ("sub", state.query.problem)]
        if state.searching:
            return [("nothing", "searching")]
        if state.text and not state.query.looks_inside:
            return [("text", "Nothing to search for yet: add a word, a phrase or a pattern.")]
        if state.text:
            last = [("faint", remark)] if remark else []
            return [("text", "Nothing found."), ("nothing", where), *last]
        return [
            ("text", "Prompts, replies, thinking, calls, results and summaries, on every branch."),
            ("faint", ""),
            ("sub", "words             all of them, case ignored"),
            ("sub", '"a phrase"        as it stands'),
            ("sub", "/pattern/         a regular expression"),
            ("sub", "file:theme.ts     what read or changed a file"),
            ("sub", "tool:bash         calls and results of a tool"),
            ("sub", f"in:{PARTS[0]}        or {', '.join(PARTS[1:-1])} or {PARTS[-1]}"),
            ("sub", "error:            what failed; error:TEXT if it contains TEXT"),
            ("sub", "since:7d  project:orchard  agent:pi  not:word"),
            ("sub", '"a" | "b"         either of them'),
        ]

    def arrange_panes(self) -> None:
        """Shows the results, the text, or both."""
        two, panes, width = self.two_panes, self.panes, self._screen.app.size.width
        found = bool(self.finds.lines)
        left = self.divider.left(width)
        right = max(40, min(72, width * 2 // 5)) if left is None else width - left - RULE
        self.hit.styles.width = right if two else "1fr"
        self.rule.display = two and panes.with_preview and found
        self.hit.display = panes.with_preview and found if two else panes.side
        self._screen.query_one("#results").display = two or not panes.side
        self.hit.styles.padding = 0 if two else (0, 0, 0, 1)
        self.relight()

    def relight(self) -> None:
        """Draws the rule heavy where the keys go."""
        note = "newest first" if self.finds.lines else ""
        focused = not self.in_text and not self.in_field
        self.head.show(tabs=("Results",), active="Results", note=note, columns=None, focused=focused)
        self.hit.light(lit=self.in_text)
        self.show_hints()

    def fill_hit(self, hit: Hit, text: HitText) -> None:
        """Shows the text of a hit, if the cursor is still there."""
        self.hit.fill(hit, *text)

    # --- going about --------------------------------------------------------------------------------------------------

    def step(self, by: int) -> None:
        """Leaves the field; else moves the cursor, or the text of a hit where it has the keys."""
        if self.leave_field():
            return
        if self.in_text:
            self.hit.scroll_by(by)
        else:
            self.results.move_by(by)

    def leave_field(self) -> bool:
        """Goes from the field to the results; whether it was in the field."""
        if self.in_field:
            self.focus_results()
            return True
        return False
