"""Reasons of the work that no answer has told yet: what the agent said between its calls since the last answer.

A turn that was answered has its reasons in the answer. Until then they stand between calls alone: the cause of a failure, the way
that was taken and what speaks against another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.session.entries import text_of, tool_calls
from leafward.summaries.facts import prose, questions, responses
from leafward.summaries.facts.passing_states import tells_a_passing_state
from leafward.summaries.summarizers.candidates import add
from leafward.summaries.summarizers.outline import Provenance, SummarySection, line_key
from leafward.summaries.summarizers.passages import bids
from leafward.summaries.summarizers.turns import is_answered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.session.entries import EntryIndex
    from leafward.summaries.summarizers.candidates import Evidence
    from leafward.summaries.summarizers.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_TAKES = late(
    r"(?i)^\W*(?:(?:so|now|next|and|then|but|ok(?:ay)?)[\s,]+)*(?:i['’]m|i am|i['’]ll|i will|we['’]ll|let['’]s)\s+(?:(?:now|just|also|therefore|only|going to)\s+)*"
    r"(?:add|chang|tighten|updat|replac|remov|extend|creat|overrid|mak|keep|us|switch|wrap|split|extract|convert|put|stor|pass|merg|defer|queu|cach|skip|handl|restrict|limit|treat)(?:e|es|ing|ting)?\b"
    r"(?! (?:watch|wait|an eye|look|sure|track|go|runn)\w*)"
)
"""The beginning of a sentence by which the agent changes something."""
_WHY = late(
    r"(?i)\b(?:rather than|instead of|so that|because|since|to avoid|only (?:for|when|if|where|counts?|accepts?))\b|\bso (?:the|it|they|this|that|a|an|no|we|only|both|each|every)\b"
    r"|\bnot (?:any|just|merely|only)\b"
)
"""The reason of a change, or the way that it is not."""
_CAUSE = late(
    r"(?i)\b(?:because|since|due to|caused by|c[oa]mes? from|which means|that['’]s why|turns out)\b"
    r"|\bthe (?:(?:root|real|actual|only) )?(?:cause|issue|problem|bug|reason|culprit|failure) (?:is|was)\b|, so (?:the|it|they|this|that|a|an|no|we|only|both|each|every)\b"
    r"|\b(?:fail\w*|error|crash|abort) (?:is|was|were) (?:\w+ ){0,3}\w+: "
)
"""A cause with its effect."""
_FOLLOWS = late(r"(?i)^(?:so|therefore|hence|that['’]s why)\b[, ]+(?!(?:i|let|now|far|we(?:['’]ll| will))\b)")
"""The beginning of what follows from the sentence before it."""
_MAY = late(r"(?i)\b(?:may|perhaps|maybe|probably)\b")
_KEEPS = late(
    r"(?i)^(?:that|this|it) (?:way|keeps?|lets?|makes?|avoids?|means|leaves?|gives?|preserves?|ensures?|prevents?)\b"
)
"""A sentence that tells what the way before it is good for."""
_NAMED = late(r"`[^`\n]+`|\w[./_-]\w+\.\w|[a-z]\w*[A-Z_]\w|\b[A-Z]\w*[a-z]+[A-Z]|\b[A-Z]{2,}\b|#?\d{2,}")
"""Something with a name: a reason without one is hardly about this work."""
_OPENS = late(
    r"(?i)^(?:(?:now|so|but|and|actually|ok(?:ay)?|also|hm+|ah+|aha)\b[,.! ]+|good(?: (?:catch|find|point))?(?: [^:,.!]{1,30})?[:,.!] )+"
)
_FEWEST, _MOST = 40, 300
"""Characters of a statement."""
_TOLD = 4
"""Reasons of each kind that are told, the last ones."""


class _Reason(NamedTuple):
    place: int
    entry: EntryIndex
    line: str
    is_way: bool
    """Whether it tells the way that the agent took, and not a cause."""


def given(evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn]) -> None:
    """Adds the causes and ways that were told between the calls since the last answer; what takes one back takes it out."""
    begun = next((turn.last + 1 for turn in reversed(turns) if is_answered(turn)), 0)
    found: list[_Reason] = []
    for place in range(begun, len(messages)):
        entry, message = messages[place]
        if message.get("role") != "assistant" or not any(tool_calls(message)):
            continue
        said = list(prose.sentences(text_of(message.get("content"))))
        if found and any(map(prose.changes_mind, said)):
            found.pop()
        found += [_Reason(place, entry, *one) for one in _reasons(said)]
    told = {line_key(one.text) for one in evidence.candidates}
    total = max(1, len(messages))
    for is_way in (True, False):
        section = SummarySection.DECISIONS if is_way else SummarySection.CONTEXT
        for one in [one for one in found if one.is_way is is_way][-_TOLD:]:
            if line_key(one.line) not in told:
                worth = 0.3 + 0.7 * (one.place + 1) / total
                add(evidence, section, one.line, (one.entry,), worth, provenance=Provenance.SAID)


def _reasons(said: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The sentences of a reply that tell a way with its reason, or a cause; each with whether it is a way."""
    for before, sentence, then in zip(["", *said], said, [*said[1:], ""], strict=False):
        line = _OPENS.sub("", sentence)
        if _TAKES.match(line) is not None:
            if _KEEPS.match(then) is not None and len(line) + len(then) < _MOST:
                line = f"{line} {then}"
            elif _WHY.search(line) is None:
                continue
            is_way = True
        elif _FOLLOWS.match(sentence) is not None and before and _is_stated(before):
            line, is_way = f"{_OPENS.sub('', before)} {sentence}", False
        elif _CAUSE.search(line) is not None:
            is_way = False
        else:
            continue
        if line.endswith((":", "：", "?", "？")) or responses.agrees(line):
            continue
        if _FEWEST <= len(line) <= _MOST and _NAMED.search(line) and (is_way or _is_stated(line)):
            yield line[0].upper() + line[1:], is_way


def _is_stated(sentence: str) -> bool:
    """Whether a sentence states how things are, and neither guesses nor tells of the next call or of a moment."""
    return not (
        sentence.endswith((":", "：", "?", "？"))
        or questions.guesses(sentence)
        or _MAY.search(sentence)
        or bids(sentence)
        or prose.announces(sentence)
        or prose.accompanies(sentence)
        or prose.hedges(sentence)
        or ("because" not in sentence.lower() and tells_a_passing_state(sentence))
    )
