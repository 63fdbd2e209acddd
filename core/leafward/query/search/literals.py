r"""What a stored session must hold for a query to be found in it: bytes that can be looked for without decoding anything.

A text may be stored with any of its characters escaped (`\u00e9`), in capitals, with accents apart. A needle is a run of
characters whose stored forms are all known, with all of these forms. A session that lacks it need not be opened; one that
holds it need not be a hit.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from leafward.query.search.case_folding import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_RUN = re.compile(r"[A-Za-z0-9_.,:;=@#$%^*()\[\]{}|~!?+`-]+")
"""ASCII that no writer of JSON escapes. Others escape quotes, slashes, backslashes, angle brackets, ampersands."""
_GOOD = 3
"""A run of so many characters of ASCII is rare enough."""
_EVERYWHERE = (
    "type message role content text thinking tool_use toolcall toolresult arguments id parentid parentuuid timestamp"
    " user assistant usage input output cache tokens session model provider payload response function call_id name"
    " command path stopreason total cost true false null"
)
"""What the lines of all agents consist of."""
_LONGEST = 64
_HEAD = 1 << 14
_LONG = 1 << 15
"""Bytes from which other threads run on while they are looked through."""
_WORTH = 6
"""Characters of a run that are looked for at least where its beginning is left out: fewer stand in too many sessions."""
_SELDOM = 1 << 13
"""A pair of letters that stands once in so many bytes is found by ripgrep sooner than three are; one in 3,000 takes as long."""
_OTHERS = 6
"""Characters of a run that are not ASCII: each adds alternatives to what is looked for."""


class Needle:
    """Bytes to look for."""

    def __init__(self, text: bytes, pattern: bytes, escaped: bytes) -> None:
        """`text` in lower case, empty where only the pattern says it; `escaped`: any of its letters escaped."""
        import regex

        self._text, self._escaped = text, escaped
        self.pattern = pattern
        """All stored forms, as a pattern that `regex` and ripgrep both understand, over bytes."""
        self.reach = 6 * max(1, len(text)) + 12 * _OTHERS
        """Bytes that one occurrence may take at most."""
        # The engine that ignores case as fast as bytes are found.
        self._plain = regex.compile(regex.escape(text), regex.IGNORECASE).search if text else None
        self._all = regex.compile(pattern if not text else escaped, regex.IGNORECASE).search

    def pattern_in(self, sample: bytes) -> bytes:
        """The pattern, or one that finds all that it finds and begins with two letters that hardly ever stand in a sample.

        ripgrep 13 looks for all cases of three letters otherwise, which takes it a tenth longer over all; 14 and 15 take as long.
        """
        text, sample = self._text, sample.lower()
        begins = range(max(0, len(text) - _WORTH) + 1) if len(text) > _GOOD else ()
        seen, at = min(((sample.count(text[at : at + 2]), at) for at in begins), default=(len(sample), 0))
        if seen * _SELDOM >= len(sample):
            return self.pattern
        first, second = ({text[place : place + 1], text[place : place + 1].upper()} for place in (at, at + 1))
        pairs = b"|".join(sorted(re.escape(one + two) for one in first for two in second))
        return b"(?:%s)(?i:%s)|%s" % (pairs, re.escape(text[at + 2 :]), self._escaped)

    def held_by(self, data: bytes) -> bool:
        """Whether some bytes hold it."""
        return one_held_by((self,), data)

    def stands_in(self, data: bytes) -> bool:
        """Whether some bytes hold it with none of its plain letters escaped."""
        if self._plain is None:
            return self._all(data) is not None
        if len(data) > _LONG:
            return self._plain(data, concurrent=True) is not None
        return self._plain(data) is not None

    def escaped_in(self, head: bytes) -> bool:
        """Whether plain letters of it are escaped in some bytes: then it may be held though it does not stand there."""
        return self._plain is not None and self._all(head) is not None


def one_held_by(needles: Sequence[Needle], data: bytes) -> bool:
    """Whether some bytes hold one of some needles. A writer that escapes plain letters is known by its first bytes."""
    # A loop: it is asked for every line of every session that is opened.
    for one in needles:
        if one.stands_in(data):
            return True
    head = data[:_HEAD]
    return b"\\u00" in head and any(one.escaped_in(head) for one in needles)


def needle(runs: Iterable[str]) -> Needle | None:
    """The needle for texts that all must be there; None where nothing is known that each session must hold."""
    plain: list[str] = []
    others: list[str] = []
    for run in runs:
        text = folded(run)
        plain += _RUN.findall(text)
        others += _foreign_runs(text)
    best = max(plain, key=len, default="")[:_LONGEST]
    other = max(others, key=len, default="")[:_OTHERS]
    if len(best) < _GOOD and other:
        pattern = b"".join(b"(?:%s)" % b"|".join(_forms(char)) for char in other)
        return Needle(b"", pattern, b"")
    if not best:
        return None
    best = _rare_start(best)
    codes = {ord(case) for char in best for case in (char, char.upper())}
    # A writer that escapes what it need not escapes one of these. Both cases of a digit are named: what is looked for without
    # regard to case takes ripgrep half as long again.
    digits = sorted({form for code in codes for form in (b"%02x" % code, b"%02X" % code)})
    escaped = rb"\\u00(?:%s)" % b"|".join(digits)
    plain_text = best.encode("ascii")
    pattern = b"(?i:%s)|%s" % (re.escape(plain_text), escaped)
    return Needle(plain_text, pattern, escaped)


def _rare_start(text: str) -> str:
    """A run without its beginning where that stands in every line of a session: it would be looked at again and again."""
    for at in range(len(text) - _GOOD):
        if text[at : at + _GOOD] not in _EVERYWHERE:
            return text[at:]
    return text


def _foreign_runs(text: str) -> list[str]:
    """Runs of characters that are not ASCII, stand alone and are no accents: letters without one, signs."""
    runs = [""]
    for char in text:
        alone = (
            char > "\x7f"
            and not 0xD800 <= ord(char) < 0xF900
            and unicodedata.category(char)[0] != "M"
            and unicodedata.normalize("NFD", char) == char
            and not "\u1100" <= char <= "\u11ff"
        )
        if alone:
            runs[-1] += char
        elif runs[-1]:
            runs.append("")
    return [run for run in runs if run]


def _forms(char: str) -> list[bytes]:
    """Everything that a character may be stored as, as alternatives of a pattern."""
    found: list[bytes] = []
    for source in sorted({char, *_sources().get(char, ())}):
        found.append(b"".join(b"\\x%02x" % byte for byte in source.encode("utf-8")))
        units = source.encode("utf-16-be")
        pairs = (units[at : at + 2].hex().encode() for at in range(0, len(units), 2))
        found.append(b"(?i:%s)" % b"".join(rb"\\u%s" % pair for pair in pairs))
    return found


@cache
def _sources() -> dict[str, list[str]]:
    """For each character that is not ASCII, all others that are folded to it, or to a text with it."""
    found: dict[str, list[str]] = {}
    for code in range(0x80, min(sys.maxunicode, 0x2FFFF) + 1):
        if 0xAC00 <= code < 0xF900:
            continue
        char = chr(code)
        made = folded(char)
        if made != char:
            for one in made:
                found.setdefault(one, []).append(char)
    return found
