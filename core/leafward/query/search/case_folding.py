"""Texts in comparable form: case is ignored, and an accented letter is the same as one character or as two.

Only an ASCII letter in a text matches an ASCII letter. The stored forms of a text in bytes depend on that (`needles`).
"""

from __future__ import annotations

import re
import unicodedata

from leafward.base.composed_text import composed

_APART = {0x0130: "\ue130", 0x037E: "\ue37e", 0x1FEF: "\uefef", 0x212A: "\ue12a"}
"""Characters that would be folded to an ASCII one: placeholders keep them distinct."""
_ANY_APART = re.compile("[\u0130\u037e\u1fef\u212a]")


def folded(text: str) -> str:
    """A text in the form in which texts are compared."""
    if text.isascii():
        return text.lower()
    if _ANY_APART.search(text) is not None:
        text = text.translate(_APART)
    return composed(text.lower().replace("ς", "σ"))


def _extends(char: str) -> bool:
    """Whether a character may merge with the text before it."""
    return (
        unicodedata.category(char)[0] == "M"
        or "\u1160" <= char <= "\u11ff"
        or unicodedata.combining(char) > 0
    )


def original_spans(text: str, found: list[tuple[int, int]], *, keep_case: bool) -> list[tuple[int, int]]:
    """Places in a folded (or composed) text as places in the text itself, in code points.

    A place in the middle of a letter and its accents is widened to all of it.
    """
    if text.isascii() or not found:
        return found
    fold = composed if keep_case else folded
    # Few texts have a letter that changes its length, and the set of a text's letters shows that much faster than the text.
    if all(len(fold(char)) == 1 and not _extends(char) for char in set(text)):
        return found
    starts: list[int] = []
    ends: list[int] = []
    """For each character of the folded text, begin and end of the original letter."""
    at = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _extends(text[end]):
            continue
        size = len(fold(text[at:end]))
        starts += [at] * size
        ends += [end] * size
        at = end
    last = len(starts) - 1
    return [(starts[min(begin, last)], ends[min(end - 1, last)]) for begin, end in found]
