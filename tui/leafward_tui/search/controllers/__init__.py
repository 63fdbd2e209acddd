"""Controllers of the search; they know the screen by its port only."""

from __future__ import annotations
