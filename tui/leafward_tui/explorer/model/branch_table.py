"""All leaves of a session in one table: what came of each branch since it left the others, in columns of fixed width."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward_tui.ui.cells import count, counted, fit, money, right

if TYPE_CHECKING:
    from leafward.branches.diff.sides import Side
    from leafward.session.entries import EntryIndex
    from leafward_tui.ui.glyphs import Glyphs

__all__ = ["BranchRow", "figures"]


class BranchRow(NamedTuple):
    """A leaf with what its branch adds to the fork above it."""

    leaf: EntryIndex
    words: str
    side: Side


def figures(side: Side, glyphs: Glyphs, *, wide: bool, output: bool) -> str:
    """What came of a branch in columns of fixed width; with room for it, the tokens that were written too."""
    came = side.outcomes
    # There is room for one: what failed is not hidden by what did not.
    ordered = sorted(came.checks, key=lambda one: one.ok)
    checks = [f"{glyphs.ok if one.ok else glyphs.error} {one.check.value}" for one in ordered]
    cells = [
        right(counted(side.turns, "turn"), 9),
        right(counted(side.edits, "edit"), 9),
        right(counted(came.errors, "error"), 10) if came.errors else right(glyphs.zero, 10),
        right(money(came.usage.cost) if came.costs_known else glyphs.dash, 8),
    ]
    if not wide:
        return "".join(cells[:3])
    if output:
        cells.append(right(count(came.usage.output), 8))
    return f"{fit('  '.join(checks[:1]) or 'no checks', 9, pad=True)}{''.join(cells)}"
