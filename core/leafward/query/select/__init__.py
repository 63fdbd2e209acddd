"""Entries chosen by a query: the language that filter, search, export and the command line share."""

from __future__ import annotations

from leafward.query.select.evaluator import FIELDS, FUNCTIONS, Selection, select
from leafward.query.select.grammar import QueryError, parse

__all__ = ["FIELDS", "FUNCTIONS", "QueryError", "Selection", "parse", "select"]
