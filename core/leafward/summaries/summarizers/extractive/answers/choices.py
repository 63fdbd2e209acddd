"""Choices with their reasons that stand in no answer: what the agent said between its calls, and what an agreed plan says.

A statement between calls is about the next one. Only where it weighs ways, or says why a thing has its place, does it tell
more than that call shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.session.entries import text_of
from leafward.summaries.facts.sentences import prose, responses
from leafward.summaries.facts.sentences.replies import accompanies, announces
from leafward.summaries.facts.text_facts import AGREED_PLAN
from leafward.summaries.summarizers.extractive.candidates import FROM_PLAN, PROPOSED, add
from leafward.summaries.summarizers.outline import Provenance, SummarySection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.session.entries import Body
    from leafward.summaries.summarizers.extractive.answers.carried_out import CarriedOut
    from leafward.summaries.summarizers.extractive.candidates import Evidence
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_WEIGHS = late(
    r"(?i)\b(?:cleanest|simplest|safest|best|right|simpler|safer|cleaner|better|least \w+|most \w+) (?:fix|approach|way|move|path|solution|choice)\b"
    r"|\bso (?:they|it|we|this) should(?:n['’]t| not)? (?:be|get|go|have|keep|live|stay|take|use)\b|\bshould (?:be|go|live|stay|use)\b.{1,120}\b(?:since|because)\b"
)
"""A way that is called the best, or a reason for the place or the form of a thing."""
_SIGNS = (
    *(
        "should",
        "cleanest ",
        "simplest ",
        "safest ",
        "best ",
        "Best ",
        "right ",
        "simpler ",
        "safer ",
        "cleaner ",
        "better ",
    ),
    *(" least ", " most "),
)
"""Words of which every such sentence has one."""
_OPENS = late(r"(?i)^(?:(?:now|so|but|and|actually|ok(?:ay)?|also|good|hm+)\b[,. ]+)+")
_PLANNED = late(
    r"(?i)\bto (?:avoid|prevent|minimi[sz]e|preserve|ensure)\b|\b(?:because|so that|instead of|rather than)\b"
)
"""The reason of a choice in a plan."""
_BIDS = late(
    r"(?i)(?:use|wrap|keep|make|put|move|leave|replace|update|change|add|apply|avoid|call|store|pass|split|extract|return|do not|don['’]t|never|only)\b"
)
"""The beginning of an item that is to be done: others tell how things are."""
_POINTS = late(r"(?i)\b(?:them|those|these)\b")
"""A word for things that the sentence before it names."""
_FEWEST, _MOST = 40, 300
"""Characters of a statement."""


def chosen(
    evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn], carried: CarriedOut
) -> None:
    """Adds the choices that the agent named between its calls, as proposals until it changed a file for them, and those of the agreed plan that the last request asks for."""
    total = max(1, len(messages))
    since = max((turn.first for turn in turns if turn.works or turn.waits), default=0)
    for place in evidence.calls:
        entry, message = messages[place]
        for line in _weighed(message):
            taken = carried.is_carried_out(place, told_last=False)
            # Later requests may have led elsewhere.
            decided = taken and place >= since
            worth = 0.4 + 0.6 * (place + 1) / total
            add(
                evidence,
                SummarySection.DECISIONS if decided else SummarySection.CONTEXT,
                line,
                (entry,),
                worth,
                lead="" if taken else PROPOSED,
                provenance=Provenance.SAID,
            )
    if turns and turns[-1].own.startswith(AGREED_PLAN):
        for line in prose.list_items(text_of(messages[turns[-1].first].message.get("content"))):
            if (
                _BIDS.match(line)
                and _PLANNED.search(line)
                and _FEWEST <= len(line) <= _MOST
                and not line.endswith((":", "："))
            ):
                add(evidence, SummarySection.DECISIONS, line, (turns[-1].entry,), 1.0, lead=FROM_PLAN)


def _weighed(message: Body) -> Iterator[str]:
    """The statements of a reply with calls that weigh ways, or give a reason; not what agrees with the user, asks or guesses."""
    text = text_of(message.get("content"))
    if not any(map(text.__contains__, _SIGNS)):
        return
    for sentence in prose.sentences(text):
        line = _OPENS.sub("", sentence)
        if (
            _FEWEST <= len(line) <= _MOST
            and any(map(line.__contains__, _SIGNS))
            and _WEIGHS.search(line)
            and not line.endswith((":", "：", "?", "？"))
            and not _POINTS.search(line)
            and not responses.agrees(line)
            and not announces(line)
            and not accompanies(line)
        ):
            yield line[0].upper() + line[1:]
