"""Reasons of the work that no answer has told yet: what the agent said between its calls since the last answer.

A turn that was answered has its reasons in the answer. Until then they stand between calls alone: the cause of a failure, the way
that was taken and what speaks against another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import text_of, tool_calls
from leafward.summaries.facts.sentences import prose, questions, responses
from leafward.summaries.facts.sentences.decisions import changes_mind
from leafward.summaries.facts.sentences.replies import accompanies, announces, hedges, tells_a_passing_state
from leafward.summaries.summarizers.extractive.answers.sentence_forms import bids, points_back
from leafward.summaries.summarizers.extractive.candidates import add
from leafward.summaries.summarizers.extractive.turns import is_answered
from leafward.summaries.summarizers.outline import Provenance, SummarySection, line_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.session.entries import EntryIndex
    from leafward.summaries.summarizers.extractive.candidates import Evidence
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

# Words and not expressions: to compile those would cost more than to read a session of usual length.
_I = ("i'm", "i'll", "we'll", "let's")
_BESIDE = frozenset(["am", "will", "now", "just", "also", "therefore", "only", "going", "to"])
"""Words between the agent and what it does."""
_CHANGES = (
    "add",
    "chang",
    "tighten",
    "updat",
    "replac",
    "remov",
    "extend",
    "creat",
    "overrid",
    "mak",
    "keep",
    "us",
    "switch",
    "wrap",
    "split",
    "extract",
    "convert",
    "put",
    "stor",
    "pass",
    "merg",
    "defer",
    "queu",
    "cach",
    "skip",
    "handl",
    "restrict",
    "limit",
    "treat",
)
"""The beginnings of verbs by which something changes."""
_WATCHES = ("watch", "wait", "look", "go", "runn", "track", "sure", "an")
"""What is kept or made up without a change: `keep watching`."""
_SO = tuple(
    f"so {word} "
    for word in ["the", "it", "they", "this", "that", "a", "an", "no", "we", "only", "both", "each", "every"]
)
_WHY = (
    *(
        " rather than ",
        " instead of ",
        " so that ",
        " because ",
        " since ",
        " to avoid ",
        " not any ",
        " not just ",
        " not merely ",
    ),
    *(f" only {word} " for word in ("for", "when", "if", "where", "counts", "accepts")),
    *(f" {so}" for so in _SO),
)
"""The reason of a change, or the way that it is not."""
_CAUSE = (
    *(
        " because ",
        " due to ",
        " caused by ",
        " came from ",
        " comes from ",
        " come from ",
        " which means ",
        " that's why ",
        " turns out ",
    ),
    *(f" since {word} " for word in ("the", "it", "this", "that", "they", "we", "both")),
    *(
        f" {noun} {verb} "
        for noun in ("cause", "issue", "problem", "bug", "reason", "culprit")
        for verb in ("is", "was")
    ),
    *(f", {so}" for so in _SO),
)
"""A cause with its effect."""
_FAILURES = tuple(
    f"{noun} {verb} " for noun in ("failure", "error", "crash", "abort") for verb in ("is", "was")
)
"""A failure of which something is told, if a colon follows."""
_CONTRAST = (" rather than ", " instead of ", " instead.")
_FIRST = (" i'll first ", " i will first ", " first i'll ", " let me first ")
"""The announcement of a look before anything is done."""
_FOLLOWS = ("so ", "so, ", "therefore ", "therefore, ", "hence ", "that's why ")
"""The beginning of what follows from the sentence before it."""
_OF_BEFORE = tuple(
    f"{it}{verb} "
    for it in ("it", "that", "this", "they")
    for verb in ("'s", " is", " was", "'re", " are", " were")
)
"""The beginning of a sentence whose subject is in the one before it."""
_MAY = frozenset({"may", "perhaps", "maybe", "probably"})
_KEEPS = tuple(
    f"{it} {does} "
    for it in ("that", "this", "it")
    for does in (
        "way",
        "keeps",
        "lets",
        "makes",
        "avoids",
        "means",
        "leaves",
        "gives",
        "preserves",
        "ensures",
        "prevents",
    )
)
"""The beginning of a sentence that tells what the way before it is good for."""
_OPENERS = frozenset(
    ["now", "so", "but", "and", "actually", "ok", "okay", "also", "hmm", "ah", "aha", "next", "then"]
)
_FEWEST, _MOST = 40, 300
"""Characters of a statement."""
_HEAD = 50
"""Characters of the words before a colon that only lead to a statement."""
_BARE = frozenset("_/0123456789")
"""Signs inside a name."""
_REASON = 4
"""Words from which a clause tells a reason."""
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
    # The way that was taken holds until other work is asked for; an answer tells what came, seldom why.
    of_ways = next((turn.last + 1 for turn in reversed(turns[:-1]) if is_answered(turn)), 0)
    found: list[_Reason] = []
    for place in range(min(begun, of_ways), len(messages)):
        entry, message = messages[place]
        if message.get("role") != "assistant" or not any(tool_calls(message)):
            continue
        said = list(prose.sentences(text_of(message.get("content"))))
        if found and any(map(changes_mind, said)):
            found.pop()
        found += [
            _Reason(place, entry, line, is_way)
            for line, is_way in _reasons(said)
            if place >= begun or (is_way and _weighs(line))
        ]
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
        line = _without_opening(sentence)
        low = _plain(line)
        if _weighs_so(low):
            is_way = True
        elif _takes_a_way(low):
            if _plain(then).startswith(_KEEPS) and len(line) + len(then) < _MOST:
                line = f"{line} {then}"
            elif not _holds(low, _WHY):
                continue
            is_way = True
        elif before and _follows(_plain(sentence)) and _is_stated(before):
            line, is_way = f"{_without_opening(before)} {sentence}", False
        elif _holds(low, _CAUSE) or (":" in low and _holds(low, _FAILURES)):
            is_way = False
        else:
            continue
        if _plain(line).startswith(_OF_BEFORE):
            if not (before and is_way and _is_stated(before) and not points_back(before)):
                continue
            line = f"{_without_opening(before)} {line}"
        if line.endswith((":", "：", "?", "？", "...", "…")) or responses.agrees(line) or _holds(low, _FIRST):
            continue
        if (
            _FEWEST <= len(line) <= _MOST
            and (is_way or _is_stated(line))
            and (_names(line) or _weighs_so(low))
        ):
            yield line[0].upper() + line[1:], is_way


def _plain(sentence: str) -> str:
    return sentence.lower().replace("’", "'")


def _holds(low: str, phrases: tuple[str, ...]) -> bool:
    return any(map(f" {low}".__contains__, phrases))


def _without_opening(sentence: str) -> str:
    """A sentence without the words that only lead to it: `Good catch from the test: …`."""
    head, colon, rest = sentence.partition(": ")
    if colon and len(head) < _HEAD and head.startswith("Good"):
        return rest
    while (parts := sentence.split(" ", 1))[1:] and parts[0].lower().strip(",.!") in _OPENERS:
        sentence = parts[1]
    return sentence


def _takes_a_way(low: str) -> bool:
    """Whether the agent says that it changes something."""
    words = low.split()
    if not words or (words[0] not in _I and words[:2] not in (["i", "am"], ["i", "will"])):
        return False
    does = 1
    while does < len(words) and words[does] in _BESIDE:
        does += 1
    return (
        does + 1 < len(words)
        and words[does].startswith(_CHANGES)
        and not words[does + 1].startswith(_WATCHES)
    )


def _weighs_so(low: str) -> bool:
    """Whether a sentence tells a reason and, as what follows from it, the way: `the disk is full, so I'm using …`."""
    before, so, way = low.partition(", so ")
    takes = _takes_a_way(way) or (way.startswith(_I) and _holds(way, _CONTRAST))
    return bool(so) and len(before.split()) >= _REASON and takes and not before.startswith(_I)


def _weighs(line: str) -> bool:
    """Whether a way is told with what speaks for it, or against another one."""
    low = _plain(line)
    return _weighs_so(low) or _holds(low, _CONTRAST)


def _follows(low: str) -> bool:
    """Whether a sentence says what follows from the one before it, and not what the agent does next."""
    words = low.replace(",", "").split()
    return low.startswith(_FOLLOWS) and len(words) > 1 and words[1] not in (*_I, "i", "let", "now", "far")


def _names(line: str) -> bool:
    """Whether a sentence names something of the code: a reason without a name is hardly about this work."""
    return "`" in line or any(
        word[1:] != word[1:].lower() or not _BARE.isdisjoint(word[:-1]) for word in line.split()
    )


def _is_stated(sentence: str) -> bool:
    """Whether a sentence states how things are, and neither guesses nor tells of the next call or of a moment."""
    low = sentence.lower()
    return not (
        sentence.endswith((":", "：", "?", "？"))
        or questions.guesses(sentence)
        or not _MAY.isdisjoint(low.split())
        or bids(sentence)
        or announces(sentence)
        or accompanies(sentence)
        or hedges(sentence)
        or ("because" not in low and tells_a_passing_state(sentence))
    )
