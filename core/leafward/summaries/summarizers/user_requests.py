"""The user's requests as lines: the current one, the last one, and the outcomes of the others."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from leafward.summaries.facts import demands, prose
from leafward.summaries.facts.outcomes import files_changed
from leafward.summaries.facts.prose import content_words
from leafward.summaries.summarizers.candidates import OUTCOME, Evidence, add
from leafward.summaries.summarizers.outline import LINE_LIMIT, Section, cut
from leafward.summaries.summarizers.quotes import REQUEST_LIMIT, quotable, section_of_sentence
from leafward.summaries.summarizers.turns import (
    CHOOSES,
    SUBSTANTIAL,
    TELLING,
    Turn,
    asks_back,
    goal_of,
    is_answered,
    keeps_going,
    last_of,
    question_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.summarizers import SpanMessage

LAST_REQUEST = "Last request: "
_ACHIEVED = re.compile(
    r"(?i)^\W*(?:(?:(?:all )?done|finished|erledigt|fertig|terminé|c['’]est fait|listo|hecho|готово)\b|✅|已?(?:全部)?完成|搞定|完了)"
)
_ERRAND = re.compile(
    r"(?i)^(?:(?:ok(?:ay)?|please|now|and|then|first|let['’]s|can you|could you)[\s,.]+)*"
    r"(?:stash|pull|fetch|rebase|commit|push|check ?out|switch to|create a (?:new )?branch|get the latest)\b"
)
"""An errand with git, done once on the way to the real work."""
_REMARK = re.compile(
    r"(?i)^(?:(?:hm+|well|but|and|ok(?:ay)?|no|yes)[\s,.]+)*i(?:['’]m| am) (?:pretty |quite |fairly |almost )?(?:sure|certain) (?!(?:you|we) (?:can|should|need))"
    r"|^(?:(?:hm+|well|but|and|ok(?:ay)?|no|yes)[\s,.]+)*i (?:thought|believe|remember|noticed)\b"
    r"|^(?:(?:hm+|well|but|and|ok(?:ay)?|no|yes)[\s,.]+)*(?:if i \w+(?: \w+){0,4}?[\s,.]+)?(?:now )?i (?:still |now |also |only |just )?(?:see|saw|get|got|have|had)\b"
)
"""The beginning of a remark about the state of things, which is not a request."""
_ASKS_WHY = re.compile(
    r"(?i)^(?:and |but |so |ok,? )?(?:why|what(?:['’]s)?(?! (?:about|if)\b)|when|where|which|who|how (?!about\b|(?:can|could|should|would|might)\b)|is|are|was|were|does|did|has|have|shouldn['’]t|wouldn['’]t|isn['’]t|aren['’]t|doesn['’]t|didn['’]t"
    r"|warum|wieso|weshalb|was|wann|wo|wer|welche[rs]?|wie|pourquoi|quand|où|qui|quel(?:le)?s?|comment|est-ce)\b|^(?:为什么|为何|什么|怎么|哪)|(?:吗|呢|か)[?？。]?$"
)
"""A question for information: whatever work followed it, it is no longer a goal."""
_GO_AHEAD = re.compile(
    r"(?i)\b(?:start|begin|go ahead|proceed|continue)\b(?: \w+)? implement|\bimplement (?:it|this|that)\b"
)
"""A go-ahead without further words refers to the plan before it."""
_FAILS = re.compile(r"(?i)\b(?:fail(?:s|ing)?|broken|still|not yet|remain(?:s|ing)?)\b")
"""A sign that an answer leaves something unfinished."""
_WAY_LIMIT = 140
_WENT_ON = 2
"""Requests with work after an answer, after which the answered request is no longer the goal."""
_LONG_AGO = 6
"""The same where the answer named remaining work: by then it is done, or belongs to other requests."""
_LOOKS = re.compile(r"(?i)^(?:let me|show|tell|explain|read|look|print|open|list)\b")
_GLANCES = re.compile(r"(?i)^(?:let me|show|tell|explain|read|look|check|see)\b")
_OUTCOME = 120
"""Characters of a request's outcome."""
_BRIEFLY = 100
"""Characters of a request that the goal holds already."""
_HEADING = re.compile(r"\s#{2,} ")
_ASKED_FIRST = " (asked first: "
_NUMBER = re.compile(r"(?i)^#?(\d{1,2}|[a-d])(?:[.):,]|\s*$|\s+(?:please|bitte|s['’]il)\b)")
"""The beginning of a reply that chooses a way by its number alone."""
_LISTS = re.compile(r"(?i)(?<![\w.])(?:2[.)]|b\))\s")
"""A sign of a list in the user's own text."""
DECLINED = "Declined by the user: "
_SHARED = 2
_MOST = 0.6
"""The part of a request's words that an offer has to share to be accepted by it later."""
_NO = 1.2
"""The worth of a line about a declined offer."""
_ASKED = 4
"""Earlier requests that may be quoted."""


class SameWork:
    """The turns of a span that changed the same files."""

    def __init__(self, messages: Sequence[SpanMessage], failed: frozenset[str], cwd: str) -> None:
        """`failed` are the failed calls."""
        self._messages, self._failed, self._cwd = messages, failed, cwd

    def goes_on(self, begun: Turn, goal: Turn) -> bool:
        """Whether a later request's work changed a file that the first one's work changed, or the work just before it."""
        first = self._changed(begun.first, begun.last)
        if not first:
            return False
        since = self._changed(goal.first, len(self._messages) - 1)
        place = goal.first
        while not since and place > begun.last:
            place -= 1
            since = self._changed(place, place)
        return not first.isdisjoint(since) or (not since and place == begun.last)

    def _changed(self, begin: int, end: int) -> set[str]:
        return {
            path
            for _, message in self._messages[begin : end + 1]
            for path in files_changed(message, self._failed, self._cwd)
        }


def requests(evidence: Evidence, turns: Sequence[Turn], same: SameWork, *, first: bool) -> None:
    """Adds the user's requests: the current one as the goal, the last ones as work in progress."""
    goal = goal_of(_open(turns)) if first else None
    if goal is not None:
        text = _with_way(_whole_sentences(goal.text, REQUEST_LIMIT), goal.own, _before(turns, goal))
        begun = goal_of(turns)
        if begun is not None and begun is not goal and goal.words < TELLING and _GO_AHEAD.search(goal.text):
            # Sentences that only ask to read something say less.
            wanted = (one for one in prose.sentences(begun.text) if not _LOOKS.match(one))
            text = f"{text}{_ASKED_FIRST}{next(wanted, begun.text)[:_OUTCOME]})"
        elif (
            begun is not None
            and begun is not goal
            and begun.words >= TELLING
            and begun.first < goal.first
            and same.goes_on(begun, goal)
        ):
            # Alone it does not name the purpose of the work.
            asked = _whole_sentences(_HEADING.split(begun.text)[0], _OUTCOME)
            room = REQUEST_LIMIT - _OUTCOME - len(_ASKED_FIRST)
            text = f"{cut(_whole_sentences(text, room), room)}{_ASKED_FIRST}{cut(asked, _OUTCOME)})"
        elif question := _question_before(turns, goal):
            text = f"{text} (asked: {question})"
        add(evidence, Section.GOAL, text, (goal.entry,), 3.0, first=True, limit=REQUEST_LIMIT)
    latest = last_of(turns)
    total = max(1, evidence.size)
    earlier = [
        turn
        for turn in turns
        if turn is not goal
        and turn is not latest
        and turn.works
        and is_answered(turn)
        and turn.words > SUBSTANTIAL
        # An answered question is closed, and so is a request to show something.
        and not demands.asks(turn.text)
        and not demands.refutes(turn.own)
        and not _LOOKS.match(turn.text)
    ]
    for turn in earlier[-_ASKED:]:
        worth = 0.2 + 0.5 * (turn.first + 1) / total + 0.03 * min(12, turn.words)
        text = _with_outcome(_whole_sentences(turn.text, 160), turn)
        add(evidence, Section.DONE, text, (turn.entry,), worth, limit=LINE_LIMIT, lead="Asked: ")
    if latest is None or latest.left:
        return
    text, sources = _whole_sentences(latest.text, REQUEST_LIMIT), (latest.entry,)
    text = _with_way(text, latest.own, _before(turns, latest))
    agreed = turns[-1]
    goes_on = agreed.works or (agreed.waits and (agreed.shows or prose.keeps_going(agreed.own)))
    if agreed is not latest and goes_on and not is_answered(agreed):
        # The work that the user agreed to, or wanted more of, is in progress.
        question = question_of(turns[-2].answer)
        way = _with_way(agreed.own, agreed.own, turns[-2])
        if question and way != agreed.own:
            text, sources = way, (agreed.entry,)
        elif question:
            text, sources = f"{agreed.own} (asked: {question})", (agreed.entry,)
        elif demands.asks(agreed.own):
            # A short question is not an agreement.
            text, sources = f"{agreed.own} (asked before: {text[:_OUTCOME]})", (agreed.entry,)
        elif _ERRAND.match(agreed.own):
            # The errand is a request of its own; the request before it is treated like any other.
            text, sources = agreed.own, (agreed.entry,)
            if latest is not goal and is_answered(latest):
                said = _with_outcome(_whole_sentences(latest.text, 160), latest)
                add(evidence, Section.DONE, said, (latest.entry,), 1.0, limit=LINE_LIMIT, lead="Asked: ")
        elif latest is goal:
            return
        add(
            evidence,
            Section.IN_PROGRESS,
            text,
            sources,
            2.0,
            first=True,
            limit=REQUEST_LIMIT,
            lead=LAST_REQUEST,
        )
        return
    if latest is goal and goal is not goal_of(turns) and not is_answered(latest):
        text = _whole_sentences(latest.text, _BRIEFLY)
        add(evidence, Section.IN_PROGRESS, text, sources, 2.0, first=True, limit=_BRIEFLY, lead=LAST_REQUEST)
    if latest is not goal:
        answered = is_answered(latest)
        section = Section.DONE if answered else Section.IN_PROGRESS
        text = _with_outcome(text, latest) if answered else text
        add(evidence, section, text, sources, 2.0, first=True, limit=REQUEST_LIMIT, lead=LAST_REQUEST)


def _before(turns: Sequence[Turn], turn: Turn) -> Turn | None:
    place = next(number for number, one in enumerate(turns) if one is turn)
    return turns[place - 1] if place else None


def _question_before(turns: Sequence[Turn], turn: Turn) -> str:
    """The question that a short request answers; empty where it is a request of its own."""
    before = _before(turns, turn)
    if before is None or turn.words > SUBSTANTIAL or not asks_back(before.answer):
        return ""
    return question_of(before.answer)


def _open(turns: Sequence[Turn]) -> list[Turn]:
    """The requests that are not over, in order."""
    found: list[Turn] = []
    later: Turn | None = None
    then: Turn | None = None
    telling = worked = 0
    pleased = later_over = False
    answered = ("", later, telling, worked)
    for turn in reversed(turns):
        over = _is_over(turn, turn.answer, later, telling, worked) or (worked > 0 and _was_left(turn, then))
        if not turn.answer and not over and answered[0]:
            # The user went on before an answer, so the next answer is for both requests.
            over = _is_over(turn, *answered)
        if not over and later is not None and later_over and asks_back(turn.answer):
            # Its offer was accepted, and is over.
            over = not _ERRAND.match(later.own) and (keeps_going(later) or demands.agrees(later.own))
        if pleased and telling and not over:
            over = not any(section_of_sentence(one) is Section.NEXT for one in quotable(turn.answer))
        if not over:
            found.append(turn)
        if turn.answer:
            answered = (turn.answer, later, telling, worked)
        later, later_over = turn, over
        then = turn if turn.tells else then
        pleased |= demands.is_pleased(turn.own)
        telling += turn.tells or _ERRAND.match(turn.own) is not None
        # A request without an answer yet is worked on from now on.
        worked += (turn.works or turn.waits) and not keeps_going(turn)
    return found[::-1]


def _was_left(turn: Turn, then: Turn | None) -> bool:
    """Whether an answer reports a result and asks for more, and the next request takes up nothing of that."""
    if then is None or not turn.works or not asks_back(turn.answer) or demands.agrees(then.own):
        return False
    if set(content_words(then.text)) & set(content_words(question_of(turn.answer))):
        return False
    return any(section_of_sentence(one) is Section.DONE for one in quotable(turn.answer))


def _is_over(turn: Turn, answer: str, behind: Turn | None, telling: int, worked: int) -> bool:
    """Whether an answer reports a result without remaining work, and the user went on to something else.

    `behind` is the turn after the answer; `telling` of the later turns name their subject, and `worked` of them asked for
    more than to go on and led to work.
    """
    if behind is None or not telling:
        return False
    if worked >= _LONG_AGO:
        return True
    aside = _ERRAND.match(turn.text) or _REMARK.match(turn.text) or demands.refutes(turn.own)
    if worked and turn.works and (aside or _LOOKS.match(turn.text)):
        return True
    if worked and _wants_to_know(turn.text, behind=worked):
        return True
    if worked >= _WENT_ON and prose.reports(answer):
        return True
    if not answer or asks_back(answer):
        return False
    if keeps_going(behind) and not _ERRAND.match(behind.own):
        return False
    if worked and turn.runs:
        return True
    sections = [(sentence, section_of_sentence(sentence)) for sentence in quotable(answer)]
    if any(section is Section.NEXT for _, section in sections):
        return False
    if _ACHIEVED.match(answer):
        return True
    # The lines about the fix and its reason describe the fault.
    failing = [one for one, section in sections if section is Section.CONTEXT and _FAILS.search(one)]
    if failing:
        # The next request may ask for exactly that.
        return all(_is_about(behind.text, one) for one in failing)
    enough = 1 if turn.works or demands.asks(turn.text) else _WENT_ON
    return worked >= enough or any(section is Section.DONE for _, section in sections)


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
    return all(demands.asks(one) or demands.guesses(one) or _GLANCES.match(one) for one in said)


def _with_way(text: str, own: str, before: Turn | None) -> str:
    """A request that chooses one of several ways by its number, with the text of that way from the answer before it.

    `own` is the request as it was typed.
    """
    if before is None:
        return text
    chosen = CHOOSES.search(text)
    bare = (
        None if chosen is not None or "?" not in before.said or _LISTS.search(own, 1) else _NUMBER.match(own)
    )
    if chosen is None and bare is None:
        return text
    word, number = (chosen[1], chosen[2]) if chosen is not None else ("option", bare[1] if bare else "")
    name = chosen[0] if chosen is not None else number
    for form in (
        rf"(?im)\b{word} {number}\**\s*[:–—-]\s*([^\n()]{{4,200}})",
        # The list of ways comes last.
        rf"(?im)^\W{{0,4}}{number}[.)]\s+([^\n]{{4,200}})",
        rf"(?im)\b{word} {number}\**\s*\(([^\n()]{{4,200}})",
    ):
        if named := re.findall(form, before.said):
            return f"{text} ({name}: {_shortened(named[-1])})"
    return text


def declined(evidence: Evidence, turns: Sequence[Turn]) -> None:
    """Adds the model's offers that the user declined."""
    for number, (turn, then) in enumerate(pairwise(turns)):
        question = question_of(turn.answer)
        if question and demands.declines(then.own, question) and not is_wanted(question, turns[number + 2 :]):
            no = next(prose.sentences(then.own), then.own)
            text = f"{cut(question, _OUTCOME)} ({cut(no, _OUTCOME)})"
            add(
                evidence,
                Section.DECISIONS,
                text,
                (then.entry,),
                _NO,
                limit=LINE_LIMIT,
                lead=DECLINED,
            )


def is_wanted(offer: str, turns: Sequence[Turn]) -> bool:
    """Whether one of some requests asks for an earlier offer."""
    words = frozenset(content_words(offer))
    return any(
        len(asked & words) >= max(_SHARED, _MOST * len(asked))
        for turn in turns
        if (asked := frozenset(content_words(turn.text)))
    )


def _shortened(text: str) -> str:
    """The beginning of a text, up to the end of its sentence."""
    return cut(re.split(r"(?<=[.!?])\s|\s[-–—]\s", text.replace("*", ""))[0].strip(" :."), _WAY_LIMIT)


def _with_outcome(text: str, turn: Turn) -> str:
    """A request with its outcome, which is the first sentence of the answer that tells it."""
    for sentence in quotable(turn.answer):
        if len(sentence) <= _OUTCOME and section_of_sentence(sentence) is Section.DONE:
            return f"{text}{OUTCOME}{sentence}"
    return text


def _whole_sentences(text: str, limit: int) -> str:
    """The first sentences of a text that fit; the text where not even one does."""
    if len(text) <= limit:
        return text
    end = max(text.rfind(mark, 0, limit - 1) for mark in (". ", "! ", "? ", "。", "！", "？"))
    return f"{text[: end + 1]} …" if end > 0.3 * limit else text
