"""The number columns of the tree's rows: those that fit, and never fewer in a wider terminal."""

from __future__ import annotations

from itertools import pairwise

import pytest

from leafward.session.tree.density import Density
from leafward_tui.explorer.model.row_columns import RowColumns, beside_inspector
from leafward_tui.ui.panes.two_panes import TWO_PANES_FROM
from tests.tui.explored import Named, exploring


def names(columns: RowColumns) -> list[str]:
    return [name for name, _ in columns.numbers]


@pytest.mark.parametrize("density", list(Density))
@pytest.mark.parametrize("tall", [False, True])
def test_a_wider_terminal_has_no_fewer_columns(density: Density, *, tall: bool) -> None:
    """Though from some width on the tree shares it with the inspector."""
    for lanes in (1, 2, 3, 5, 8, 30):
        shown = []
        for terminal in range(60, 260):
            beside = beside_inspector(terminal)
            width = beside if tall and terminal >= TWO_PANES_FROM else terminal - 1
            shown.append(RowColumns.fitting(width, lanes, density, beside))
        assert all(set(names(less)) <= set(names(more)) for less, more in pairwise(shown)), lanes
        assert all(one.text + sum(cells for _, cells in one.numbers) >= 40 for one in shown), lanes


@pytest.mark.parametrize("density", ["turns", "entries"])
async def test_so_has_the_tree(file: Named, density: str) -> None:
    sizes = ((60, 24), (80, 24), (99, 40), (100, 30), (120, 32), (160, 40), (200, 60))
    async with exploring(file.path, sizes[0]) as (pilot, screen):
        if density == "entries":
            await pilot.press("v")
        found = []
        for size in sizes:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            columns = screen.panes.tree.columns
            assert not screen.panes.two_panes or columns.width - beside_inspector(size[0]) in (0, 1)
            found.append(names(columns))
        assert all(set(less) <= set(more) for less, more in pairwise(found))
        assert found[0] == (["outcome", "tokens"] if density == "entries" else ["edits", "tokens"])
        assert density == "entries" or found[4] == ["edits", "calls", "tokens"]
