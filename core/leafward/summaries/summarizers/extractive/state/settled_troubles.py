"""Troubles that are over, or came back, and lacks that were made good: what replies said of them then is left out."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.session.entries import NO_ENTRY
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.responses import agrees
from leafward.summaries.facts.sentences.trouble_reports import comes_back, is_solved
from leafward.summaries.facts.values import FactKind, Voice
from leafward.summaries.summarizers.extractive.turns import asks_back, is_answered
from leafward.summaries.summarizers.outline import Provenance, SummarySection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.entries import EntryIndex
    from leafward.summaries.summarizers.extractive.candidates import Evidence, LineCandidate
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_MENDED = late(
    r"(?i)^\W*(?:all )?(?:fixed|mended|resolved|solved|repaired|clean|works?|working|behoben|repariert|erledigt|corrigé|réparé|résolu|arreglado|resuelto|corregido)\b|^\W*已(?:修复|解决)"
)
"""A statement that a trouble is over, by its first words."""
_IS_MENDED = late(
    r"(?i)^\W*(?:[^\s,;:.]+ ){1,8}?(?:is|are|has been|have been|ist|sind|est|está) (?:now |all |also |jetzt |maintenant |ahora )?(?:fixed|mended|resolved|solved|repaired|working"
    r"|behoben|repariert|corrigée?s?|réparée?s?|résolue?s?|arreglad[oa]s?|resuelt[oa]s?)\b"
)
"""The same, by the thing that is mended."""
_TROUBLE = late(
    r"(?i)\b(?:fail(?:s|ed|ing)?|broken?|corrupt\w*|missing|wrong|crash\w*|bugs?|errors?|issues?|problems?|cannot|can['’]t|unable|stuck|ignor\w+|leak\w*"
    r"|fehl\w+|kaputt|falsch|erreurs?|cass[ée]\w*|manqu\w+|errores|fall[ao]\w*)\b|错误|问题|失败"
)
"""Words for a trouble."""
_LACKS = late(
    r"(?i)\b(?:only|no|not|same|just need|lacks?|missing|without|yet|nur|kein\w*|nicht|seulement|aucune?|solo|ning[uú]n\w*)\b|n['’]t\b|只|没有"
)
"""Words for a lack."""
_ABOUT = 2
"""Content words that a statement shares at least with the answer that solved a trouble, if it is about that."""
_MOSTLY = 0.3
"""The part of its words that it shares then."""


def settle_troubles(
    evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn], later: Sequence[Turn]
) -> None:
    """Leaves out statements about troubles and lacks that later turns show to be over, and that a trouble is over that is not.

    `later` are the turns of the kept messages.
    """
    _come_back(evidence, [*turns, *later])
    said: dict[EntryIndex, list[LineCandidate]] = {}
    for candidate in evidence.candidates:
        if (
            candidate.section is SummarySection.CONTEXT
            and candidate.provenance is Provenance.SAID
            and not candidate.reports
        ):
            said.setdefault(max(candidate.sources, default=NO_ENTRY), []).append(candidate)
    over: set[int] = set()
    discussed: list[LineCandidate] = []
    """The statements since the user last said that a trouble was over."""
    for before, turn in pairwise(turns):
        told = said.get(messages[before.last].entry, ()) if before.answer else ()
        discussed += told
        if before.answer and is_solved(turn.own):
            about = frozenset(content_words(before.answer))
            over.update(id(one) for one in discussed if _tells_trouble(one, about))
            discussed = []
        elif told and turn.works:
            over.update(id(one) for one in told if _is_made_good(one, before, turn))
    evidence.candidates = [candidate for candidate in evidence.candidates if id(candidate) not in over]


def names_trouble(statement: str) -> bool:
    """Whether a statement has a word for a trouble."""
    return _TROUBLE.search(statement) is not None


def _tells_trouble(candidate: LineCandidate, about: frozenset[str]) -> bool:
    """Whether a statement tells of the trouble that an answer with some words was about."""
    if _TROUBLE.search(candidate.text) is None:
        return False
    words = frozenset(content_words(candidate.text))
    return len(words & about) >= max(_ABOUT, _MOSTLY * len(words))


def _is_made_good(candidate: LineCandidate, before: Turn, turn: Turn) -> bool:
    """Whether the work of a turn ended the trouble, or the lack, that a statement of the answer before it tells of."""
    if _MENDED.match(turn.answer):
        return _TROUBLE.search(candidate.text) is not None
    accepted = asks_back(before.answer) and agrees(turn.own) and is_answered(turn)
    return accepted and _LACKS.search(candidate.text) is not None


def _come_back(evidence: Evidence, turns: Sequence[Turn]) -> None:
    """Leaves out that a trouble was mended, where the user says since that it is back.

    What is told as mended by its name is another trouble, unless the user names it too.
    """
    reports = [turn for turn in turns if comes_back(turn.own)]
    if not reports:
        return
    last = reports[-1].entry
    again = frozenset(word for turn in reports for word in content_words(turn.own))

    def is_back(text: str) -> bool:
        return (_MENDED.match(text) or _IS_MENDED.match(text)) is not None and (
            not again.isdisjoint(content_words(text)) or _is_nameless(evidence, text)
        )

    left = []
    for candidate in evidence.candidates:
        if max(candidate.sources, default=last) < last:
            if candidate.asks and is_back(candidate.came):
                candidate.lose_outcome()
            elif candidate.provenance is Provenance.SAID and is_back(candidate.text):
                continue
        left.append(candidate)
    evidence.candidates = left


def _is_nameless(evidence: Evidence, text: str) -> bool:
    named = evidence.reader.texts.prose(text, Voice.TOLD, NO_ENTRY)
    return not any(one.kind in {FactKind.PATH, FactKind.IDENTIFIER} for one in named)
