"""Governance, workflow and rules over a compaction, for the verb `survival`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from leafward.cli.inject import injection_settings, sources_json
from leafward.cli.output import Page, pad, plural
from leafward.compaction.injection import Injection, SourceKind, inject, workspace_of
from leafward.compaction.injection.audit import (
    ItemAudit,
    Presence,
    RuleAudit,
    RuleFate,
    audit_items,
    counts,
    rules_of,
)
from leafward.summaries.survival import replaced_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from leafward.base import config
    from leafward.compaction.injection import Diagnostic
    from leafward.session.session import Session

_STYLE = {RuleFate.LOST: "bad", RuleFate.RECOVERED: "memory"}


@dataclass(frozen=True, slots=True)
class Traced:
    """What became of rules and items, and against which injection that was measured."""

    rules: tuple[RuleAudit, ...]
    items: tuple[ItemAudit, ...]
    stored: bool
    """Whether the compaction carries injected text of its own; else it is the one that would be made now."""
    diagnostics: tuple[Diagnostic, ...]


def trace(session: Session, compaction: int, settings: config.Config, folder: Path | None) -> Traced:
    """Holds the injection of a compaction against its summary, and the rules of the workspace against what it left."""
    asked = injection_settings(settings, {"workspace": folder})
    there = replaced_by(session, compaction)
    made: Injection = inject(session, session.columns.parent[compaction], replace(asked, budget=_ALL))
    diagnostics: list[Diagnostic] = []
    workspace = workspace_of(session.cwd, asked)
    rules = rules_of(session, compaction, there.injected or made.text, workspace, diagnostics)
    items = audit_items(made, there.summary, session.cwd)
    remarks = tuple(dict.fromkeys((*made.diagnostics, *diagnostics)))
    return Traced(tuple(rules), tuple(items), bool(there.injected), remarks)


_ALL = 1_000_000
"""A budget that leaves nothing out."""


def traced_json(session: Session, traced: Traced) -> dict[str, Any]:
    """Rules and items as JSON names them."""
    return {
        "rules": [
            {
                "rule": audit.rule,
                "status": audit.fate.value,
                "always": audit.always,
                "before": _carriers(audit.before),
                "after": _carriers(audit.after),
                "injected": _carriers(audit.injected),
                "named": audit.named,
            }
            for audit in traced.rules
        ],
        "items": [
            {
                "section": audit.section,
                "text": audit.text,
                "status": audit.presence.value,
                "sources": sources_json(session, audit.sources),
            }
            for audit in traced.items
        ],
        "injection": {"stored": traced.stored},
        "diagnostics": [{"code": remark.code, "text": remark.text} for remark in traced.diagnostics],
    }


def _carriers(carriers: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"condition": condition, "text": text} for condition, text in carriers]


def traced_text(traced: Traced, page: Page) -> Iterator[str]:
    """Rules and items for a person: what was lost by name, the rest counted."""
    if traced.rules:
        found = counts(traced.rules)
        told = ", ".join(f"{count} {fate}" for fate, count in found.items() if count)
        with_what = "with what it carries" if traced.stored else "with what would be injected now"
        yield ""
        yield page.style(plural(len(traced.rules), "rule"), "bold") + page.style(
            f"  {told}, {with_what}", "faint"
        )
        for audit in traced.rules:
            if audit.fate is not RuleFate.KEPT:
                carried = audit.injected or audit.before
                why = f"{carried[0][0]}: {carried[0][1]}" if carried else ""
                yield f"  {page.style(pad(audit.fate.value, 11), _STYLE[audit.fate])} {pad(audit.rule, 28)} {why}"
    told_items = [
        audit
        for audit in traced.items
        if any(source.kind in {SourceKind.FILE, SourceKind.CONFIG} for source in audit.sources)
    ]
    if told_items:
        by = {presence: sum(audit.presence is presence for audit in told_items) for presence in Presence}
        told = ", ".join(f"{count} {presence} in the summary" for presence, count in by.items() if count)
        yield ""
        yield page.style("governance and workflow", "bold") + page.style(f"  {told}", "faint")
