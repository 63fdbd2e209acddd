"""Pauses of the garbage collector, of several threads at a time."""

from __future__ import annotations

import gc
from contextlib import ExitStack
from typing import TYPE_CHECKING
from weakref import ref

import pytest

from leafward.base.gc_pause import COLLECTOR, gc_paused

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    before = gc.isenabled()
    gc.enable()
    yield
    if not before:
        gc.disable()


def test_garbage_is_collected_again_when_the_last_pause_ends() -> None:
    with ExitStack() as longer:
        with gc_paused():
            longer.enter_context(gc_paused())
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_is_switched_off_stays_so() -> None:
    gc.disable()
    with gc_paused():
        pass
    assert not gc.isenabled()


def test_what_is_switched_on_in_a_pause_begins_with_its_end() -> None:
    gc.disable()
    with gc_paused():
        COLLECTOR.enable()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_was_made_in_a_pause_is_not_looked_through_at_its_end() -> None:
    passes: list[str] = []

    def note(phase: str, _info: dict[str, int]) -> None:
        passes.append(phase)

    gc.callbacks.append(note)
    try:
        with gc_paused():
            made: list[list[int]] = [[] for _ in range(150_000)]
        behind = [[place] for place in range(100)]
    finally:
        gc.callbacks.remove(note)
    assert len(made) + len(behind) == 150_100
    assert passes == []


class _Ring:
    """A value in a cycle of references."""

    def __init__(self, rest: list[list[int]]) -> None:
        self.own, self.rest = self, rest


def test_a_cycle_that_was_made_in_a_pause_is_freed_by_a_later_pass() -> None:
    with gc_paused():
        gone = ref(_Ring([[] for _ in range(150_000)]))
    assert gone() is not None
    gc.collect()
    assert gone() is None
