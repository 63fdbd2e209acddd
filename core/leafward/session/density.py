"""How much a row of a session's tree stands for. By itself: the screen names it before anything is laid out."""

from __future__ import annotations

from enum import StrEnum


class Density(StrEnum):
    """How much a row stands for."""

    TURNS = "turns"
    ENTRIES = "entries"
    COMFORTABLE = "comfortable"
    """One turn in two lines."""
