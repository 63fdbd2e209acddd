"""Entries chosen by a query: what filter, search, export and the command line share."""

from __future__ import annotations

from leafward.query.select.evaluator import members_of, select

__all__ = ["members_of", "select"]
