"""The fates of a span's facts after a compaction: in the summary, in injected context, in kept messages, or lost."""

from __future__ import annotations

from leafward.summaries.survival.decay import decay
from leafward.summaries.survival.report import (
    SURVIVED,
    Fate,
    Status,
    Survival,
    facts_of,
    facts_read,
    is_encrypted,
    reading_of,
    survival,
    survival_of,
)
from leafward.summaries.survival.spans import Replaced, SpanMessage, compactions, replaced_by
from leafward.summaries.survival.text_match import FactMatch, Text, file_names

__all__ = [
    "SURVIVED",
    "FactMatch",
    "Fate",
    "Replaced",
    "SpanMessage",
    "Status",
    "Survival",
    "Text",
    "compactions",
    "decay",
    "facts_of",
    "facts_read",
    "file_names",
    "is_encrypted",
    "reading_of",
    "replaced_by",
    "survival",
    "survival_of",
]
