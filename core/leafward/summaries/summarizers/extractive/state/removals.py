"""What was said of things that were removed since: it holds no more."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.prose import sentences
from leafward.summaries.facts.sentences.subjects import Subjects
from leafward.summaries.summarizers.extractive.candidates import OUTCOME
from leafward.summaries.summarizers.extractive.turns import FAR, is_answered
from leafward.summaries.summarizers.outline import Provenance, SummarySection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.summaries.summarizers.extractive.candidates import Evidence, LineCandidate
    from leafward.summaries.summarizers.extractive.turns import Turn

_ASKS = late(
    r"(?i)(?:(?:ok(?:ay)?|please|now|and|then|but|so|no|yes|bitte|also|just|can you|could you|let['’]s)[\s,.]+)*"
    r"(?:remove|delete|drop|get rid of|rip out|take out|entfern\w*|lösch\w*|supprime[rz]?|elimina|quita|usuń|删除|删掉|去掉|移除)"
    r"\s*(?:the |this |that |our |my |all |any |den |die |das |le |la |les |el |los )*(?P<what>[^.,;:!?。，；\n]{2,60})"
)
"""A request to remove something."""
_TELLS = late(
    r"(?i)(?:\W*(?:i(?:['’]ve| have)? )?(?:also )?(?:removed|deleted|dropped|got rid of|took out) (?:the |all |any )*(?P<what>[^.,;:!?(–—\n]{2,60})"
    r"|(?:the )?(?P<gone>[^.,;:!?\n]{2,60}?) (?:is|are|was|were|has been|have been)(?: all| now)? (?:gone|removed|deleted|out again)\b)"
)
"""A report that something was removed."""
_SIGNS = ("emoved", "eleted", "ropped", "rid of", "ook out", " gone", "out again")
"""Of these each such report holds one."""
_REST = late(r"(?i)\s(?:from|in|of|for|again|because|since|so|and|which|that|aus|wieder|de|dans)\b.*| - .*")
"""What follows the name of the thing."""
_LEAST = 4
"""Letters from which one word names a thing."""
_OF_LINES = frozenset({SummarySection.DONE, SummarySection.DECISIONS, SummarySection.CONTEXT})


def forget_removed(evidence: Evidence, turns: Sequence[Turn]) -> None:
    """Leaves out the lines about what was removed behind them; the line of a request loses its outcome."""
    removed: Subjects[range] = Subjects()
    for what, places in chain(_declarations(evidence), _told(turns)):
        removed.add(what, places)
    if not removed:
        return
    ended = {turn.entry: turn.last for turn in turns}
    left = []
    for candidate in evidence.candidates:
        asked, _, said = candidate.text.rpartition(OUTCOME) if candidate.asks else ("", "", candidate.text)
        place = ended.get(candidate.sources[0], -1) if asked else evidence.place_of(candidate)
        if not _may_be_over(candidate, asked) or not _is_about_removed(said, place, removed):
            left.append(candidate)
        elif asked:
            candidate.lose_outcome()
            left.append(candidate)
    evidence.candidates = left


def _may_be_over(candidate: LineCandidate, asked: str) -> bool:
    """Whether a line tells how something is, in the model's words."""
    if candidate.asks:
        return bool(asked)
    said = candidate.section is not SummarySection.CONTEXT or candidate.provenance is not Provenance.RECORDED
    return candidate.section in _OF_LINES and said and _TELLS.match(candidate.text) is None


def _is_about_removed(said: str, place: int, removed: Subjects[range]) -> bool:
    words = frozenset(content_words(said.replace("'s ", " ").replace("’s ", " ")))
    return any(place in places for places in removed.named_in(words))


def _declarations(evidence: Evidence) -> Iterator[tuple[frozenset[str], range]]:
    """The names that the span declared and took out again, each by its words, and where lines about it hold no more."""
    declared = {name for work in evidence.files.values() for name in work.declared}
    for work in evidence.files.values():
        for name, place in work.undeclared.items():
            if name not in declared and (words := frozenset(content_words(name))):
                yield words, range(-1, place)


def _told(turns: Sequence[Turn]) -> Iterator[tuple[frozenset[str], range]]:
    """What an earlier request brought in, and a later one or the answer to it took out: lines from between hold no more."""
    asked: list[tuple[Turn, frozenset[str]]] = []
    for turn in turns:
        before = asked[-FAR:]
        if turn.works:
            asked.append((turn, frozenset(content_words(turn.text))))
        if not (turn.works and is_answered(turn)):
            continue
        things = [_thing(found["what"]) for found in map(_ASKS.match, sentences(turn.own)) if found]
        for line in turn.answer.split("\n"):
            if not any(map(line.__contains__, _SIGNS)):
                continue
            told = filter(None, map(_TELLS.match, sentences(line)))
            things += [_thing(found["what"] or found["gone"]) for found in told]
        for what in filter(None, things):
            brought = [one for one, words in before if what <= words]
            if brought:
                yield what, range(brought[-1].first, turn.first)


def _thing(text: str) -> frozenset[str]:
    """The words of a thing; none where they may be any thing."""
    words = frozenset(content_words(_REST.sub("", text).replace("`", " ")))
    return words if len(words) > 1 or any(len(word) >= _LEAST for word in words) else frozenset()
