"""The answers of a question of an exam: the right one among wrong ones that its form does not tell it from."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from leafward.summaries.facts.sentences.content_words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward.summaries.facts.values import Fact

CHOICES = 4
"""Most answers of a question, including the right one."""
_OFFERED = 3 * CHOICES
"""Most wrong answers from which those of a question are chosen."""
_LONGEST = 240
"""Most characters of an answer; a longer sentence is not used as one."""
_FIGURE = re.compile(r"\d+")


class Answer(NamedTuple):
    """One answer to choose."""

    text: str
    """Text from the session; not safe to show."""
    fact: Fact


class Choice(NamedTuple):
    """A right answer with the wrong ones beside it, the best first."""

    right: Fact
    wrong: Sequence[Fact]


def choices(topic: str, right: Answer, wrong: Iterable[tuple[str, Fact]]) -> tuple[Answer, ...]:
    """The answers of a question, in an order that their texts decide.

    Empty where the right one is too long, or where every wrong one is too long or says the same in other words.
    """
    if len(right.text) > _LONGEST:
        return ()
    others: list[Answer] = []
    for text, fact in wrong:
        shown = " ".join(text.split())
        if len(others) == _OFFERED:
            break
        if len(shown) <= _LONGEST and not any(_alike(shown, one.text) for one in (right, *others)):
            others.append(Answer(shown, fact))
    if not others:
        return ()
    return tuple(sorted((right, *_balanced(right, others)), key=lambda one: digest(f"{topic}\n{one.text}")))


def digest(text: str) -> bytes:
    """Orders texts by chance, the same on every run."""
    return sha256(text.encode("utf-8", "replace")).digest()


def _balanced(right: Answer, others: Sequence[Answer]) -> list[Answer]:
    """Wrong answers from those offered, the first ones first, of which as many are shorter than the right one as chance says.

    So its length does not tell it, as far as there are shorter and longer ones.
    """
    most = min(CHOICES - 1, len(others))
    shorter = [one for one in others if len(one.text) < len(right.text)]
    longer = [one for one in others if len(one.text) >= len(right.text)]
    few = min(len(shorter), max(digest(right.text)[0] % (most + 1), most - len(longer)))
    return [*shorter[:few], *longer[: most - few]]


def _alike(one: str, other: str) -> bool:
    """Whether two answers say the same, or one is a part of the other. Other numbers say something else."""
    first, second = one.casefold(), other.casefold()
    short, long = sorted((first, second), key=len)
    if re.search(rf"(?<!\d){re.escape(short)}(?!\d)", long):
        return True
    words, others = set(content_words(first)), set(content_words(second))
    return bool(words) and words == others and _FIGURE.findall(first) == _FIGURE.findall(second)
