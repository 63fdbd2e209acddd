"""The sections of the text: keys, titles, tiers, caps and order."""

from __future__ import annotations

from dataclasses import dataclass

from leafward.compaction.injection.values import Tier


@dataclass(frozen=True, slots=True)
class Section:
    """One section. The text has the sections in the order of `SECTIONS`."""

    key: str
    title: str
    tier: Tier
    cap: int | None = None
    """Most items that are shown; None for as many as the budget allows."""
    noun: str = ""
    """Noun for omitted items: `… and 5 more paths`."""
    group: str = ""
    """Sections of one group share the cap."""
    sort: bool = False
    """Whether items are sorted by (casefold, raw) instead of shown in the given order."""


_PATHS = 20

SECTIONS: tuple[Section, ...] = (
    Section("pins", "Pinned", Tier.FIRST, 20, "pins"),
    Section("recovery.reminder", "After the Compaction", Tier.FIRST, 6),
    Section("gov.language", "Language", Tier.PINNED),
    Section("gov.phase", "Phase", Tier.PINNED),
    Section("gov.anchors", "Active Anchors", Tier.FIRST, 20, "anchors"),
    Section("gov.recent_actions", "Recent Actions", Tier.LAST, 5, "actions"),
    Section("gov.style", "Style", Tier.LAST),
    Section("stage.objective", "Primary Objective", Tier.FIRST, 1),
    Section("stage.current_step", "Current Step", Tier.FIRST, 1),
    Section("stage.status", "Status", Tier.FIRST),
    Section("stage.completed", "Completed", Tier.SECOND, 5, "items"),
    Section("stage.remaining", "Remaining", Tier.FIRST, 5, "items"),
    Section("stage.decisions", "Decisions", Tier.SECOND, 4, "decisions"),
    Section("stage.active_files", "Active Files", Tier.LAST, 6, "paths"),
    Section("stage.blockers", "Blockers / Risks", Tier.FIRST, 4, "blockers"),
    Section("stage.next_action", "Next Action", Tier.PINNED, 1),
    Section("stage.workflow_type", "Workflow Type", Tier.FIRST, 1),
    Section("stage.canonical_stage", "Canonical Workflow Stage", Tier.PINNED, 1),
    Section("stage.source_artifacts", "Source Artifacts", Tier.FIRST, 8, "artifacts"),
    Section("stage.current_artifact", "Current Artifact", Tier.FIRST, 1),
    Section("stage.artifact_status", "Artifact Status", Tier.SECOND, 2),
    Section("stage.transition_gate", "Transition Gate", Tier.PINNED, 1),
    Section("stage.approved", "Approved Decisions", Tier.SECOND, 4, "approvals"),
    Section("stage.pending", "Pending Decisions / Open Questions", Tier.SECOND, 4, "questions"),
    Section("stage.dependencies", "Dependencies / Preconditions", Tier.LAST, 6, "preconditions"),
    Section("stage.verification", "Verification / Done Criteria", Tier.LAST, 6, "criteria"),
    Section(
        "workingset.modified", "Working Set: Modified Files", Tier.FIRST, _PATHS, "paths", "paths", sort=True
    ),
    Section("workingset.read", "Working Set: Read Files", Tier.SECOND, _PATHS, "paths", "paths", sort=True),
    Section(
        "workingset.mentioned", "Working Set: Mentioned Files", Tier.LAST, _PATHS, "paths", "paths", sort=True
    ),
    Section("rules.active", "Rules in Force", Tier.LAST, 20, "rules", sort=True),
)
"""Sections by place in the text. Stage sections have the titles that the workflow's own tools print, so that readers know them."""

BY_KEY: dict[str, Section] = {section.key: section for section in SECTIONS}
ORDER: dict[str, int] = {section.key: place for place, section in enumerate(SECTIONS)}

FALLBACK = "fallback"
"""Key of the single line that remains if the budget has no room for pinned items."""


def keys_of(name: str) -> frozenset[str]:
    """The section keys for a name: a key, or all keys that begin with it (`gov`, `stage`, `workingset`). Else empty."""
    return frozenset(key for key in BY_KEY if key == name or key.startswith(f"{name}."))
