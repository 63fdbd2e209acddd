"""The signs of secrets in a text, found word by word: the same words come again and again, and most hold none.

No sign has white space in it, so every sign of a text lies in one of its words; a sign of letters alone lies in one of the runs of
letters of that word. A rule without a sign in a text finds nothing there and need not run. The signs of words and runs are
remembered, so that most of a session is never searched.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import filterfalse
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.base.redact import assignments, commands, headers, recovery_codes, sentences, spoken, tables
from leafward.base.redact.provider_keys import RUN, by_first_letter
from leafward.base.redact.wallet_phrases import SELDOM

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.base.redact.names import Meaning

_MOST = 1 << 17
"""Most words, and most runs of letters, that are remembered."""
_LONGEST = 120
"""Most characters of a remembered word."""
_LEAST = 3
"""Fewest letters of a part that is searched for in place of its sign."""
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
    *(signs for pair in commands.SIGNS for signs in pair),
)
_RUNS, PORTS, WALLETS = 1, 2, 4
"""A run that is long enough for a token; a port as in a file of passwords; a word of a wallet."""
_FIRST = 8


def _part(sign: str) -> str:
    """The part of a sign to search for, in small letters: its longest run of letters, or all of it where a part is too little.

    Empty where the run is too short.
    """
    low = sign.lower()
    if not low.isascii():
        return max(low.split(), key=len)
    if low in assignments.KEYWORDS:
        return low
    letters = max(_LETTERS.findall(low), key=len, default="")
    return letters if len(letters) >= _LEAST else ""


class _Signs:
    """All parts to search for, and the bits of each family."""

    def __init__(self) -> None:
        bits: dict[str, int] = {}
        short: dict[str, int] = {}
        self.families: list[int] = []
        self.bits: dict[str, int] = {}
        """Bits by sign."""
        for signs in _FAMILIES:
            family = 0
            for sign in signs:
                part = _part(sign)
                found = bits if part else short
                self.bits[sign] = found.setdefault(
                    part or max(sign.split(), key=len), _FIRST << (len(bits) + len(short))
                )
                family |= self.bits[sign]
            self.families.append(family)
        self.alone = {part: bit for part, bit in bits.items() if part in _ALONE}
        ascii_bits = {part: bit for part, bit in bits.items() if part.isascii()}
        self.letters = {
            part: bit for part, bit in ascii_bits.items() if part.isalpha() and part not in _ALONE
        }
        self.any_letters = late(by_first_letter(self.letters))
        self.whole = [(part, bit) for part, bit in ascii_bits.items() if not part.isalpha()]
        self.foreign = [(part, bit) for part, bit in bits.items() if not part.isascii()]
        self.short = list(short.items())
        """Signs with hardly any letters, as they are written."""
        self.any_short = late("|".join(map(re.escape, short)))


_SIGNS = _Signs()
ASSIGNMENTS, HEADERS, SPOKEN, TABLES, SENTENCES, RECOVERY_CODES, *_PAIRS = _SIGNS.families
IN_SMALL_LETTERS = ASSIGNMENTS | HEADERS | SPOKEN | TABLES | SENTENCES | RECOVERY_CODES
_OF_COMMANDS = 0
for _family in _PAIRS:
    _OF_COMMANDS |= _family

_plain: set[str] = set()
_signed: dict[str, int] = {}
_plain_runs: set[str] = set()
_signed_runs: dict[str, int] = {}


def signs_of(text: str, *, once: bool = False) -> tuple[int, str]:
    """The signs in the words of a text as bits, 0 without any; and its different long runs, one per line.

    `once`: hardly any other text follows, so that each part is looked for by itself: compiling an expression for all takes longer.
    """
    found = 0
    unknown = []
    with_runs = []
    for word in set(filterfalse(_plain.__contains__, text.split())):
        bits = _signed.get(word)
        if bits is None:
            unknown.append(word)
        else:
            found |= bits
            if bits & _RUNS:
                with_runs.append(word)
    if unknown:
        bits = _noted(unknown, once=once)
        found |= bits
        if bits & _RUNS:
            with_runs += unknown
    return found, "\n".join(set(RUN.findall(" ".join(with_runs)))) if with_runs else ""


def commands_of(signs: int) -> tuple[int, ...]:
    """The places of the commands that a text with these signs may hold."""
    return _commands_of(signs & _OF_COMMANDS)


@lru_cache(maxsize=1 << 12)
def _commands_of(signs: int) -> tuple[int, ...]:
    pairs = zip(_PAIRS[::2], _PAIRS[1::2], strict=True)
    return tuple(place for place, (sign, literal) in enumerate(pairs) if signs & sign and signs & literal)


@cache
def keywords(signs: int) -> tuple[str, ...]:
    """The keywords of assignments among some signs."""
    return tuple(
        sign
        for signs_of_kind in (_SIGNS.letters.items(), _SIGNS.whole)
        for sign, bit in signs_of_kind
        if bit & signs and sign in assignments.KEYWORDS
    )


@cache
def names(signs: int) -> tuple[tuple[str, Meaning], ...]:
    """The names that sentences use, among some signs."""
    return tuple(name for name in sentences.NAMES if _SIGNS.bits[name[0]] & signs)


@cache
def foreign_names(signs: int) -> tuple[str, ...]:
    """The names in other languages, among some signs."""
    return tuple(name for name in spoken.EVERYWHERE if _SIGNS.bits[name] & signs)


def _noted(words: list[str], *, once: bool) -> int:
    """The signs of new words, all together; those of each word are remembered."""
    if len(_plain) + len(_signed) > _MOST:
        _plain.clear()
        _signed.clear()
    every = 0
    joined = " ".join(words)
    found = dict.fromkeys(words, 0)
    low = joined.lower()
    in_small_letters = low.split(" ")
    for part, bit in _parts(low, once=once):
        every |= bit
        for place, word in enumerate(in_small_letters):
            if part in word:
                found[words[place]] |= bit
    if once or _SIGNS.any_short.search(joined) is not None:
        for part, bit in _SIGNS.short:
            if part in joined:
                every |= bit
                for word in words:
                    if part in word:
                        found[word] |= bit
    for pattern, bit in ((RUN, _RUNS), (commands.PASSWORD_FILE, PORTS)):
        if pattern.search(joined) is not None:
            every |= bit
            for word in filter(pattern.search, words):
                found[word] |= bit
    for word in SELDOM.intersection(words):
        every |= WALLETS
        found[word] |= WALLETS
    for word, bits in found.items():
        if len(word) <= _LONGEST:
            if bits:
                _signed[word] = bits
            else:
                _plain.add(word)
    return every


def _parts(low: str, *, once: bool) -> Iterable[tuple[str, int]]:
    """The parts of signs that a text in small letters holds, with their bits."""
    if len(_plain_runs) + len(_signed_runs) > _MOST:
        _plain_runs.clear()
        _signed_runs.clear()
    found: dict[str, int] = {}
    runs = set(filterfalse(_plain_runs.__contains__, _LETTERS.findall(low)))
    parts = list(_SIGNS.letters.items())
    if once:
        joined = " ".join(runs)
        parts = [one for one in parts if one[0] in joined]
    for run in runs:
        bits = _signed_runs.get(run)
        if bits is None:
            bits = _SIGNS.alone.get(run, 0)
            if once or _SIGNS.any_letters.search(run) is not None:
                for part, bit in parts:
                    if part in run:
                        bits |= bit
            if not bits:
                _plain_runs.add(run)
                continue
            _signed_runs[run] = bits
        found[run] = bits
    found.update((part, bit) for part, bit in _SIGNS.whole if part in low)
    if not low.isascii():
        found.update((part, bit) for part, bit in _SIGNS.foreign if part in low)
    return found.items()
