"""Provenance stored with a summary: who made it, what it cost, and the sources of its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leafward.compaction.injection.values import Injection
    from leafward.session.columns import Columns
    from leafward.session.entries import Body, EntryIndex
    from leafward.summaries.summarizers.summary import Summary


def stored_provenance(summary: Body) -> dict[str, Any]:
    """The details that Leafward stored in a summary entry (`provenance` and more); empty for an entry of anybody else."""
    details = summary.get("details")
    ours = details.get("leafward") if isinstance(details, dict) else None
    return ours if isinstance(ours, dict) else {}


def cost_of(summary: Summary) -> float | None:
    """Cost of a summary in US dollars: 0 if no model was asked; None if it is not known."""
    if summary.usage is None:
        return 0.0 if summary.cost is None else summary.cost
    return summary.cost


def provenance(summary: Summary, text: str, columns: Columns, injection: Injection | None) -> dict[str, Any]:
    """Provenance for the details of a summary entry: who made it, its cost, and the source entries of each line.

    Lines are numbered from 0 in the stored text; each number is stored with its source entries.
    """
    noted: dict[str, Any] = {"summarizer": summary.summarizer, "cost": cost_of(summary)}
    if summary.redacted:
        noted["redacted"] = dict(summary.redacted)
    waiting: dict[str, list[tuple[EntryIndex, ...]]] = {}
    for line in reversed(summary.lines):
        if line.sources and line.text:
            waiting.setdefault(line.text, []).append(line.sources)
    sources: list[list[int | str]] = []
    for number, line_text in enumerate(text.split("\n")):
        if waiting.get(line_text):
            found = waiting[line_text].pop()
            sources.append([number, *(columns.id(entry) for entry in found if entry >= 0)])
    noted["sources"] = sources
    if injection is not None and injection.text:
        noted["injection"] = {
            "digest": injection.digest,
            "sections": [section.key for section in injection.sections if section.shown],
        }
    return noted
