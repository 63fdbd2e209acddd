r"""Bytes that a stored session must hold to match a query; they can be searched without decoding anything.

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
"""ASCII that no writer of JSON escapes. Some escape quotes, slashes, backslashes, angle brackets or ampersands."""
_GOOD = 3
"""Characters of ASCII from which a run is rare enough."""
_EVERYWHERE = (
    "type message role content text thinking tool_use toolcall toolresult arguments id parentid parentuuid timestamp"
    " user assistant usage input output cache tokens session model provider payload response function call_id name"
    " command path stopreason total cost true false null"
)
"""Words in the lines of every agent's sessions."""
_LONGEST = 64
_HEAD = 1 << 14
_LONG = 1 << 15
"""Bytes from which a search releases the interpreter to other threads."""
_WORTH = 6
"""Characters of a run that remain at least where its beginning is left out: shorter runs occur in too many sessions."""
_SELDOM = 1 << 13
"""Bytes per occurrence from which ripgrep finds two letters sooner than three; at one in 3,000 it takes as long."""
_OTHERS = 6
"""Characters of a run that are not ASCII: each adds alternatives to the pattern."""


class Needle:
    """Bytes to search for."""

    def __init__(self, text: bytes, pattern: bytes, escaped: bytes) -> None:
        """`text` in lower case, empty where only the pattern has it; `escaped` matches any of its letters as an escape."""
        import regex

        self._text, self._escaped = text, escaped
        self.pattern = pattern
        """All stored forms, as a pattern over bytes for both `regex` and ripgrep."""
        self.reach = 6 * max(1, len(text)) + 12 * _OTHERS
        """The most bytes of one occurrence."""
        # This engine ignores case without being slower.
        self._plain = regex.compile(regex.escape(text), regex.IGNORECASE).search if text else None
        self._all = regex.compile(pattern if not text else escaped, regex.IGNORECASE).search

    def pattern_in(self, sample: bytes) -> bytes:
        """The pattern, or an equivalent one that begins with two letters that are rare in a sample.

        ripgrep 13 otherwise searches for all cases of three letters, which takes it a tenth longer in total; 14 and 15 take
        as long.
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
        """Whether some bytes hold plain letters of it as escapes: then the rest may hold it in escaped form."""
        return self._plain is not None and self._all(head) is not None


def one_held_by(needles: Sequence[Needle], data: bytes) -> bool:
    """Whether some bytes hold one of some needles. The first bytes show a writer that escapes plain letters."""
    # A loop, because this runs for every line of every opened session.
    for one in needles:
        if one.stands_in(data):
            return True
    head = data[:_HEAD]
    return b"\\u00" in head and any(one.escaped_in(head) for one in needles)


def needle(runs: Iterable[str]) -> Needle | None:
    """The needle for texts that must all be present; None where no run is known that every session must hold."""
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
    # A writer with needless escapes uses one of these. Both cases of a hex digit are listed, because ripgrep takes half as
    # long again to ignore case.
    digits = sorted({form for code in codes for form in (b"%02x" % code, b"%02X" % code)})
    escaped = rb"\\u00(?:%s)" % b"|".join(digits)
    plain_text = best.encode("ascii")
    pattern = b"(?i:%s)|%s" % (re.escape(plain_text), escaped)
    return Needle(plain_text, pattern, escaped)


def _rare_start(text: str) -> str:
    """A run without a beginning that occurs in every line of a session and would be tried again and again."""
    for at in range(len(text) - _GOOD):
        if text[at : at + _GOOD] not in _EVERYWHERE:
            return text[at:]
    return text


def _foreign_runs(text: str) -> list[str]:
    """Runs of characters outside ASCII that stand alone and have no accents: letters, signs."""
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
    """Every stored form of a character, as alternatives of a pattern."""
    found: list[bytes] = []
    for source in sorted({char, *_sources().get(char, ())}):
        found.append(b"".join(b"\\x%02x" % byte for byte in source.encode("utf-8")))
        units = source.encode("utf-16-be")
        pairs = (units[at : at + 2].hex().encode() for at in range(0, len(units), 2))
        found.append(b"(?i:%s)" % b"".join(rb"\\u%s" % pair for pair in pairs))
    return found


@cache
def _sources() -> dict[str, list[str]]:
    """For each character outside ASCII, all others that are folded to it, or to a text with it."""
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
