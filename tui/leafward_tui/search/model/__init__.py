"""The content of the search of all text, as values. Pure."""

from __future__ import annotations
