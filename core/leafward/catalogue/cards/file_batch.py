"""Session files that a worker process reads whole in one request."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from leafward.catalogue.cards import full_card

if TYPE_CHECKING:
    from leafward.agents.base import SessionCandidate
    from leafward.catalogue.cards.card import Reading


class FileBatch(NamedTuple):
    """Files to read, and the time limit for each."""

    candidates: tuple[SessionCandidate, ...]
    seconds: float
    """Time limit for each file."""


def read_batch(batch: FileBatch) -> list[Reading | None]:
    """Reads each file; None for a file that took longer than its limit."""
    found = []
    for one in batch.candidates:
        end = time.monotonic() + batch.seconds
        found.append(full_card.read_whole(one, lambda: time.monotonic() > end))  # noqa: B023  called at once
    return found
