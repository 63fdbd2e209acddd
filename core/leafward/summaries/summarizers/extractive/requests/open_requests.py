"""The requests of a span that are still open."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences import prose, questions, responses
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.replies import reports
from leafward.summaries.summarizers.extractive.answers.passages import quotable
from leafward.summaries.summarizers.extractive.answers.sentence_sections import section_of_sentence
from leafward.summaries.summarizers.extractive.requests.answered_requests import ACHIEVED, CHANGES, FAILS
from leafward.summaries.summarizers.extractive.requests.exchange import (
    passes_over,
    reports_result,
    speaks_to,
)
from leafward.summaries.summarizers.extractive.requests.passed_over import comes_next
from leafward.summaries.summarizers.extractive.turns import (
    FAR,
    SUBSTANTIAL,
    TELLING,
    Turn,
    asks_back,
    is_answered,
    is_praise,
    keeps_going,
    question_of,
)
from leafward.summaries.summarizers.outline import SummarySection

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

ERRAND = late(
    r"(?i)^(?:(?:ok(?:ay)?|please|now|and|then|first|let['’]s|can you|could you)[\s,.]+)*"
    r"(?:stash|pull|fetch|rebase|commit|push|check ?out|switch to|create a (?:new )?branch|get the latest"
    r"|(?:log|file|open|raise|create)(?: up)? (?:it|this|that|an?|the) (?:\w+ ){0,2}(?:tickets?|issues?|improvements?|bugs?|tasks?))\b"
)
"""An errand with git, done once on the way to the real work."""
REMARK = late(
    r"(?i)^(?:(?:hm+|well|but|and|ok(?:ay)?|no|yes)[\s,.]+)*i(?:['’]m| am) (?:pretty |quite |fairly |almost )?(?:sure|certain) (?!(?:you|we) (?:can|should|need))"
    r"|^(?:(?:hm+|well|but|and|ok(?:ay)?|no|yes)[\s,.]+)*i (?:thought|believe|remember|noticed)\b"
    r"|^(?:(?:hm+|well|but|and|ok(?:ay)?|no|yes)[\s,.]+)*(?:if i \w+(?: \w+){0,4}?[\s,.]+)?(?:now )?i (?:still |now |also |only |just )?(?:see|saw|get|got|have|had)\b"
    r"|^(?:(?:hm+|well|but|and|ok(?:ay)?|no|yes)[\s,.]+)*(?:i|we)(?:['’]ve)? (?:just |already |recently |also |only )?"
    r"(?:did|made|ran|moved|migrated|updated|upgraded|installed|deployed|merged|switched|renamed|restarted)\b"
)
"""The beginning of a remark about the state of things, which is not a request."""
_ASKS_WHY = late(
    r"(?i)^(?:and |but |so |ok,? )?(?:why|what(?:['’]s)?(?! (?:about|if)\b)|when|where|which|who|how (?!about\b|(?:can|could|should|would|might)\b)|is|are|was|were|does|did|has|have|shouldn['’]t|wouldn['’]t|isn['’]t|aren['’]t|doesn['’]t|didn['’]t"
    r"|warum|wieso|weshalb|was|wann|wo|wer|welche[rs]?|wie|pourquoi|quand|où|qui|quel(?:le)?s?|comment|est-ce)\b|^(?:为什么|为何|什么|怎么|哪)|(?:吗|呢|か)[?？。]?$"
)
"""A question for information: whatever work followed it, it is no longer a goal."""
MEANWHILE = late(
    r"(?i)^\W*(?:(?:no|ok(?:ay)?|please|hm+)[\s,.!]+)*(?:stop|wait|hold on|first|before|quick|one moment|pause|warte|halt|erst|attends|espera|等)\b"
)
"""The beginning of a prompt that comes in between."""
WENT_ON = 2
"""Requests with work after an answer, after which the answered request is no longer the goal."""
_WELL_BEHIND = 3
"""Such requests after which an answer that ended work is over, whatever it offered or left."""
_LONG_AGO = 6
"""Such requests where the answer named remaining work: by then it is done, or belongs to other requests."""
_SAME_STEP = 2
"""Words that a request shares at least with the step that it takes up."""
_SAME_PART = 0.5
"""The part of its words that it shares with that."""
LOOKS = late(r"(?i)^(?:let me|show|tell|explain|read|look|print|open|list)\b")
_GLANCES = late(r"(?i)^(?:let me|show|tell|explain|read|look|check|see)\b")


class _Reply(NamedTuple):
    """An answer, and what followed it."""

    text: str = ""
    behind: Turn | None = None
    """The turn after it."""
    telling: int = 0
    """The number of later turns that name their subject."""
    worked: int = 0
    """The number of later turns that asked for more than to go on and led to work."""


_NO_REPLY = _Reply()


@dataclass(slots=True)
class _Behind:
    """What stands behind a request, gathered from the last turn to the first."""

    talk: bool
    """Whether no request led to work."""
    later: Turn | None = None
    """The next turn; a mere prompt to go on counts only where nothing is behind it."""
    is_later_over: bool = False
    tells: Turn | None = None
    """The next turn that names its subject."""
    telling: int = 0
    worked: int = 0
    """As in `_Reply`."""
    answered: _Reply = _NO_REPLY
    """The next answer."""
    ended: _Reply = _NO_REPLY
    """The last answer with a result in the exchange that goes on from here."""
    passed_over: bool = False
    """Whether the user asked for something else where an answer offered work."""
    said: set[str] = field(default_factory=set)
    """The words of the turns."""
    takers: deque[Turn] = field(default_factory=partial(deque, maxlen=FAR))
    """The next turns that may have taken up a step: worked on, answered, and of enough words."""

    def reply_of(self, turn: Turn) -> _Reply:
        """The answer to the turn before all these."""
        return _Reply(turn.answer, self.later, self.telling, self.worked)

    def add(self, turn: Turn, before: Turn | None, *, over: bool) -> None:
        """Adds the turn before all these, and whether it is over; `before` is the one before that."""
        speaks = before is not None and speaks_to(turn, before)
        self.passed_over |= before is not None and passes_over(turn, before)
        reply, is_last = self.reply_of(turn), self.later is None
        self.said.add(_words_of(turn))
        if turn.works and is_answered(turn) and len(content_words(turn.text)) >= _SAME_STEP:
            self.takers.append(turn)
        if turn.answer:
            self.answered = reply
        if not speaks:
            self.ended = _NO_REPLY
        elif not self.ended.text and is_answered(turn) and reports_result(turn.answer):
            self.ended = reply
        if is_last or not (turn.waits and keeps_going(turn)):
            # Where nothing followed a prompt to go on but the next one, that one tells what was wanted.
            self.later, self.is_later_over = turn, over
        self.tells = turn if turn.tells else self.tells
        self.telling += (
            turn.tells
            or ERRAND.match(turn.own) is not None
            # What was asked for last is a request however short it is, unless it speaks to an answer.
            or (is_last and turn.words > 0 and before is not None and not speaks)
        )
        # What nothing followed yet is worked on from now on.
        self.worked += (turn.works or turn.waits) and not keeps_going(turn)


def open_requests(turns: Sequence[Turn]) -> list[Turn]:
    """The requests that are not over, in order."""
    found: list[Turn] = []
    behind = _Behind(talk=not any(turn.works for turn in turns))
    for place in range(len(turns) - 1, -1, -1):
        turn = turns[place]
        over = _is_closed(turn, behind, turns[-1])
        if not over:
            found.append(turn)
        behind.add(turn, turns[place - 1] if place else None, over=over)
    return found[::-1]


def _is_closed(turn: Turn, behind: _Behind, last: Turn) -> bool:
    """Whether a request is over: by its own answer, by another's, by what the user said next, or by what came of its offer."""
    return (
        _asks_nothing(turn, behind)
        or _is_over(turn, behind.reply_of(turn), talk=behind.talk, since=behind.takers)
        or (behind.worked > 0 and _was_left(turn, behind.tells))
        or _is_left_behind(turn, behind)
        or _is_answered_later(turn, behind)
        # The answers to it go on in what was said about them.
        or (bool(behind.ended.text) and _is_over(turn, behind.ended, own=False))
        or (behind.later is not None and _is_ended_by(turn, behind.later, is_last=behind.later is last))
        or _was_offer_taken(turn, behind)
        or _led_to_a_request(turn, behind.later)
    )


def _words_of(turn: Turn) -> str:
    """The words of a request, without case and the mark at the end."""
    return turn.text.casefold().rstrip(".!? ")


def _asks_nothing(turn: Turn, behind: _Behind) -> bool:
    """Whether a request is told elsewhere, or is none."""
    # Said again in the same words, it is asked there; praise asks for nothing.
    again = turn.words >= SUBSTANTIAL and _words_of(turn) in behind.said
    return again or is_praise(turn) or turn.told_before


def _is_answered_later(turn: Turn, behind: _Behind) -> bool:
    """Whether the user went on before a request was answered, and the next answer is about both."""
    later = behind.later
    if turn.answer or not behind.answered.text:
        return False
    if later is not None and MEANWHILE.match(later.own) is not None:
        # It was to wait for that.
        return False
    if _is_over(turn, behind.answered, own=False):
        return True
    if later is None:
        return False
    if is_answered(later) and questions.asks(turn.text) and questions.asks(later.text):
        # Of two questions, one answer tells both.
        return True
    has_result = behind.is_later_over or (is_answered(later) and reports_result(later.answer))
    return has_result and turn.works and not ERRAND.match(later.own)


def _is_ended_by(turn: Turn, later: Turn, *, is_last: bool) -> bool:
    """Whether the next request ends one: it takes it back, accepts the answer, or turns to something else.

    `is_last` says that nothing is behind the next one.
    """
    return (
        responses.takes_back(later.text)
        or responses.did_it(later.own)
        or (responses.accepts(later.own) and is_answered(turn))
        or responses.calls_off(later.own, turn.text)
        or responses.turns_from(later.own, turn.text)
        or (
            # What more it offered is not wanted.
            responses.declines(later.own, question_of(turn.answer))
            and (reports(turn.answer) or (is_last and left_it_there(turn, later)))
        )
    )


def _was_offer_taken(turn: Turn, behind: _Behind) -> bool:
    """Whether the next request accepts what an answer offered, and is over."""
    later = behind.later
    if later is None or not behind.is_later_over or not asks_back(turn.answer):
        return False
    return not ERRAND.match(later.own) and (keeps_going(later) or responses.agrees(later.own))


def _led_to_a_request(turn: Turn, later: Turn | None) -> bool:
    """Whether a question was answered, and the next request says in words of its own what is to be done."""
    if later is None or not turn.answer or later.words < TELLING or questions.asks(later.own):
        return False
    return wants_to_know(turn.text, behind=WENT_ON) and CHANGES.match(turn.text) is None


def _was_left(turn: Turn, then: Turn | None) -> bool:
    """Whether an answer reports a result and asks for more, and the next request takes up nothing of that."""
    if then is None or not turn.works or not asks_back(turn.answer) or responses.agrees(then.own):
        return False
    if set(content_words(then.text)) & set(content_words(question_of(turn.answer))):
        return False
    return any(section_of_sentence(one) is SummarySection.DONE for one in quotable(turn.answer))


def _is_left_behind(turn: Turn, behind: _Behind) -> bool:
    """Whether the user went on from what an answer asked: behind it offers were passed over for other work, or other questions asked."""
    if not asks_back(turn.answer):
        return False
    if turn.works:
        return behind.passed_over and behind.worked >= WENT_ON
    return behind.telling >= WENT_ON and questions.asks(turn.text) and CHANGES.match(turn.text) is None


def _is_over(
    turn: Turn,
    reply: _Reply,
    *,
    own: bool = True,
    talk: bool = False,
    since: Collection[Turn] = (),
) -> bool:
    """Whether an answer reports a result without remaining work, and the user went on to something else.

    `talk` says that no request led to work: then an answer is all that was wanted. `since` are those that may have taken it up;
    `own` says that the answer is that of the request itself, and not of a later one.
    """
    answer, behind, telling, worked = reply
    if behind is None or not telling:
        return False
    if worked >= _LONG_AGO or (worked >= _WELL_BEHIND and own and turn.works and is_answered(turn)):
        return True
    aside = ERRAND.match(turn.text) or REMARK.match(turn.text) or responses.refutes(turn.own)
    if worked and turn.works and (aside or LOOKS.match(turn.text)):
        return True
    if worked and wants_to_know(turn.text, behind=worked):
        return True
    if worked >= WENT_ON and (reports(answer) or _went_on_to_the_rest(answer, since)):
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
    enough = 1 if turn.works or questions.asks(turn.text) else WENT_ON
    return talk or worked >= enough or any(section is SummarySection.DONE for _, section in sections)


def _went_on_to_the_rest(answer: str, since: Collection[Turn]) -> bool:
    """Whether an answer tells remaining work, and later requests were for all of it."""
    left = [one for one in quotable(answer) if section_of_sentence(one) is SummarySection.NEXT]
    return bool(left) and all(any(_takes_up(turn, one) for turn in since) for one in left)


def _takes_up(turn: Turn, step: str) -> bool:
    """Whether an answered request asks for a step that an answer told before, and its answer reports that as done."""
    asked = frozenset(content_words(turn.text))
    shared = asked & frozenset(content_words(step))
    return len(shared) >= max(_SAME_STEP, _SAME_PART * len(asked)) and reports_result(turn.answer)


def _is_cancelled(sentence: str, behind: Turn) -> bool:
    """Whether the next request withdraws what a sentence of the answer names."""
    words = frozenset(content_words(sentence))
    cancelled = (content_words(responses.withdrawn(one)) for one in prose.sentences(behind.own))
    return any(what and words.issuperset(what) for what in cancelled)


def _is_about(request: str, sentence: str) -> bool:
    """Whether a request shares a name with a sentence, or several of its words."""
    same = set(content_words(request)) & set(content_words(sentence))
    return len(same) > 1 or any(not word.isalpha() for word in same)


def wants_to_know(text: str, behind: int) -> bool:
    """Whether a request only asks for information, not for work; `behind` later requests led to work.

    By then polite requests are done as well, and so are requests to look at something.
    """
    said = [one for one in prose.sentences(text) if not one.startswith((">", "$"))] or [text]
    if behind < WENT_ON:
        return all(_ASKS_WHY.search(one) for one in said)
    return all(questions.asks(one) or questions.guesses(one) or _GLANCES.match(one) for one in said)


def left_it_there(turn: Turn, later: Turn) -> bool:
    """Whether the next request declines what an answer offered after work, and nothing was done about that."""
    declined = responses.declines(later.own, question_of(turn.answer))
    return declined and turn.works and not later.works and is_answered(later)
