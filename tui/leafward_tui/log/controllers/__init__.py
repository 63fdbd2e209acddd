"""Controllers of the operation log; they know the screen by its port only."""

from __future__ import annotations
