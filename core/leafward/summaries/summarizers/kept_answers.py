"""What the messages behind a span answer: the last request of the span, and those that are over by then."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.summaries.facts import responses
from leafward.summaries.summarizers.exchange import closing, reports_result
from leafward.summaries.summarizers.open_requests import open_requests
from leafward.summaries.summarizers.turns import is_answered, keeps_going, turns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.summarizers.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage


class KeptAnswers(NamedTuple):
    """What the kept messages have of the requests of a span."""

    finished: bool = False
    """Whether they end the last one."""
    since: bool = False
    """Whether they have a later request."""
    over: tuple[Turn, ...] = ()
    """The requests that are open at the end of the span, and over once the kept messages are read."""
    then: tuple[Turn, ...] = ()
    """The first request in them, its place counted from the first message of the span."""


def finish(
    turns: Sequence[Turn], messages: Sequence[SpanMessage], behind: Sequence[SpanMessage]
) -> KeptAnswers:
    """Reads the messages `behind` a span, and gives its last turn the answer that they have.

    An answer that the user calls wrong ends nothing. One that reports a result and asks what is next does, where the user went on.
    """
    if not turns or not behind:
        return KeptAnswers()
    last = turns[-1]
    whole, *later = turns_of([*messages[last.first :], *behind])
    since = any(turn.words for turn in later)
    for turn in later:
        turn.first, turn.last = turn.first + last.first, turn.last + last.first
    still = {id(turn) for turn in open_requests([*turns[:-1], whole, *later])}
    wrong = bool(later) and (responses.refutes(later[0].own) or responses.takes_back(later[0].text))
    # What the user called wrong is over with what was said about that.
    is_open = id(whole) in still or (wrong and id(later[0]) in still)
    over = tuple(
        turn for turn in open_requests(turns) if not (is_open if turn is last else id(turn) in still)
    )
    if last.answer or whole.left:
        return KeptAnswers(False, since, over, tuple(later[:1]))
    went_on = bool(later) and not (keeps_going(later[0]) or responses.agrees(later[0].own))
    ends = is_answered(whole) or (went_on and bool(whole.answer) and reports_result(whole.answer))
    ends = ends and not wrong
    if not ends and later and not is_open:
        # It was answered together with what was said since, or the user went on without an answer.
        end = closing([whole, *later], whole)
        whole.answer, ends = end.answer if is_answered(end) else "", True
    if ends:
        last.works, last.answer, last.said = whole.works, whole.answer, whole.said
    return KeptAnswers(ends, since, over, tuple(later[:1]))
