"""Rule files of opencode (`.opencode/rules`, `.md` and `.mdc`): those that hold in a given situation, and the reasons.

A rule without conditions always holds. A rule with conditions holds if any of them does, or, with `match: all`, if all do.
Conditions that a session does not decide (the operating system, running in CI) are ignored, with a remark.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.base.globs import has_magic, matches
from leafward.base.safe_text import safe_line
from leafward.compaction.injection.builders.frontmatter import Head, read_head
from leafward.compaction.injection.values import (
    Contribution,
    InjectionRemark,
    OfferedBullet,
    SourceRef,
    from_entry,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward.compaction.injection.builders.builder_input import BuildInput
    from leafward.compaction.injection.builders.workspace import TextFile, Workspace
    from leafward.compaction.injection.findings.path_findings import Collected

FOLDER = ".opencode/rules"
_ENDINGS = (".md", ".mdc")
_DEPTH = 8
_MOST = 500
"""Most rule files that are read."""

_LISTS = ("globs", "keywords", "tools", "model", "agent", "command", "project", "branch", "os")
_UNTOLD = {"agent": "the agent's name", "os": "the operating system", "ci": "whether it runs in CI"}
"""Conditions that a session does not decide."""
_MARKERS: dict[str, tuple[str, ...]] = {
    "package.json": ("node",),
    "pyproject.toml": ("python",),
    "go.mod": ("go",),
    "Cargo.toml": ("rust",),
    "pnpm-workspace.yaml": ("monorepo",),
    "turbo.json": ("monorepo",),
}


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One rule file."""

    name: str
    """The path below the folder of rules."""
    file: TextFile
    conditions: Mapping[str, tuple[str, ...]]
    """Values by condition; without any, the rule always holds."""
    every: bool
    """Whether all conditions must hold, not just any."""
    lines: Mapping[str, int]

    def source(self, condition: str = "") -> SourceRef:
        """The rule's file as a source, or the line of one of its conditions."""
        return self.file.source(self.lines.get(condition, 0), condition or "rule")


@dataclass(frozen=True, slots=True)
class Situation:
    """Facts that rules are matched against."""

    paths: Mapping[str, tuple[SourceRef, ...]] = field(default_factory=dict)
    """Paths in the context, each with its sources."""
    prompt: str = ""
    prompt_source: SourceRef | None = None
    tools: frozenset[str] = frozenset()
    model: str = ""
    project: frozenset[str] = frozenset()
    branch: str = ""


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """A rule that holds, and its carriers."""

    rule: RuleFile
    carriers: tuple[tuple[str, str], ...]
    """Conditions with the path, keyword or tool that fulfils each; none for a rule without conditions."""
    sources: tuple[SourceRef, ...]


def read_rules(workspace: Workspace, diagnostics: list[InjectionRemark]) -> list[RuleFile]:
    """The rule files of a workspace, sorted by name. A rule with an unreadable head always holds, with a remark."""
    found: list[RuleFile] = []
    waiting: list[tuple[str, int]] = [("", 0)]
    while waiting and len(found) < _MOST:
        below, depth = waiting.pop(0)
        folder = f"{FOLDER}/{below}".rstrip("/")
        for name in workspace.names(folder):
            path = f"{below}/{name}".lstrip("/")
            if name.startswith("."):
                continue
            if workspace.is_folder(f"{FOLDER}/{path}"):
                if depth < _DEPTH:
                    waiting.append((path, depth + 1))
            elif name.endswith(_ENDINGS) and (file := workspace.read(f"{FOLDER}/{path}")) is not None:
                found.append(_rule(path, file, diagnostics))
    return sorted(found, key=lambda rule: (rule.name.casefold(), rule.name))


def _rule(name: str, file: TextFile, diagnostics: list[InjectionRemark]) -> RuleFile:
    head = read_head(file.text)
    if head.problem:
        text = f"{file.path}: {head.problem}; the rule is treated as one that always holds"
        diagnostics.append(InjectionRemark("rule", safe_line(text, 300)))
    conditions = _conditions(head)
    return RuleFile(name, file, conditions, head.values.get("match") == "all", head.lines)


def _conditions(head: Head) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key in _LISTS:
        value = head.values.get(key)
        listed = tuple(text.strip() for text in value if text.strip()) if isinstance(value, list) else ()
        if listed:
            found[key] = listed
    if isinstance(head.values.get("ci"), bool):
        found["ci"] = (str(head.values["ci"]).lower(),)
    return found


def keyword_form(keyword: str) -> re.Pattern[str]:
    """A pattern for a keyword, as opencode-rules searches for it: in any case, from the beginning of a word."""
    return re.compile(rf"\b{re.escape(keyword)}", re.IGNORECASE | re.ASCII)


def matching(rules: list[RuleFile], there: Situation) -> list[RuleMatch]:
    """The rules that hold."""
    found = []
    for rule in rules:
        match = _match(rule, there)
        if match is not None:
            found.append(match)
    return found


def _match(rule: RuleFile, there: Situation) -> RuleMatch | None:
    conditions = [condition for condition in rule.conditions if condition not in _UNTOLD]
    if not conditions:
        return RuleMatch(rule, (), (rule.source(),))
    carriers: list[tuple[str, str]] = []
    sources: list[SourceRef] = []
    held = 0
    for condition in conditions:
        fulfilled = _fulfilled(condition, rule.conditions[condition], there)
        held += bool(fulfilled)
        for text, where in fulfilled:
            carriers.append((condition, text))
            sources += where
        if fulfilled:
            sources.append(rule.source(condition))
    if held == 0 or (rule.every and held < len(conditions)):
        return None
    return RuleMatch(rule, tuple(carriers), tuple(dict.fromkeys((rule.source(), *sources))))


def _fulfilled(
    condition: str, patterns: tuple[str, ...], there: Situation
) -> list[tuple[str, tuple[SourceRef, ...]]]:
    """The values that fulfil one condition, with their sources; empty if none does."""
    prompt = (there.prompt_source,) if there.prompt_source is not None else ()
    match condition:
        case "globs":
            return [
                (path, sources)
                for path, sources in there.paths.items()
                if any(matches(path, pattern) for pattern in patterns)
            ]
        case "keywords":
            return [(word, prompt) for word in patterns if keyword_form(word).search(there.prompt)]
        case "tools":
            return [(tool, ()) for tool in patterns if tool in there.tools]
        case "model":
            return [(model, ()) for model in patterns if model == there.model]
        case "command":
            return [(command, prompt) for command in patterns if command == slash_command(there.prompt)]
        case "project":
            return [(tag, ()) for tag in patterns if tag in there.project]
        case "branch":
            branch = there.branch
            return [
                (name, ())
                for name in patterns
                if branch and (name == branch or (has_magic(name) and matches(branch, name)))
            ]
    return []


def slash_command(prompt: str) -> str:
    """The command at the beginning of a prompt, without its slash; empty if there is none."""
    first = prompt.split(maxsplit=1)[:1]
    return first[0][1:] if first and first[0].startswith("/") and len(first[0]) > 1 else ""


def situation(found: Collected, workspace: Workspace | None) -> Situation:
    """The situation of the whole path to an entry."""
    return Situation(
        {file.path: tuple(file.sources) for file in found.files.values()},
        found.prompt,
        from_entry(found.prompt_entry, note="prompt") if found.prompt else None,
        frozenset(found.tools),
        found.model,
        project_tags(workspace),
        branch_of(workspace),
    )


def project_tags(workspace: Workspace | None) -> frozenset[str]:
    """Tags for the kind of project, from the files in a workspace."""
    if workspace is None:
        return frozenset()
    tags = {tag for name, marks in _MARKERS.items() if workspace.exists(name) for tag in marks}
    manifest = workspace.read("manifest.json") if workspace.exists("manifest.json") else None
    if manifest is not None and re.search(r'"manifest_version"\s*:\s*[23]\b', manifest.text):
        tags.add("browser-extension")
    return frozenset(tags)


def branch_of(workspace: Workspace | None) -> str:
    """The branch that is checked out, from `.git/HEAD`; empty if it names none."""
    head = workspace.read(".git/HEAD") if workspace is not None and workspace.exists(".git/HEAD") else None
    return (
        head.text.strip().removeprefix("ref: refs/heads/")
        if head and head.text.startswith("ref: refs/heads/")
        else ""
    )


def rules(inputs: BuildInput) -> Contribution:
    """The names of the rules that hold on this path, each with the sources of its carriers."""
    if inputs.workspace is None:
        return Contribution()
    diagnostics: list[InjectionRemark] = []
    known = read_rules(inputs.workspace, diagnostics)
    for rule in known:
        untold = [_UNTOLD[condition] for condition in rule.conditions if condition in _UNTOLD]
        if untold:
            text = f"{rule.name} depends on {' and '.join(untold)}, which no session records; that condition is ignored"
            diagnostics.append(InjectionRemark("rule", safe_line(text, 300)))
    held = matching(known, situation(inputs.found, inputs.workspace))
    # Rules carried by a path or a word of the conversation come before those that always hold.
    items = tuple(
        OfferedBullet(
            match.rule.name, match.sources, rank=2 * place + (0 if match.carriers else len(held) * 2)
        )
        for place, match in enumerate(held)
    )
    return Contribution({"rules.active": items}, diagnostics=tuple(diagnostics))
