"""Finding rows: search over all text, hits to step through, filters."""

from __future__ import annotations

import sys
from bisect import bisect_left
from typing import TYPE_CHECKING

from textual import work
from textual.worker import get_current_worker

from leafward.base.errors import Cancelled, LeafwardError
from leafward_tui.explorer.going import Going
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.results import Failed, Found
from leafward_tui.ui.hits import hit_beside, which_hit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.session import Session

_LEAST_QUERY = 2
"""Characters before a search starts by itself while one types."""

_FILTER_KEYS = "catpliexy"

_FILTER_EFFECT = {
    Filter.CONVERSATION: "everything but bookkeeping",
    Filter.ALL: "bookkeeping too, one row an entry",
    Filter.NO_TOOLS: "what was said, one row an entry",
    Filter.PROMPTS: "rows that begin with your words",
    Filter.LABELLED: "rows with a label",
    Filter.COMPACTIONS: "compactions and branch summaries",
    Filter.ERRORS: "rows in which something failed",
    Filter.EDITS: "rows that changed a file",
    Filter.CHOSEN: "as leafward select takes it, such as tool(edit) & tokens>2k",
}


def _meaning(text: str) -> str:
    """How what is typed is taken."""
    if "leafward.query.select" not in sys.modules:
        return ""
    from leafward_tui.ui.query_kind import is_query

    if not is_query(text):
        return ""
    return "a query: goes to the rows it chooses"


class Finding(Going):
    """Actions that find rows or leave some out."""

    found_entries: Sequence[int] = ()
    """Entries that the search found."""
    by_query = False
    """Whether what was searched for is a query."""
    asked_query = ""
    """The query that was asked last."""
    words_given = ""
    """Words that another screen searched for and that this one began with: no query, whatever they look like."""
    _search_from = -1
    """The row the search goes on from; -1 where the cursor is to stay."""
    _search_at = -1
    """The row of the cursor when the search began: where the user has moved on since, it is left there."""

    def action_find_open(self) -> None:
        """Asks what to search for, and searches while one types."""
        from leafward_tui.ui.sheet import TextSheet

        if self.exploration is None:
            return
        before = self._search_from = self.graph.row

        def done(query: str | None) -> None:
            if query is None:
                self.clear_search()
                self.go_to_row(before)
            elif query != self.searched:
                self.start_search(query, before)

        self.app.push_screen(
            TextSheet(
                "Search",
                self.searched,
                note="prompts, replies, calls, results, summaries; or a query",
                placeholder="words anywhere in this session, or tool(edit) & error()",
                commit="keep, then n N",
                operation_of=_meaning,
                changed=self._typed,
            ),
            done,
        )

    def _typed(self, query: str) -> None:
        if len(query) >= _LEAST_QUERY:
            self.start_search(query, self._search_from)
        else:
            self.clear_search()

    def start_search(self, query: str, origin: int = -1) -> None:
        """Searches all text of the session for a query and goes to the next hit from the row `origin`, if one is given."""
        self.searched = query
        self.hits = []
        self._search_from, self._search_at = origin, self.graph.row
        if query and self.session is not None:
            self._search(self.session, query, self.generation)
        else:
            self.clear_search()

    def clear_search(self) -> None:
        """Forgets the search."""
        self.searched = ""
        self.hits = []
        self.found_entries, self.by_query = (), False
        self.workers.cancel_group(self, "search")
        self.graph.set_hits(frozenset(), "")
        self.strip.set_hits(())
        self.tell("")

    @work(thread=True, exclusive=True, group="search", exit_on_error=False)
    def _search(self, session: Session, query: str, run: int) -> None:
        from leafward.query.select import select
        from leafward_tui.explorer.work import search
        from leafward_tui.ui.query_kind import is_query

        worker = get_current_worker()
        stop = self.shell.keys_first.stop(worker)
        asked = query != self.words_given and is_query(query)
        try:
            if asked:
                from leafward.query.select import select

                found = [int(entry) for entry in select(session, query, stop).entries]
            else:
                found = search(
                    session,
                    query,
                    stop,
                    lambda some: self.post_message(Found(run, query, some, complete=False)),
                )
        except Cancelled:
            return
        except (LeafwardError, OSError) as error:
            if not worker.is_cancelled:
                self.post_message(Failed(run, f"cannot search: {error}"))
            return
        if not worker.is_cancelled:
            self.post_message(Found(run, query, found, complete=True, asked=asked))

    def on_found(self, message: Found) -> None:
        """Lights what was found; the first time, goes to the next hit from where the search began."""
        exploration = self.exploration
        if message.run != self.generation or message.query != self.searched or exploration is None:
            return
        first = not self.hits and self._search_from >= 0 and self.graph.row == self._search_at
        rows = {exploration.layout.row_of(entry) for entry in message.entries}
        rows.discard(-1)
        self.hits = sorted(rows)
        self.found_entries, self.by_query = tuple(message.entries), message.asked
        if message.asked:
            self.asked_query = message.query
        self.graph.set_hits(frozenset(rows), "" if message.asked else message.query)
        self.strip.set_hits(self.overview.turns_of(message.entries) if self.overview is not None else ())
        if first and self.hits:
            at = bisect_left(self.hits, self._search_from)
            self.go_to_row(self.hits[at % len(self.hits)])
        self.tell_hits(searching=not message.complete)

    def tell_hits(self, *, searching: bool = False) -> None:
        """Says which of the hits the cursor is on."""
        if not self.hits:
            self.tell(
                f"{'searching' if searching else 'nothing found'}  {self.searched}",
                "faint" if searching else "warn",
            )
            return
        more = ", searching on" if searching else ""
        keys = self.key_hints(("find.next", "next"), ("find.previous", "previous"), ("mode.leave", "ends"))
        glyphs = self.shell.glyphs
        quoted = f"with {glyphs.quote_open}{self.searched}{glyphs.quote_close}"
        told = f"chosen by {self.searched}" if self.by_query else quoted
        rows = "row" if len(self.hits) == 1 else "rows"
        self.tell(f"{which_hit(self.hits, self.graph.row)} {rows}{more} {told}", "", keys)

    def action_find_next(self) -> None:
        """The next hit, around the end."""
        self._step_hit(1)

    def action_find_previous(self) -> None:
        """The hit before, around the top."""
        self._step_hit(-1)

    def _step_hit(self, step: int) -> None:
        row = hit_beside(self.hits, self.graph.row, step)
        if row is not None:
            self.go_to_row(row)
            self.tell_hits()

    def action_filter_choose(self) -> None:
        """Asks which rows to show."""
        from leafward_tui.ui.sheet import Choice, ChoiceSheet

        exploration = self.exploration
        if exploration is None:
            return
        keys = dict(zip(_FILTER_KEYS, Filter, strict=False))
        choices = [
            Choice(key, choice.value, _FILTER_EFFECT[choice], current=choice is exploration.filter)
            for key, choice in keys.items()
        ]

        def done(key: str | None) -> None:
            if key is not None and keys[key] is Filter.CHOSEN:
                self.ask_query()
            elif key is not None:
                self.set_filter(keys[key])

        self.app.push_screen(
            ChoiceSheet("Show", choices, note="branches keep their place", cycle="ampersand"), done
        )

    def set_filter(self, wanted: Filter) -> None:
        """Shows only some rows; those left out leave stubs with a count."""
        exploration = self.exploration
        if exploration is None or wanted is exploration.filter:
            return
        exploration.filter = wanted
        self.relay()
        if wanted is not Filter.CONVERSATION:
            keys = self.key_hints(("filter.choose", "another"), ("mode.leave", "everything again"))
            self.tell(f"showing {wanted.value}", "", keys)
        else:
            self.tell("")

    def ask_query(self) -> None:
        """Asks for a query that chooses rows."""
        raise NotImplementedError
