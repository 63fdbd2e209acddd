"""The folders that sessions belong to, as they are on this machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def missing_folders(projects: Iterable[str]) -> frozenset[str]:
    """The folders that are not there, moved or removed: which of the two cannot be told from here."""
    return frozenset(one for one in set(projects) if one and os.path.isabs(one) and not os.path.isdir(one))
