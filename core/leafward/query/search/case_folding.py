"""Texts made comparable: case ignored, an accented letter the same whether it is one character or two.

A letter of ASCII is found only where one stands. What bytes a text is stored as is told from that (`needles`).
"""

from __future__ import annotations

import re
import unicodedata

_APART = {0x0130: "\ue130", 0x037E: "\ue37e", 0x1FEF: "\uefef", 0x212A: "\ue12a"}
"""Characters that would be folded to one of ASCII: they stay what they are, under other names."""
_ANY_APART = re.compile("[\u0130\u037e\u1fef\u212a]")


def folded(text: str) -> str:
    """A text as it is compared."""
    if text.isascii():
        return text.lower()
    if _ANY_APART.search(text) is not None:
        text = text.translate(_APART)
    return unicodedata.normalize("NFC", text.lower().replace("ς", "σ"))


def composed(text: str) -> str:
    """A text with accents composed and its case kept: what patterns are run over."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _extends(char: str) -> bool:
    """Whether a character may become one with what stands before it."""
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
    # Few texts have a letter that changes its length: what a text is made of says so much faster than all of it.
    if all(len(fold(char)) == 1 and not _extends(char) for char in set(text)):
        return found
    starts: list[int] = []
    ends: list[int] = []
    """For each character of the folded text, where the letter that it comes from begins and ends."""
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
