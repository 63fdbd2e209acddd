"""Governance, workflow and rules over a compaction, for the verb `survival`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.figures import counted
from leafward.cli.output.injection_json import sources_json
from leafward.cli.output.page import Page, pad
from leafward.compaction.injection.audit import RuleFate, SummaryPresence, counts
from leafward.compaction.injection.values import SourceKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.compaction.injection.trace import Traced
    from leafward.session.session import Session

_STYLE = {RuleFate.LOST: "bad", RuleFate.RECOVERED: "memory"}


def traced_json(session: Session, traced: Traced) -> dict[str, Any]:
    """Rules and items in the form of `survival --json`."""
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
    """Rules and items as text: lost and recovered rules by name, the rest as counts."""
    if traced.rules:
        found = counts(traced.rules)
        totals = ", ".join(f"{count} {fate}" for fate, count in found.items() if count)
        with_what = "with what it carries" if traced.stored else "with what would be injected now"
        yield ""
        yield page.style(counted(len(traced.rules), "rule"), "bold") + page.style(
            f"  {totals}, {with_what}", "faint"
        )
        for audit in traced.rules:
            if audit.fate is not RuleFate.KEPT:
                carried = audit.injected or audit.before
                why = f"{carried[0][0]}: {carried[0][1]}" if carried else ""
                yield f"  {page.style(pad(audit.fate.value, 11), _STYLE[audit.fate])} {pad(audit.rule, 28)} {why}"
    own_items = [
        audit
        for audit in traced.items
        if any(source.kind in {SourceKind.FILE, SourceKind.CONFIG} for source in audit.sources)
    ]
    if own_items:
        by = {
            presence: sum(audit.presence is presence for audit in own_items) for presence in SummaryPresence
        }
        totals = ", ".join(f"{count} {presence} in the summary" for presence, count in by.items() if count)
        yield ""
        yield page.style("governance and workflow", "bold") + page.style(f"  {totals}", "faint")
