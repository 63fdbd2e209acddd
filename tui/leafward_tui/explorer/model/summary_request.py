"""A summary of a branch as it is asked for and while it is made: of which entries, how far it is, what it is made for."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.safe_text import safe_line
from leafward_tui.ui.cells import count, counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.branch_summary import BranchDraft
    from leafward.session.session import Session


class SummaryRequest(NamedTuple):
    """Which branch is to be summarised: the entries from `start` up to where its path and that of `to` part."""

    start: int
    to: int
    """-1 is before everything."""
    messages: int
    """Those of the branch, summaries among them; what else its entries say is not summarised."""
    first: int = -1
    """The first of them, right below where the paths part; -1 where there is none."""
    focus: str = ""
    preview: bool = False
    """Whether it is only shown; otherwise the leaf moves with it."""
    carried: bool = True
    """Whether the leaf can move to `to` with it: only what is really left can be carried along."""


def messages_left(session: Session, start: int, to: int) -> int:
    """Messages, summaries among them, that a move from one entry to another leaves."""
    tree = session.tree
    return tree.content_upto(start) - tree.content_upto(tree.common_ancestor(start, to))


def summary_between(
    session: Session, start: int, to: int, *, preview: bool = False, carried: bool = True
) -> SummaryRequest:
    """A summary of the branch from one entry up to where its path and that of another part."""
    below = session.tree.below(session.tree.common_ancestor(start, to), start)
    first = below[0].start if below else -1
    return SummaryRequest(
        start, to, messages_left(session, start, to), first, preview=preview, carried=carried
    )


@dataclass(slots=True)
class SummaryRun:
    """A summary under way. There is never more than one to a screen."""

    request: SummaryRequest
    stop: Event = field(default_factory=Event)
    growth: Growth | None = None
    asks: bool = False
    """Whether it is asked who summarises, also where there is no choice of model."""
    then: Callable[[BranchDraft | None], object] | None = None
    """What is done with it once it is whole, such as putting it into a new session; None is handed over where there is nothing
    to summarise. Without it the leaf moves with the summary, unless that is only shown."""

    @property
    def moves(self) -> bool:
        """Whether the leaf moves with it."""
        return self.then is None and not self.request.preview


class Growth(NamedTuple):
    """How far it is."""

    text: str
    tokens: int
    rate: float = 0.0
    """Tokens a second; 0 where nothing waits for them."""
    stage: str = ""
    """What is waited for."""

    @property
    def last_line(self) -> str:
        """What was written last."""
        return next((line.strip() for line in reversed(self.text.split("\n")) if line.strip()), "")


def progress_words(run: SummaryRun) -> str:
    """`summarising 31 messages, 512 tok, 40/s`."""
    words = f"summarising {counted(run.request.messages, 'message')}"
    if run.stop.is_set():
        return f"{words}, giving up"
    growth = run.growth
    if growth is None:
        return words
    if not growth.tokens:
        return f"{words}, {safe_line(growth.stage, 200)}" if growth.stage else words
    words += f", {count(growth.tokens)} tok"
    return f"{words}, {growth.rate:,.0f}/s" if growth.rate >= 1 else words
