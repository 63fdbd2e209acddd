"""Whether a choice in a reply was carried out: until then it is a proposal, however firmly it is told."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from leafward.summaries.facts.calls.outcomes import files_changed
from leafward.summaries.facts.sentences import responses
from leafward.summaries.facts.sentences.standing_rules import goes_ahead
from leafward.summaries.summarizers.extractive.turns import CHOOSES, keeps_going

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage


def takes_up(turn: Turn) -> bool:
    """Whether a request takes up what the answer before it proposes."""
    return (
        keeps_going(turn)
        or responses.agrees(turn.own)
        or CHOOSES.search(turn.text) is not None
        or goes_ahead(turn.own)
    )


class CarriedOut:
    """The choices of a span that work carried out: the places of its changes of files, and of its requests."""

    def __init__(
        self, messages: Sequence[SpanMessage], turns: Sequence[Turn], failed: frozenset[str]
    ) -> None:
        """`failed` are the ids of the calls that failed."""
        self._changes = [
            place for place, (_, message) in enumerate(messages) if any(files_changed(message, failed, ""))
        ]
        self._begins = [0, *(turn.first for turn in turns)]
        self._ends: list[int] = []
        """Where the work ends that goes on from each request, or from before the first one."""
        end = len(messages)
        for turn in reversed(turns):
            self._ends.append(end)
            if not takes_up(turn):
                end = turn.first
        self._ends.append(end)
        self._ends.reverse()

    @property
    def last_change(self) -> int:
        """The position of the last message that changes a file; -1 where there is none."""
        return self._changes[-1] if self._changes else -1

    def is_carried_out(self, place: int, *, told_last: bool) -> bool:
        """Whether a file was changed for what a reply at a position chose, before other work was asked for.

        What a turn tells last it tells also of the work before.
        """
        request = bisect_right(self._begins, place) - 1
        first = bisect_left(self._changes, self._begins[request] if told_last else place)
        return first < len(self._changes) and self._changes[first] < self._ends[request]
