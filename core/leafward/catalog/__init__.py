"""All sessions there are, listed at once from what was seen before and brought up to date behind."""

from __future__ import annotations

from leafward.catalog.card import NO_MESSAGES, Card, Details, iso_time, parse_time
from leafward.catalog.lineage import Group, Row, Sort, arrange, parents, with_parents
from leafward.catalog.listing import Catalogue, Found, Update, find_session, sighted
from leafward.catalog.places import discover

__all__ = [
    "NO_MESSAGES",
    "Card",
    "Catalogue",
    "Details",
    "Found",
    "Group",
    "Row",
    "Sort",
    "Update",
    "arrange",
    "discover",
    "find_session",
    "iso_time",
    "parents",
    "parse_time",
    "sighted",
    "with_parents",
]
