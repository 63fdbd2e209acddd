"""Traces the fate of rules and injected items through one compaction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leafward.compaction.injection.audit import ItemAudit, RuleAudit, audit_items, rules_of
from leafward.compaction.injection.configured import configured_settings
from leafward.compaction.injection.injection import inject, workspace_of
from leafward.summaries.survival.spans import replaced_by

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.base.config import Config
    from leafward.compaction.injection.values import Injection, InjectionRemark
    from leafward.session.session import Session

_ALL = 1_000_000
"""A budget that leaves nothing out."""


@dataclass(frozen=True, slots=True)
class Traced:
    """Fates of rules and items, and the injection against which they were measured."""

    rules: tuple[RuleAudit, ...]
    items: tuple[ItemAudit, ...]
    stored: bool
    """Whether the compaction has injected text of its own; otherwise the injection is the one that would be made now."""
    diagnostics: tuple[InjectionRemark, ...]


def trace(session: Session, compaction: int, config: Config, workspace: Path | None) -> Traced:
    """Compares the injection of a compaction with its summary, and the workspace's rules with the context after it."""
    settings = configured_settings(config, workspace)
    there = replaced_by(session, compaction)
    made: Injection = inject(session, session.columns.parent[compaction], replace(settings, budget=_ALL))
    diagnostics: list[InjectionRemark] = []
    folder = workspace_of(session.cwd, settings)
    rules = rules_of(session, compaction, there.injected or made.text, folder, diagnostics)
    items = audit_items(made, there.summary, session.cwd)
    remarks = tuple(dict.fromkeys((*made.diagnostics, *diagnostics)))
    return Traced(tuple(rules), tuple(items), bool(there.injected), remarks)
