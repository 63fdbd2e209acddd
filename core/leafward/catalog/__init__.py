"""Lists all sessions: at once from what earlier runs saw, then brought up to date in the background."""

from __future__ import annotations

from leafward.catalog.about import NOTHING_KNOWN, About, about
from leafward.catalog.card import Card, Details, iso_time
from leafward.catalog.lineage import Group, Sort, arrange, families, parents, with_parents
from leafward.catalog.listing import Catalogue, Update
from leafward.catalog.lookup import find_session, sighted, typed_ids
from leafward.catalog.namesakes import Namesake, short_ids, told_apart
from leafward.catalog.retention import leaves_in
from leafward.catalog.roots import listings, stores
from leafward.catalog.spending import NOTHING, Sum, Totals, day_name, sum_of, totals

__all__ = [
    "NOTHING",
    "NOTHING_KNOWN",
    "About",
    "Card",
    "Catalogue",
    "Details",
    "Group",
    "Namesake",
    "Sort",
    "Sum",
    "Totals",
    "Update",
    "about",
    "arrange",
    "day_name",
    "families",
    "find_session",
    "iso_time",
    "leaves_in",
    "listings",
    "parents",
    "short_ids",
    "sighted",
    "stores",
    "sum_of",
    "told_apart",
    "totals",
    "typed_ids",
    "with_parents",
]
