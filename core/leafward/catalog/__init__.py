"""Lists all sessions: at once from what earlier runs saw, then brought up to date in the background.

A card has what is shown of one session, the index keeps the cards, and an unchanged file is not opened. Also here: which
session came from which, sums of tokens and costs, kept copies, and the trash.
"""

from __future__ import annotations

from leafward.catalog.card import Card, Details, iso_time
from leafward.catalog.catalogue_status import NOTHING_KNOWN, CatalogueStatus, status_of
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
    "Card",
    "Catalogue",
    "CatalogueStatus",
    "Details",
    "Group",
    "Namesake",
    "Sort",
    "Sum",
    "Totals",
    "Update",
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
    "status_of",
    "stores",
    "sum_of",
    "told_apart",
    "totals",
    "typed_ids",
    "with_parents",
]
