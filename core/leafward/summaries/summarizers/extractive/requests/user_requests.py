"""The user's requests as lines: the current one, the last one, and the outcomes of the others."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from leafward.summaries.facts import prose, questions, responses
from leafward.summaries.facts.values import DROPPED, FactKind
from leafward.summaries.summarizers.extractive.answers.quotes import REQUEST_LIMIT
from leafward.summaries.summarizers.extractive.candidates import (
    ASKED_BEFORE,
    BEFORE_KEPT,
    OUTCOME,
    Evidence,
    add,
)
from leafward.summaries.summarizers.extractive.requests.answered_requests import (
    is_looked_up,
    obstacle,
    settles,
    tells_outcome,
)
from leafward.summaries.summarizers.extractive.requests.current_goal import (
    goal_among,
    is_beside,
    is_over,
    is_unchallenged,
    leads_to,
    open_aside,
)
from leafward.summaries.summarizers.extractive.requests.exchange import closing, goes_on_from, reports_result
from leafward.summaries.summarizers.extractive.requests.offers import offer_in
from leafward.summaries.summarizers.extractive.requests.open_requests import ERRAND, LOOKS
from leafward.summaries.summarizers.extractive.requests.request_texts import (
    OUTCOME_LIMIT,
    changed_for,
    goal_text,
    heading_apart,
    last_text,
    open_limit,
    whole_sentences,
    with_outcome,
    with_way,
)
from leafward.summaries.summarizers.extractive.turns import (
    SUBSTANTIAL,
    Turn,
    goal_of,
    is_answered,
    keeps_going,
    last_of,
    turn_before,
)
from leafward.summaries.summarizers.outline import LINE_LIMIT, SummarySection, cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.summarizers.extractive.requests.kept_answers import KeptAnswers
    from leafward.summaries.summarizers.extractive.requests.same_work import SameWork

LAST_REQUEST = "Last request"
ASKED_BACK = ", answered with a question"
"""Words behind that where the work may be done and the question be about more, or wait for the question."""
NOTHING_OPEN = "The last request is answered; go on with what is asked next."
"""The goal where nothing that was asked is open."""
_NOTHING_OPEN_BEFORE = "What was asked before the messages that were kept is answered; go on with these."
SETTLED = (NOTHING_OPEN, _NOTHING_OPEN_BEFORE)
"""The goals of ours that say that there is none."""
_EARLIER = 180
"""Characters of an earlier request, so that its outcome has room on the line."""
_BRIEFLY = 100
"""Characters of a request that the goal holds already."""
_ASKED = 4
"""Earlier requests that may be quoted."""


def requests(
    evidence: Evidence,
    turns: Sequence[Turn],
    same: SameWork,
    *,
    first: bool,
    is_split: bool,
    kept: KeptAnswers,
) -> None:
    """Adds the user's requests: the current one as the goal, the last ones as work in progress; see `goal_among`."""
    asked = _Requests(evidence, turns, last_of(turns), same, is_split, kept)
    goal, answered, all_over = _current(asked, goal_among(turns, is_split=is_split) if first else None)
    latest, since = asked.latest, kept.since
    for turn in answered:
        _asked(evidence, turns, turn, 1.0, same)
    if goal is not None:
        text = _without_dropped(evidence, goal_text(turns, goal, same))
        add(evidence, SummarySection.GOAL, text, (goal.entry,), 3.0, first=True, limit=open_limit(goal.text))
    _earlier(evidence, turns, (goal, latest, *answered), same)
    if stopped := obstacle(turns, since=since):
        add(evidence, SummarySection.BLOCKED, stopped, (turns[-1].entry,), 2.0)
    if latest is None:
        return
    lead = f"{LAST_REQUEST}{BEFORE_KEPT * since}: "
    if first and goal is None and all_over:
        _nothing_open(asked, latest, lead)
    elif latest.left:
        return
    elif turns[-1] is not latest and _agreed_to_more(asked, latest, all_over=all_over):
        _agreed(evidence, turns, goal, latest, lead, same)
    else:
        _latest(evidence, turns, goal, latest, lead, same, over=all_over, since=since)


class _Requests(NamedTuple):
    """The requests of a span, and what tells whether they are over."""

    evidence: Evidence
    turns: Sequence[Turn]
    latest: Turn | None
    """The last one that is more than a word to go on."""
    same: SameWork
    is_split: bool
    kept: KeptAnswers

    def is_settled(self, turn: Turn) -> bool:
        """Whether a request is over, and no step of the agent's own list is open."""
        if self.kept.finished:
            # The kept messages take their steps off that list, and show what the user went on to.
            if self.kept.since and turn is self.turns[-1]:
                return True
        elif self.is_split or self.evidence.reader.plan.open:
            return False
        return settles(self.turns, turn, changed=bool(self.same.changed(turn)))

    def is_over_since(self, turn: Turn | None) -> bool:
        """Whether the kept messages answer a request."""
        return any(turn is one for one in self.kept.over)


class _Current(NamedTuple):
    """The request that the work is for."""

    goal: Turn | None
    answered: Sequence[Turn]
    """Goals that turned out to be answered."""
    all_over: bool
    """Whether the last request is over."""


def _current(asked: _Requests, goal: Turn | None) -> _Current:
    """The request that the work is for: `goal`, or what was asked behind it where that is over."""
    turns, latest = asked.turns, asked.latest
    if asked.is_over_since(goal):
        goal = latest
    all_over = latest is not None and (asked.is_settled(latest) or asked.is_over_since(latest))
    answered = []
    if goal is not None and is_over(goal, turns):
        # A request that is over is no goal.
        answered.append(goal)
        goal = open_aside(turns)
    if (
        goal is not None
        and latest is not None
        and goal is not latest
        and _is_answered_too(asked, goal, latest, all_over=all_over)
    ):
        # The last request says more of what is wanted now.
        answered.append(goal)
        goal = latest
    if goal is latest and latest is not None and not asked.is_split:
        # A question that words answered leaves nothing open, whatever they tell of.
        all_over |= questions.asks(latest.own) and is_answered(latest) and not latest.works
        all_over = all_over or (
            latest is turns[-1] and is_looked_up(latest) and not asked.same.changed(latest)
        )
    if goal is latest and all_over:
        goal = None
    return _Current(goal, answered, all_over)


def _is_answered_too(asked: _Requests, goal: Turn, latest: Turn, *, all_over: bool) -> bool:
    """Whether a goal from before the last request is answered: with that, or by itself."""
    turns = asked.turns
    of_latest = leads_to(turns, goal, latest)
    if of_latest and all_over:
        return True
    # Where a step was agreed to that the answer to a question offered, the question does not say what it is for.
    consented = latest is not turns[-1] and questions.asks(latest.text)
    return not (of_latest or consented) and asked.is_settled(goal) and is_unchallenged(goal, turns)


def _nothing_open(asked: _Requests, latest: Turn, lead: str) -> None:
    """Adds the last request with its outcome, and the goal that nothing is open."""
    evidence, kept = asked.evidence, asked.kept
    end = closing(asked.turns, latest)
    # Without an answer nothing tells what came of it; or the user took that back.
    taken_back = any(responses.takes_back(turn.text) for turn in kept.later[:1])
    section = SummarySection.CONTEXT if taken_back else _section_of(latest, end, asked.same)
    text = last_text(asked.turns, latest)
    _last(
        evidence, section, text if taken_back else with_outcome(text, latest, end, asked.same), latest, lead
    )
    nothing = _NOTHING_OPEN_BEFORE if kept.since else NOTHING_OPEN
    add(evidence, SummarySection.GOAL, nothing, (latest.entry,), 3.0, first=True)


def _agreed_to_more(asked: _Requests, latest: Turn, *, all_over: bool) -> bool:
    """Whether the turn behind the last request goes on with work, and that is not answered yet."""
    agreed, kept = asked.turns[-1], asked.kept
    if not (agreed.works or (agreed.waits and (agreed.shows or prose.keeps_going(agreed.own)))):
        return False
    # A request whose answer asked for the agreement is no more answered than that is over.
    accepts = keeps_going(agreed) or responses.agrees(agreed.own)
    ended = is_answered(agreed) and (
        not accepts or all_over or is_answered(latest) or (kept.finished and kept.since)
    )
    return not ended


def _without_dropped(evidence: Evidence, text: str) -> str:
    """A request without the sentences that set a rule which no longer holds, where others are left."""
    said = list(prose.sentences(text))
    dropped = [
        one
        for one in said
        if (rule := evidence.facts.get((FactKind.CONSTRAINT, prose.sentence_key(one)))) is not None
        and rule.outcome == DROPPED
    ]
    if not dropped or len(dropped) == len(said):
        return text
    for one in dropped:
        text = text.replace(one, "").strip()
    return text.replace("  ", " ")


def _earlier(evidence: Evidence, turns: Sequence[Turn], told: Sequence[Turn | None], same: SameWork) -> None:
    """Adds the newest answered requests that are not told otherwise."""
    total = max(1, evidence.size)

    def may_hold(turn: Turn) -> bool:
        return turn not in told and _is_worth_telling(turn) and not _is_overtaken(turns, turn, same)

    # From the newest back: what came of a request takes long to tell, and of a long path only the last few are told.
    earlier = list(islice(filter(may_hold, reversed(turns)), _ASKED))
    errands = (
        turn
        for turn in reversed(turns)
        if turn.works
        and turn not in told
        and ERRAND.match(turn.own)
        and reports_result(turn.answer)
        and not may_hold(turn)
    )
    for turn in [*reversed(earlier), *islice(errands, 1)]:
        _asked(evidence, turns, turn, 0.2 + 0.5 * (turn.first + 1) / total + 0.03 * min(12, turn.words), same)


def _is_worth_telling(turn: Turn) -> bool:
    """Whether a request led to work and was answered, and names enough."""
    return (
        turn.works
        and is_answered(turn)
        and turn.words > SUBSTANTIAL
        # An answered question is closed, and so is a request to show something.
        and not questions.asks(turn.text)
        and not responses.refutes(turn.own)
        and not LOOKS.match(turn.text)
    )


def _is_overtaken(turns: Sequence[Turn], turn: Turn, same: SameWork) -> bool:
    """Whether nothing tells what came of a request but files that were all changed again since: it may hold no more."""
    end = closing(turns, turn)
    return same.went_on(end) and with_outcome("", turn, end, same).startswith(f"{OUTCOME}changed ")


def _asked(evidence: Evidence, turns: Sequence[Turn], turn: Turn, worth: float, same: SameWork) -> None:
    """Adds an answered request with its outcome."""
    before = turn_before(turns, turn)
    text = turn.text
    if before is not None and goes_on_from(before, turn):
        text = f"{before.text.rstrip('. ')}; {text}"
    request, end = _without_dropped(evidence, text), closing(turns, turn)
    text = with_outcome(cut(whole_sentences(heading_apart(request), _EARLIER), _EARLIER), turn, end, same)
    # The outcome does not make a request less worth telling.
    worth *= max(1.0, len(text) / max(1, len(text.partition(OUTCOME)[0])))
    section = _section_of(turn, end, same)
    lead = "Asked: " if section is SummarySection.DONE else ASKED_BEFORE
    add(evidence, section, text, (turn.entry,), worth, limit=LINE_LIMIT, lead=lead)


def _section_of(turn: Turn, end: Turn, same: SameWork) -> SummarySection:
    """The section of an answered request: nothing is done where `end` tells no outcome."""
    told = tells_outcome(turn, end, changed=bool(changed_for(turn, end, same)))
    return SummarySection.DONE if told else SummarySection.CONTEXT


def _last(
    evidence: Evidence, section: SummarySection, text: str, turn: Turn, lead: str, limit: int = REQUEST_LIMIT
) -> None:
    add(evidence, section, text, (turn.entry,), 2.0, first=True, limit=limit, lead=lead)


def _agreed(
    evidence: Evidence, turns: Sequence[Turn], goal: Turn | None, latest: Turn, lead: str, same: SameWork
) -> None:
    """Adds the work that the user agreed to, or wanted more of, as work in progress: the turn behind the last request."""
    agreed, text, turn = turns[-1], last_text(turns, latest), turns[-1]
    question = offer_in(turns[-2].answer)
    way = with_way(agreed.own, agreed.own, turns[-2])
    if question:
        text = way if way != agreed.own else f"{agreed.own} (asked: {question})"
    elif questions.asks(agreed.own):
        # A short question is not an agreement.
        text = f"{agreed.own} (asked before: {text[:OUTCOME_LIMIT]})"
    elif ERRAND.match(agreed.own):
        # The errand is a request of its own; the request before it is treated like any other.
        text = agreed.own
        if latest is not goal and is_answered(latest):
            _asked(evidence, turns, latest, 1.0, same)
    elif agreed is goal:
        # It is a request of its own that begins with a yes.
        if is_answered(latest):
            _asked(evidence, turns, latest, 1.0, same)
        return
    elif latest is goal:
        return
    else:
        turn = latest
    _last(evidence, SummarySection.IN_PROGRESS, text, turn, lead)


def _latest(
    evidence: Evidence,
    turns: Sequence[Turn],
    goal: Turn | None,
    latest: Turn,
    lead: str,
    same: SameWork,
    *,
    over: bool,
    since: bool,
) -> None:
    """Adds the last request: as done once it is answered or `over`, briefly where the goal holds it already."""
    # A question behind a remark beside the work is about that work.
    answered = over or is_answered(latest) or (is_beside(latest) and latest.works and bool(latest.answer))
    if not (answered or since) and latest is turns[-1] and latest.answer:
        lead = f"{LAST_REQUEST}{ASKED_BACK}: "
    if latest is not goal:
        limit = REQUEST_LIMIT if answered else open_limit(latest.text)
        text, end = last_text(turns, latest, limit), closing(turns, latest)
        if answered:
            text = with_outcome(cut(whole_sentences(text, _EARLIER), _EARLIER), latest, end, same)
        # Behind it the kept messages have another one.
        open_in = SummarySection.CONTEXT if since else SummarySection.IN_PROGRESS
        _last(evidence, _section_of(latest, end, same) if answered else open_in, text, latest, lead, limit)
    elif goal is not goal_of(turns) and not answered and not since:
        brief = whole_sentences(latest.text, _BRIEFLY)
        _last(evidence, SummarySection.IN_PROGRESS, brief, latest, lead, _BRIEFLY)
