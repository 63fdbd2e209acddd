"""Entries that a query chooses, for filter, search, export and the command line."""

from __future__ import annotations

from leafward.query.select.evaluator import members_of, select

__all__ = ["members_of", "select"]
