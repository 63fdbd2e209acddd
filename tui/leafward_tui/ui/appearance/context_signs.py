"""The sign and ink of each part of a context, the same in every bar and ledger.

All signs fill their cell, so that a bar is even, and each is told apart without hue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leafward_tui.ui.appearance.glyphs import Glyphs

_PARTS = {
    "system": ("block_system", "sub"),
    "summary": ("block_again", "memory"),
    "injected": ("block_injected", "ghost"),
    "kept": ("block", "leaf"),
    "after": ("block_after", "leaf"),
    "not in file": ("block_unseen", "faint"),
    "estimation error": ("block_error", "faint"),
}
"""Field of `Glyphs` and ink, by the part's name in a ledger, in the order of a bar."""

PARTS = tuple(_PARTS)
"""The names of all parts with a sign."""


def part_sign(part: str, glyphs: Glyphs) -> tuple[str, str]:
    """The sign and ink of a part by its name in a ledger; a blank for one without a share of the bar."""
    field, ink = _PARTS.get(part, ("", "blank"))
    return (getattr(glyphs, field), ink) if field else (" ", ink)
