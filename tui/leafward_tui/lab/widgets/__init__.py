"""Widgets of the compaction lab; they show lines that others make."""

from __future__ import annotations
