"""What sentences of an agent are for: to announce or accompany what it does, to suppose something, to report completion."""

from __future__ import annotations

from functools import lru_cache

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.marker_words import markers
from leafward.summaries.facts.sentences.prose import REMEMBERED

_ANNOUNCED = late(
    r"(?i)(?:let me|let's (?:see|look|check|start|first)|(?:before|once|when) i\b[^,.]{3,60}, i(?:['’]ll| will| need| want| have)\b|now\b[, ]+(?:let|i|we|update|add|fix|create|check)|i'll|i’ll|i will|i need to|i should"
    r"|first,? (?:let|i)|next,? (?:let|i)|good[,.!]|(?:good|fair) (?:call|point|catch|idea|question)\b|great\b|perfect\b|excellent\b|ok(?:ay)?\b[,.!]|you(?:['’]re| are) (?:absolutely |completely )?right|sorry\b|this will\b|(?:using|invoking|loading|applying) (?:the |my )?\S{1,60} skills?\b)"
)
_ONGOING = markers(
    r"\b(?:i['’]ll|i will|i['’]m (?:now |just |also |still )?(?!not\b)\w+ing|let me|i['’]m going to)\b"
    r"|\bso far\b|\bstill (?:running|pending|stuck|waiting|going)\b|\bremain(?:s|ing)? pending\b|\bdeep into\b|^\W*(?:stopping|running|waiting|checking|watching|back (?:through|to|on|in|at|with))\b",
    "ll will m me far still pending deep stopping running waiting checking watching back",
)
_MUSES = late(r"(?i)\W*(?:wait|hmm+|oh|aha|there it is|interesting|but there['’]s another)\b")
_PASSES = markers(
    r"\bstill\b(?! (?:the same|valid|applies|holds|true)\b)|\b(?:currently|at the moment|right now|for now|so far|at this point)\b"
    r"|\b(?:is|are|was|were) (?:now |just |already )?(?:running|queued|pending|reviewing|building|waiting|in flight|in progress|under way|static)\b"
    r"|\b(?:isn['’]t|aren['’]t) \w+ing\b.{0,80}\b(?:now|yet)\b"
    r"|\b(?:new|current|latest) head is\b"
    r"|\bthere(?:['’]s| is| are) (?:only |just |now )?(?:one|two|three|four|five|\d+|an?|some|several|another)\b"
    r".{0,40}?\b(?:feedback|comments?|notes?|nits?|issues?|errors?|failures?|warnings?|problems?|bugs?|findings?|threads?)\b"
    r"|\b(?:derzeit|momentan|gerade|noch immer|immer noch|en ce moment|actuellement)\b|目前|正在|现在",
    "still currently moment now far point running queued pending reviewing building waiting flight progress way static "
    "isn aren head there derzeit momentan gerade immer actuellement",
)
_HEDGED = markers(
    r"\b(?:likely|apparently|presumably|seems?|might|could be|should|would|will be|must be \w+ing|must have been|suspicion|suspect(?:ed|s)?)\b"
    r"|^\W*(?:but|wait|if|when)\b|\b(?:sollten?|devrai(?:t|ent)|deber[íi]an?|deveria|powin(?:no|ien|na|ny)|dovrebbe(?:ro)?)\b|应该|はず",
    "sollte sollten devrait devraient deberia debería deberian deberían deveria powinno powinien powinna powinny dovrebbe dovrebbero likely apparently presumably seem seems might could should would will must suspicion suspect suspected suspects but wait if when",
)
_REPORTS = late(
    r"(?i)^\W*(?:(?:all )?done|fixed|updated|added|created|removed|renamed|finished|committed|pushed"
    r"|erledigt|fertig|behoben|umgesetzt|eingebaut|hecho|listo|terminé|c['’]est fait|fait|corrigé)\b[.:!,]?\s|^\W*(?:已完成|完成了|搞定|已修复|已添加|已创建)"
    r"|^\W*(?:(?:your |the )?changes|both|handled|addressed)(?: (?:are|were|have been|is|now))* ?(?:committed|pushed|merged|saved|applied|in place|done)?\W*(?=[.!,;\n]|$)"
    r"|^\W*(?:all|everything)(?:,? [\w-]+){0,6} (?:addressed|answered|applied|committed|completed?|deleted|done|fixed|implemented|in place|merged|moved|pushed"
    r"|removed|renamed|resolved|restored|reverted|undone|updated)\b(?! (?:by|in|when|if|once|until|except|but)\b)"
)
"""The beginning of an answer that first reports completion, whatever it asks or proposes afterwards."""


def hedges(sentence: str) -> bool:
    """Whether a sentence states a possibility or an intention rather than a fact."""
    return _HEDGED.stand_in(sentence)


@lru_cache(maxsize=REMEMBERED)
def accompanies(sentence: str) -> bool:
    """Whether a sentence between calls describes the current action or thought: soon it no longer holds."""
    return _ONGOING.stand_in(sentence) or _MUSES.match(sentence) is not None


def tells_a_passing_state(sentence: str) -> bool:
    """Whether a sentence describes a state at its moment, which the following work is about to change."""
    return _PASSES.stand_in(sentence)


def announces(sentence: str) -> bool:
    """Whether a sentence only announces the next one, or the next call."""
    return sentence.endswith((":", "：")) or _ANNOUNCED.match(sentence) is not None


def reports(answer: str) -> bool:
    """Whether an answer first reports completion, whatever it asks or proposes afterwards."""
    return _REPORTS.match(answer) is not None
