"""The user's requests as lines: the last one by what is sure of it, and the one that it goes on with."""

from __future__ import annotations

from enum import Enum, auto
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from leafward.summaries.facts.sentences import prose, questions, responses
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.replies import reports
from leafward.summaries.summarizers.extractive.answers.quotes import REQUEST_LIMIT
from leafward.summaries.summarizers.extractive.candidates import (
    ASKED_BEFORE,
    BEFORE_KEPT,
    Evidence,
    add,
)
from leafward.summaries.summarizers.extractive.requests.answered_requests import (
    CHANGES,
    is_looked_up,
    obstacle,
    settles,
)
from leafward.summaries.summarizers.extractive.requests.current_goal import (
    asks_of_open_work,
    goal_among,
    is_over,
    is_unchallenged,
)
from leafward.summaries.summarizers.extractive.requests.earlier_requests import (
    EARLIER,
    answered_request,
    earlier_requests,
    section_of,
    without_dropped,
)
from leafward.summaries.summarizers.extractive.requests.exchange import (
    closing,
    gives,
)
from leafward.summaries.summarizers.extractive.requests.offers import offer_in
from leafward.summaries.summarizers.extractive.requests.open_requests import ERRAND, MEANWHILE
from leafward.summaries.summarizers.extractive.requests.request_texts import (
    ENDING_LIMIT,
    OUTCOME_LIMIT,
    goal_text,
    heading_apart,
    last_text,
    open_limit,
    whole_sentences,
    with_ending,
    with_outcome,
    with_subject,
    with_way,
)
from leafward.summaries.summarizers.extractive.turns import (
    TELLING,
    Turn,
    asks_above_list,
    asks_back,
    goal_of,
    is_answered,
    is_praise,
    keeps_going,
    last_of,
    only_declines,
    question_of,
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
ANSWERED = ", answered"
"""The same where nothing says that more is to be done: a reply ended, whatever it is worth."""
GO_ON = "Go on with the messages that were kept."
"""The goal where these have a later request."""
GOT_REPLY = "The last request got its reply; go on with what is asked next."
"""The goal where nothing says that more is to be done."""
_BRIEFLY = 100
"""Characters of a request that the goal holds already."""


class _State(Enum):
    """What is sure of the last request: a label claims no more than that."""

    OPEN = auto()
    """Nothing ended it: no reply, or the work on it goes on. It is the goal."""
    REPLIED = auto()
    """A reply ended, and nothing decides whether all that was asked is done: it is quoted with the end of that reply."""
    SETTLED = auto()
    """It was answered, and nothing says that more is left: it is told with its outcome."""


def requests(
    evidence: Evidence,
    turns: Sequence[Turn],
    same: SameWork,
    *,
    first: bool,
    is_split: bool,
    kept: KeptAnswers,
) -> None:
    """Adds the user's requests: the last one by its state, and those before it.

    With `first` the goal is told too: an earlier summary has none.
    """
    asked = _Requests(evidence, turns, last_of(turns), same, is_split, kept)
    before = goal_among(turns, is_split=is_split) if first else None
    if asked.is_over_since(before):
        before = None
    latest, since = asked.latest, kept.since
    if before is not None and (latest is None or latest.first < before.first):
        latest, before = before, None
    if stopped := obstacle(turns, since=since):
        add(evidence, SummarySection.BLOCKED, stopped, (turns[-1].entry,), 2.0)
    if latest is None:
        earlier_requests(evidence, turns, (), same)
        return
    state = _state(asked, latest)
    # A refusal asks for nothing.
    goal = latest if first and not _refuses(turns, latest) else None
    answered: Turn | None = None
    if before is latest:
        before = None
    if before is not None and state is _State.OPEN and _goes_on(turns, before, latest):
        goal, before = before, None
    if before is not None and _is_done(asked, before):
        answered_request(evidence, turns, before, 1.0, same)
        answered, before = before, None
    elif before is not None:
        amid = questions.asks(latest.own) or MEANWHILE.match(latest.own) is not None
        amid = amid and state is not _State.OPEN and not _ended_since(asked, before)
        _asked_before(asked, before, amid=amid)
    earlier_requests(evidence, turns, (answered, before, goal, latest), same)
    lead = f"{LAST_REQUEST}{BEFORE_KEPT * since}: "
    if state is _State.SETTLED:
        _settled(asked, latest, lead, first=first)
    elif state is _State.REPLIED:
        _replied(asked, latest, first=first)
    else:
        _open(asked, goal, latest, before, lead)


def _open(asked: _Requests, goal: Turn | None, latest: Turn, before: Turn | None, lead: str) -> None:
    """Adds an open request as the goal, and what was said last as work in progress."""
    evidence, turns, same = asked.evidence, asked.turns, asked.same
    if goal is not None:
        text = without_dropped(evidence, goal_text(turns, goal, same))
        if goal.answer and (
            (goal is latest and not goal.works) or (questions.asks(goal.text) and turns[-1] is not goal)
        ):
            # It was answered: what was said to that is worked on, whether that goes on with it or not.
            text = f"{_agreed_text(turns, goal) or turns[-1].own} (asked before: {cut(text, REQUEST_LIMIT)})"
        last = turn_before(turns, goal)
        answers = last is not None and asks_back(last.answer) and " (asked" not in text
        if before is not None and (answers or len(content_words(text)) < TELLING):
            # Alone, or as the answer to a question, it does not tell what it is about.
            text = f"{text} (asked before: {cut(whole_sentences(before.text, OUTCOME_LIMIT), OUTCOME_LIMIT)})"
        limit = open_limit(goal.text)
        add(evidence, SummarySection.GOAL, text, (goal.entry,), 3.0, first=True, limit=limit)
    if latest.left:
        return
    if turns[-1] is not latest and _agreed_to_more(asked):
        _agreed(asked, goal, latest, lead)
    elif latest is not goal:
        limit = open_limit(latest.text)
        text = last_text(turns, latest, limit)
        _last(evidence, SummarySection.IN_PROGRESS, text, latest, lead, limit)
    elif goal is not goal_of(turns):
        brief = whole_sentences(latest.text, _BRIEFLY)
        _last(evidence, SummarySection.IN_PROGRESS, brief, latest, lead, _BRIEFLY)


def _replied(asked: _Requests, latest: Turn, *, first: bool) -> None:
    """Adds the last request with the first that its reply states: whoever goes on sees how it stands."""
    evidence, kept, end = asked.evidence, asked.kept, asked.turns[-1]
    asks = asks_back(end.answer)
    waits = asks or bool(obstacle(asked.turns, since=False))
    lead = f"{LAST_REQUEST}{BEFORE_KEPT if kept.since else ASKED_BACK * asks}: "
    # Behind it the kept messages have what was asked since.
    limit = EARLIER if kept.since else open_limit(latest.text)
    agreed = _agreed_text(asked.turns, latest) if end is not latest and not is_praise(end) else ""
    said = agreed or last_text(asked.turns, latest, limit)
    # Where the work was agreed to since, what was asked first may only have been looked at.
    worked = end if end.works and not asked.same.changed(latest) else latest
    text = with_ending(said, worked, end.answer, asked.same, waits=waits)
    section = SummarySection.GOAL if first else SummarySection.CONTEXT
    add(
        evidence,
        section,
        without_dropped(evidence, text),
        (latest.entry,),
        3.0 if first else 2.0,
        first=True,
        limit=limit + ENDING_LIMIT,
        lead=lead,
    )


def _asked_before(asked: _Requests, turn: Turn, *, amid: bool) -> None:
    """Adds an earlier request of which nothing decides whether it is done, with a quotation of the reply to it.

    `amid` says that what was asked since came in between: an answer to that does not end work without a reply of its own.
    """
    evidence, turns = asked.evidence, asked.turns
    if amid and not turn.answer and not asked.kept.since:
        text, limit = goal_text(turns, turn, asked.same), open_limit(turn.text)
        _last(evidence, SummarySection.GOAL, text, turn, ASKED_BEFORE, limit)
        return
    text = with_subject(
        turns, turn, whole_sentences(heading_apart(without_dropped(evidence, turn.text)), EARLIER)
    )
    text = with_ending(cut(text, EARLIER), turn, closing(turns, turn).answer, asked.same)
    add(evidence, SummarySection.CONTEXT, text, (turn.entry,), 1.0, limit=LINE_LIMIT, lead=ASKED_BEFORE)


def _ended_since(asked: _Requests, turn: Turn) -> bool:
    """Whether a later request changed the files of an earlier one, or its first ones, and the reply to it first reports completion."""
    return any(
        one.first > turn.first
        and is_answered(one)
        and reports(one.answer)
        and asked.same.changed(one)
        and (asked.same.goes_on(turn, one) or not asked.same.changed(turn))
        for one in asked.turns
    )


def _is_done(asked: _Requests, turn: Turn) -> bool:
    """Whether an earlier request is over, and nothing said since makes the answer to it wrong."""
    return is_over(turn, asked.turns) or (asked.is_settled(turn) and is_unchallenged(turn, asked.turns))


def _refuses(turns: Sequence[Turn], turn: Turn) -> bool:
    """Whether a request declines what the answer before it offered, in whatever many words."""
    before = turn_before(turns, turn)
    if before is None or not responses.declines(turn.own, question_of(before.answer)):
        return False
    # Behind the refusal other work may be asked for.
    return not any(map(CHANGES.match, list(prose.sentences(turn.own))[1:]))


def _goes_on(turns: Sequence[Turn], goal: Turn, latest: Turn) -> bool:
    """Whether an earlier request is still worked on: no reply ended since, but to ask the user what was answered."""
    if goal.answer and questions.asks(goal.own) and not CHANGES.match(goal.own):
        # Who accepts the offer behind the answer to a question has that answer.
        return False
    between = [one for one in turns if goal.first <= one.first <= latest.first]
    aside = asks_of_open_work(latest, turn_before(turns, latest))
    if latest.words >= TELLING and not aside and (latest.works or any(one.answer for one in between[:-1])):
        # Whatever became of that work, this was asked at length since, and tells by itself what it is about.
        return False
    return all(
        not one.answer
        or (
            asks_back(one.answer)
            and (
                responses.agrees(then.own) or keeps_going(then) or (then.words < TELLING and gives(then, one))
            )
        )
        for one, then in pairwise(between)
    )


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
        elif turn is self.turns[-1] and turn.doubted:
            # The kept messages turn the answer down.
            return False
        return settles(self.turns, turn, changed=bool(self.same.changed(turn)))

    def is_over_since(self, turn: Turn | None) -> bool:
        """Whether the kept messages answer a request."""
        return any(turn is one for one in self.kept.over)


def _state(asked: _Requests, latest: Turn) -> _State:
    """What is sure of the last request."""
    turns = asked.turns
    end = turns[-1].answer
    if (asks_back(end) or asks_above_list(end)) and not asked.kept.since:
        # The work may be done and the question be about more, or wait for the question.
        return _State.REPLIED
    if asked.is_settled(latest) or asked.is_over_since(latest):
        return _State.SETTLED
    if not asked.is_split:
        # A question that words answered leaves nothing open, whatever they tell of.
        told = questions.asks(latest.own) and is_answered(latest) and not latest.works
        if told or (latest is turns[-1] and is_looked_up(latest) and not asked.same.changed(latest)):
            return _State.SETTLED
    spoken = [turn for turn in turns if not (turn.waits and (is_praise(turn) or only_declines(turns, turn)))]
    # Behind the kept messages nothing tells how a request stands that they do not answer.
    return _State.REPLIED if asked.kept.since or (spoken and spoken[-1].answer) else _State.OPEN


def _settled(asked: _Requests, latest: Turn, lead: str, *, first: bool) -> None:
    """Adds the last request with its outcome, and the goal that it was answered, or that later messages have another."""
    evidence, kept = asked.evidence, asked.kept
    end = closing(asked.turns, latest)
    text, section = last_text(asked.turns, latest), SummarySection.CONTEXT
    # Where the kept messages have the answer, they tell what came of it, and what the user said to that; or he took it back.
    taken_back = any(responses.takes_back(turn.text) for turn in kept.later[:1])
    if not (taken_back or (asked.is_split and kept.since)):
        text, section = with_outcome(text, latest, end, asked.same), section_of(latest, end, asked.same)
    if first and not any(line.section is SummarySection.GOAL for line in evidence.candidates):
        lead = lead if kept.since else f"{LAST_REQUEST}{ANSWERED}: "
        goal = GO_ON if kept.since else GOT_REPLY
        add(evidence, SummarySection.GOAL, goal, (latest.entry,), 3.0, first=True)
    _last(evidence, section, text, latest, lead)


def _agreed_to_more(asked: _Requests) -> bool:
    """Whether the turn behind the last request goes on with work."""
    agreed = asked.turns[-1]
    return agreed.works or (agreed.waits and (agreed.shows or responses.keeps_going(agreed.own)))


def _last(
    evidence: Evidence, section: SummarySection, text: str, turn: Turn, lead: str, limit: int = REQUEST_LIMIT
) -> None:
    add(evidence, section, text, (turn.entry,), 2.0, first=True, limit=limit, lead=lead)


def _agreed(asked: _Requests, goal: Turn | None, latest: Turn, lead: str) -> None:
    """Adds the work that the user agreed to, or wanted more of, as work in progress: the turn behind the last request."""
    evidence, turns, agreed = asked.evidence, asked.turns, asked.turns[-1]
    text = _agreed_text(turns, latest)
    if text == agreed.own or agreed is goal:
        # It is a request of its own; the one before it is treated like any other.
        if latest is not goal and is_answered(latest):
            answered_request(evidence, turns, latest, 1.0, asked.same)
        if agreed is goal:
            return
    elif not text and latest is goal:
        return
    _last(
        evidence,
        SummarySection.IN_PROGRESS,
        text or last_text(turns, latest),
        agreed if text else latest,
        lead,
    )


def _agreed_text(turns: Sequence[Turn], latest: Turn) -> str:
    """What was said behind the last request, with what it speaks to; empty where that request tells it all."""
    agreed = turns[-1]
    question = offer_in(turns[-2].answer)
    if question:
        way = with_way(agreed.own, agreed.own, turns[-2])
        return way if way != agreed.own else f"{agreed.own} (asked: {question})"
    if questions.asks(agreed.own):
        # A short question is not an agreement.
        return f"{agreed.own} (asked before: {last_text(turns, latest)[:OUTCOME_LIMIT]})"
    return agreed.own if ERRAND.match(agreed.own) else ""
