"""The widgets of the operation log."""

from __future__ import annotations
