"""A blame in words. Pure."""

from __future__ import annotations
