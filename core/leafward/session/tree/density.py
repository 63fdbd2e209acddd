"""The densities of a session's tree. A module of its own, because the screen names them before anything is laid out."""

from __future__ import annotations

from enum import StrEnum


class Density(StrEnum):
    """The density of a tree's rows."""

    TURNS = "turns"
    ENTRIES = "entries"
    COMFORTABLE = "comfortable"
    """One turn in two lines."""
