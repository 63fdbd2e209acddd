"""What the explorer shows, as values. Pure."""

from __future__ import annotations
