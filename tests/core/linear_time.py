"""A bound on the time of work that a quadratic loop would exceed."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOOP = 0.02
"""Seconds that the loop below takes on a quick machine."""


@contextmanager
def in_linear_time(seconds: float = 2) -> Iterator[None]:
    """Quadratic work on what the tests build takes many times those seconds of a quick machine."""
    started = time.process_time()
    yield
    took = time.process_time() - started
    assert took < seconds or took < seconds * _slowness()


def _slowness() -> float:
    """How many times longer than a quick machine this one takes."""
    started = time.process_time()
    rest = 0
    for number in range(1_000_000):
        rest += number % 7
    return (time.process_time() - started) / _LOOP
