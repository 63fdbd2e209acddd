"""Both audits of a compaction that happened: against the text that it carries, else against what would be injected now."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leafward.compaction.injection import inject, workspace_of
from leafward.compaction.injection.audit import audit_items, rules_of
from leafward.summaries.survival import replaced_by

if TYPE_CHECKING:
    from leafward.compaction.injection.audit import ItemAudit, RuleAudit
    from leafward.compaction.injection.values import Diagnostic, InjectionSettings
    from leafward.session.session import Session

_ALL = 1_000_000
"""A budget that leaves nothing out."""


@dataclass(frozen=True, slots=True)
class Traced:
    """What became of rules and items, and against which injection that was measured."""

    rules: tuple[RuleAudit, ...]
    items: tuple[ItemAudit, ...]
    stored: bool
    """Whether the compaction carries injected text of its own; else it is the one that would be made now."""
    diagnostics: tuple[Diagnostic, ...]


def trace(session: Session, compaction: int, settings: InjectionSettings) -> Traced:
    """Holds the injection of a compaction against its summary, and the rules of the workspace against what it left."""
    there = replaced_by(session, compaction)
    made = inject(session, session.columns.parent[compaction], replace(settings, budget=_ALL))
    diagnostics: list[Diagnostic] = []
    workspace = workspace_of(session.cwd, settings)
    rules = rules_of(session, compaction, there.injected or made.text, workspace, diagnostics)
    items = audit_items(made, there.summary, session.cwd)
    remarks = tuple(dict.fromkeys((*made.diagnostics, *diagnostics)))
    return Traced(tuple(rules), tuple(items), bool(there.injected), remarks)
