"""The widgets of the explorer."""

from __future__ import annotations
