"""The operation log."""

from __future__ import annotations
