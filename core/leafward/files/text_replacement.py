"""Replacing texts in a file as the agents' edit tools do, and how well the old texts matched."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.composed_text import composed

if TYPE_CHECKING:
    from collections.abc import Sequence


class EditMatch(StrEnum):
    """The match of the old text of an edit."""

    EXACT = "exact"
    LOOSE = "loose"
    """Only with equal spaces at line ends and typographic signs: the lines in between are not certain."""
    AMBIGUOUS = "ambiguous"
    """The old text occurs more than once, and nothing tells which is meant."""
    ABSENT = "absent"
    LINE_ENDS = "line ends"
    """Line ends are mixed, or not the file's: versions of the tool differ in which they keep."""


class Replacement(NamedTuple):
    """One replacement of an edit."""

    old: str
    new: str
    everywhere: bool = False
    """Whether every occurrence is replaced."""


@dataclass(frozen=True, slots=True)
class EditedText:
    """A text after an edit."""

    text: str
    """Unchanged where nothing was replaced."""
    match: EditMatch
    """The worst match of its replacements."""
    loose: tuple[tuple[int, int], ...] = ()
    """Start and end in code points of the loose matches in the new text, in order."""


class _Found(NamedTuple):
    begin: int
    end: int
    new: str
    match: EditMatch


def replace(text: str, replacements: Sequence[Replacement], *, keeps_ends: bool = True) -> EditedText:
    """Applies the replacements of one call; changes nothing where one of them is not found.

    An old text must occur once, or is replaced everywhere where it says so. Tools that search for all of them in the
    original text, and tools that replace one after the other, have the same result where each occurs once; else only the
    latter can have done it. `keeps_ends`: whether new lines end as the file's lines do.
    """
    ends = "\r\n" if "\r\n" in text else "\n"
    if ends == "\r\n" and (keeps_ends or not any("\n" in one.old + one.new for one in replacements)):
        text_lf = text.replace("\r\n", "\n")
        requests = [
            one._replace(old=one.old.replace("\r\n", "\n"), new=one.new.replace("\r\n", "\n"))
            for one in replacements
        ]
        mixed = text_lf.count("\n") != text.count("\r\n")
    else:
        text_lf, requests, mixed = text, list(replacements), ends == "\r\n"
    if mixed or "\r" in text_lf or any("\r" in one.old + one.new for one in requests):
        return EditedText(text, EditMatch.LINE_ENDS)
    made = _at_once(text_lf, requests)
    if made.match in (EditMatch.ABSENT, EditMatch.AMBIGUOUS):
        made = _one_by_one(text_lf, requests) or made
    if made.match not in (EditMatch.EXACT, EditMatch.LOOSE):
        return EditedText(text, made.match)
    if ends == "\n":
        return made
    # Each line above has one more code point.
    loose = tuple(
        (at + made.text.count("\n", 0, at), to + made.text.count("\n", 0, to)) for at, to in made.loose
    )
    return EditedText(made.text.replace("\n", "\r\n"), made.match, loose)


def _at_once(text: str, replacements: Sequence[Replacement]) -> EditedText:
    """Applies the replacements, all searched in the original text."""
    found: list[_Found] = []
    worst = EditMatch.EXACT
    for one in replacements:
        if one.everywhere:
            places = [place.start() for place in re.finditer(re.escape(one.old), text)] if one.old else []
            if not places:
                return EditedText(text, EditMatch.ABSENT)
            found += [_Found(at, at + len(one.old), one.new, EditMatch.EXACT) for at in places]
            continue
        span, match = _find(text, one.old)
        if span is None:
            return EditedText(text, match)
        found.append(_Found(*span, one.new, match))
        worst = match if match is EditMatch.LOOSE else worst
    found.sort()
    if any(one.end > other.begin for one, other in pairwise(found)):
        return EditedText(text, EditMatch.AMBIGUOUS)
    parts, loose, at, size = [], [], 0, 0
    for begin, end, new, match in found:
        parts += [text[at:begin], new]
        size += begin - at
        if match is EditMatch.LOOSE:
            loose.append((size, size + len(new)))
        size, at = size + len(new), end
    return EditedText("".join((*parts, text[at:])), worst, tuple(loose))


def _one_by_one(text: str, replacements: Sequence[Replacement]) -> EditedText | None:
    """Applies the replacements, each searched in the result of the one before. None where that does not match exactly."""
    working = text
    for one in replacements:
        count = working.count(one.old) if one.old else 0
        if not count or (count > 1 and not one.everywhere):
            return None
        if one.old not in text and _find(text, one.old)[1] is EditMatch.LOOSE:
            # A tool that searches the original text finds it there loosely.
            return None
        working = working.replace(one.old, one.new)
    return EditedText(working, EditMatch.EXACT)


def _find(text: str, old: str) -> tuple[tuple[int, int] | None, EditMatch]:
    if not old:
        # Only in an empty file can an empty text be replaced.
        return ((0, 0), EditMatch.EXACT) if not text else (None, EditMatch.ABSENT)
    found = text.find(old)
    if found >= 0:
        if text.find(old, found + 1) >= 0:
            return None, EditMatch.AMBIGUOUS
        return (found, found + len(old)), EditMatch.EXACT
    lines, old_lines = text.split("\n"), old.split("\n")
    alike, sought = [bare(line).strip() for line in lines], [bare(line).strip() for line in old_lines]
    if len(old_lines) > 1 and not old_lines[-1]:
        sought.pop()
    if not any(sought):
        return None, EditMatch.ABSENT
    places = [
        at
        for at in range(len(alike) - len(sought) + 1)
        if alike[at] == sought[0] and alike[at : at + len(sought)] == sought
    ]
    if len(places) != 1:
        return None, EditMatch.AMBIGUOUS if places else EditMatch.ABSENT
    # Some tools search for whole lines without the spaces around them, others for the text within lines.
    within, wanted_within = "\n".join(map(bare, lines)), "\n".join(map(bare, old_lines))
    at = within.find(wanted_within)
    if at >= 0 and (within.find(wanted_within, at + 1) >= 0 or within.count("\n", 0, at) != places[0]):
        return None, EditMatch.AMBIGUOUS
    begin = sum(len(line) + 1 for line in lines[: places[0]])
    end = begin + sum(len(line) + 1 for line in lines[places[0] : places[0] + len(sought)])
    # A newline at the end of the old text is replaced with it.
    return (begin, min(len(text), end) if old_lines[-1] == "" else end - 1), EditMatch.LOOSE


_DASHES = re.compile("[\u2010-\u2015\u2212]")
_SINGLE = re.compile("[\u2018-\u201b]")
_DOUBLE = re.compile("[\u201c-\u201f]")


def bare(line: str) -> str:
    """A line without the details that tools ignore: spaces at its end, the kind of quotes, dashes and spaces (pi 1.5.2)."""
    if line.isascii():
        return line.rstrip()
    return plain_signs(composed(line, "NFKC")).rstrip()


def plain_signs(line: str) -> str:
    """Typographic quotes and dashes as keyboards have them."""
    return _DOUBLE.sub('"', _SINGLE.sub("'", _DASHES.sub("-", line)))
