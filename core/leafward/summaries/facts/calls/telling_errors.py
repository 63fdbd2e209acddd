"""Printed errors that tell what went wrong: one that only says that something did could be of any failure."""

from __future__ import annotations

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.content_words import content_words

_SAYS_WRONG = late(
    r"(?i)error|exception|fatal|fail|cannot|can['’]t|could not|unable|not found|no such|denied|invalid|(?<!-)unknown(?!-)|unexpected|missing|blocked|refused"
    r"|\bnot an? |already"
)
"""Words of an error: the last line of a failed command without any may be anything that it printed."""
_BESIDE = late(r"<|(?i:warning): |For more information about|[×x] Some errors were emitted while")
"""Beginnings of markup of the agent's, and of what is printed beside an error."""
_LEAST_WORDS = 3
"""Content words from which an error tells something."""


def tells(error: str) -> bool:
    """Whether a printed line tells an error in words of its own."""
    return (
        _BESIDE.match(error) is None
        and _SAYS_WRONG.search(error) is not None
        and len(content_words(error)) >= _LEAST_WORDS
    )
