"""The content of the explorer, as values. Pure."""

from __future__ import annotations
