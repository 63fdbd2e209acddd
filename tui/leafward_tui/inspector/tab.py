"""The tabs of the inspector, in a module of their own: they are in the first frame, before there is a page."""

from __future__ import annotations

from enum import StrEnum


class Tab(StrEnum):
    """A page of the inspector, named as its tab is."""

    ENTRY = "Entry"
    CONTEXT = "Context"
    COMPACTION = "Compaction"
    FILES = "Files"
    RAW = "Raw"
