"""Offers and requests that the user declined or took back in a span, and those that serve as wrong answers."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.session.entries import EntryIndex, text_of
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.negation import sentence_key
from leafward.summaries.facts.sentences.pasting import divided
from leafward.summaries.facts.sentences.prose import list_items, sentences
from leafward.summaries.facts.sentences.questions import asks
from leafward.summaries.facts.sentences.responses import agrees, declines, denies, offers, refutes, undid
from leafward.summaries.facts.values import Fact, FactKind, Voice
from leafward.summaries.summarizers.extractive.requests.offers import is_wanted
from leafward.summaries.summarizers.extractive.state.contradictions import taken_back
from leafward.summaries.summarizers.extractive.turns import as_asked, keeps_going, question_of, turns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_LEAST_WORDS = 4
"""Content words from which an offer or a request names what it is about."""
_POINTS = late(r"(?i)\b(?:this|that|these|those|it|them|both|either|the other)\b")
"""A word for something that was said before: alone the sentence does not name it."""
_UNDOES = late(
    r"(?i)\b(?:remov|revert|undo|undid|drop|delet|get rid|roll(?:ed)? back|instead|no longer|not any ?more|nope|forget|skip|cancel)\w*"
)
"""A sign that a later request may undo an earlier one."""
_DROPS = late(r"(?i)^(?:please )?(?:remove|revert|undo|drop|delete|get rid of|roll back|stop using)\b")
_KEEPS = late(r"(?i)^(?:please )?(?:keep|leave|add|make|use|show)\b")
_WHY = late(
    r"(?i)\b(?:because|since|so that|otherwise|to avoid|too \w+|(?:is|are|was|were|does|did|has|have)(?: not|n['’]t)|it['’]s not|not (?:helping|needed|worth)"
    r"|useless|confusing|broken)\b"
)
"""The words of a reason."""


class GivenUp(NamedTuple):
    """Something that the user declined or took back, with others of its kind that stand."""

    fact: Fact
    standing: tuple[Fact, ...]


def given_up(turns: Sequence[Turn], messages: Sequence[SpanMessage]) -> list[GivenUp]:
    """Offers and requests that the user gave up in some messages, in order, without those that were asked for again."""
    lists = [
        found
        for turn in turns
        if (found := _of_a_list(turn.entry, divided(text_of(messages[turn.first].message.get("content")))[0]))
    ]
    return [*_offers(turns), *_requests(turns), *lists]


def asked_turns(messages: Sequence[SpanMessage]) -> list[Turn]:
    """The turns of some messages, as the user asked."""
    return turns_of([one._replace(message=as_asked(one.message)) for one in messages])


def _offers(turns: Sequence[Turn]) -> list[GivenUp]:
    """The model's offers that were declined; those that were accepted stand."""
    declined, accepted = [], []
    for number, (turn, then) in enumerate(pairwise(turns)):
        offer = question_of(turn.answer)
        if not offers(offer) or len(content_words(offer)) < _LEAST_WORDS:
            continue
        fact = _fact(offer, then.entry)
        if declines(then.own, offer):
            if _names_something(offer) and not is_wanted(offer, turns[number + 2 :]):
                declined.append(fact)
        elif agrees(then.own) or keeps_going(then):
            accepted.append(fact)
    return [GivenUp(one, tuple(reversed(accepted))) for one in declined]


def _requests(turns: Sequence[Turn]) -> list[GivenUp]:
    """The requests that were taken back; those stand that led to work and that no later one objects to."""
    by = taken_back(turns)
    undone = _last_undone(turns)
    back, standing = [], []
    for number, turn in enumerate(turns):
        said = list(sentences(turn.text))
        if len(said) != 1 or not _names_something(said[0]):
            # Of several sentences nobody knows which one is taken back.
            continue
        text = said[0]
        if number in by:
            words = turns[by[number]]
            # What the user undid by hand may be wanted still.
            if not undid(words.text) and not is_wanted(text, turns[by[number] + 1 :]):
                back.append(_fact(text, words.entry))
        elif (
            turn.works
            and not asks(text)
            and not any(map(_objects, turns[number + 1 : number + 2]))
            and not any(undone.get(word, number) > number for word in content_words(text))
        ):
            standing.append(_fact(text, turn.entry))
    others = tuple(reversed(standing))
    return [GivenUp(one, others) for one in back]


def _of_a_list(entry: EntryIndex, typed: str) -> GivenUp | None:
    """An item of a user's list that orders to remove something and says why, beside those that keep or add something."""
    items = [one for one in list_items(typed) if len(content_words(one)) >= _LEAST_WORDS and not asks(one)]
    dropped = [one for one in items if _DROPS.match(one) and _WHY.search(one)]
    kept = [one for one in items if not _UNDOES.search(one)]
    if len(dropped) != 1 or not kept:
        return None
    return GivenUp(_fact(_thing(dropped[0]), entry), tuple(_fact(_thing(one), entry) for one in kept))


def _thing(item: str) -> str:
    """The subject of an item of a list, without the verb and the reason, which say what becomes of it."""
    verb = _DROPS.match(item) or _KEEPS.match(item)
    thing = item[verb.end() :] if verb is not None else item
    why = _WHY.search(thing)
    return thing[: why.start()].rstrip(" ,;:-(") if why is not None else thing


def _names_something(sentence: str) -> bool:
    return len(content_words(sentence)) >= _LEAST_WORDS and _POINTS.search(sentence) is None


def _objects(turn: Turn) -> bool:
    return refutes(turn.own) or denies(turn.own)


def _last_undone(turns: Sequence[Turn]) -> dict[str, int]:
    """The last turn that may undo what holds a word, by the word: its request has a sign of undoing, and the word."""
    last = {}
    for number, turn in enumerate(turns):
        if _UNDOES.search(turn.own):
            last.update(dict.fromkeys(content_words(turn.own), number))
    return last


def _fact(text: str, entry: EntryIndex) -> Fact:
    return Fact(FactKind.DECISION, sentence_key(text) or text, text, entry, Voice.USER, [entry])
