"""What the user asked for last in a span, and what the agent reported last, beside what they said earlier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.compaction.exam.answers import Choice
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.prose import sentences
from leafward.summaries.facts.sentences.replies import announces
from leafward.summaries.facts.values import Fact, FactKind, Voice
from leafward.summaries.summarizers.extractive.turns import is_praise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward.session.entries import EntryIndex
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_LEAST_WORDS = 4
"""Content words from which a text tells what it is about."""
_LONGEST = 200
"""Most characters of an answer."""
_STATES_FACT = late(r"(?s)(?:[`\d_/]|\w\.\w|[a-z][A-Z]).*[.!。！]['\"`)*]{0,3}$")
"""A whole sentence with a sign of a name or a figure: one without any could be of any work."""


def asked_last(turns: Sequence[Turn]) -> Choice | None:
    """The last request that names its subject, by its whole text or a sentence of it."""
    return _last(
        _opening((turn.text, *sentences(turn.text)), turn.own, turn.entry, Voice.USER)
        for turn in turns
        if not turn.shows and not is_praise(turn)
    )


def reported_last(turns: Sequence[Turn], messages: Sequence[SpanMessage]) -> Choice | None:
    """The last answer in some messages that states something, by its first sentence that does."""
    return _last(
        _opening(
            filter(_STATES_FACT.search, sentences(turn.answer)),
            turn.answer,
            messages[turn.last].entry,
            Voice.AGENT,
        )
        for turn in turns
    )


def _opening(said: Iterable[str], whole: str, entry: EntryIndex, voice: Voice) -> Fact | None:
    """The first of some sentences that tells what it is about, as a fact whose key is the whole text."""
    for one in said:
        tells = len(one) <= _LONGEST and len(content_words(one)) >= _LEAST_WORDS
        if tells and not announces(one):
            return Fact(FactKind.DECISION, whole, one, entry, voice, [entry])
    return None


def _last(found: Iterable[Fact | None]) -> Choice | None:
    said = [one for one in found if one is not None]
    # What was said again belongs to the last one as well.
    return Choice(said[-1], [one for one in said[-2::-1] if one.text not in said[-1].key]) if said else None
