"""The open requests of a span, and the one that the work is for."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts import prose, questions, responses
from leafward.summaries.facts.prose import content_words
from leafward.summaries.facts.trouble_reports import comes_back, is_solved
from leafward.summaries.summarizers.extractive.answers.passages import quotable
from leafward.summaries.summarizers.extractive.answers.sentence_sections import section_of_sentence
from leafward.summaries.summarizers.extractive.requests.answered_requests import ACHIEVED, FAILS
from leafward.summaries.summarizers.extractive.requests.exchange import reports_result, speaks_to
from leafward.summaries.summarizers.extractive.requests.passed_over import comes_next
from leafward.summaries.summarizers.extractive.turns import (
    SUBSTANTIAL,
    TELLING,
    Turn,
    asks_back,
    goal_of,
    is_answered,
    is_praise,
    keeps_going,
    question_of,
    turn_before,
)
from leafward.summaries.summarizers.outline import SummarySection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ASIDE = late(r"(?i)^(?:\W*(?:but|and|no|well|ok)\b)*\W*(?<!\w)(?:why\b|i mean\b)")
"""A question for a reason, or a remark: it is part of the work that was asked for before it."""
_BESIDE = late(
    r"(?i)^\W*(?:btw|by the way|slight steering|side ?note|übrigens|nebenbei|au fait|por cierto)\b"
    r"|^(?:also,? )?(?:you can|feel free to) .*\bif (?:you (?:need|want|like|have)|needed|necessary)\b|^(?:also,? )?(?:remember|keep in mind|don['’]t forget)\b"
)
"""A remark beside the work: a hint, or something that the agent may do."""
ERRAND = late(
    r"(?i)^(?:(?:ok(?:ay)?|please|now|and|then|first|let['’]s|can you|could you)[\s,.]+)*"
    r"(?:stash|pull|fetch|rebase|commit|push|check ?out|switch to|create a (?:new )?branch|get the latest"
    r"|(?:log|file|open|raise|create)(?: up)? (?:it|this|that|an?|the) (?:\w+ ){0,2}(?:tickets?|issues?|improvements?|bugs?|tasks?))\b"
)
"""An errand with git, done once on the way to the real work."""
_REMARK = late(
    r"(?i)^(?:(?:hm+|well|but|and|ok(?:ay)?|no|yes)[\s,.]+)*i(?:['’]m| am) (?:pretty |quite |fairly |almost )?(?:sure|certain) (?!(?:you|we) (?:can|should|need))"
    r"|^(?:(?:hm+|well|but|and|ok(?:ay)?|no|yes)[\s,.]+)*i (?:thought|believe|remember|noticed)\b"
    r"|^(?:(?:hm+|well|but|and|ok(?:ay)?|no|yes)[\s,.]+)*(?:if i \w+(?: \w+){0,4}?[\s,.]+)?(?:now )?i (?:still |now |also |only |just )?(?:see|saw|get|got|have|had)\b"
    r"|^(?:(?:hm+|well|but|and|ok(?:ay)?|no|yes)[\s,.]+)*(?:i|we)(?:['’]ve)? (?:just |already |recently |also |only )?"
    r"(?:did|made|ran|moved|migrated|updated|upgraded|installed|deployed|merged|switched|renamed|restarted)\b"
)
"""The beginning of a remark about the state of things, which is not a request."""
_REPORTS_ON = late(
    r"(?i)^(?:(?:uh+ oh|oops|oh|hm+|well|but|and|also|ok(?:ay)?)[\s,.!-]+)*(?:(?:this|that|it|the same)(?: same)?(?: error| problem| issue| bug| thing)?"
    r"(?: (?:just|also|always|now|still|only|has|have)){0,2} (?:happen|occurr?|came back)\w*)\b"
)
"""The beginning of a report of what happened."""
_ASKS_WHY = late(
    r"(?i)^(?:and |but |so |ok,? )?(?:why|what(?:['’]s)?(?! (?:about|if)\b)|when|where|which|who|how (?!about\b|(?:can|could|should|would|might)\b)|is|are|was|were|does|did|has|have|shouldn['’]t|wouldn['’]t|isn['’]t|aren['’]t|doesn['’]t|didn['’]t"
    r"|warum|wieso|weshalb|was|wann|wo|wer|welche[rs]?|wie|pourquoi|quand|où|qui|quel(?:le)?s?|comment|est-ce)\b|^(?:为什么|为何|什么|怎么|哪)|(?:吗|呢|か)[?？。]?$"
)
"""A question for information: whatever work followed it, it is no longer a goal."""
_MEANWHILE = late(
    r"(?i)^\W*(?:(?:no|ok(?:ay)?|please|hm+)[\s,.!]+)*(?:stop|wait|hold on|first|before|quick|one moment|pause|warte|halt|erst|attends|espera|等)\b"
)
"""The beginning of a prompt that comes in between."""
_WENT_ON = 2
"""Requests with work after an answer, after which the answered request is no longer the goal."""
_LONG_AGO = 6
"""Such requests where the answer named remaining work: by then it is done, or belongs to other requests."""
_SAME_STEP = 2
"""Words that a request shares at least with the step that it takes up."""
_SAME_PART = 0.5
"""The part of its words that it shares with that."""
LOOKS = late(r"(?i)^(?:let me|show|tell|explain|read|look|print|open|list)\b")
_GLANCES = late(r"(?i)^(?:let me|show|tell|explain|read|look|check|see)\b")


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
    """Whether a goal that stands for an aside was answered, and nothing said since makes that wrong."""
    if any(turn is goal for turn in open_requests(turns)):
        return False
    if not (is_answered(goal) or prose.reports(goal.answer)):
        return len(turns) > 1 and goal is turns[-2] and _left_it_there(goal, turns[-1])
    return is_unchallenged(goal, turns)


def _left_it_there(turn: Turn, later: Turn) -> bool:
    """Whether the next request declines what an answer offered after work, and nothing was done about that."""
    declined = responses.declines(later.own, question_of(turn.answer))
    return declined and turn.works and not later.works and is_answered(later)


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
    if _MEANWHILE.match(last.own):
        return False
    return len(between) > 1 and not any(
        turn.answer
        and (
            not asks_back(turn.answer)
            or (
                responses.offers(question_of(turn.answer))
                and not (responses.agrees(then.own) or keeps_going(then))
            )
        )
        for turn, then in pairwise(between)
    )


def open_aside(turns: Sequence[Turn]) -> Turn | None:
    """The open aside, where every request before it is over; None where it only declines an offer."""
    aside = goal_of(open_requests(turns))
    before = turn_before(turns, aside) if aside is not None else None
    if aside is None or (before is not None and responses.declines(aside.own, question_of(before.answer))):
        return None
    return aside


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
    if _REPORTS_ON.match(turn.own) or (turn.words < TELLING and _REMARK.match(turn.own)):
        return True
    if turn.words < 2 * TELLING and responses.refutes(turn.own):
        return True
    before = turn_before(turns, turn)
    if before is not None and responses.declines(turn.own, question_of(before.answer)):
        return True
    return not turn.works and _wants_to_know(turn.text, behind=_WENT_ON)


def open_requests(turns: Sequence[Turn]) -> list[Turn]:
    """The requests that are not over, in order."""
    found: list[Turn] = []
    later: Turn | None = None
    then: Turn | None = None
    telling = worked = 0
    pleased = later_over = False
    answered = ("", later, telling, worked)
    ended = ("", later, telling, worked)
    said_since: set[str] = set()
    talk = not any(turn.works for turn in turns)
    for place in range(len(turns) - 1, -1, -1):
        turn = turns[place]
        words = turn.text.casefold().rstrip(".!? ")
        # Said again in the same words, it is asked there; praise asks for nothing.
        again = (turn.words >= SUBSTANTIAL and words in said_since) or is_praise(turn)
        said_since.add(words)
        over = (
            again
            or turn.told_before
            or _is_over(turn, turn.answer, later, telling, worked, talk=talk, since=turns[place + 1 :])
            or (worked > 0 and _was_left(turn, then))
        )
        if not turn.answer and not over and answered[0]:
            # The user went on before it was answered: so is what was said to both.
            # Unless it was to wait for that.
            comes_between = later is not None and _MEANWHILE.match(later.own) is not None
            over = not comes_between and (
                _is_over(turn, *answered, own=False)
                # Of two questions, one answer tells both.
                or (
                    later is not None
                    and is_answered(later)
                    and questions.asks(turn.text)
                    and questions.asks(later.text)
                )
                or (
                    later is not None
                    and (later_over or (is_answered(later) and reports_result(later.answer)))
                    and turn.works
                    and not ERRAND.match(later.own)
                )
            )
        if not over and ended[0]:
            # The answers to it go on in what was said about them.
            over = _is_over(turn, *ended, own=False)
        if not over and later is not None:
            over = (
                responses.takes_back(later.text)
                or responses.did_it(later.own)
                or (responses.accepts(later.own) and is_answered(turn))
                or responses.calls_off(later.own, turn.text)
                or responses.turns_from(later.own, turn.text)
                or (
                    # What more it offered is not wanted.
                    responses.declines(later.own, question_of(turn.answer))
                    and (prose.reports(turn.answer) or (later is turns[-1] and _left_it_there(turn, later)))
                )
            )
        if not over and later is not None and later_over and asks_back(turn.answer):
            # What it offered was taken, and is over.
            over = not ERRAND.match(later.own) and (keeps_going(later) or responses.agrees(later.own))
        if pleased and telling and not over:
            over = not any(section_of_sentence(one) is SummarySection.NEXT for one in quotable(turn.answer))
        if not over:
            found.append(turn)
        if turn.answer:
            answered = (turn.answer, later, telling, worked)
        if not (place and speaks_to(turn, turns[place - 1])):
            ended = ("", None, 0, 0)
        elif not ended[0] and is_answered(turn) and reports_result(turn.answer):
            ended = (turn.answer, later, telling, worked)
        if not (later is not None and turn.waits and keeps_going(turn)):
            # Where nothing followed a prompt to go on but the next one, that one tells what was wanted.
            later, later_over = turn, over
        then = turn if turn.tells else then
        pleased |= responses.is_pleased(turn.own) or is_solved(turn.own)
        telling += (
            turn.tells
            or ERRAND.match(turn.own) is not None
            # What was asked for last is a request however short it is, unless it speaks to an answer.
            or (
                place + 1 == len(turns)
                and turn.words > 0
                and place > 0
                and not speaks_to(turn, turns[place - 1])
            )
        )
        # What nothing followed yet is worked on from now on.
        worked += (turn.works or turn.waits) and not keeps_going(turn)
    return found[::-1]


def _was_left(turn: Turn, then: Turn | None) -> bool:
    """Whether an answer reports a result and asks for more, and the next request takes up nothing of that."""
    if then is None or not turn.works or not asks_back(turn.answer) or responses.agrees(then.own):
        return False
    if set(content_words(then.text)) & set(content_words(question_of(turn.answer))):
        return False
    return any(section_of_sentence(one) is SummarySection.DONE for one in quotable(turn.answer))


def _is_over(
    turn: Turn,
    answer: str,
    behind: Turn | None,
    telling: int,
    worked: int,
    *,
    own: bool = True,
    talk: bool = False,
    since: Sequence[Turn] = (),
) -> bool:
    """Whether an answer reports a result without remaining work, and the user went on to something else.

    `talk` says that no request led to work: then an answer is all that was wanted. `since` are the later turns;
    `own` says that the answer is that of the request itself, and not of a later one; `behind` is the turn after the answer; `telling` of the later turns name their subject, and `worked` of them asked for
    more than to go on and led to work.
    """
    if behind is None or not telling:
        return False
    if worked >= _LONG_AGO:
        return True
    aside = ERRAND.match(turn.text) or _REMARK.match(turn.text) or responses.refutes(turn.own)
    if worked and turn.works and (aside or LOOKS.match(turn.text)):
        return True
    if worked and _wants_to_know(turn.text, behind=worked):
        return True
    if worked >= _WENT_ON and (prose.reports(answer) or _went_on_to_the_rest(answer, since)):
        return True
    if not answer or asks_back(answer):
        return False
    if keeps_going(behind) and not (behind.shows or ERRAND.match(behind.own)):
        return False
    if worked and turn.runs:
        return True
    sections = [(one, section_of_sentence(one)) for one in quotable(answer) if not _is_cancelled(one, behind)]
    if any(
        section is SummarySection.NEXT
        and not any(_takes_up(turn, one) for turn in since)
        # Who works on something else did not take that up.
        and not ((worked or not own) and comes_next(one))
        for one, section in sections
    ):
        return False
    if ACHIEVED.match(answer):
        return True
    # What was wrong is told in what was done about it and why.
    failing = [one for one, section in sections if section is SummarySection.CONTEXT and FAILS.search(one)]
    if failing:
        # Unless the next request asks for just that.
        return all(_is_about(behind.text, one) for one in failing)
    enough = 1 if turn.works or questions.asks(turn.text) else _WENT_ON
    return talk or worked >= enough or any(section is SummarySection.DONE for _, section in sections)


def _went_on_to_the_rest(answer: str, since: Sequence[Turn]) -> bool:
    """Whether an answer tells remaining work, and later requests were for all of it."""
    left = [one for one in quotable(answer) if section_of_sentence(one) is SummarySection.NEXT]
    return bool(left) and all(any(_takes_up(turn, one) for turn in since) for one in left)


def _takes_up(turn: Turn, step: str) -> bool:
    """Whether a request asks for a step that an answer told, and its answer reports that as done."""
    asked = frozenset(content_words(turn.text))
    shared = asked & frozenset(content_words(step))
    return (
        turn.works
        and len(shared) >= max(_SAME_STEP, _SAME_PART * len(asked))
        and is_answered(turn)
        and reports_result(turn.answer)
    )


def _is_cancelled(sentence: str, behind: Turn) -> bool:
    """Whether the next request withdraws what a sentence of the answer names."""
    words = frozenset(content_words(sentence))
    cancelled = (content_words(responses.withdrawn(one)) for one in prose.sentences(behind.own))
    return any(what and words.issuperset(what) for what in cancelled)


def _is_about(request: str, sentence: str) -> bool:
    """Whether a request shares a name with a sentence, or several of its words."""
    same = set(content_words(request)) & set(content_words(sentence))
    return len(same) > 1 or any(not word.isalpha() for word in same)


def _wants_to_know(text: str, behind: int) -> bool:
    """Whether a request only asks for information, not for work; `behind` later requests led to work.

    By then polite requests are done as well, and so are requests to look at something.
    """
    said = [one for one in prose.sentences(text) if not one.startswith((">", "$"))] or [text]
    if behind < _WENT_ON:
        return all(_ASKS_WHY.search(one) for one in said)
    return all(questions.asks(one) or questions.guesses(one) or _GLANCES.match(one) for one in said)
