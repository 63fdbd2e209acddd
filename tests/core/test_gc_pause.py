"""A pause of the garbage collector costs nothing where little was made."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from leafward.base.gc_pause import gc_paused

if TYPE_CHECKING:
    import pytest


def test_what_is_set_aside_is_counted_only_where_much_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    count = gc.get_freeze_count

    def counting() -> int:
        asked.append(1)
        return count()

    monkeypatch.setattr(gc, "get_freeze_count", counting)
    gc.collect()
    with gc_paused():
        few = [[number] for number in range(100)]
    assert len(few) == 100
    assert not asked
    with gc_paused():
        many = [[number] for number in range(100_000)]
    assert len(many) == 100_000
    assert asked == [1]
    assert gc.isenabled()
