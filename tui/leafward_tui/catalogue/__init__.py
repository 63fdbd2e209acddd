"""The catalogue: all sessions, grouped, nested and filtered."""

from __future__ import annotations
