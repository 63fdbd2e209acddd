"""What the catalogue shows, as values. Pure."""

from __future__ import annotations
