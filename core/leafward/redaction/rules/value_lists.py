"""Lists of secrets behind a name in the plural: `APP_KEYS=…,…`, `"api_keys": ["…", "…"]`, the items of a list in YAML."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.names import Meaning, meaning_of
from leafward.redaction.secret_values import ValueNotation, is_secret, stands_out
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from leafward.redaction.spans import Span

_PLURALS = ("keys", "secrets", "tokens", "passwords", "passphrases")
_SIGN = late(r"""\\{0,7}["'`]?(?P<pad>[ \t]{0,4})(?P<sign>=>|[:=])[ \t]{0,4}""")
_LONGEST = 4000
"""Characters of a list beyond which none is looked for."""
_LINES = late(
    r"""(?:(?:\r?\n|\\{1,2}n)[ \t]{0,40}-[ \t]{1,4}\\{0,7}["']?[^\s"'\\]{3,400}\\{0,7}["']?[ \t]{0,4}(?=\r?\n|\\|\Z)){1,64}"""
)
_BARE = late(r"""[^\s"'`\\]{1,4000}""")
_REST = late(r"""[^\n\r"'`\\\[\]{}]{1,400}""")
_ITEM = late(r"""[^\s,;"'`\\\[\]]{3,400}""")
_OPENING = late(r"""\\{0,7}(?P<open>["'`\[])""")
_CLOSING = {"[": "]", '"': '"', "'": "'", "`": "`"}


def is_plural(name: str) -> bool:
    """Whether a list may follow a name."""
    return name.lower().endswith(_PLURALS)


def listed_in(text: str, end: int, name: str) -> Iterator[Span]:
    """The secrets in a list whose name ends at a place: each item must look like one, as names of other lists end so too."""
    if not is_plural(name):
        return
    meaning = meaning_of(name[:-1])
    sign = _SIGN.match(text, end) if meaning in (Meaning.PASSWORD, Meaning.SECRET, Meaning.PERHAPS) else None
    if meaning is None or sign is None:
        return
    start, stop, sure = _stretch(text, sign)
    for item in _ITEM.finditer(text, start, stop):
        value = item[0].rstrip(".")
        if _is_listed(value, meaning, sure):
            yield item.start(), item.start() + len(value), SecretKind.SECRET


def _stretch(text: str, sign: re.Match[str]) -> tuple[int, int, bool]:
    """Begin and end of a list, and whether its notation is surely one."""
    at = sign.end()
    opening = _OPENING.match(text, at)
    if opening is not None:
        stop = text.find(_CLOSING[opening["open"]], opening.end(), opening.end() + _LONGEST)
        return opening.end(), max(stop, opening.end()), True
    if (lines := _LINES.match(text, at)) is not None:
        return at, lines.end(), True
    tight = sign["sign"] == "=" and not sign["pad"]
    rest = (_BARE if tight else _REST).match(text, at)
    return at, rest.end() if rest is not None else at, tight


# Lists that follow each other without end have the same items.
@lru_cache(maxsize=2048)
def _is_listed(value: str, meaning: Meaning, sure: bool) -> bool:
    return _is_item(value, meaning) if sure else stands_out(value)


def _is_item(value: str, meaning: Meaning) -> bool:
    if meaning is Meaning.PASSWORD:
        return is_secret(value, meaning, ValueNotation.INLINE) and not value.isdecimal()
    return is_secret(value, Meaning.PERHAPS, ValueNotation.QUOTED)
