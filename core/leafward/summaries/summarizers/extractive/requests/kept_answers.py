"""What the messages behind a span answer: the last request of the span, and those that are over by then."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.summaries.facts.calls.outcomes import files_changed
from leafward.summaries.facts.sentences import responses
from leafward.summaries.summarizers.extractive.requests.answered_requests import answers_and_offers, settles
from leafward.summaries.summarizers.extractive.requests.current_goal import leads_to
from leafward.summaries.summarizers.extractive.requests.exchange import closing, reports_result
from leafward.summaries.summarizers.extractive.requests.open_requests import open_requests
from leafward.summaries.summarizers.extractive.turns import is_answered, keeps_going, turns_of
from leafward.summaries.survival.spans import SpanMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.entries import EntryIndex
    from leafward.summaries.summarizers.extractive.turns import Turn

_GO_ON = "Continue the work."
"""The request of a turn that began before the span, as it is not known."""


class KeptAnswers(NamedTuple):
    """What the kept messages have of the requests of a span."""

    finished: bool = False
    """Whether they end the last one; of a span without a request, whether they end the turn from before it."""
    since: bool = False
    """Whether they have a later request."""
    over: tuple[Turn, ...] = ()
    """The requests that are open at the end of the span, and over once the kept messages are read."""
    later: tuple[Turn, ...] = ()
    """The requests in them, their places counted from the first message of the span."""


def finish(
    turns: Sequence[Turn], messages: Sequence[SpanMessage], behind: Sequence[SpanMessage]
) -> KeptAnswers:
    """Reads the messages `behind` a span, and gives its last turn the answer that they have.

    An answer that the user calls wrong ends nothing. One that reports a result and asks what is next does, where the user went on.
    """
    if not behind:
        return KeptAnswers()
    if not turns:
        placed = _placed(turns_of(behind), len(messages))
        before = continued(turns, [*messages, *behind], placed, behind[0].entry)
        return KeptAnswers(before is not None and is_answered(before), later=placed)
    last = turns[-1]
    whole, *later = turns_of([*messages[last.first :], *behind])
    # Alone, a prompt of mere output would be taken for a request.
    whole.text, whole.own, whole.words = last.text, last.own, last.words
    since = any(turn.words or turn.shows for turn in later)
    placed = _placed(later, last.first)
    still = {id(turn) for turn in open_requests([*turns[:-1], whole, *later])}
    wrong = bool(later) and (
        responses.refutes(later[0].own)
        or responses.takes_back(later[0].text)
        or (responses.objects(later[0].own) and is_answered(whole))
    )
    # What the user called wrong is over with what was said about that.
    is_open = id(whole) in still or (wrong and id(later[0]) in still)
    over = tuple(
        turn for turn in open_requests(turns) if not (is_open if turn is last else id(turn) in still)
    )
    if last.answer or whole.left:
        return KeptAnswers(False, since, over, placed)
    if is_open and later and leads_to([whole, *later], whole, later[-1]):
        # All that was said since is one exchange about it.
        changes = any(any(files_changed(one.message, frozenset(), "")) for one in behind)
        is_open = not settles([whole, *later], later[-1], changed=changes)
    went_on = bool(later) and not (keeps_going(later[0]) or responses.agrees(later[0].own))
    ends = (
        is_answered(whole)
        or answers_and_offers(whole)
        or (went_on and bool(whole.answer) and reports_result(whole.answer))
    )
    ends = ends and not wrong
    if not ends and later and not is_open:
        # It was answered together with what was said since, or the user went on without an answer.
        end = closing([whole, *later], whole)
        whole.answer, ends = end.answer if is_answered(end) else "", True
    if ends:
        last.works, last.answer, last.said = whole.works, whole.answer, whole.said
    return KeptAnswers(ends, since, over, placed)


def continued(
    turns: Sequence[Turn], messages: Sequence[SpanMessage], later: Sequence[Turn], entry: EntryIndex
) -> Turn | None:
    """The turn from before a span that goes on at its beginning, up to the next request, where the span has none; else None.

    `messages` are those of the span and the kept ones, `later` the turns in these, `entry` that of the earlier summary.
    """
    if turns or not messages:
        return None
    goes_on = SpanMessage(entry, {"role": "user", "content": _GO_ON})
    return turns_of([goes_on, *messages[: later[0].first if later else None]])[0]


def _placed(turns: Sequence[Turn], offset: int) -> tuple[Turn, ...]:
    """Turns with their places moved by an offset."""
    for turn in turns:
        turn.first, turn.last = turn.first + offset, turn.last + offset
    return tuple(turns)
