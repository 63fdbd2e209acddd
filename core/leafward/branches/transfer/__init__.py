"""What a user carries on or leaves out by hand: context edits, grafts, merged summaries. All of it is appended, and undone as any move is."""

from __future__ import annotations

from leafward.branches.transfer.context_edits import (
    ContextEdit,
    EditDraft,
    apply_edits,
    draft_edits,
    shortened,
)
from leafward.branches.transfer.fact_pins import draft_pins
from leafward.branches.transfer.graft import GraftDraft, apply_graft, draft_graft
from leafward.branches.transfer.summary_merge import Conflict, MergeDraft, Side3, apply_merge, draft_merge

__all__ = [
    "Conflict",
    "ContextEdit",
    "EditDraft",
    "GraftDraft",
    "MergeDraft",
    "Side3",
    "apply_edits",
    "apply_graft",
    "apply_merge",
    "draft_edits",
    "draft_graft",
    "draft_merge",
    "draft_pins",
    "shortened",
]
