"""Replacing one text by another in a file, as the agents' edit tools do it, and saying how well it matched."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Match(StrEnum):
    """How the old text of an edit was found."""

    EXACT = "exact"
    LOOSE = "loose"
    """Only after spaces at line ends and typographic signs were made alike: the lines in between are not certain."""
    AMBIGUOUS = "ambiguous"
    """It stands there more than once, and nothing says which is meant."""
    ABSENT = "absent"


class Replacement(NamedTuple):
    """One replacement of an edit."""

    old: str
    new: str
    everywhere: bool = False
    """Whether every occurrence is replaced."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A text after an edit."""

    text: str
    """As before where nothing was replaced."""
    match: Match
    """The worst of its replacements."""
    begin: int = 0
    """Code points: where a loose match begins in the new text."""
    end: int = 0


_ORDER = (Match.EXACT, Match.LOOSE, Match.AMBIGUOUS, Match.ABSENT)


def replace(text: str, replacements: list[Replacement], *, in_order: bool = False) -> Replaced:
    """Applies the replacements of one call, one after the other; nothing is changed where one of them is not found.

    `in_order`: each is looked for behind the one before it, and the first place counts (patches); else an old text must
    be there once, or is replaced everywhere where it says so.
    """
    ends = "\r\n" if "\r\n" in text and not re.search(r"(?<!\r)\n", text) else "\n"
    working = text.replace("\r\n", "\n") if ends == "\r\n" else text
    worst, place, begin, end = Match.EXACT, 0, 0, 0
    for one in replacements:
        old, new = (
            (one.old.replace("\r\n", "\n"), one.new.replace("\r\n", "\n"))
            if ends == "\r\n"
            else (one.old, one.new)
        )
        span, match = _find(working, old, place if in_order else 0, first=in_order or one.everywhere)
        if span is None:
            return Replaced(text, match)
        if one.everywhere and match is Match.EXACT:
            working = working.replace(old, new)
        else:
            working = working[: span[0]] + new + working[span[1] :]
            place = span[0] + len(new)
            if match is Match.LOOSE:
                begin, end = (min(begin, span[0]) if end else span[0]), max(end, place)
        worst = max(worst, match, key=_ORDER.index)
    return Replaced(working.replace("\n", "\r\n") if ends == "\r\n" else working, worst, begin, end)


def _find(text: str, old: str, place: int, *, first: bool) -> tuple[tuple[int, int] | None, Match]:
    if not old:
        # Only an empty file has an empty text to replace.
        return ((0, 0), Match.EXACT) if not text else (None, Match.ABSENT)
    found = text.find(old, place)
    if found < 0 and place:
        found = text.find(old)
    if found >= 0:
        if not first and text.find(old, found + 1) >= 0:
            return None, Match.AMBIGUOUS
        return (found, found + len(old)), Match.EXACT
    lines, wanted = text.split("\n"), old.split("\n")
    alike, sought = [_bare(line) for line in lines], [_bare(line) for line in wanted]
    if len(sought) > 1 and not sought[-1]:
        sought.pop()
    if not any(sought):
        return None, Match.ABSENT
    places = [
        at
        for at in range(len(alike) - len(sought) + 1)
        if alike[at] == sought[0] and alike[at : at + len(sought)] == sought
    ]
    if not places:
        return None, Match.ABSENT
    if len(places) > 1 and not first:
        return None, Match.AMBIGUOUS
    begin = sum(len(line) + 1 for line in lines[: places[0]])
    end = begin + sum(len(line) + 1 for line in lines[places[0] : places[0] + len(sought)])
    # A newline at the end of the old text is part of what is replaced.
    return (begin, min(len(text), end) if wanted[-1] == "" else end - 1), Match.LOOSE


_DASHES = re.compile("[\u2010-\u2015\u2212]")
_SINGLE = re.compile("[\u2018-\u201b]")
_DOUBLE = re.compile("[\u201c-\u201f]")


def _bare(line: str) -> str:
    """A line without what tools overlook: spaces at both ends, the kind of quotes, dashes and spaces."""
    if line.isascii():
        return line.strip()
    line = unicodedata.normalize("NFKC", line)
    return _DOUBLE.sub('"', _SINGLE.sub("'", _DASHES.sub("-", line))).strip()
