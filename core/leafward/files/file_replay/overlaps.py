"""Whether an edit may touch texts that are known to be in a file. In doubt, it may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.files.text_replacement import bare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.files.text_replacement import Replacement


_LONGEST = 20_000
"""Code points from which two texts are not compared: that would take all their ends."""
_MOST = 40
"""Edits of one call from which they are not compared with each other."""


def ends_aside(text: str) -> str:
    """A text with every line end replaced by a newline."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def tangled(replacements: Sequence[Replacement]) -> bool:
    """Whether one of some edits may change the result of another: not all tools apply them one by one."""
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
    """Whether a known text may have overlapped or enclosed a replaced one, as tools match them."""
    if len(known) > _LONGEST or len(old) > _LONGEST:
        return True
    known, old = _squeezed(known), _squeezed(old)
    sizes = range(1, min(len(known), len(old)) + 1)
    return known in old or _ends_as_begins(known, old, sizes) or _ends_as_begins(old, known, sizes)


def may_begin_before(known: str, old: str) -> bool:
    """Whether an old text in known lines may as well begin above them, and reach into the place where it was found."""
    known = "\n" + known
    return _ends_as_begins(old, known, range(known.find(old) + 1, len(old)))


def _ends_as_begins(text: str, other: str, sizes: range) -> bool:
    """Whether an end of a text, of one of these sizes, is a beginning of another one."""
    at = len(text) - sizes.start + 1
    while sizes and (at := text.rfind(other[0], len(text) - sizes.stop + 1, at)) >= 0:
        if other.startswith(text[at:]):
            return True
    return False


def _squeezed(text: str) -> str:
    """A text without the differences that any tool ignores."""
    return "".join("\n".join(map(bare, text.split("\n"))).split())
