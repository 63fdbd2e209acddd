"""A patch of Codex's format applied to a text: only a result that all versions of the tool agree on is certain.

Checked against Codex 0.80, 0.125 and 0.169. Up to 0.125 a line of a patch that stays replaces the one that is there, line ends
included, and a blank last line is taken for the file's end; since then the file keeps its own lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from leafward.files.edits import lines_of
from leafward.files.text_replacement import EditMatch, plain_signs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.files.patch_format import PatchPlace


class Region(NamedTuple):
    """Lines of the old text that a place of a patch matches. Numbers from 0, the end not included."""

    begin: int
    end: int
    size: int
    """The number of lines afterwards."""


@dataclass(frozen=True, slots=True)
class Patched:
    """A text after a patch."""

    match: EditMatch
    """The worst match of its places: `EXACT`, `LOOSE` or `ABSENT`; `AMBIGUOUS` where two places meet."""
    text: str | None
    """None where not every place applies, or versions of the tool produce different texts."""
    regions: tuple[Region, ...] = ()
    """The replaced lines, in order; empty where they are not certain."""


class _Meeting(ValueError):
    """Two places with the same lines, or meeting at the end of the file: their order is not known."""


class _Applied(NamedTuple):
    text: str
    match: EditMatch
    regions: tuple[Region, ...]


def patched(text: str, places: Sequence[PatchPlace]) -> Patched:
    """Applies the places of a patch, each searched after the one before it."""
    try:
        before, since = _until_0_125(text, places), _since(text, places)
    except _Meeting:
        return Patched(EditMatch.AMBIGUOUS, None)
    if before is None and since is None:
        return Patched(EditMatch.ABSENT, None)
    if before is None or since is None:
        return Patched(EditMatch.LOOSE, None)
    match = EditMatch.LOOSE if EditMatch.LOOSE in (before.match, since.match) else EditMatch.EXACT
    if before.text == since.text:
        return Patched(match, before.text, before.regions)
    return Patched(EditMatch.LOOSE, None, before.regions if before.regions == since.regions else ())


def _until_0_125(text: str, places: Sequence[PatchPlace]) -> _Applied | None:
    lines = lines_of(text)
    made = _replacements(lines, places, len(lines) - (bool(lines) and not lines[-1]))
    if made is None:
        return None
    found, match = made
    for begin, end, _, new in reversed(found):
        lines[begin:end] = new
    if not lines or lines[-1]:
        lines.append("")
    return _Applied("\n".join(lines), match, tuple(Region(a, b, len(new)) for a, b, _, new in found))


def _since(text: str, places: Sequence[PatchPlace]) -> _Applied | None:
    """The text after a patch; None where it does not apply, and where line ends are mixed: a new line's is not known then."""
    ends = "\r\n" if "\r\n" in text else "\n"
    if ends == "\r\n" and re.search(r"(?<!\r)\n|\r(?!\n)", text):
        return None
    lines = lines_of(text.replace("\r\n", "\n"))
    made = _replacements(lines, places, len(lines))
    if made is None:
        return None
    found, match = made
    for begin, end, signs, _ in reversed(found):
        old = iter(lines[begin:end])
        now = []
        for sign, line in signs:
            if sign == "+":
                now.append(line)
            elif (own := next(old, None)) is not None and sign == " ":
                now.append(own)
        lines[begin:end] = now
    whole = "\n".join((*lines, "")).replace("\n", ends)
    return _Applied(whole, match, tuple(Region(a, b, len(new)) for a, b, _, new in found))


_Found = tuple[int, int, "Sequence[tuple[str, str]]", list[str]]


def _replacements(
    lines: list[str], places: Sequence[PatchPlace], end_of_file: int
) -> tuple[list[_Found], EditMatch] | None:
    """The positions of the places, with their lines; None where one is not found. Raises _Meeting."""
    found: list[_Found] = []
    worst, at = EditMatch.EXACT, 0
    for place in places:
        if place.context is not None:
            hit = _seek(lines, [place.context], at, at_end=False)
            if hit is None:
                return None
            at, worst = hit[0] + 1, _worse(worst, hit[1])
        signs = place.lines
        old = [line for sign, line in signs if sign != "+"]
        new = [line for sign, line in signs if sign != "-"]
        if not old:
            found.append((end_of_file, end_of_file, signs, new))
            continue
        hit = _seek(lines, old, at, at_end=place.at_end)
        if hit is None and not old[-1]:
            # A blank line at its end may come only from the notation of the patch.
            old = old[:-1]
            if new and not new[-1]:
                new = new[:-1]
            signs = signs[:-1] if signs[-1][0] != "+" else signs
            hit = _seek(lines, old, at, at_end=place.at_end)
        if hit is None:
            return None
        begin, match = hit
        worst = _worse(worst, match)
        at = begin + len(old)
        found.append((begin, at, signs, new))
    found.sort(key=lambda one: one[0])
    for one, other in pairwise(found):
        if one[1] > other[0] or (one[1] == other[0] == other[1]):
            raise _Meeting
    return found, worst


def _worse(one: EditMatch, other: EditMatch) -> EditMatch:
    return EditMatch.LOOSE if EditMatch.LOOSE in (one, other) else EditMatch.EXACT


def _seek(lines: list[str], block: list[str], at: int, *, at_end: bool) -> tuple[int, EditMatch] | None:
    """The first position of some lines: unchanged, then without spaces at their ends, then without typographic signs."""
    if not block:
        return at, EditMatch.EXACT
    last = len(lines) - len(block)
    if at_end and last >= 0:
        at = last
    for number, alike in enumerate(_ALIKE):
        # The lines are searched between newlines in one joined text.
        have = "\n".join(("", *map(alike, lines[at:]), ""))
        sought = "\n".join(("", *map(alike, block), ""))
        found = have.find(sought)
        if found < 0:
            continue
        if alike is _plain and have.find(sought, found + 1) >= 0:
            # Tools differ in the signs that they treat as equal.
            return None
        return at + have.count("\n", 0, found), EditMatch.LOOSE if number else EditMatch.EXACT
    return None


_SPACES = re.compile("[\u00a0\u2002-\u200a\u202f\u205f\u3000]")


def _plain(line: str) -> str:
    line = line.strip()
    if line.isascii():
        return line
    return _SPACES.sub(" ", plain_signs(line))


_ALIKE: tuple[Callable[[str], str], ...] = (str, str.rstrip, str.strip, _plain)
