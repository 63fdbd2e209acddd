"""An exchange: a request and the prompts after it that only speak to its answers, up to the answer that ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences import prose, questions, responses
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.replies import announces, reports
from leafward.summaries.facts.sentences.trouble_reports import says_it_fails
from leafward.summaries.summarizers.extractive.answers.passages import quotable
from leafward.summaries.summarizers.extractive.answers.sentence_sections import reached, section_of_sentence
from leafward.summaries.summarizers.extractive.turns import (
    FAR,
    SUBSTANTIAL,
    TELLING,
    Turn,
    asks_back,
    is_answered,
    keeps_going,
    position,
    question_of,
)
from leafward.summaries.summarizers.outline import SummarySection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAMES_IT = 2
"""Words that a prompt shares at least with the offer that it takes up."""
_BRIEF = 2
"""Content words up to which a reply to a question of the model's is no request of its own."""

_BEGINNING = 400
"""Characters of a request that say what it is about: code may follow."""
_OF_TROUBLE = frozenset(
    content_words(
        "still again fail failing failed error errors exception broken break work works working issue problem bug wrong same test tests run "
        "see show shows get try fix fixed change changed not happen happens new old file line code undefined null type at"
    )
)
"""Words of a report of failure that do not name what fails."""
_GOES_ON = late(
    r"(?i)^(?:(?:oh|ah|ok(?:ay)?|sorry)[\s,.]+)*(?:needs?|should|has|have|must|is|are|was|were|and|also|plus|with|or|und|auch|muss|soll|et|aussi|y|también)\b"
)
"""The beginning of a prompt that goes on with the sentence before it."""

_VERDICT = late(
    r"(?i)^\W*(?:(?:yes|yep|yeah|no|nope|not|none|neither|both|correct|ja|nein|oui|non|sí|si|да|нет)\b|是的?|不|没有|可以|はい|いいえ)"
    r"|[,;–—-]\s*(?:and |but |so )?(?:yes|no)\b"
)
"""A sign of a verdict: yes or no."""


def goes_on_from(before: Turn, turn: Turn) -> bool:
    """Whether a prompt goes on with the one before it, which nothing followed."""
    return (
        before.waits
        and before.words >= SUBSTANTIAL
        and _GOES_ON.match(turn.own) is not None
        and not questions.asks(turn.own)
    )


def speaks_to(turn: Turn, before: Turn) -> bool:
    """Whether a prompt only speaks to the answer before it: goes on, asks about it, replies to its question, or calls it wrong."""
    if keeps_going(turn) or responses.refutes(turn.own) or responses.redoes(turn.own):
        return True
    if asks_back(before.answer):
        if turn.words < TELLING and (
            responses.agrees(turn.own) or responses.denies(turn.own) or gives(turn, before)
        ):
            return True
        # What names something else passes an offer over; any few words reply to another question.
        question = question_of(before.answer)
        passed_over = responses.offers(question) or responses.offers_more(question)
        return turn.words <= _BRIEF and (not passed_over or responses.lets_be(turn.own))
    return turn.words < SUBSTANTIAL and questions.asks(turn.own)


def passes_over(turn: Turn, before: Turn) -> bool:
    """Whether a prompt asks for something else than the work that the answer before it offers."""
    if not (turn.tells and asks_back(before.answer)) or responses.agrees(turn.own):
        return False
    question = question_of(before.answer)
    if not (responses.offers(question) or responses.offers_more(question)):
        return False
    return responses.declines(turn.own, question) or not takes_up(turn, question)


def gives(turn: Turn, before: Turn) -> bool:
    """Whether a prompt gives what the answer before it asked for: `the token: …`."""
    question = question_of(before.answer)
    return takes_up(turn, question) and not (
        responses.declines(turn.own, question) or questions.asks(turn.own)
    )


def takes_up(turn: Turn, question: str) -> bool:
    """Whether a prompt names what a question is about."""
    return len(set(content_words(turn.text)) & set(content_words(question))) >= _NAMES_IT


def mark_doubted(turns: Sequence[Turn]) -> None:
    """Marks the requests whose answers a prompt contradicts: calls wrong, reports as failing, or with an error pasted.

    That is the one just before it, unless it names what only an earlier one was about.
    """
    for number, turn in enumerate(turns[1:], 1):
        before = turns[number - 1]
        failing = says_it_fails(turn.own) or (bool(turn.pasted) and before.works)
        for one in _meant(turns[max(0, number - FAR) : number], turn) if failing and before.answer else ():
            one.doubted = one.doubted or bool(one.answer)
        before.doubted = before.doubted or (
            bool(before.answer)
            and (
                responses.refutes(turn.own)
                or (responses.objects(turn.own) and not asks_back(before.answer))
                or (
                    responses.denies(turn.own)
                    and not asks_back(before.answer)
                    and _names_report(turn.own, before.answer)
                )
            )
        )


def _complaint(turn: Turn) -> frozenset[str]:
    """The words of a report of failure that name what fails: those of its sentences that say so, if there are any."""
    said = [one for one in prose.sentences(turn.own) if says_it_fails(one)] or [turn.own]
    return frozenset(content_words(" ".join([*said, turn.pasted]))) - _OF_TROUBLE


def _meant(before: Sequence[Turn], turn: Turn) -> Sequence[Turn]:
    """The turns that a report of failure may be about, among those before it: the last one, unless it names more of what an earlier one was about."""
    words = _complaint(turn)

    def named(one: Turn) -> int:
        return len(words.intersection((*content_words(one.text[:_BEGINNING]), *content_words(one.answer))))

    *earlier, last = before
    of_last = named(last)
    for one in reversed(earlier) if of_last < _NAMES_IT else ():
        if one.works and is_answered(one):
            # One word may stand for anything.
            if named(one) >= _NAMES_IT + of_last:
                return [one]
            if not of_last and words.intersection(content_words(one.text)):
                return [one, last]
    return [last]


def _names_report(prompt: str, answer: str) -> bool:
    """Whether a prompt names something of what an answer reports as done."""
    words = frozenset(content_words(prompt))
    return any(not words.isdisjoint(content_words(one)) for one in prose.sentences(answer) if reached(one))


def closing(turns: Sequence[Turn], turn: Turn) -> Turn:
    """The turn of an exchange whose answer tells the outcome: the last one that reports a result, or led to work.

    Else it is the request itself.

    An answer that the user called wrong tells none, so the last answer does.
    """
    return Closings(turns).of(position(turns, turn))


class Closings:
    """The `closing` of each of some requests. An exchange is gone through once, from its end back, as far as it is asked about."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._ends: dict[int, int] = {}
        """The place of the last turn of the exchange of each turn."""
        self._found: dict[int, tuple[list[Turn], Iterator[Turn]]] = {}
        """By that place, the closings that were found, from the last turn back, and those that follow."""

    def of(self, place: int) -> Turn:
        """The closing of the request at a place."""
        end = self._end_of(place)
        found, others = self._found.setdefault(end, ([], self._back_from(end)))
        while len(found) <= end - place:
            found.append(next(others))
        return found[end - place]

    def _end_of(self, place: int) -> int:
        end, turns = place, self._turns
        while end not in self._ends and end + 1 < len(turns) and speaks_to(turns[end + 1], turns[end]):
            end += 1
        last = self._ends.get(end, end)
        self._ends.update(dict.fromkeys(range(place, end + 1), last))
        return last

    def _back_from(self, end: int) -> Iterator[Turn]:
        result = last_answered = set_right = None
        is_wrong = False
        for place in range(end, -1, -1):
            turn = self._turns[place]
            if last_answered is None and is_answered(turn):
                last_answered = turn
            if not is_wrong and responses.refutes(turn.own):
                is_wrong, set_right = True, last_answered
            yield result or set_right or turn
            if (
                result is None
                and is_answered(turn)
                and (reports_result(turn.answer) or (turn.works and not questions.asks(turn.own)))
            ):
                result = turn


def reports_result(answer: str) -> bool:
    """Whether an answer has a sentence about finished work, or about runs that passed."""
    return reports(answer) or any(
        section_of_sentence(one) is SummarySection.DONE for one in quotable(answer, shortest=8)
    )


def verdict_of(turn: Turn) -> str:
    """The answer to a question where its first line says yes or no and leads to a list of reasons; empty for any other turn."""
    lead = turn.answer.lstrip().partition("\n")[0].replace("**", "").strip()
    if not (lead.endswith((":", "：")) and questions.asks(turn.text)):
        return ""
    # The last words before the colon may only lead to the list.
    before, stop, last = lead.rpartition(". ")
    lead = before + stop.rstrip() if stop and _VERDICT.search(last) is None else lead.rstrip(":： ")
    tells = _VERDICT.search(lead) is not None and len(content_words(lead)) >= _BRIEF
    return lead if tells and not announces(lead) else ""
