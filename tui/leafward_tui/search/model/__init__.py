"""What a search of all text shows, as values. Pure."""

from __future__ import annotations
