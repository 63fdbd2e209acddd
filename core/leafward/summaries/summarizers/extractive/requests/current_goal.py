"""The request that the work is for: the newest open one, or the one that an aside belongs to."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences import prose, questions, responses
from leafward.summaries.facts.sentences.replies import reports
from leafward.summaries.facts.sentences.trouble_reports import comes_back
from leafward.summaries.summarizers.extractive.requests.answered_requests import CHANGES
from leafward.summaries.summarizers.extractive.requests.exchange import gives
from leafward.summaries.summarizers.extractive.requests.open_requests import (
    ERRAND,
    LOOKS,
    MEANWHILE,
    REMARK,
    WENT_ON,
    left_it_there,
    open_requests,
    wants_to_know,
)
from leafward.summaries.summarizers.extractive.turns import (
    SUBSTANTIAL,
    TELLING,
    Turn,
    asks_back,
    goal_of,
    is_answered,
    keeps_going,
    question_of,
    turn_before,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ASIDE = late(r"(?i)^(?:\W*(?:but|and|no|well|ok)\b)*\W*(?<!\w)(?:why\b|i mean\b)")
"""A question for a reason, or a remark: it is part of the work that was asked for before it."""
_BESIDE = late(
    r"(?i)^\W*(?:btw|by the way|slight steering|side ?note|übrigens|nebenbei|au fait|por cierto)\b"
    r"|^(?:also,? )?(?:you can|feel free to) .*\bif (?:you (?:need|want|like|have)|needed|necessary)\b|^(?:also,? )?(?:remember|keep in mind|don['’]t forget)\b"
)
"""A remark beside the work: a hint, or something that the agent may do."""
_OF_WORK = late(
    r"(?i)^(?:\W*(?:but|and|so|wait|hm+|ok)\b)*\W*(?:(?:do|did|are|were|have)(?:n['’]t)? you (?!have\b|know\b|see\b|think\b|want\b|like\b)|(?:brauchst|musst|hast|bist|willst) du\b|(?:est-ce que tu|tu (?:as|dois|vas)|as-tu|dois-tu)\b|¿?(?:necesitas|tienes que|has|vas a|estás)\b)|^你(?:需要|要不要|是不是|是否|有没有)"
)
"""A question about what the agent does for the work that was asked for before."""
_REPORTS_ON = late(
    r"(?i)^(?:(?:uh+ oh|oops|oh|hm+|well|but|and|also|ok(?:ay)?)[\s,.!-]+)*(?:(?:this|that|it|the same)(?: same)?(?: error| problem| issue| bug| thing)?"
    r"(?: (?:just|also|always|now|still|only|has|have)){0,2} (?:happen|occurr?|came back)\w*)\b"
)
"""The beginning of a report of what happened."""


def goal_among(turns: Sequence[Turn], *, is_split: bool) -> Turn | None:
    """The current request; where only an aside is open, the request before it.

    `is_split` says that the rest of the last turn stays in the context: its request is the current one if it names its subject.
    """
    last = turns[-1] if is_split and turns else None
    if (
        last is not None
        and last.words >= SUBSTANTIAL
        and not (_ASIDE.match(last.own) or _is_aside(last, turns))
    ):
        return last
    left = open_requests(turns)
    goal, begun = goal_of(left), goal_of([turn for turn in turns if not turn.told_before])
    if goal is not None and (before := turn_before(turns, goal)) is not None:
        # What accepts an offer, with a word on how, is no request of its own.
        offered = asks_back(before.answer) and responses.agrees(goal.own) and goal.words < before.words
        asks_for_work = not (questions.asks(before.text) or LOOKS.match(before.text))
        goal = before if offered and asks_for_work and before.words >= SUBSTANTIAL else goal
    if goal is None or goal is begun or not _is_aside(goal, turns):
        return goal
    other = goal_of([turn for turn in left if not _is_aside(turn, turns)])
    if other is not None and other.words >= SUBSTANTIAL:
        return other
    said_to = next((turn for turn in _said_to(goal, turns)), begun)
    # A question that was answered is no goal beside an open one.
    is_closed = (
        said_to is not None and questions.asks(said_to.text) and not any(said_to is one for one in left)
    )
    return goal if is_closed else said_to


def stands_for_an_aside(goal: Turn, turns: Sequence[Turn]) -> bool:
    """Whether a goal was put in the place of an aside, which is the only open request."""
    left = open_requests(turns)
    if not any(turn is goal for turn in left):
        return True
    aside = goal_of(left)
    return aside is not None and aside is not goal and _is_aside(aside, turns)


def is_over(goal: Turn, turns: Sequence[Turn]) -> bool:
    """Whether a request was answered, and nothing said since makes that wrong."""
    if any(turn is goal for turn in open_requests(turns)):
        return False
    if not (is_answered(goal) or reports(goal.answer)):
        return len(turns) > 1 and goal is turns[-2] and left_it_there(goal, turns[-1])
    return is_unchallenged(goal, turns)


def is_unchallenged(goal: Turn, turns: Sequence[Turn]) -> bool:
    """Whether nothing said since the answer to a request makes that answer wrong."""
    since = [turn for turn in turns if turn.first > goal.first]
    wrong = bool(since) and responses.refutes(since[0].own)
    # What was wrong may have been put right at once.
    return not (wrong and not (since[0].works and is_answered(since[0]))) and not any(
        _REPORTS_ON.match(turn.own) or comes_back(turn.own) for turn in since
    )


def leads_to(turns: Sequence[Turn], goal: Turn, last: Turn) -> bool:
    """Whether all between a request and the last one is one exchange about it: nothing was answered, and all offers were accepted."""
    between = [turn for turn in turns if goal.first <= turn.first <= last.first]
    if MEANWHILE.match(last.own):
        return False
    return len(between) > 1 and not any(
        turn.answer
        and (
            not asks_back(turn.answer)
            or (
                responses.offers(question_of(turn.answer))
                and not (responses.agrees(then.own) or keeps_going(then) or gives(then, turn))
            )
        )
        for turn, then in pairwise(between)
    )


def _said_to(aside: Turn, turns: Sequence[Turn]) -> Iterator[Turn]:
    """The requests before an aside that say what they are about and led to work, the last one first."""
    return (
        turn
        for turn in reversed(turns)
        if turn.first < aside.first
        and turn.works
        and turn.words >= SUBSTANTIAL
        and not ERRAND.match(turn.own)
        and not questions.asks(turn.text)
        and not _is_aside(turn, turns)
    )


def is_beside(turn: Turn) -> bool:
    """Whether a request is a remark beside the work, which goes on."""
    return _BESIDE.match(turn.own) is not None


def _is_aside(turn: Turn, turns: Sequence[Turn]) -> bool:
    """Whether a request is an answer, a remark, a report or, without work after it, a question: no goal of its own."""
    if is_beside(turn):
        return True
    if _REPORTS_ON.match(turn.own) or (turn.words < TELLING and REMARK.match(turn.own)):
        return True
    if turn.words < 2 * TELLING and responses.refutes(turn.own):
        return True
    before = turn_before(turns, turn)
    if before is not None and responses.declines(turn.own, question_of(before.answer)):
        # Behind the refusal other work may be asked for.
        return not any(map(CHANGES.match, list(prose.sentences(turn.own))[1:]))
    if asks_of_open_work(turn, before):
        return True
    return not turn.works and wants_to_know(turn.text, behind=WENT_ON)


def asks_of_open_work(turn: Turn, before: Turn | None) -> bool:
    """Whether a request only asks about the work on the one before it, which goes on."""
    is_open = before is not None and not before.answer
    return is_open and questions.asks(turn.text) and _OF_WORK.match(turn.own) is not None
