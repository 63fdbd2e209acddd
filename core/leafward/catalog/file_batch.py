"""Session files that a process of our own reads whole at one request."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from leafward.catalog import full_card

if TYPE_CHECKING:
    from leafward.agents import Candidate
    from leafward.catalog.card import Reading


class FileBatch(NamedTuple):
    """Files to read, and how long."""

    candidates: tuple[Candidate, ...]
    seconds: float
    """For each file, at most."""


def read_batch(batch: FileBatch) -> list[Reading | None]:
    """Reads each file; None where it took longer than it may."""
    found = []
    for one in batch.candidates:
        end = time.monotonic() + batch.seconds
        found.append(full_card.read_whole(one, lambda: time.monotonic() > end))  # noqa: B023  called at once
    return found
