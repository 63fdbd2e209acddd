"""The messages in which the results of background work come back.

Every one carries the run it belongs to; one of an earlier run is dropped by whoever receives it. Nothing heavy is imported
here: the work itself lies in `work`, which is loaded by whoever starts some. No two are ever compared, and Textual
shows them in its own way: without the methods for that, these classes are made in half the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from leafward.compaction.branch import Branch, BranchDraft
    from leafward.context.entry_metrics import EntryMetrics
    from leafward.context.model_context import ContextSize
    from leafward.context.price import Price
    from leafward.session.columns import Columns
    from leafward.session.journal import Write
    from leafward.summaries.summarizers.model import Outgoing
    from leafward_tui.explorer.model.branch_summary import Growth, Summing
    from leafward_tui.explorer.model.exploration import Exploration, Findings
    from leafward_tui.explorer.model.overview import Overview
    from leafward_tui.explorer.widgets.peek import Glance


@dataclass(eq=False, repr=False)
class ReadSoFar(Message):
    """A session is being read: bytes so far, of how many, and entries found."""

    run: int
    done: int
    total: int
    entries: int

    def can_replace(self, message: Message) -> bool:
        """Only the latest counts."""
        return isinstance(message, ReadSoFar)


@dataclass(eq=False, repr=False)
class Opened(Message):
    """A session was read and laid out."""

    run: int
    exploration: Exploration
    tallies: EntryMetrics


@dataclass(eq=False, repr=False)
class Failed(Message):
    """Something could not be done; the text is one line."""

    run: int
    text: str
    fatal: bool = False
    """There is no session to show."""


@dataclass(eq=False, repr=False)
class Counted(Message):
    """More rows have their numbers."""

    run: int
    complete: bool
    findings: Findings | None = None

    def can_replace(self, message: Message) -> bool:
        """A later one says as much, unless it is the last."""
        return isinstance(message, Counted) and not self.complete


@dataclass(eq=False, repr=False)
class Noted(Message):
    """What is known of some entries besides their headlines arrived in the notes."""

    run: int


@dataclass(eq=False, repr=False)
class Found(Message):
    """What a search found: entries, in file order."""

    run: int
    query: str
    entries: list[int]
    complete: bool
    asked: bool = False
    """Whether it was a query that chose them."""


@dataclass(eq=False, repr=False)
class Grown(Message):
    """The file changed: it grew, or was replaced and is read anew."""

    run: int
    added: int
    replaced: bool
    before: Columns | None = None
    """What was known of the file before it was replaced."""


@dataclass(eq=False, repr=False)
class Wrote(Message):
    """A change was written, or refused: then `written` is None and the text says why."""

    run: int
    written: Write | None
    text: str
    then: str


@dataclass(eq=False, repr=False)
class Priced(Message):
    """The price of a move to an entry."""

    run: int
    target: int
    price: Price


@dataclass(eq=False, repr=False)
class Glanced(Message):
    """What the turn under the cursor came to."""

    run: int
    glance: Glance


@dataclass(eq=False, repr=False)
class Measured(Message):
    """The size of the context at the leaf, and the window of the model it is for."""

    run: int
    size: ContextSize
    window: int
    lacks_prompt: bool
    """Whether the session does not hold the prompt that its agent sends."""


@dataclass(eq=False, repr=False)
class Surveyed(Message):
    """The overview of the path."""

    run: int
    overview: Overview


@dataclass(eq=False, repr=False)
class LookedOver(Message):
    """What is to be summarised, None where there is nothing, and what the configured model would be sent."""

    run: int
    summing: Summing
    branch: Branch | None
    going: Outgoing | None


@dataclass(eq=False, repr=False)
class SummaryGrew(Message):
    """More of a summary is there."""

    run: int
    summing: Summing
    growth: Growth

    def can_replace(self, message: Message) -> bool:
        """Only the latest counts."""
        return isinstance(message, SummaryGrew)


@dataclass(eq=False, repr=False)
class Summarised(Message):
    """A summary is whole, and written where that was wanted; or it is not, and `problem` says why."""

    run: int
    summing: Summing
    draft: BranchDraft | None = None
    written: Write | None = None
    problem: str = ""


@dataclass(eq=False, repr=False)
class Exported(Message):
    """An export is written, or is not."""

    text: str
    problem: bool = False
