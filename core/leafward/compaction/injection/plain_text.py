"""Makes dynamic text safe for one bullet: one line that neither acts, hides text, nor opens a heading, a list or a fence."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from leafward.base.composed_text import composed
from leafward.base.late_pattern import late

if TYPE_CHECKING:
    from leafward.redaction.redaction import Redactor

PATH_LIMIT = 300
"""Most code points of a path."""
ITEM_LIMIT = 500
"""Most code points of any other item."""
FLOOR = 80
"""Least code points to which the budget may cut an item."""

_ELLIPSIS = "…"
LOOKED_AT = 20_000
"""Most code points of a raw text that are processed."""
_ESCAPES = late(
    r"\x1b\[[0-9;:?<=>!]{0,64}[ -/]{0,8}[@-~]"  # colours, cursor
    r"|\x1b\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[PX^_][^\x1b]{0,2000}\x1b\\"
    r"|\x1b[ -/]{0,8}[0-~]"
    r"|\x9b[0-9;:?<=>!]{0,64}[ -/]{0,8}[@-~]"
)
_SEPARATORS = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)
"""Control characters, and characters that end a line or a paragraph."""
_HIDDEN = (
    *(0x00AD, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
)
"""Invisible characters, and those that reorder text. Joiners of emoji stay."""
_REPLACED: dict[int, str] = {
    **dict.fromkeys(_SEPARATORS, " "),
    **dict.fromkeys(_HIDDEN, ""),
    **dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}"),
}
_SPACE = late(r"\s+")
_OPENS = late(
    r"(?:#{1,6}(?=\s|$)|[-*+](?=\s|$)|[-*_](?:\s?[-*_]){2,}\s*$|-{3,}|={3,}\s*$|>|`{3,}|~{3,}|\d{1,9}[.)](?=\s|$)|\|)"
)
"""Beginnings of a line that Markdown reads as a heading, list item, rule, quotation, fence or table."""
_TAG = late(
    r"(?i)<(?=/?(?:leafward[\w-]{0,20}|summary|previous-summary|conversation|read-files|modified-files|system[\w-]{0,20})\b)"
)
"""Tags that delimit the text around the injected context."""


def clean(text: str, limit: int = ITEM_LIMIT, redactor: Redactor | None = None) -> str:
    """`text` in NFC on one line of at most `limit` code points, made harmless; secrets are redacted if a redactor is given.

    Escape sequences and marks that hide or reorder text are removed, control characters and separators become spaces; a
    beginning that would open a heading, a list item or a fence is escaped with a backslash.
    """
    text = given = text[:LOOKED_AT]
    if redactor is not None:
        text = redactor.text(text)
    if not (text.isascii() and text.isprintable()):
        text = composed(_ESCAPES.sub("", text).translate(_REPLACED))
    text = _SPACE.sub(" ", text).strip()
    if redactor is not None and text != given:
        # A secret that was interrupted by hidden characters is recognisable only now.
        text = redactor.text(text)
    text = _TAG.sub("‹", text)
    if _OPENS.match(text):
        text = "\\" + text
    return cut(text, limit)


def cut(text: str, limit: int) -> str:
    """`text` in at most `limit` code points, cut between graphemes, with an ellipsis if anything was cut."""
    if len(text) <= limit:
        return text
    if limit < 1:
        return ""
    end = limit - 1
    while end > 0 and _joined(text, end):
        end -= 1
    return text[:end].rstrip() + _ELLIPSIS


def _joined(text: str, at: int) -> bool:
    """Whether the characters before and at a position belong to one grapheme."""
    char, before = text[at], text[at - 1]
    if before == "\u200d" or char == "\u200d" or unicodedata.category(char) in {"Mn", "Mc", "Me"}:
        return True
    code = ord(char)
    if 0xFE00 <= code <= 0xFE0F or 0x1F3FB <= code <= 0x1F3FF or 0x1160 <= code <= 0x11FF:
        return True
    if 0x1F1E6 <= code <= 0x1F1FF:
        start = at
        while start > 0 and 0x1F1E6 <= ord(text[start - 1]) <= 0x1F1FF:
            start -= 1
        return (at - start) % 2 == 1
    return False
