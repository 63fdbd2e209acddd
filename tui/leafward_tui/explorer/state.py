"""The state of the explorer, as one value. Each part is written by one controller, which it names; all others read it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from leafward.session.tree.density import Density
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.model.row_texts import RowTexts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from leafward.agents.sub_agents import SubAgent
    from leafward.context.entry_metrics import EntryMetrics
    from leafward.context.price import Price
    from leafward.session.entries import EntryId
    from leafward.session.session import Session
    from leafward_tui.explorer.model.exploration import Exploration
    from leafward_tui.explorer.model.overview import Overview
    from leafward_tui.explorer.model.summary_request import SummaryRun


class Mode(Enum):
    """The modes of the explorer; where several hold, the first in this order decides about the keys."""

    FAILED = auto()
    """There is no session to show."""
    SUMMARISING = auto()
    SEARCHING = auto()
    FILTERING = auto()
    BROWSING = auto()


@dataclass(slots=True)
class SearchState:
    """The search. Written by `controllers/search`."""

    text: str = ""
    """The text of the search; empty for none."""
    rows: Sequence[int] = ()
    """Rows with hits, ascending."""
    entries: Sequence[int] = ()
    """Entries with hits."""
    places: Sequence[tuple[int, int]] = ()
    """Row and entry of every hit, in the order of the rows; by a query one hit a row."""
    at: int = -1
    """The hit that was stepped to; it holds as long as the cursor is on its row."""
    by_query: bool = False
    """Whether the text is a query, which chose the hits."""
    literal: str = ""
    """Words of another screen's search that this one began with: plain text even where they look like a query."""
    last_query: str = ""
    """The last query, also for a filter."""

    def place_on(self, row: int) -> int:
        """The hit that was stepped to, where it is on a row, else the first of the row; -1 where it has none."""
        places = self.places
        if 0 <= self.at < len(places) and places[self.at][0] == row:
            return self.at
        at = bisect_left(places, (row, -1))
        return at if at < len(places) and places[at][0] == row else -1


@dataclass(slots=True)
class ExplorerState:
    """The state of one explored session."""

    path: Path
    agent: str | None = None
    """The agent's name; None until it is known. Written, with the next fields, by `controllers/session_loader`."""
    exploration: Exploration | None = None
    metrics: EntryMetrics | None = None
    trouble: str = ""
    """The reason why there is no session to show."""
    shut: bool = False
    """Whether the session cannot be written to, by its permissions when it was read."""
    following: bool = True
    """Whether the file is followed. Written, with the next fields, by `controllers/followed_file`."""
    growing: bool = False
    """Whether appended lines are being read."""
    grown: bool = False
    """Whether others appended to it since it was opened."""
    unseen: int = 0
    """Entries of the conversation that came while the cursor was not on the leaf."""

    density: Density = Density.TURNS
    """Written by `controllers/navigation`."""
    texts: RowTexts = field(default_factory=RowTexts)
    overview: Overview | None = None
    """The path turn by turn; None until it is measured. Written by `controllers/cursor_details`, as the next fields."""
    lacks_prompt: bool = False
    """Whether the session does not hold the prompt that its agent sends."""
    price: Price | None = None
    """The price of the move that is proposed."""
    parent_title: str = ""
    """The title of the parent session; empty until it is read. Written by `controllers/parent_session`, as the next field."""
    own_from: EntryId | None = None
    """The first entry of a fork or copy that its parent does not hold; None where it is not known."""
    sub_agents: Mapping[EntryId, SubAgent] = field(default_factory=dict)
    """The sessions that calls made, by the result of each. Written by `controllers/sub_agents`."""
    healable: bool = False
    """Whether lines are damaged and healing would change something. Written by `controllers/heal`."""
    search: SearchState = field(default_factory=SearchState)
    writing: bool = False
    """Whether a write is under way; there is never more than one. Written by `controllers/write`."""
    summary: SummaryRun | None = None
    """The summary under way; everything that writes waits for it. Written by `controllers/branch_summary`."""

    @property
    def session(self) -> Session | None:
        """The session on show; None before it is read."""
        return self.exploration.session if self.exploration is not None else None

    @property
    def is_read(self) -> bool:
        """Whether there is a session to act on: not before it is read, nor while a rewritten file is read again."""
        return self.exploration is not None and not self.exploration.is_outdated

    @property
    def bare(self) -> bool:
        """Whether the session has no rows to show."""
        return self.exploration is not None and not len(self.exploration.lines)

    @property
    def busy(self) -> bool:
        """Whether the session is being changed, for which another change waits."""
        return self.writing or self.growing

    @property
    def refusal(self) -> str:
        """The reason why nothing can be written to the session, by its own statement; empty where it can."""
        return (self.session.read_only or "") if self.session is not None else ""

    @property
    def mode(self) -> Mode:
        """The mode that decides about the keys."""
        if self.trouble:
            return Mode.FAILED
        if self.summary is not None:
            return Mode.SUMMARISING
        if self.search.text:
            return Mode.SEARCHING
        if self.exploration is not None and self.exploration.filter is not Filter.CONVERSATION:
            return Mode.FILTERING
        return Mode.BROWSING
