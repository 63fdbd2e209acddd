"""What a user carries on or leaves out by hand: context edits, grafts, merged summaries. All of it is appended, and undone as any move is."""

from __future__ import annotations

from leafward.carrying.context_edits import (
    ContextEdit,
    EditDraft,
    Shortened,
    apply_edits,
    draft_edits,
    editable_in,
    shortened,
)
from leafward.carrying.grafting import GraftDraft, Misfit, apply_graft, draft_graft
from leafward.carrying.merging import Conflict, MergeDraft, Side3, apply_merge, draft_merge
from leafward.carrying.pinning import draft_pins

__all__ = [
    "Conflict",
    "ContextEdit",
    "EditDraft",
    "GraftDraft",
    "MergeDraft",
    "Misfit",
    "Shortened",
    "Side3",
    "apply_edits",
    "apply_graft",
    "apply_merge",
    "draft_edits",
    "draft_graft",
    "draft_merge",
    "draft_pins",
    "editable_in",
    "shortened",
]
