"""The content of the catalogue, as values. Pure."""

from __future__ import annotations
