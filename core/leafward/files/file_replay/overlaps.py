"""Whether texts that are known to stand in a file may be touched by what an edit replaces. In doubt they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.files.file_replay.texts import bare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.files.file_replay.texts import Replacement


_LONGEST = 20_000
"""Code points from which two texts are not looked at: all their ends would have to be compared."""
_MOST = 40
"""Edits of one call from which they are not held against each other."""


def ends_aside(text: str) -> str:
    """A text whose lines all end in a newline alone."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def tangled(replacements: Sequence[Replacement]) -> bool:
    """Whether one of some edits may change what another one makes: not all tools do that."""
    return len(replacements) > _MOST or (
        len(replacements) > 1
        and any(
            other is not one and may_overlap(other.new, one.old)
            for one in replacements
            for other in replacements
            if other.new
        )
    )


def may_overlap(known: str, old: str) -> bool:
    """Whether a text that stood in the file may have lain partly within another that does, or around it, as tools look for it."""
    if len(known) > _LONGEST or len(old) > _LONGEST:
        return True
    known, old = _squeezed(known), _squeezed(old)
    return known in old or any(
        known.endswith(old[:size]) or known.startswith(old[-size:])
        for size in range(1, min(len(known), len(old)) + 1)
    )


def may_begin_before(known: str, old: str) -> bool:
    """Whether an old text that stands in known lines may as well begin above them, and reach into where it was found."""
    known = "\n" + known
    found = known.find(old)
    return any(known.startswith(old[-size:]) for size in range(found + 1, len(old)))


def _squeezed(text: str) -> str:
    """A text without what any tool overlooks."""
    return "".join("\n".join(map(bare, text.split("\n"))).split())
