"""Pauses of the garbage collector, of several threads at a time."""

from __future__ import annotations

import gc
from contextlib import ExitStack
from typing import TYPE_CHECKING

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
