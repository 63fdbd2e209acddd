"""Numbers of a summary beside any word: too many in a span to be facts, but a number without a source is invented."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.session.entries import NO_ENTRY
from leafward.summaries.facts.values import FactKind, Sighting, Voice

if TYPE_CHECKING:
    from collections.abc import Iterator

_COUNT = re.compile(
    r"(?<![\w.,#/:@$=~≈<>≤≥+-])(?P<value>[0-9]{1,15}(?:[,_][0-9]{3}){0,5}(?:\.[0-9]{1,9})?)"
    r"(?![0-9A-Za-z_/%:+@-]|[.,][0-9A-Za-z_])(?P<word> [A-Za-z][A-Za-z]{1,30})?"
)
_WORD_BEFORE = re.compile(r"[A-Za-z][A-Za-z]{1,30} \Z")
_ABOUT = re.compile(
    r"(?i)\b(?:about|almost|approx(?:imately)?|around|at least|below|nearly|over|roughly|some|than|under|up to)\s\Z"
)
"""Words before a rounded number, or before a bound."""
_FEWEST_DIGITS = 3
"""Shorter numbers occur in every long span, and count the summary's own lists."""
_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_LONGEST_BEFORE = 40


def bare_counts(text: str) -> Iterator[Sighting]:
    """Each number of three or more digits with the word beside it.

    Rounded numbers, years, parts of names and numbers of further items, which a summary counts itself, are left out.
    """
    for match in _COUNT.finditer(text):
        digits = match["value"].replace(",", "").replace("_", "")
        whole = digits.replace(".", "").strip("0")
        if len(digits.replace(".", "")) < _FEWEST_DIGITS or len(whole) < 2:
            continue
        if digits.isdecimal() and _FIRST_YEAR <= int(digits) <= _LAST_YEAR:
            continue
        before = text[max(0, match.start() - _LONGEST_BEFORE) : match.start()]
        word = match["word"] or ""
        if _ABOUT.search(before) or word == " more":
            continue
        led = _WORD_BEFORE.search(before) if not word else None
        beside = word.strip() or (led[0].strip() if led is not None else "")
        written = match["value"] + word if led is None else led[0] + match["value"]
        yield Sighting(FactKind.NUMBER, f"{digits} {beside}".strip(), written, Voice.TOLD, NO_ENTRY)
