"""The model's offers: accepted, declined, or asked for later."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences import prose, responses
from leafward.summaries.facts.sentences.content_words import ENGLISH, content_words
from leafward.summaries.summarizers.extractive.candidates import PROPOSED, Evidence, add
from leafward.summaries.summarizers.extractive.turns import Turn, asks_back, question_of, turn_before
from leafward.summaries.summarizers.outline import LINE_LIMIT, Provenance, SummarySection, cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward.summaries.survival.spans import SpanMessage

_OFFER = 160
"""Characters of an offer that are quoted."""
_NUMBERED = late(r"\d{1,3}[.)]\s+")
_OF_LIST = 2
"""Lines that may lead to a list."""
_REFUSAL = 120
"""Characters of what the user said against one."""
DECLINED = "Declined by the user: "
_SAID_TO = "Answered by the user: "
_GOING_ON = frozenset(
    content_words("begin start go proceed continue apply do run this that weitermachen anfangen loslegen")
)
"""Words of an offer that does not name the work."""
_SHARED = 2
_MOST = 0.6
"""The part of a request's words that an offer has to share to be accepted by it later."""
_NO = 1.2
"""The worth of a line about a declined offer."""


def accepted(turns: Sequence[Turn], turn: Turn) -> str:
    """The offer that a request accepts with its first words, and says more of; empty where it accepts none that names its work."""
    before = turn_before(turns, turn)
    question = offer_in(before.answer) if before is not None and responses.agrees(turn.own) else ""
    named = set(content_words(responses.without_offer(question))) - _GOING_ON
    # How an offer is told is known of few languages; who says yes to a question accepts it.
    offers = responses.offers(question) or (question and not ENGLISH.search(question))
    return cut(question, _OFFER) if offers and len(named) >= _SHARED else ""


def offer_in(answer: str) -> str:
    """The question at the end of an answer; where several stand there, the last one that offers something."""
    last = question_of(answer)
    if not last or responses.offers(last):
        return last
    asked = filter(asks_back, prose.sentences(answer.rstrip().rpartition("\n")[2]))
    return next(filter(responses.offers, reversed(list(asked))), last)


def proposed_last(evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn]) -> None:
    """Tells as proposed what stands in the numbered list that an answer before the last request ends with.

    That is what may come next, in whatever language; of English the words tell more.
    """
    before = {messages[turn.last].entry: last_items(turn.answer) for turn in turns[:-1] if turn.answer}
    for candidate in evidence.candidates:
        if candidate.section is not SummarySection.CONTEXT or candidate.provenance is not Provenance.SAID:
            continue
        items = before.get(candidate.sources[-1], ())
        parts = candidate.text.split("; ")
        if (
            items
            and all(part.endswith(items) for part in parts)
            and not (ENGLISH.search(candidate.text) or candidate.text.startswith(PROPOSED))
        ):
            candidate.text = PROPOSED + candidate.text


_DOES = late(r"^(?!.*(?:我|接下来|下一步|之后)).*会[:：]\W*$")
"""The head of a list of what a program does when it runs."""


@lru_cache(maxsize=1 << 12)
def last_items(answer: str) -> tuple[str, ...]:
    """The items of the numbered list that an answer ends with, behind something else than the words that lead to it."""
    lines = [line.strip().replace("**", "") for line in answer.split("\n") if line.strip()]
    items: list[str] = []
    while lines and (mark := _NUMBERED.match(lines[-1])) is not None:
        items.append(lines.pop()[mark.end() :].strip())
    return tuple(items) if len(lines) > _OF_LIST and _DOES.search(lines[-1]) is None else ()


def declined(evidence: Evidence, turns: Sequence[Turn]) -> None:
    """Adds the model's offers that the user declined."""
    last_asked = {frozenset(content_words(turn.text)): number for number, turn in enumerate(turns)}
    for number, (turn, then) in enumerate(pairwise(turns)):
        question = question_of(turn.answer)
        if (
            question
            and responses.declines(then.own, question)
            and not _is_among(question, (asked for asked, last in last_asked.items() if last > number + 1))
        ):
            no = cut(next(prose.sentences(then.own), then.own), _REFUSAL)
            lead, text = DECLINED, f"{cut(question, _OFFER)} ({no})"
            if _GOING_ON.issuperset(content_words(responses.without_offer(question))):
                # What was declined is not named: what was said against it is all that can be told.
                lead, text = _SAID_TO, f"{no} (asked: {question})"
            add(evidence, SummarySection.DECISIONS, text, (then.entry,), _NO, limit=LINE_LIMIT, lead=lead)


def is_wanted(offer: str, turns: Sequence[Turn]) -> bool:
    """Whether one of some requests asks for an earlier offer."""
    return _is_among(offer, (frozenset(content_words(turn.text)) for turn in turns))


def _is_among(offer: str, requests: Iterable[frozenset[str]]) -> bool:
    """Whether one of some requests, each as its words, asks for an earlier offer."""
    words = frozenset(content_words(offer))
    return any(asked and len(asked & words) >= max(_SHARED, _MOST * len(asked)) for asked in requests)
