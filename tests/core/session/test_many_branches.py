"""Very many children of one parent, roots and branches: what is asked of each of them takes no look at all others."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.cli.output.outline import outline_rows
from leafward.session.columns import _OFTEN
from leafward.session.entries import EntryIndex, Kind
from leafward.session.lines.scan import Scan
from leafward.session.session import Session
from leafward.session.tree.tree import SessionTree
from tests.core.scan_lines import HEAD, message

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

COUNT = 5_000

SHAPES: dict[str, Callable[[int], int | None]] = {
    "children": lambda number: 1 if number > 1 else None,
    "roots": lambda number: None,
    "two deep": lambda number: None if number == 1 else 1 if number % 2 == 0 else number - 1,
    "comb": lambda number: None if number == 1 else number - 2 if number % 2 else number - 1,
    "orphans": lambda number: 10**7 + number,
}


def _written(path: Path, parent: Callable[[int], int | None], ids: str) -> Path:
    lines = [HEAD]
    for number in range(1, COUNT + 1):
        above = parent(number)
        lines.append(
            message(ids % number, ids % above if above else None, "user" if number % 2 else "assistant")
        )
    path.write_bytes(b"".join(lines))
    return path


@pytest.mark.parametrize("ids", ["%08x", "node-%d"])
@pytest.mark.parametrize("shape", SHAPES)
def test_each_entry_is_looked_for_once_at_most(tmp_path: Path, shape: str, ids: str) -> None:
    with closing(Session.open(_written(tmp_path / "session.jsonl", SHAPES[shape], ids))) as session:
        columns = session.columns
        assert [columns.index(columns.id(index)) for index in range(COUNT)] == list(range(COUNT))
        assert columns.searched <= 2 * _OFTEN + 16
        assert columns.index("ffffffff") < 0
        assert sum(len(row.entries) for row in outline_rows(session)) == COUNT


@pytest.mark.parametrize("shape", SHAPES)
def test_the_outline_asks_the_tree_a_fixed_number_of_times_an_entry(
    tmp_path: Path, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    for name in ("run_of", "bounds", "content_at", "is_ancestor"):
        own = getattr(SessionTree, name)

        def counting(*arguments: object, own: Callable[..., object] = own) -> object:
            nonlocal asked
            asked += 1
            return own(*arguments)

        monkeypatch.setattr(SessionTree, name, counting)
    with closing(Session.open(_written(tmp_path / "session.jsonl", SHAPES[shape], "%08x"))) as session:
        asked = 0
        assert len(list(outline_rows(session))) > COUNT / 4
        assert asked <= 12 * COUNT


def test_ids_that_damage_took_away_are_not_found(tmp_path: Path) -> None:
    path = _written(tmp_path / "session.jsonl", SHAPES["children"], "%08x")
    with closing(Session.open(path)) as session:
        for _ in range(_OFTEN + 2):
            assert session.columns.index("00000007") == 6
        session.discredit([EntryIndex(6)])
        assert session.columns.index("00000007") < 0
        assert session.columns.index("00000008") == 7
        path.write_bytes(path.read_bytes() + message("0000beef", "00000008"))
        session.refresh()
        for _ in range(_OFTEN + 2):
            assert session.columns.index("0000beef") == COUNT


def test_broken_lines_at_the_end_are_taken_out_in_one_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines that begin and end like an entry and are none: pi's leaf is the last entry before them."""
    broken = b"".join(
        message(f"{number:08x}", f"{number - 1:08x}").replace(b'"content":', b'"content":}')
        for number in range(3, 2_000)
    )
    path = tmp_path / "session.jsonl"
    path.write_bytes(HEAD + message("00000001") + message("00000002", "00000001", "assistant") + broken)
    passes, own = 0, Scan.discredit

    def counting(scan: Scan, entries: Collection[int]) -> None:
        nonlocal passes
        passes += 1
        own(scan, entries)

    monkeypatch.setattr(Scan, "discredit", counting)
    with closing(Session.open(path)) as session:
        assert session.columns.id(session.leaf) == "00000002"
        assert session.columns.kind.count(Kind.MALFORMED) == 1_997
    assert passes == 1
