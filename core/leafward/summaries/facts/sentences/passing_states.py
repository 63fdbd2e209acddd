"""Sentences about a state at one moment of the work: findings that were followed up, programs that have ended."""

from __future__ import annotations

from leafward.summaries.facts.sentences.marker_words import markers

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


def tells_a_passing_state(sentence: str) -> bool:
    """Whether a sentence describes a state at its moment, which the following work is about to change."""
    return _PASSES.stand_in(sentence)
