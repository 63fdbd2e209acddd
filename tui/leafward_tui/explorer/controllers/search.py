"""Search over all text of the session, and hits to step through."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.session.entries import NO_ENTRY
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.state import SearchState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.query.search.in_session import EntryHits
    from leafward.session.tree.tree_layout import Layout
    from leafward_tui.explorer.controllers.cursor_details import CursorDetails
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.explorer.model.exploration import Exploration
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.sheets.sheet import TextSheet

_LEAST_TEXT = 2
"""Characters before a search starts by itself as the user types."""


class Search(ExplorerController):
    """Finds rows, and goes from one to the next."""

    def __init__(self, means: ExplorerMeans, navigation: Navigation, details: CursorDetails) -> None:
        super().__init__(means)
        self._navigation = navigation
        self._details = details
        self._from = -1
        """The row the search goes on from; -1 where the cursor is to stay."""
        self._at = -1
        """The row of the cursor when the search began: the cursor stays where the user has moved it since."""
        self._found: PlacedHits | None = None
        """The hits on show; None where there is no search, or no result yet."""
        self._problem = ""
        """The reason why the last search failed."""
        self._sheet: TextSheet | None = None
        """The sheet that asks, while it is open."""
        self._on_show: tuple[object, object, Sequence[int]] = (None, None, ())
        """The places on rows that a filter leaves on show, after the values they were computed from."""
        self.actions = {
            "find.open": self._ask,
            "find.next": partial(self._step, 1),
            "find.previous": partial(self._step, -1),
        }

    def _ask(self) -> None:
        """Asks for the words of a search, and searches as the user types."""
        from leafward_tui.ui.sheets.sheet import TextSheet

        before = self._from = self._view.tree.row
        search = self._state.search

        def done(text: str | None) -> None:
            self._sheet = None
            if text is None:
                self.clear()
                self._navigation.go_to_row(before)
            elif text != self._state.search.text:
                self.start(text, before)

        sheet = TextSheet(
            "Search",
            search.text,
            note="prompts, replies, calls, results, summaries; or a query",
            placeholder="words anywhere in this session, or tool(edit) & error()",
            commit="keep, then n N",
            operation_of=self._outcome,
            changed=self._follow,
            selected=True,
        )
        self._sheet = sheet
        self._view.open_sheet(sheet, done)

    def _outcome(self, text: str) -> str:
        """The outcome for the typed text, or how the text is read."""
        search = self._state.search
        if text != search.text or len(text) < _LEAST_TEXT:
            return _reading(text).words
        if search.rows:
            return self._counted()
        if self._jobs.running("search") or self._problem:
            return self._problem or "searching"
        doubt = _reading(text).doubt
        return f"nothing found: {doubt}" if doubt else "nothing found"

    def _follow(self, text: str) -> None:
        if len(text) >= _LEAST_TEXT:
            self.start(text, self._from)
        else:
            self.clear()

    def arrive(self, words: str) -> None:
        """Searches for the words of another screen's search, as plain text even where they look like a query."""
        self._state.search.literal = words
        self.start(words)

    def start(self, text: str, origin: int = -1) -> None:
        """Searches all text of the session, and goes to the next hit from the row `origin`, if one is given."""
        exploration, search = self._state.exploration, self._state.search
        if not text or exploration is None:
            self.clear()
            return
        search.text, search.rows, search.places, search.entries, search.at = text, (), (), (), -1
        self._found = None
        self._from, self._at = origin, self._view.tree.row
        self._search(exploration, self._show)

    def _search(self, exploration: Exploration, found_more: Callable[[PlacedHits], object]) -> None:
        search, self._problem = self._state.search, ""
        self._jobs.latest(
            "search",
            partial(_find, exploration, search.text, search.text == search.literal, found_more),
            self._show,
            self._fail,
        )

    def _fail(self, problem: str) -> None:
        self._problem = f"cannot search: {safe_line(problem, 200)}"
        self._view.fail(self._problem)
        if self._sheet is not None:
            self._sheet.tell_outcome()

    def again(self) -> None:
        """Puts the hits on the rows that were laid out again, and searches again: the session may have grown."""
        exploration, search = self._state.exploration, self._state.search
        if exploration is None or not search.text:
            return
        if self._found is not None:
            self._place(self._found, exploration)
        # A search under way goes to its first hit: it is not replaced by one that leaves the cursor where it is.
        self._jobs.after("search", self._search_grown)

    def _search_grown(self) -> None:
        exploration = self._state.exploration
        if exploration is not None and self._state.search.text:
            self._from = -1
            # The hits on show stay until all are found again.
            self._search(exploration, lambda _some: None)

    def clear(self) -> None:
        """Forgets the search."""
        before = self._state.search
        self._state.search = SearchState(literal=before.literal, last_query=before.last_query)
        self._found = None
        self._jobs.cancel("search")
        self._view.tree.set_hits(frozenset(), "")
        self._view.inspector.seek("")
        self._view.strip.set_hits(())
        self._view.tell("")
        if before.text:
            # A narrow screen showed the row's digest around the hit.
            self._details.settle()

    def _show(self, placed: PlacedHits) -> None:
        """Lights the hits; the first time, goes to the next hit from the origin of the search."""
        state, view = self._state, self._view
        exploration, search = state.exploration, state.search
        if exploration is None:
            return
        first = not search.rows and self._from >= 0 and view.tree.row == self._at
        self._place(placed, exploration)
        found = placed.found
        if found.by_query:
            self.remember_query(search.text)
        self._seek()
        view.strip.set_hits(state.overview.turns_of(found.entries) if state.overview is not None else ())
        if first and (on_show := self._places_on_show()):
            at = bisect_left(on_show, self._from, key=lambda place: search.places[place][0])
            self._navigation.go_to_hit(search.places[on_show[at % len(on_show)]][0])
        self._show_hits()

    def _place(self, placed: PlacedHits, exploration: Exploration) -> None:
        """Lights the rows of the hits; the hit that was stepped to stays the one."""
        if placed.layout is not exploration.layout:
            placed = PlacedHits.of(placed.found, exploration.layout)
        self._found, search, found = placed, self._state.search, placed.found
        before = search.places[search.at] if 0 <= search.at < len(search.places) else None
        number = search.at - bisect_left(search.places, before) if before else 0
        search.places, search.rows = placed.places, placed.rows
        search.entries, search.by_query, search.at = tuple(found.entries), found.by_query, -1
        if before in search.places:
            search.at = bisect_left(search.places, before) + number
        self._view.tree.set_hits(frozenset(search.rows), "" if found.by_query else search.text)

    def remember_query(self, query: str) -> None:
        """Keeps a query, so that the next request for one begins with it."""
        self._state.search.last_query = query

    def cursor_moved(self) -> None:
        """Shows which hit the cursor is on; without a search, clears the note for the price."""
        if self._state.search.text:
            self._seek()
            self._show_hits()
        else:
            self._view.clear_note()

    def _seek(self, at: int | None = None) -> None:
        """Lets the inspector go to a hit, by default that of the cursor's row."""
        search = self._state.search
        if at is None:
            at = search.place_on(self._view.tree.row)
        place = search.places[at] if at >= 0 else None
        number = at - bisect_left(search.places, (place[0], -1)) if place else 0
        words = "" if search.by_query else search.text
        self._view.inspector.seek(words, number, place[1] if place else NO_ENTRY)
        if not self._view.two_panes:
            # Without a pane beside the tree the hit is shown in the lines below it.
            self._details.settle()

    def _show_hits(self) -> None:
        search, view, searching = self._state.search, self._view, self._jobs.running("search")
        if self._sheet is not None:
            self._sheet.tell_outcome()
        if not search.rows:
            doubt = "" if searching else _reading(search.text).doubt
            words, tone = ("searching", "faint") if searching else ("nothing found", "warn")
            view.tell(f"{words}: {search.text}" + (f"; {doubt}" if doubt else ""), tone)
            return
        more = ", still searching" if searching else ""
        keys = view.key_hints(
            ("find.next", "next"), ("find.previous", "previous"), ("mode.leave", "end search")
        )
        glyphs = self._services.glyphs
        quoted = f"with {glyphs.quote_open}{search.text}{glyphs.quote_close}"
        on_hit = search.place_on(view.tree.row) >= 0
        matches = "matching" if on_hit else "matches" if len(search.places) == 1 else "match"
        how = f"{matches} {search.text}" if search.by_query else quoted
        comma = "," if self._hidden else ""
        view.tell(f"{self._counted()}{more}", "", keys, tail=f"{comma} {how}")

    def _step(self, step: int) -> None:
        if not self._state.search.text:
            self._view.tell("nothing is searched for", "faint", self._view.key_hints(("find.open", "search")))
            return
        search, row = self._state.search, self._view.tree.row
        if on_show := self._places_on_show():
            rows = [place for place, _ in search.places]
            at = search.place_on(row)
            beside = bisect_left(rows, row) - (step > 0) if at < 0 else at
            to = bisect_right(on_show, beside) if step > 0 else bisect_left(on_show, beside) - 1
            search.at = on_show[to % len(on_show)]
            self._seek(search.at)
            self._navigation.go_to_hit(rows[search.at])
        self._show_hits()

    def _places_on_show(self) -> Sequence[int]:
        """The hits on rows that the filter leaves on show; folded ones count, since a step unfolds them."""
        exploration, places = self._state.exploration, self._state.search.places
        if exploration is None or exploration.folds_rows:
            return range(len(places))
        lines, made_of, known = self._on_show
        if lines is not exploration.lines or made_of is not places:
            hidden = {row: exploration.hidden(row) for row in self._state.search.rows}
            known = [place for place, (row, _) in enumerate(places) if not hidden[row]]
            self._on_show = exploration.lines, places, known
        return known

    @property
    def _hidden(self) -> int:
        """The number of hits that the filter hides."""
        return len(self._state.search.places) - len(self._places_on_show())

    def _counted(self) -> str:
        """`place 3 of 49, in 12 entries` on a hit, `49 places in 12 entries` beside them; a query has rows as hits.

        The search of all text counts these entries as its hits.
        """
        search = self._state.search
        at, size = search.place_on(self._view.tree.row), len(search.places)
        name = "row" if search.by_query else "place"
        beside = f", {self._hidden:,} hidden by the filter" if self._hidden else ""
        if not search.by_query and len(search.entries) < size:
            comma = "," if at >= 0 else ""
            beside = f"{comma} in {counted(len(search.entries), 'entry', 'entries')}{beside}"
        return f"{name} {at + 1:,} of {size:,}{beside}" if at >= 0 else f"{counted(size, name)}{beside}"


class PlacedHits(NamedTuple):
    """The hits of a search on the rows of a layout."""

    found: EntryHits
    layout: Layout
    places: list[tuple[int, int]]
    """Row and entry of every place, in the order of the rows."""
    rows: list[int]

    @classmethod
    def of(cls, found: EntryHits, layout: Layout) -> PlacedHits:
        """The hits on the rows; with very many of them, too long for the thread of the screen."""
        if found.by_query:
            first = {layout.row_of(entry): entry for entry in reversed(found.entries)}
            places = sorted((row, entry) for row, entry in first.items() if row >= 0)
        else:
            held = zip(found.entries, found.places, strict=True)
            places = sorted(
                (row, entry)
                for entry, times in held
                if (row := layout.row_of(entry)) >= 0
                for _ in range(times)
            )
        return cls(found, layout, places, list(dict.fromkeys(row for row, _ in places)))


def _find(
    exploration: Exploration, text: str, literal: bool, found_more: Callable[[PlacedHits], object], job: Job
) -> PlacedHits:
    """The job of a search; `found_more` gets the hits so far, in the thread of the screen."""
    from leafward.query.search.in_session import find

    def more(some: EntryHits) -> None:
        job.report(partial(found_more, PlacedHits.of(some, exploration.layout)))

    return PlacedHits.of(
        find(exploration.session, text, job.unwanted, more, literal=literal), exploration.layout
    )


_QUERY_SIGNS = frozenset("()&|")
"""Characters of a text that is meant as a query."""


class _Reading(NamedTuple):
    """The reading of a typed search. Both texts are safe to show, and empty where there is nothing to say."""

    words: str
    """Text while it is typed: an error, or that it is a query."""
    doubt: str
    """Text where nothing is found: an error, or the part that looks like a query but is read as plain text."""


def _reading(text: str) -> _Reading:
    """The reading of a typed search, as words or as a query."""
    from leafward.query.grammar import SearchedText, parse_search
    from leafward.query.lexer import QueryError, QueryPlace
    from leafward.query.search.conjunction import texts_of

    try:
        found, problems = parse_search(text, QueryPlace.FIND)
    except QueryError as error:
        problem = safe_line(str(error), 200)
        return _Reading(problem, problem)
    if problems:
        problem = safe_line(str(problems[0]), 200)
        return _Reading(problem, problem)
    if found is None or (isinstance(found, SearchedText) and found.text == text.strip()):
        return _Reading("", "taken as plain text, not as a query" if _QUERY_SIGNS & set(text) else "")
    plain = next((one for one in texts_of(found) if _QUERY_SIGNS & set(one)), "")
    doubt = f"{safe_line(plain, 60)} is taken as plain text" if plain else ""
    return _Reading(doubt or "a query: goes to the matching rows", doubt)
