"""The widgets of the catalogue."""

from __future__ import annotations
