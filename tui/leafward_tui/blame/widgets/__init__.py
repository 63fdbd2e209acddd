"""The lines of a file with their authors, and what is known of one of them."""

from __future__ import annotations
