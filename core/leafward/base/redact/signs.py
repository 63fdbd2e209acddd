"""Which signs of secrets a text holds, told word by word: the same words come again and again, and most hold none.

No sign has white space in it, so one that stands in a text stands in one of its words; one of letters alone stands in one of the
runs of letters of that word. A rule of which a text holds no sign finds nothing there and need not be asked. What a word and what
a run holds is remembered, so that most of a session is never looked through.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import filterfalse
from typing import TYPE_CHECKING

from leafward.base.redact import assignments, commands, headers, recovery_codes, sentences, spoken, tables
from leafward.base.redact.provider_keys import RUN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.base.redact.names import Meaning

_MOST = 1 << 17
"""Words, and runs of letters, that are remembered."""
_LONGEST = 120
"""Characters of a word that is remembered."""
_LEAST = 3
"""Letters that can stand for a sign of which they are a part."""
_LETTERS = re.compile("[a-z]+")

_FAMILIES: tuple[tuple[str, ...], ...] = (
    assignments.KEYWORDS,
    headers.SIGNS,
    spoken.EVERYWHERE,
    tables.SIGNS,
    sentences.SIGNS,
    recovery_codes.SIGNS,
    *(signs for pair in commands.SIGNS for signs in pair),
)
_RUNS, _PORTS = 1, 2
"""A run that is long enough for a token; a port as it stands in a file of passwords."""
_FIRST = 4


def _part(sign: str) -> str:
    """What of a sign is looked for, in small letters: its longest run of letters, or all of it where it must be found whole.

    Empty where it has too few.
    """
    low = sign.lower()
    if not low.isascii():
        return max(low.split(), key=len)
    if low in assignments.KEYWORDS:
        return low
    letters = max(_LETTERS.findall(low), key=len, default="")
    return letters if len(letters) >= _LEAST else ""


def _by_first_letter(parts: Iterable[str]) -> str:
    """An expression for any of some parts that looks only at those with the letter that stands there."""
    groups: dict[str, list[str]] = {}
    for part in parts:
        groups.setdefault(part[0], []).append(part[1:])
    return "|".join(f"{letter}(?:{'|'.join(rests)})" for letter, rests in groups.items())


class _Signs:
    """What is looked for, and what each family is told by."""

    def __init__(self) -> None:
        bits: dict[str, int] = {}
        short: dict[str, int] = {}
        self.families: list[int] = []
        self.bits: dict[str, int] = {}
        """By sign."""
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
        self.letters = {part: bit for part, bit in bits.items() if part.isascii() and part.isalpha()}
        self.any_letters = re.compile(_by_first_letter(self.letters))
        self.whole = [(part, bit) for part, bit in bits.items() if part.isascii() and not part.isalpha()]
        self.foreign = [(part, bit) for part, bit in bits.items() if not part.isascii()]
        self.short = list(short.items())
        """Signs that have hardly a letter, as they are written."""
        self.any_short = re.compile("|".join(map(re.escape, short)))


_SIGNS = _Signs()
ASSIGNMENTS, HEADERS, SPOKEN, TABLES, SENTENCES, RECOVERY_CODES, *_PAIRS = _SIGNS.families
IN_SMALL_LETTERS = ASSIGNMENTS | HEADERS | SPOKEN | TABLES | SENTENCES | RECOVERY_CODES
_OF_COMMANDS = _PORTS
for _family in _PAIRS:
    _OF_COMMANDS |= _family

_plain: set[str] = set()
_signed: dict[str, int] = {}
_runs: dict[str, int] = {}


def signs_of(text: str) -> tuple[int, str]:
    """The signs that the words of a text hold, as bits, 0 where there is none; and its different long runs, one a line."""
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
        bits = _noted(unknown)
        found |= bits
        if bits & _RUNS:
            with_runs += unknown
    return found, "\n".join(set(RUN.findall(" ".join(with_runs)))) if with_runs else ""


def commands_of(signs: int) -> tuple[int, ...] | None:
    """The places of the commands that a text with these signs may hold; None where it gives no program a password."""
    return _commands_of(signs & _OF_COMMANDS)


@lru_cache(maxsize=1 << 12)
def _commands_of(signs: int) -> tuple[int, ...] | None:
    pairs = zip(_PAIRS[::2], _PAIRS[1::2], strict=True)
    found = tuple(place for place, (sign, literal) in enumerate(pairs) if signs & sign and signs & literal)
    return found if found or signs & _PORTS else None


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


def _noted(words: list[str]) -> int:
    """The signs of words that were not met before, all together; each is remembered."""
    if len(_plain) + len(_signed) > _MOST:
        _plain.clear()
        _signed.clear()
    every = 0
    joined = " ".join(words)
    found = dict.fromkeys(words, 0)
    low = joined.lower()
    in_small_letters = low.split(" ")
    for part, bit in _parts(low):
        every |= bit
        for place, word in enumerate(in_small_letters):
            if part in word:
                found[words[place]] |= bit
    if _SIGNS.any_short.search(joined) is not None:
        for part, bit in _SIGNS.short:
            if part in joined:
                every |= bit
                for word in words:
                    if part in word:
                        found[word] |= bit
    for pattern, bit in ((RUN, _RUNS), (commands.PASSWORD_FILE, _PORTS)):
        if pattern.search(joined) is not None:
            every |= bit
            for word in words:
                if pattern.search(word) is not None:
                    found[word] |= bit
    for word, bits in found.items():
        if len(word) <= _LONGEST:
            if bits:
                _signed[word] = bits
            else:
                _plain.add(word)
    return every


def _parts(low: str) -> Iterable[tuple[str, int]]:
    """What of the signs a text in small letters holds."""
    if len(_runs) > _MOST:
        _runs.clear()
    found: dict[str, int] = {}
    for run in set(_LETTERS.findall(low)):
        bits = _runs.get(run)
        if bits is None:
            bits = 0
            if _SIGNS.any_letters.search(run) is not None:
                for part, bit in _SIGNS.letters.items():
                    if part in run:
                        bits |= bit
            _runs[run] = bits
        if bits:
            found[run] = bits
    found.update((part, bit) for part, bit in _SIGNS.whole if part in low)
    if not low.isascii():
        found.update((part, bit) for part, bit in _SIGNS.foreign if part in low)
    return found.items()
