"""Lines of an exploration, in any density."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from leafward.session.tree.density import Density

if TYPE_CHECKING:
    from leafward_tui.explorer.model.exploration import Exploration
    from leafward_tui.explorer.model.folds import ShownLine

DENSITIES = st.sampled_from((Density.TURNS, Density.ENTRIES, Density.COMFORTABLE))


def lines_of(exploration: Exploration) -> list[ShownLine]:
    return [exploration.lines.line(y) for y in range(len(exploration.lines))]
