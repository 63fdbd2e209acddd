"""A bound on the time of work that a quadratic loop would exceed."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def in_linear_time() -> Iterator[None]:
    """Quadratic work on what the tests build takes many seconds."""
    started = time.process_time()
    yield
    assert time.process_time() - started < 2
