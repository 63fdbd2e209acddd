"""Two audits of a compaction: rules that stop matching because of it, and injected items that its summary holds anyway."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward.compaction.injection.builders.rules import RuleMatch, Situation, matching, read_rules, situation
from leafward.compaction.injection.findings.collection import collect
from leafward.compaction.injection.values import SourceKind, SourceRef
from leafward.files.file_names import locate
from leafward.session.entries import NO_ENTRY
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.values import Fact, FactKind, Voice
from leafward.summaries.survival.spans import replaced_by
from leafward.summaries.survival.text_match import FactMatch, FactText

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from leafward.compaction.injection.builders.workspace import Workspace
    from leafward.compaction.injection.findings.path_findings import Collected
    from leafward.compaction.injection.values import Injection, InjectionRemark
    from leafward.session.session import Session


class RuleFate(StrEnum):
    """Fate of a rule that held before a compaction."""

    KEPT = "kept"
    """The rule still matches the context."""
    RECOVERED = "recovered"
    """The rule matches again because of the injected text."""
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class RuleAudit:
    """One rule before a compaction, after it, and with the injected text."""

    rule: str
    fate: RuleFate
    always: bool
    """Whether the rule has no condition, so that it always holds."""
    before: tuple[tuple[str, str], ...]
    """The carriers of the rule: condition, and the path, keyword or tool."""
    after: tuple[tuple[str, str], ...]
    injected: tuple[tuple[str, str], ...]
    """The carriers with the injected text, if the rule would not hold without it."""
    named: bool
    """Whether the injected text names the rule."""


class SummaryPresence(StrEnum):
    """Form in which a summary holds an item."""

    VERBATIM = "verbatim"
    NORMALISED = "normalised"
    """With another case, other punctuation, or other words."""
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class ItemAudit:
    """One injected item, searched for in a summary."""

    section: str
    text: str
    presence: SummaryPresence
    sources: tuple[SourceRef, ...]


def audit_rules(
    before: Collected,
    after: Collected,
    texts: tuple[str, str],
    workspace: Workspace,
    diagnostics: list[InjectionRemark],
) -> list[RuleAudit]:
    """The rules that held on the path before, in the order of their names.

    `after` is collected from the kept entries; `texts` are the summary and the injected text.
    """
    rules = read_rules(workspace, diagnostics)
    summary, injected = texts
    there = situation(after, workspace)
    with_summary = _with(there, summary, before.cwd)
    both = _with(with_summary, injected, before.cwd)
    held = {match.rule.name: match for match in matching(rules, with_summary)}
    again = {match.rule.name: match for match in matching(rules, both)}
    lines = {line.strip() for line in injected.split("\n")}
    found = []
    for match in matching(rules, situation(before, workspace)):
        name = match.rule.name
        still, recovered = held.get(name), again.get(name)
        fate = RuleFate.KEPT if still else RuleFate.RECOVERED if recovered else RuleFate.LOST
        found.append(
            RuleAudit(
                name,
                fate,
                not match.rule.conditions,
                match.carriers,
                _carriers(still),
                _carriers(recovered) if still is None else (),
                f"- {name}" in lines or name in lines,
            )
        )
    return found


def _carriers(match: RuleMatch | None) -> tuple[tuple[str, str], ...]:
    return match.carriers if match is not None else ()


def _with(there: Situation, text: str, cwd: str) -> Situation:
    """A situation with the paths named by a text added."""
    paths: dict[str, tuple[SourceRef, ...]] = dict(there.paths)
    for form in forms.paths(text, cwd) if text else ():
        paths.setdefault(locate(form.text, cwd, tidy=True), (SourceRef(SourceKind.DERIVED, note="text"),))
    # Bullets that are paths are taken whole, even if they would not be recognised as paths in a text.
    for line in text.split("\n"):
        if line.startswith("- "):
            paths.setdefault(line[2:], (SourceRef(SourceKind.DERIVED, note="bullet"),))
    return Situation(
        paths, there.prompt, there.prompt_source, there.tools, there.model, there.project, there.branch
    )


_AUDITED = ("pins", "gov.", "stage.")
_STAGE = "stage.canonical_stage"


def audit_items(injection: Injection, summary: str, cwd: str = "") -> list[ItemAudit]:
    """Governance, workflow and pins of an injection, each searched for in a summary. A stage's name counts only verbatim."""
    text = FactText(summary, cwd)
    return [
        ItemAudit(line.section, line.core, _presence(line.core, line.section, text), line.sources)
        for line in injection.lines
        if line.core and line.section.startswith(_AUDITED)
    ]


def _presence(core: str, section: str, text: FactText) -> SummaryPresence:
    if core in text.flat:
        return SummaryPresence.VERBATIM
    if section == _STAGE:
        return SummaryPresence.ABSENT
    fact = Fact(FactKind.CONSTRAINT, core.casefold(), core, NO_ENTRY, Voice.TOLD)
    return (
        SummaryPresence.NORMALISED
        if text.holds(fact) in {FactMatch.VERBATIM, FactMatch.PARAPHRASED}
        else SummaryPresence.ABSENT
    )


def rules_of(
    session: Session,
    compaction: int,
    injected: str,
    workspace: Workspace | None,
    diagnostics: list[InjectionRemark],
) -> list[RuleAudit]:
    """The audit of rules for a stored compaction. Raises Refused if the entry is none."""
    there = replaced_by(session, compaction)
    if workspace is None:
        return []
    before = collect(session, session.columns.parent[compaction])
    after = collect(session, compaction, entries=sorted({message.entry for message in there.kept}))
    return audit_rules(before, after, (there.summary, injected), workspace, diagnostics)


def counts(audits: Iterable[RuleAudit]) -> Mapping[RuleFate, int]:
    """Number of rules by fate."""
    found = dict.fromkeys(RuleFate, 0)
    for audit in audits:
        found[audit.fate] += 1
    return found
