"""A summary of a branch, requested or under way: its entries, its progress, its purpose."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward_tui.ui.text.cells import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.branch_summary import BranchDraft
    from leafward.session.session import Session


class SummaryRequest(NamedTuple):
    """A request for the summary of a branch: the entries from `start` up to the common ancestor with `to`."""

    start: int
    to: int
    """The entry that the leaf would move to; -1 is before everything."""
    messages: int
    """Messages of the branch, summaries among them; other entries are not summarised."""
    first: int = -1
    """The first of them, right below the common ancestor; -1 where there is none."""
    focus: str = ""
    preview: bool = False
    """Whether it is only shown; otherwise the leaf moves with it."""
    carried: bool = True
    """Whether the leaf can move to `to` with it: only a summary of the branch that is really left can be carried along."""


def messages_left(session: Session, start: int, to: int) -> int:
    """Messages, summaries among them, that a move from one entry to another leaves."""
    tree = session.tree
    return tree.content_upto(start) - tree.content_upto(tree.common_ancestor(start, to))


def summary_between(
    session: Session, start: int, to: int, *, preview: bool = False, carried: bool = True
) -> SummaryRequest:
    """A summary of the branch from one entry up to the common ancestor with another."""
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
    """Whether the user is asked for the summariser even where no model is configured."""
    then: Callable[[BranchDraft | None], object] | None = None
    """The use of the finished summary, such as adding it to a new session; gets None where there is nothing to summarise."""

    @property
    def moves(self) -> bool:
        """Whether the leaf moves with it."""
        return self.then is None and not self.request.preview


class Growth(NamedTuple):
    """The progress of a summary."""

    text: str
    tokens: int
    rate: float = 0.0
    """Tokens a second; 0 where no tokens are awaited."""
    stage: str = ""
    """The present stage."""

    @property
    def last_line(self) -> str:
        """The last line with text."""
        return next((line.strip() for line in reversed(self.text.split("\n")) if line.strip()), "")


def progress_words(run: SummaryRun) -> str:
    """`summarising 31 messages, 512 tokens, 40/s`."""
    words = f"summarising {counted(run.request.messages, 'message')}"
    if run.stop.is_set():
        return f"{words}, giving up"
    growth = run.growth
    if growth is None:
        return words
    if not growth.tokens:
        return f"{words}, {safe_line(growth.stage, 200)}" if growth.stage else words
    words += f", {count(growth.tokens)} tokens"
    return f"{words}, {growth.rate:,.0f}/s" if growth.rate >= 1 else words
