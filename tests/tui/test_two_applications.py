"""Two applications on one session: each follows what the other writes, and neither writes over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.tui.explored import chosen, exploring, forked, lines, tree
from tests.tui.session_store import until
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from leafward_tui.explorer.screen import ExplorerScreen


def places(screen: ExplorerScreen) -> tuple[int, int]:
    session = sure(screen.state.session)
    return session.place, len(session)


async def test_what_one_wrote_the_other_shows_and_takes_back(tmp_path: Path) -> None:
    file = forked(tmp_path / "session.jsonl")
    async with exploring(file.path) as (left, one), exploring(file.path) as (right, other):
        await left.press("K")
        await chosen(left, "l", *"left", "enter")
        await until(left, lambda: any("[left]" in row for row in tree(one)))
        await until(right, lambda: any("[left]" in row for row in tree(other)))
        await chosen(right, "l", *"right", "enter")
        await until(right, lambda: any("[right]" in row for row in tree(other)))
        await until(left, lambda: any("[right]" in row for row in tree(one)))
        await left.press("u")
        await until(right, lambda: not any("[right]" in row for row in tree(other)))
        await until(left, lambda: places(one) == places(other))
    said = [line.get("label") for line in lines(file.path) if line["type"] == "label"]
    assert said == ["left", "right", None], "an undo takes back the latest operation, whoever did it"
