"""What the replies around a failure say of it: it is none of this work's, or it was to be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.session.entries import text_of
from leafward.summaries.facts.sentences.prose import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.survival.spans import SpanMessage

_MEANT = late(
    r"(?i)(?<!n['’]t )(?<!not )(?:(?<!work )(?<!run )(?<!behave )\bas expected\b|\bfor the right reason\b|\b(?:should|must|is (?:supposed|expected) to) (?:now |first |still )?fail\b|\bexpected (?:to fail|failure)\b)"
    r"|\b(?:confirm\w*|verify|verifies|prove|proves|make sure|ensure)(?: that)? (?:(?!whether\b|if\b|why\b|not?\b|nothing\b|none\b|\S*n['’]t\b)\S+ ){0,6}?(?:fails?|(?:is|are|goes) red)\b"
    r"|\b(?:fail\w*|red) (?:first|before (?:the|my) (?:fix|change|code)|without (?:the|my|this) (?:fix|change|patch|guard))\b|\bred (?:phase|step)\b"
    r"|\b(?:tests?|specs?|checks?|suite|assertions?) (?:now |also )?catch(?:es)?\b"
)
"""A sentence that says that a check was to fail: a test that is written first, or code that was broken to see it caught."""
_DISMISSES = late(
    r"(?i)(?!.{0,200}\b(?:one of|some of|except|other than|the other|the rest|but)\b).{0,400}?"
    r"(?:\bpre-?existing\b|\bunrelated\b|\bnot (?:ours|caused by|related to|from (?:my|our|this|these))\b|\b(?:was|were|is|are)(?: all)?(?: already)? (?:there|failing|broken|present) (?:before|without|on main)\b"
    r"|\b(?:did|have|had) ?n[o'’]t touch\b|\bfalse positives?\b|\b(?:can|may) (?:be )?ignored?\b|\bknown (?:failures?|flak\w+|issues?)\b|\bflaky\b"
    r"|\bfail(?:s|ed|ing)? (?:\w+ )?(?:on|in) (?:main|master|a clean checkout|head)\b|\bwithout my changes?\b|\bpredates? (?:this|these|my|our|the) (?:changes?|work|branch)\b"
    r"|\b(?:nothing|none|not)(?: of (?:it|them|these|those))?(?: is| are)? in (?:my|our|the changed|these) (?:files?|changes?|code)\b"
    r"|\bschon (?:vorher|vor meiner)\b|\bunabhängig (?:davon|von)\b|\bhat nichts mit\b.{1,60} zu tun|\bpréexistante?s?\b|\bsans rapport\b|无关|之前就(?:有|存在)|原本就|関係(?:ありません|ない))"
)
"""A sentence that calls a failure none of this work's."""
_FAILS = late(
    r"(?i)\b(?:fail\w*|errors?|broken|breaks?|block\w*|crash\w*|cannot|unable|red)\b|\b(?:ca|could|did|does|do|is|are|was|were)(?:n['’]t| not)\b"
    r"|\b(?:fehl(?:er|geschlagen|t)|schlägt|schlagen|échou\w*|erreurs?|fall[aoó]\w*|erro|bloque\w*)\b|失败|报错|错误|失敗|エラー|できま?せん|실패|오류|ошибк|не (?:работает|проходит)"
)
"""A sentence that says that something does not work."""
_NEAR = 3
"""Messages from a call to the reply to its result."""
_REPLIES = 8
"""Messages after a call that are searched for a reply."""


def is_dismissed(messages: Sequence[SpanMessage], failed: int) -> bool:
    """Whether the reply to a failure at a position says that it is none of this work's."""
    replies = (
        text
        for _, body in messages[failed + 1 : failed + _REPLIES]
        if body.get("role") == "assistant" and (text := text_of(body.get("content")))
    )
    return any(map(_DISMISSES.match, sentences(next(replies, ""))))


def tells_failure(answer: str) -> bool:
    """Whether an answer says that something fails, and does not call it none of this work's."""
    return any(_FAILS.search(one) and not _DISMISSES.match(one) for one in sentences(answer))


def is_meant(messages: Sequence[SpanMessage], failed: int) -> bool:
    """Whether the reply that made a call at a position, or the next one, says that it was to fail."""
    return any(
        _MEANT.search(one) is not None
        for _, body in messages[max(0, failed) : failed + _NEAR]
        if body.get("role") == "assistant"
        for one in sentences(text_of(body.get("content")))
    )
