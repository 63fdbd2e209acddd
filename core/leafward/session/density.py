"""The densities of a session's tree. A module of its own, because the screen names them before anything is laid out."""

from __future__ import annotations

from enum import StrEnum


class Density(StrEnum):
    """The number of entries that one row shows."""

    TURNS = "turns"
    ENTRIES = "entries"
    COMFORTABLE = "comfortable"
    """One turn in two lines."""
