"""Reads both sides beside the screen: files first, then contexts, outcomes, messages, carried summaries, summaries."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.branches.diff.sides import sides
from leafward.branches.diff.summaries import SummaryDifference, compare_sides
from leafward_tui.compare.controllers.controller import CompareController, CompareMeans
from leafward_tui.compare.model.carried_summary import carried_over, with_missing
from leafward_tui.compare.model.compared_sides import compared_sides, looked_at
from leafward_tui.compare.model.context_page import spoken
from leafward_tui.compare.state import Page, ReadState

if TYPE_CHECKING:
    from leafward.branches.diff.sides import Sides
    from leafward.session.session import Session
    from leafward_tui.compare.controllers.content import Content
    from leafward_tui.compare.controllers.files import Files
    from leafward_tui.compare.controllers.pages import Pages
    from leafward_tui.compare.model.carried_summary import CarriedSummary
    from leafward_tui.compare.model.compared_sides import ComparedSides, Overall
    from leafward_tui.compare.model.context_page import MessageRow
    from leafward_tui.ui.jobs import Job


class SidesLoader(CompareController):
    """Owns `state.read`. Each step starts the next one under the same key: reading again cancels all of them."""

    def __init__(self, means: CompareMeans, content: Content, files: Files, pages: Pages) -> None:
        super().__init__(means)
        self._content = content
        self._files = files
        self._pages = pages
        self.actions = {"sides.swap": self.swap}

    def swap(self) -> None:
        """Swaps A and B."""
        a, b = self._state.read.ends
        if self._state.read.overall is not None:
            self._state.read = ReadState((b, a))
            self.load()

    def load(self) -> None:
        """Reads both sides again."""
        state = self._state
        self._jobs.cancel("search", "carry")
        self._files.forget()
        self._content.forget()
        work = partial(sides_of, state.session, *state.read.ends, state.mark)
        self._jobs.latest("compare", work, self._seen, self._failed)

    def _failed(self, text: str) -> None:
        self._state.read.trouble = text
        self._view.tell(text, "bad")
        self._view.show_hints()

    def _seen(self, first: ComparedSides) -> None:
        """Shows the files, with the cursor on the first that differs."""
        self._state.read.overall = first
        self._view.head.show(first.named, forked=first.sides.ancestor >= 0)
        self._view.show_title()
        self._files.show_first()
        self._pages.show_side()
        self._pages.show()
        self._jobs.latest("compare", partial(whole_look, first), self._looked_at, self._failed)

    def _looked_at(self, seen: Overall) -> None:
        self._state.read.overall = seen
        self._view.head.show(seen.named, forked=seen.sides.ancestor >= 0)
        self._pages.show_side()
        self._pages.show_lines()
        self._jobs.latest("compare", partial(spoken_of, seen), partial(self._spoken, seen), self._failed)

    def _spoken(self, seen: Overall, messages: list[MessageRow]) -> None:
        self._state.read.messages = messages
        if self._state.page is Page.CONTEXT:
            self._pages.show_lines()
        done = partial(self._carried, seen)
        self._jobs.latest("compare", partial(carried_of, seen.sides), done, self._failed)

    def _carried(self, seen: Overall, carried: tuple[CarriedSummary, ...]) -> None:
        def failed(text: str) -> None:
            self._state.read.carried = carried
            self._view.tell(text, "bad")
            self._show_summed()

        self._jobs.latest("compare", partial(summed, seen.sides, carried), self._summed, failed)

    def _summed(self, found: BranchSummaries) -> None:
        self._state.read.summaries, self._state.read.carried = found
        self._show_summed()

    def _show_summed(self) -> None:
        self._pages.show_side()
        self._pages.show_summary()
        if self._state.page is Page.OUTCOME:
            self._pages.show_lines()


class BranchSummaries(NamedTuple):
    """The summaries of both sides, and the carried-over ones with the facts that they lack."""

    summaries: SummaryDifference
    carried: tuple[CarriedSummary, ...]


def sides_of(session: Session, a: int, b: int, mark: int, job: Job) -> ComparedSides:
    """Both sides with their files. Raises Cancelled, LeafwardError, OSError."""
    return compared_sides(sides(session, a, b, job.unwanted), mark)


def whole_look(first: ComparedSides, _job: Job) -> Overall:
    """Both sides with their contexts and outcomes too. Raises LeafwardError, OSError."""
    return looked_at(first)


def spoken_of(seen: Overall, job: Job) -> list[MessageRow]:
    """The messages of both contexts in words. Raises Cancelled, LeafwardError, OSError."""
    return spoken(seen.sides.session, seen.contexts, job.unwanted)


def carried_of(both: Sides, job: Job) -> tuple[CarriedSummary, ...]:
    """The branch summaries that one side has of the other. Raises Cancelled, LeafwardError, OSError."""
    return carried_over(both, job.unwanted)


def summed(both: Sides, carried: tuple[CarriedSummary, ...], job: Job) -> BranchSummaries:
    """The summaries of both sides. Raises Cancelled, LeafwardError, OSError."""
    difference = compare_sides(both, stop=job.unwanted)
    return BranchSummaries(difference, with_missing(both, carried, difference))
