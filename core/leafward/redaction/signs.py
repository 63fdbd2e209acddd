"""The signs of secrets in a text, told by its runs of letters: the same runs come again and again, and most tell nothing.

Nearly every sign holds letters, which lie in one run of letters of a text. A rule without a sign in a text finds nothing there and
need not run. What a run tells is remembered, so that most of a session is never searched.
"""

from __future__ import annotations

import re
import string
from functools import cache, lru_cache
from itertools import filterfalse
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.rules import (
    assignments,
    commands,
    headers,
    login_files,
    named_files,
    recovery_codes,
    sentences,
    spoken,
    tables,
    values_apart,
)
from leafward.redaction.rules.provider_keys import LEAST_RUN, RUN_SIGNS, by_first_letter
from leafward.redaction.rules.wallet_phrases import LEAST_SELDOM, SELDOM

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.redaction.names import Meaning

_MOST = 1 << 17
"""Most runs of letters that are remembered."""
_LONGEST = 120
"""Most letters of a remembered run."""
_LEAST = 3
"""Fewest letters of a part that is searched for in place of its sign; one less of a sign that begins with it."""
_ALONE = frozenset({"pin"})
"""Parts that count only as a whole run of letters: too many words hold them."""
_LETTERS = late("[a-z]+")

_FAMILIES: tuple[tuple[str, ...], ...] = (
    assignments.KEYWORDS,
    headers.SIGNS,
    spoken.EVERYWHERE,
    tables.SIGNS,
    sentences.SIGNS,
    recovery_codes.SIGNS,
    commands.OF_PASSWORD_FILES,
    named_files.NAMES,
    values_apart.LITERALS,
    login_files.SIGNS,
    *(signs for pair in commands.SIGNS for signs in pair),
)
WALLETS, _RUNS, PORT = 1, 2, 4
"""Words of a wallet; a run that is long enough for a token; a port or a word as in a file of passwords."""
_FIRST = 8

_BYTES = [chr(byte) for byte in range(256)]
_SMALL = bytes(ord(char.lower()) if char in string.ascii_letters else 32 for char in _BYTES)
"""Makes letters small, and blanks of everything else."""
_MARKED = bytes(120 if char in RUN_SIGNS else 32 for char in _BYTES)
"""Makes one letter of all signs of long runs, and blanks of everything else."""
_LONG_RUN = b"x" * LEAST_RUN
_ALSO_LETTERS = (("\u0130", "i"), ("\u212a", "k"))
"""The signs beyond ASCII whose small form has a letter of ASCII, each with that."""


class _Signs:
    """All signs with their bits, by how they are looked for."""

    def __init__(self) -> None:
        self.families: list[int] = []
        self.bits: dict[str, int] = {}
        """Bits by sign."""
        self.alone: dict[str, int] = {}
        """Bits by whole run of letters."""
        self.letters: dict[str, int] = {}
        """Bits by part of a run."""
        self.exact: list[tuple[bytes, int]] = []
        """Signs that their letters only announce."""
        self.foreign: list[tuple[str, int]] = []
        """Signs beyond ASCII, in small letters."""
        marks: dict[str, list[tuple[str, int]]] = {}
        told: dict[str, int] = {}
        for signs in _FAMILIES:
            family = 0
            for sign in signs:
                self.bits[sign] = self._told(sign, told, marks)
                family |= self.bits[sign]
            self.families.append(family)
        self.every_exact = sum(bit for _, bit in self.exact)
        self.any_letters = late(by_first_letter(self.letters))
        beyond = {char for part, _ in self.foreign for char in part if not char.isascii()}
        self.any_foreign = late(f"[{''.join(sorted(beyond))}]")
        self.marks = [(char, _any_of(char, signs), signs) for char, signs in marks.items()]
        """Signs with hardly any letters, as they are written, by a character of theirs; and an expression for all of them."""

    def _told(self, sign: str, told: dict[str, int], marks: dict[str, list[tuple[str, int]]]) -> int:
        """The bit of a sign, by the part of it that is looked for: signs with the same part have the same."""
        low = sign.lower()
        letters = max(_LETTERS.findall(low), key=len, default="")
        is_exact = low in assignments.KEYWORDS and not low.isalpha()
        is_foreign = not low.isascii()
        is_mark = len(letters) < _LEAST - low.startswith(letters)
        whole = low if is_exact else max((low if is_foreign else sign).split(), key=len)
        part = whole if is_exact or is_foreign or is_mark else letters
        if part in told:
            return told[part]
        bit = told[part] = _FIRST << len(told)
        if is_foreign:
            self.foreign.append((part, bit))
        elif is_exact:
            self.exact.append((part.encode(), bit))
            self.letters[letters] = self.letters.get(letters, 0) | bit
        elif is_mark:
            rare = next((char for char in part if not char.isalpha()), part[0])
            marks.setdefault(rare, []).append((part, bit))
        else:
            where = self.alone if part in _ALONE else self.letters
            where[part] = where.get(part, 0) | bit
        return bit


def _any_of(char: str, signs: list[tuple[str, int]]) -> re.Pattern[str]:
    """A pattern for any of some signs that have a character, with which it begins: so a search is quick."""
    forms = []
    for sign, _ in signs:
        before, _, behind = sign.partition(char)
        forms.append((f"(?<={re.escape(before + char)})" if before else "") + re.escape(behind))
    return late(f"{re.escape(char)}(?:{'|'.join(forms)})")


SIGNS = _Signs()
(
    ASSIGNMENTS,
    HEADERS,
    SPOKEN,
    TABLES,
    SENTENCES,
    RECOVERY_CODES,
    PORTS,
    NAMED_FILES,
    APART,
    LOGIN_FILES,
    *_PAIRS,
) = SIGNS.families
PORTS |= PORT
IN_SMALL_LETTERS = ASSIGNMENTS | HEADERS | SPOKEN | TABLES | SENTENCES | RECOVERY_CODES
_OF_COMMANDS = 0
for _family in _PAIRS:
    _OF_COMMANDS |= _family
OF_RULES = IN_SMALL_LETTERS | PORTS | NAMED_FILES | LOGIN_FILES | _OF_COMMANDS | WALLETS | _RUNS
"""Signs of rules that are asked by themselves: those of `APART` count only beside one of `ASSIGNMENTS`."""


def _by_bit(families: Sequence[int]) -> dict[int, int]:
    """The places of families, as bits, by each of the families' bits."""
    found: dict[int, int] = {}
    for place, family in enumerate(families):
        for bit in _bits_of(family):
            found[bit] = found.get(bit, 0) | 1 << place
    return found


def _bits_of(signs: int) -> Iterator[int]:
    while signs:
        yield signs & -signs
        signs &= signs - 1


_BY_SIGN, _BY_LITERAL = _by_bit(_PAIRS[::2]), _by_bit(_PAIRS[1::2])

_plain: set[bytes] = set()
_signed: dict[bytes, int] = {}


def signs_of(text: str, *, once: bool = False) -> tuple[int, str]:
    """The signs of a text as bits, 0 without any; and its different long runs, one per line.

    `once`: hardly any other text follows, so that each part is looked for by itself: compiling an expression for all takes longer.
    """
    raw = text.encode("utf-8", "surrogatepass")
    small = raw if text.isascii() else _with_letters(text)
    found = seldom = 0
    unknown = []
    for run in set(filterfalse(_plain.__contains__, small.translate(_SMALL).split())):
        bits = _signed.get(run)
        if bits is None:
            unknown.append(run)
        else:
            found |= bits
            seldom += bits & WALLETS
    for bits in _noted(unknown, once=once) if unknown else ():
        found |= bits
        seldom += bits & WALLETS
    if seldom < LEAST_SELDOM:
        found &= ~WALLETS
    if found & SIGNS.every_exact:
        low = small.lower()
        for sign, bit in SIGNS.exact:
            if found & bit and sign not in low:
                found ^= bit
    for char, any_mark, marks in SIGNS.marks:
        if char in text and any_mark.search(text) is not None:
            for mark, bit in marks:
                if mark in text:
                    found |= bit
    if not text.isascii() and SIGNS.any_foreign.search(low_text := text.lower()) is not None:
        for sign_abroad, bit in SIGNS.foreign:
            if sign_abroad in low_text:
                found |= bit
    if commands.PASSWORD_FILE.search(f" {text} ") is not None:
        found |= PORT
    runs = _long_runs(raw)
    return found | _RUNS if runs else found, b"\n".join(runs).decode("ascii")


def _long_runs(raw: bytes) -> set[bytes]:
    """The different long runs of a text."""
    marked = raw.translate(_MARKED)
    runs = set()
    at = marked.find(_LONG_RUN)
    while at >= 0:
        end = marked.find(b" ", at)
        if end < 0:
            end = len(marked)
        runs.add(raw[at:end])
        at = marked.find(_LONG_RUN, end)
    return runs


def _with_letters(text: str) -> bytes:
    """A text as bytes, with letters of ASCII for the signs whose small form has one."""
    for sign, letter in _ALSO_LETTERS:
        text = text.replace(sign, letter)
    return text.encode("utf-8", "surrogatepass")


def _noted(runs: list[bytes], *, once: bool) -> list[int]:
    """The signs in new runs of letters, each as bits; they are remembered."""
    if len(_plain) + len(_signed) > _MOST:
        _plain.clear()
        _signed.clear()
    parts = list(SIGNS.letters.items())
    if once:
        joined = b" ".join(runs).decode("ascii")
        parts = [one for one in parts if one[0] in joined]
    every = []
    for run in runs:
        letters = run.decode("ascii")
        bits = SIGNS.alone.get(letters, 0) | (WALLETS if letters in SELDOM else 0)
        if once or SIGNS.any_letters.search(letters) is not None:
            for part, bit in parts:
                if part in letters:
                    bits |= bit
        every.append(bits)
        if len(run) > _LONGEST:
            continue
        if bits:
            _signed[run] = bits
        else:
            _plain.add(run)
    return every


def commands_of(signs: int) -> tuple[int, ...]:
    """The places of the commands that a text with these signs may hold."""
    return _commands_of(signs & _OF_COMMANDS)


@lru_cache(maxsize=1 << 12)
def _commands_of(signs: int) -> tuple[int, ...]:
    by_sign = by_literal = 0
    for bit in _bits_of(signs):
        by_sign |= _BY_SIGN.get(bit, 0)
        by_literal |= _BY_LITERAL.get(bit, 0)
    return tuple(bit.bit_length() - 1 for bit in _bits_of(by_sign & by_literal))


@cache
def keywords(signs: int) -> tuple[str, ...]:
    """The keywords of assignments among some signs."""
    return tuple(keyword for keyword in assignments.KEYWORDS if SIGNS.bits[keyword] & signs)


@cache
def names(signs: int) -> tuple[tuple[str, Meaning], ...]:
    """The names that sentences use, among some signs."""
    return tuple(name for name in sentences.NAMES if SIGNS.bits[name[0]] & signs)


@cache
def header_signs(signs: int) -> frozenset[str]:
    """The signs of headers among some signs."""
    return frozenset(sign for sign in headers.SIGNS if SIGNS.bits[sign] & signs)


@cache
def table_signs(signs: int) -> frozenset[str]:
    """The signs of tables among some signs."""
    return frozenset(sign for sign in tables.SIGNS if SIGNS.bits[sign] & signs)


@cache
def foreign_names(signs: int) -> tuple[str, ...]:
    """The names in other languages, among some signs."""
    return tuple(name for name in spoken.EVERYWHERE if SIGNS.bits[name] & signs)


@lru_cache(maxsize=1 << 10)
def literals_apart(signs: int) -> frozenset[str]:
    """The literals before values that stand at a distance from their names, among some signs of theirs."""
    return frozenset(literal for literal in values_apart.LITERALS if SIGNS.bits[literal] & signs)
