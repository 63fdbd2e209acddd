"""The search of all text: what is looked for, the sessions that hold it with their hits, the text of the one under the cursor."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, Vertical

from leafward.base.safe_text import pasted_path
from leafward.query.search import Query, parse
from leafward_tui.search.model.finds import FindKind, Finds
from leafward_tui.search.widgets.hit_view import HitView
from leafward_tui.search.widgets.result_list import ResultList
from leafward_tui.search.work import Found, InText, SearchWork
from leafward_tui.ui.cells import counted, exact
from leafward_tui.ui.filter_bar import FilterBar
from leafward_tui.ui.hairline import ColumnRule
from leafward_tui.ui.intents import bindings_for
from leafward_tui.ui.key_bar import Hint
from leafward_tui.ui.open_target import OpenTarget
from leafward_tui.ui.row_keys import RowKeys
from leafward_tui.ui.title_bar import Progress
from leafward_tui.ui.tree_head import TreeHead

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.timer import Timer

    from leafward.catalog import Card

__all__ = ["Kept", "SearchScreen"]

_PLACEHOLDER = 'words   "a phrase"   /pattern/   file:   tool:   in:summary   error:   since:'
_PAUSE = 0.3
"""Seconds without a key after which what is typed is searched for."""
_SETTLE = 0.08
"""Seconds the cursor rests before the text follows."""
_OF_TURNS = frozenset({"prompt", "summary", "name"})
"""Parts of entries that a row of the tree stands for, also where a row is a turn."""
_LEAST = 2
"""Characters before a search starts by itself."""


@dataclass(slots=True)
class Kept:
    """A search that was left: it stands as it was when one comes back."""

    text: str = ""
    finds: Finds = field(default_factory=Finds)
    cursor: int = 0
    words: tuple[str, str] = ("", "")
    """What was said of it: where it looked, and what it could not do."""


class SearchScreen(RowKeys, SearchWork):
    """Searches the sessions of the catalogue. Ends with what it leaves, a ``Kept``."""

    NAME = "search"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("search")]

    DEFAULT_CSS = """
    SearchScreen {
        #panes { height: 1fr; width: 1fr; }
        #results { height: 1fr; width: 1fr; }
        &.-tall FilterBar, &.-high FilterBar { margin-bottom: 1; }
    }
    """

    def __init__(self, paths: Sequence[Path], cards: Sequence[Card] | None, kept: Kept | None = None) -> None:
        """`kept`: a search that was left, or one that is to begin where nothing was found yet."""
        super().__init__()
        self.paths, self.cards = tuple(paths), cards
        self._kept = kept or Kept()
        self._query = Query()
        self._text = ""
        """What was searched for last."""
        self._typed = self._kept.text
        self._searching = False
        self._words = self._kept.words
        self._waiting: Timer | None = None
        self._settling: Timer | None = None

    # --- arrangement --------------------------------------------------------------------------------------------------

    def compose_content(self) -> ComposeResult:
        """What is looked for, the results, the text of one."""
        self.bar = FilterBar(_PLACEHOLDER, whole=True)
        self.head = TreeHead()
        self.results = ResultList()
        self.view = HitView()
        self._rule = ColumnRule()
        yield self.bar
        with Horizontal(id="panes"):
            with Vertical(id="results"):
                yield self.head
                yield self.results
            yield self._rule
            yield self.view

    def on_mount(self) -> None:
        """The field has the keys, unless there are results to go on with."""
        super().on_mount()
        kept = self._kept
        self.call_after_refresh(self.bar.edit, kept.text)
        if kept.finds.lines:
            self._text, self._query = kept.text, self._parsed(kept.text)
            self.results.show(kept.finds, kept.cursor)
            self.call_after_refresh(self.results.focus)
        elif kept.text:
            self._begin(kept.text)
        self.arrange_panes()
        self.show_state()

    def on_resize(self) -> None:
        """One pane or two."""
        self.arrange_panes()

    def leave_field(self) -> bool:
        """Out of what is typed."""
        if self.bar.editing:
            self.results.focus()
            return True
        return False

    def arrange_panes(self) -> None:
        """The results, the text, or both."""
        two, width = self.two_panes, self.app.size.width
        found = bool(self.results.finds.lines)
        self.view.styles.width = max(40, min(72, width * 2 // 5)) if two else "1fr"
        self._rule.display = two and self._with_preview and found
        self.view.display = self._with_preview and found if two else self._side
        self.query_one("#results").display = two or not self._side
        self.view.styles.padding = 0 if two else (0, 0, 0, 1)
        self._light()

    def _light(self) -> None:
        side = self._side and self.view.display
        note = "newest first" if self.results.finds.lines else ""
        focused = not side and not self.bar.editing
        self.head.show(tabs=("Results",), active="Results", note=note, columns=None, focused=focused)
        self.view.light(lit=bool(side))
        self.show_hints()

    def show_state(self) -> None:
        """Everything around the lines: title, counts, what stands where there are none."""
        finds = self.results.finds
        where, remark = self._words
        self.title_bar.show("Search", note="all text of all sessions")
        problem = self._query.problems[0].text if self._query.problems else ""
        if finds.hits:
            words = f" {'hit' if finds.hits == 1 else 'hits'} in {counted(len(finds.sessions), 'session')}"
            self.bar.show(exact(finds.hits), words, problem or remark, problem=bool(problem))
        else:
            self.bar.show("", where if self._text else "", problem, problem=bool(problem))
        self.results.say_empty(self._empty_words(where, remark))
        self.show_hints()

    def _empty_words(self, where: str, remark: str) -> list[tuple[str, str]]:
        fatal = next((problem for problem in self._query.problems if problem.fatal), None)
        if fatal is not None:
            return [("text", "This is no pattern."), ("sub", fatal.text)]
        if self._searching:
            return [("nothing", "searching")]
        if self._text and not self._query.looks_inside:
            return [("text", "Nothing to look for yet: add a word, a phrase or a pattern.")]
        if self._text:
            return [
                ("text", "Nothing found."),
                ("nothing", where),
                *([("faint", remark)] if remark else []),
            ]
        return [
            ("text", "Prompts, replies, thinking, calls, results and summaries, on every branch."),
            ("faint", ""),
            ("sub", "words             all of them, case ignored"),
            ("sub", '"a phrase"        as it stands'),
            ("sub", "/pattern/         a regular expression"),
            ("sub", "file:theme.ts     what read or changed a file"),
            ("sub", "tool:bash         calls and results of a tool"),
            ("sub", "in:summary        or prompt, reply, thinking, call, result"),
            ("sub", "error:            only what failed"),
            ("sub", "since:7d  project:orchard  agent:pi  not:word"),
        ]

    def hints(self) -> Sequence[Hint]:
        """The keys of the state: while typing, on a hit, in its text."""
        line = self.results.line
        if self.bar.editing:
            hints = [Hint("hit.open", "to the results" if line is not None else "search", "results")]
            return [*hints, Hint("mode.leave", "back")]
        if line is None:
            return [Hint("query.edit"), Hint("app.back")]
        if self._side:
            return [Hint("hit.open"), Hint("mode.leave", "list"), Hint("row.down", "scroll")]
        opens = "show them" if line.kind is FindKind.MORE else "open here"
        hints = [Hint("hit.open", opens, "open"), Hint("find.next", "next session", "next")]
        if self._searching:
            hints.append(Hint("mode.leave", "stop"))
        return [
            *hints,
            Hint("preview.toggle", "text"),
            Hint("query.edit"),
            Hint("copy.text"),
            Hint("app.back"),
        ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What works now."""
        some = self.is_attached and self.results.line is not None
        if action in {"find_next", "find_previous", "copy_text", "preview_toggle", "hit_open"}:
            return some or None
        return super().check_action(action, parameters)

    # --- searching ----------------------------------------------------------------------------------------------------

    def _parsed(self, text: str) -> Query:
        return parse(text, int(self.shell.clock().timestamp() * 1000), whole=True)

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        """Searches once nothing more is typed for a moment."""
        message.stop()
        self._typed = message.text.strip()
        self._hold()
        if self._typed != self._text:
            self._waiting = self.set_timer(_PAUSE, self._search_typed)

    def _hold(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None

    def _search_typed(self) -> None:
        if len(self._typed) >= _LEAST or not self._typed:
            self._begin(self._typed)

    def _begin(self, text: str) -> None:
        """Searches for a text; an empty one clears everything."""
        self._hold()
        self._text, self._query, self._words = text, self._parsed(text), ("", "")
        self.results.show(Finds(), 0)
        sound = self._query.looks_inside and not any(one.fatal for one in self._query.problems)
        self._searching = sound
        if sound:
            self.start(self._query)
        else:
            self.cease()
            self.title_bar.progress(None)
        self.arrange_panes()
        self.show_state()

    def on_found(self, message: Found) -> None:
        """More lines at the end; the cursor stays where it is."""
        message.stop()
        if message.run != self.run_number:
            return
        finds = self.results.finds
        before = len(finds.lines)
        for session in message.sessions:
            finds.add(session)
        progress = message.progress
        self._searching = not message.finished
        busy = Progress("searching", progress.done, progress.total)
        self.title_bar.progress(None if message.finished else busy)
        if message.finished:
            self._words = f"{counted(progress.done, 'session')} searched", "; ".join(message.remarks)
        if len(finds.lines) > before:
            self.results.grew(before)
        if not before:
            self.arrange_panes()
        self.show_state()

    def on_filter_bar_committed(self, message: FilterBar.Committed) -> None:
        """Searches at once; where that is done, the results have the keys."""
        message.stop()
        if self._typed != self._text:
            self._begin(self._typed)
        self.results.focus()

    def on_descendant_focus(self) -> None:
        """Other keys matter now."""
        self._light()

    def action_query_edit(self) -> None:
        """The field has the keys."""
        self.to_list()
        self.bar.edit()
        self.show_hints()

    # --- the text of a hit --------------------------------------------------------------------------------------------

    def on_result_list_cursor_moved(self, message: ResultList.CursorMoved) -> None:
        """The text follows once the cursor rests."""
        message.stop()
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(_SETTLE, self.look)
        self.show_hints()

    def look(self) -> None:
        """Shows what is under the cursor."""
        line = self.results.line
        if line is None or not self.view.display:
            return
        hit = line.hit or (line.found.hits[0] if line.found.hits else None)
        self.view.show(line.found.card, hit)
        if hit is not None:
            self.look_into(line.found.card, hit, self._query)

    def on_in_text(self, message: InText) -> None:
        """Shows it, if the cursor is still there."""
        message.stop()
        self.view.fill(message.hit, message.text, message.spans, message.problem)

    # --- actions ------------------------------------------------------------------------------------------------------

    def step_rows(self, by: int) -> None:
        """Moves the cursor, or the text of a hit where it has the keys."""
        if self._side and self.view.display:
            self.view.scroll_by(by)
        else:
            self.results.move(by)

    def rows_seen(self) -> int:
        """Lines of the results on the screen."""
        return self.results.size.height

    def action_find_next(self) -> None:
        """The next session with hits."""
        self.results.move_to(FindKind.SESSION, 1)

    def action_find_previous(self) -> None:
        """The one before."""
        self.results.move_to(FindKind.SESSION, -1)

    def action_hit_open(self) -> None:
        """The session in the explorer, at this hit; the hits that are not shown are."""
        line = self.results.line
        if line is None:
            return
        if line.kind is FindKind.MORE and len(line.found.hits) > line.found.total - line.more:
            self.results.finds.open_up(line.found.card.path)
            self.results.opened_up()
            return
        hit = line.hit or (line.found.hits[0] if line.found.hits else None)
        card = line.found.card
        if hit is not None:
            arrival = OpenTarget(hit.entry, " ".join(hit.matched.split()), hit.part not in _OF_TURNS)
            self.shell.screens.session(Path(card.path), card.agent, arrival)

    def on_result_list_opened(self, message: ResultList.Opened) -> None:
        """A double click is enter."""
        message.stop()
        self.action_hit_open()

    def action_copy_text(self) -> None:
        """The path of the session and the id of the entry, as the verbs take them."""
        line = self.results.line
        if line is not None:
            path = pasted_path(line.found.card.path)
            self.shell.copy(f"{path} {line.hit.entry}" if line.hit is not None else path)

    def action_mode_leave(self) -> None:
        """Out of the text, out of the field where there are results, out of a search that goes on; then back."""
        if self._side:
            self.to_list()
        elif self.bar.editing and self.results.finds.lines:
            self.results.focus()
        elif self._searching:
            self.cease()
            self._searching = False
            self._words = "stopped", ""
            self.title_bar.progress(None)
            self.show_state()
        else:
            self.action_app_back()

    def action_app_back(self) -> None:
        """To the sessions; what was found stays for the next time."""
        self.cease()
        self.dismiss(Kept(self._text, self.results.finds, self.results.cursor, self._words))
