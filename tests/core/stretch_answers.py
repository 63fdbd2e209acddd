"""Answers about a stretch, given by processes of the tests."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.agents.storage.stretches import blocks_of
from leafward.base.errors import NotASession

if TYPE_CHECKING:
    from leafward.agents.storage.stretches import Stretch

FATAL = b"fatal\n"


def bytes_of(stretch: Stretch) -> bytes | None:
    """The lines of it; None where they are odd."""
    try:
        return b"".join(data for data, _ in blocks_of(stretch))
    except NotASession:
        return None


def dies(stretch: Stretch) -> bytes | None:
    """The same; what holds a certain line is this process's death."""
    found = bytes_of(stretch)
    if found is not None and FATAL in found:
        os._exit(9)
    return found
