"""Widgets of the inspector."""

from __future__ import annotations
