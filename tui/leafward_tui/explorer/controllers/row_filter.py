"""The filter of the rows: by their kind, by a query, by a file that they touch."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.model.folds import LineKind

if TYPE_CHECKING:
    from leafward.files.file_replay.steps import ReplayStep
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.file_choice import FileChoice
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.explorer.controllers.search import Search
    from leafward_tui.ui.jobs import Job

FILTER_KEYS = "catpliexy"
"""The letters of the filters, in their order."""
_EFFECTS = {
    Filter.CONVERSATION: "everything but metadata",
    Filter.ALL: "metadata too, one row per entry",
    Filter.NO_TOOLS: "prompts and replies, one row per entry",
    Filter.PROMPTS: "rows that begin with your words",
    Filter.LABELLED: "rows with a label",
    Filter.COMPACTIONS: "compactions and branch summaries",
    Filter.ERRORS: "rows in which something failed",
    Filter.EDITS: "rows that changed a file",
    Filter.CHOSEN: "rows that match a query, such as tool(edit) & tokens>2k",
}


class RowFilter(ExplorerController):
    """Leaves rows out; branches keep their place."""

    def __init__(
        self, means: ExplorerMeans, navigation: Navigation, search: Search, files: FileChoice
    ) -> None:
        super().__init__(means)
        self._navigation = navigation
        self._search = search
        self._files = files
        self.actions = {
            "filter.choose": self._choose,
            "file.timeline": self._ask_timeline,
        }

    def _choose(self) -> None:
        """Asks which rows to show."""
        from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet

        exploration = self._state.exploration
        if exploration is None:
            return
        choices = [
            Choice(
                key,
                one.value,
                _EFFECTS[one],
                current=one is exploration.filter,
                act=self._ask_query if one is Filter.CHOSEN else partial(self.set, one),
            )
            for key, one in zip(FILTER_KEYS, Filter, strict=True)
        ]
        self._view.open_sheet(ChoiceSheet("Show", choices, note="hides the other rows", cycle="ampersand"))

    def set(self, chosen: Filter) -> None:
        """Shows only some rows; the hidden ones leave stubs with a count."""
        exploration = self._state.exploration
        if exploration is None or chosen is exploration.filter:
            return
        exploration.filter = chosen
        self._navigation.lay_out()
        if chosen is Filter.CONVERSATION:
            self._view.tell("")
        else:
            lines = exploration.lines
            none = all(lines.line(y).kind is LineKind.HIDDEN for y in range(len(lines)))
            lacking = _EFFECTS[chosen].partition(",")[0].replace(" and ", " or ")
            self._say(f"no {lacking}" if none else f"showing {chosen.value}")

    def _say(self, text: str) -> None:
        keys = self._view.key_hints(
            ("filter.choose", "choose another filter"), ("mode.leave", "clear filter")
        )
        self._view.tell(text, "", keys)

    # --- by a query ---------------------------------------------------------------------------------------------------

    def _ask_query(self) -> None:
        """Asks for a query; an error in it is shown while it is typed."""
        from leafward.query.grammar import parse
        from leafward.query.lexer import QueryError
        from leafward.query.vocabulary import FIELDS, FUNCTIONS
        from leafward_tui.ui.sheets.sheet import SheetLine, TextSheet

        def meaning(text: str) -> str:
            if not text.strip():
                return ""
            try:
                parse(text)
            except QueryError as error:
                return safe_line(str(error), 200)
            return "shows the matching rows"

        def done(text: str | None) -> None:
            session = self._state.session
            if text and text.strip() and session is not None:
                self._search.remember_query(text)
                self._jobs.latest(
                    "choose", partial(choose, session, text), self._show_chosen, self._view.fail
                )

        about = [
            SheetLine(
                "& both   | either   - without   ! not   a text in quotes is searched for   tool:x is tool(x)"
            ),
            SheetLine("  ".join(FUNCTIONS), lines=6),
            SheetLine(f"with > < or =:  {'  '.join(FIELDS)}"),
        ]
        sheet = TextSheet(
            "Show the rows that match a query",
            self._state.search.last_query,
            about,
            placeholder="ancestors(leaf) & tool(edit) & tokens>2k",
            commit="show",
            operation_of=meaning,
            missing="type a query",
        )
        self._view.open_sheet(sheet, done)

    def _show_chosen(self, chosen: Chosen) -> None:
        """Shows the chosen rows; without any, the tree stays as it is."""
        exploration = self._state.exploration
        if exploration is None:
            return
        if not chosen.entries:
            keys = self._view.key_hints(("find.open", "search text"), ("filter.choose", "another filter"))
            self._view.tell(f"no entry matches {chosen.words}", "warn", keys)
            return
        exploration.chosen, exploration.touching = chosen.entries, chosen.touching
        exploration.filter = Filter.CHOSEN
        self._navigation.lay_out()
        text = f"showing {counted(len(chosen.entries), 'entry', 'entries')}: {chosen.words}"
        if chosen.touching:
            from leafward_tui.explorer.model.file_markers import summed

            text = f"{chosen.words}: {summed(chosen.touching)}"
        self._say(text)

    # --- by a file ----------------------------------------------------------------------------------------------------

    def _ask_timeline(self) -> None:
        """Shows the timeline of a file that the row of the cursor touches, or of one that the tab Files shows."""
        self._files.ask("Timeline of a file", self.show_timeline)

    def show_timeline(self, path: str) -> None:
        """Shows the rows of all branches that read or change a file."""
        session = self._state.session
        if session is not None:
            self._jobs.latest(
                "choose", partial(choose_touching, session, path), self._show_timeline, self._view.fail
            )

    def _show_timeline(self, chosen: Chosen) -> None:
        if chosen.entries:
            self._show_chosen(chosen)
            if not self._view.two_panes:
                # The rows of the tree show the operations on the file.
                self._view.show_tree()
        else:
            self._view.fail(f"no entry touches {chosen.words}")


class Chosen(NamedTuple):
    """Entries that a filter shows."""

    words: str
    """The query or the file, in words."""
    entries: tuple[int, ...]
    touching: tuple[ReplayStep, ...] = ()
    """The steps of the requested file."""


def choose(session: Session, query: str, job: Job) -> Chosen:
    """The entries that a query chooses. Raises Cancelled, QueryError."""
    from leafward.query.select.evaluator import select

    return Chosen(safe_line(query, 200), select(session, query, job.unwanted))


def choose_touching(session: Session, path: str, job: Job) -> Chosen:
    """The entries of all branches that read or change a file. Raises Cancelled."""
    from leafward.files.file_replay.timeline import timeline

    found = timeline(session, path, stop=job.unwanted)
    entries = tuple(sorted({int(one.entry) for one in found}))
    return Chosen(safe_line(path, 200), entries, tuple(found))
