"""The sections of the text: keys, titles, tiers, caps and order."""

from __future__ import annotations

from dataclasses import dataclass

from leafward.compaction.injection.values import Tier


@dataclass(frozen=True, slots=True)
class InjectedSection:
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

SECTIONS: tuple[InjectedSection, ...] = (
    InjectedSection("pins", "Pinned", Tier.FIRST, 20, "pins"),
    InjectedSection("recovery.reminder", "After the Compaction", Tier.FIRST, 6),
    InjectedSection("gov.language", "Language", Tier.PINNED),
    InjectedSection("gov.phase", "Phase", Tier.PINNED),
    InjectedSection("gov.anchors", "Active Anchors", Tier.FIRST, 20, "anchors"),
    InjectedSection("gov.recent_actions", "Recent Actions", Tier.LAST, 5, "actions"),
    InjectedSection("gov.style", "Style", Tier.LAST),
    InjectedSection("stage.objective", "Primary Objective", Tier.FIRST, 1),
    InjectedSection("stage.current_step", "Current Step", Tier.FIRST, 1),
    InjectedSection("stage.status", "Status", Tier.FIRST),
    InjectedSection("stage.completed", "Completed", Tier.SECOND, 5, "items"),
    InjectedSection("stage.remaining", "Remaining", Tier.FIRST, 5, "items"),
    InjectedSection("stage.decisions", "Decisions", Tier.SECOND, 4, "decisions"),
    InjectedSection("stage.active_files", "Active Files", Tier.LAST, 6, "paths"),
    InjectedSection("stage.blockers", "Blockers / Risks", Tier.FIRST, 4, "blockers"),
    InjectedSection("stage.next_action", "Next Action", Tier.PINNED, 1),
    InjectedSection("stage.workflow_type", "Workflow Type", Tier.FIRST, 1),
    InjectedSection("stage.canonical_stage", "Canonical Workflow Stage", Tier.PINNED, 1),
    InjectedSection("stage.source_artifacts", "Source Artifacts", Tier.FIRST, 8, "artifacts"),
    InjectedSection("stage.current_artifact", "Current Artifact", Tier.FIRST, 1),
    InjectedSection("stage.artifact_status", "Artifact Status", Tier.SECOND, 2),
    InjectedSection("stage.transition_gate", "Transition Gate", Tier.PINNED, 1),
    InjectedSection("stage.approved", "Approved Decisions", Tier.SECOND, 4, "approvals"),
    InjectedSection("stage.pending", "Pending Decisions / Open Questions", Tier.SECOND, 4, "questions"),
    InjectedSection("stage.dependencies", "Dependencies / Preconditions", Tier.LAST, 6, "preconditions"),
    InjectedSection("stage.verification", "Verification / Done Criteria", Tier.LAST, 6, "criteria"),
    InjectedSection(
        "workingset.modified", "Working Set: Modified Files", Tier.FIRST, _PATHS, "paths", "paths", sort=True
    ),
    InjectedSection(
        "workingset.read", "Working Set: Read Files", Tier.SECOND, _PATHS, "paths", "paths", sort=True
    ),
    InjectedSection(
        "workingset.mentioned", "Working Set: Mentioned Files", Tier.LAST, _PATHS, "paths", "paths", sort=True
    ),
    InjectedSection("rules.active", "Rules in Force", Tier.LAST, 20, "rules", sort=True),
)
"""Sections by place in the text. Stage sections have the titles that the workflow's own tools print, so that readers know them."""

BY_KEY: dict[str, InjectedSection] = {section.key: section for section in SECTIONS}
ORDER: dict[str, int] = {section.key: place for place, section in enumerate(SECTIONS)}

FALLBACK = "fallback"
"""Key of the single line that remains if the budget has no room for pinned items."""


def keys_of(name: str) -> frozenset[str]:
    """The section keys for a name: a key, or all keys that begin with it (`gov`, `stage`, `workingset`). Else empty."""
    return frozenset(key for key in BY_KEY if key == name or key.startswith(f"{name}."))
