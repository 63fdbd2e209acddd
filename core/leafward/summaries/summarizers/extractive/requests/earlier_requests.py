"""Earlier requests as lines, each with its outcome."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from leafward.summaries.facts.sentences import prose, questions, responses
from leafward.summaries.facts.sentences.demands import demands
from leafward.summaries.facts.sentences.negation import sentence_key
from leafward.summaries.facts.values import DROPPED, FactKind
from leafward.summaries.summarizers.extractive.candidates import (
    ASKED,
    ASKED_BEFORE,
    OUTCOME,
    Evidence,
    add,
)
from leafward.summaries.summarizers.extractive.requests.answered_requests import asks_for_work, tells_outcome
from leafward.summaries.summarizers.extractive.requests.exchange import (
    Closings,
    closing,
    goes_on_from,
    reports_result,
)
from leafward.summaries.summarizers.extractive.requests.offers import accepted
from leafward.summaries.summarizers.extractive.requests.open_requests import ERRAND, LOOKS
from leafward.summaries.summarizers.extractive.requests.request_texts import (
    changed_for,
    heading_apart,
    whole_sentences,
    with_outcome,
    with_subject,
)
from leafward.summaries.summarizers.extractive.turns import (
    SUBSTANTIAL,
    Turn,
    is_answered,
    position,
    turn_before,
)
from leafward.summaries.summarizers.outline import LINE_LIMIT, SummarySection, cut, named_files

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from leafward.summaries.summarizers.extractive.requests.same_work import SameWork

EARLIER = 180
"""Characters of an earlier request, so that its outcome has room on the line."""
_ASKED = 4
"""Earlier requests that may be quoted."""


def earlier_requests(
    evidence: Evidence, turns: Sequence[Turn], told: Sequence[Turn | None], same: SameWork
) -> None:
    """Adds the newest answered requests that are not told otherwise."""
    total = max(1, evidence.size)

    closings = Closings(turns)

    def may_hold(place: int) -> bool:
        turn = turns[place]
        if turn in told or not _is_worth_telling(turn):
            return False
        end = _end_of(turns, turn, closings.of(place))
        # Behind a reply that broke off the answer to "go on" is the answer to it.
        return is_answered(end) and not _is_overtaken(turn, end, same)

    # From the newest back: what came of a request takes long to tell, and of a long path only the last few are told.
    places = range(len(turns) - 1, -1, -1)
    earlier = [turns[place] for place in islice(filter(may_hold, places), _ASKED)]
    errands = (
        turn
        for place in places
        if (turn := turns[place]).works
        and turn not in told
        and ERRAND.match(turn.own)
        and reports_result(turn.answer)
        and not may_hold(place)
    )
    for turn in [*reversed(earlier), *islice(errands, 1)]:
        answered_request(
            evidence, turns, turn, 0.2 + 0.5 * (turn.first + 1) / total + 0.03 * min(12, turn.words), same
        )


def _is_worth_telling(turn: Turn) -> bool:
    """Whether a request led to work, and names enough."""
    return (
        turn.works
        and turn.words > SUBSTANTIAL
        # An answered question is closed, and so is a request to show something.
        and not questions.asks(turn.text)
        and not responses.refutes(turn.own)
        and not LOOKS.match(turn.text)
    )


def _is_overtaken(turn: Turn, end: Turn, same: SameWork) -> bool:
    """Whether nothing tells what came of a request but files that were all changed again since: it may hold no more."""
    if end.doubted or not same.went_on(end):
        return False
    told = with_outcome("", turn, end, same)
    return not told or told.startswith(f"{OUTCOME}changed ")


def _end_of(turns: Sequence[Turn], turn: Turn, close: Turn) -> Turn:
    """The turn whose answer tells the outcome of a request; `close` is that which closes its exchange.

    Where a yes in several words began what the answer to a question offered, that work is not what was asked for.
    """
    behind = position(turns, turn) + 1
    then = turns[behind] if behind < len(turns) else None
    accepts = then is not None and then.words >= SUBSTANTIAL and accepted(turns, then)
    return turn if accepts and not asks_for_work(turn.text) else close


def answered_request(
    evidence: Evidence, turns: Sequence[Turn], turn: Turn, worth: float, same: SameWork
) -> None:
    """Adds an answered request with its outcome; one that only sets a rule stands among the rules."""
    if not turn.works and all(map(demands, prose.sentences(turn.own))):
        return
    before = turn_before(turns, turn)
    text = turn.text
    if before is not None and goes_on_from(before, turn):
        text = f"{before.text.rstrip('. ')}; {text}"
    request, end = without_dropped(evidence, text), _end_of(turns, turn, closing(turns, turn))
    text = cut(with_subject(turns, turn, whole_sentences(heading_apart(request), EARLIER)), EARLIER)
    text = with_outcome(text, turn, end, same)
    # The outcome does not make a request less worth telling.
    worth *= max(1.0, len(text) / max(1, len(text.partition(OUTCOME)[0])))
    section = section_of(turn, end, same)
    lead = ASKED if section is SummarySection.DONE else ASKED_BEFORE
    add(evidence, section, text, (turn.entry,), worth, limit=LINE_LIMIT, lead=lead)


def section_of(turn: Turn, end: Turn, same: SameWork) -> SummarySection:
    """The section of an answered request: nothing is done where `end` tells no outcome."""
    changed = bool(changed_for(turn, end, same))
    told = tells_outcome(turn, end, changed=changed, looked=same.only_looked(end))
    return SummarySection.DONE if told else SummarySection.CONTEXT


def tell_changes(evidence: Evidence, turns: Sequence[Turn], same: SameWork, gone: Collection[str]) -> None:
    """Tells behind the answered requests that have no outcome which files were changed for them: no file that is `gone`."""
    answered = {turn.entry: turn for turn in turns if turn.answer}
    for candidate in evidence.candidates:
        turn = answered.get(candidate.sources[0]) if candidate.is_request and candidate.sources else None
        if turn is None or OUTCOME in candidate.text:
            continue
        if files := [path for path in same.changed(turn) if path not in gone]:
            told = f"{OUTCOME}changed {named_files(files)}"
            candidate.text = cut(candidate.text, LINE_LIMIT - len(told)) + told


def without_dropped(evidence: Evidence, text: str) -> str:
    """A request without the sentences that set a rule which no longer holds, where others are left."""
    said = list(prose.sentences(text))
    dropped = [
        one
        for one in said
        if (rule := evidence.facts.get((FactKind.CONSTRAINT, sentence_key(one)))) is not None
        and rule.outcome == DROPPED
    ]
    if not dropped or len(dropped) == len(said):
        return text
    for one in dropped:
        text = text.replace(one, "").strip()
    return text.replace("  ", " ")
