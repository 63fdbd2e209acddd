"""A spec or bug workflow on top of the generic continuity: the current work, its stage, and what that stage requires."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.compaction.injection.builders.artifacts import (
    DECISIONS,
    DISCOVERIES,
    ListedTask,
    bug_status,
    inferred_stage,
    meaningful,
    section,
    tasks_of,
)
from leafward.compaction.injection.builders.continuity import AGENTS, Continuity
from leafward.compaction.injection.builders.worklog import visible_lines
from leafward.compaction.injection.values import (
    InjectionRemark,
    OfferedBullet,
    SourceKind,
    SourceRef,
    Tier,
)
from leafward.compaction.injection.workflows.workflow import Workflow, WorkflowStage, workflows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.compaction.injection.builders.worklog import LogEntry
    from leafward.compaction.injection.builders.workspace import TextFile, Workspace

WORKFLOW = (
    "stage.workflow_type",
    "stage.canonical_stage",
    "stage.source_artifacts",
    "stage.current_artifact",
    "stage.artifact_status",
    "stage.transition_gate",
    "stage.approved",
    "stage.pending",
    "stage.dependencies",
    "stage.verification",
)
"""Sections that only a workflow has, in the order of the text."""

_STAGE_NAME = r"(?<![\w.-])(?<!\w/)/?({names})(?![\w-])(?!/\w)"
_NUMBER = late(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Hint:
    """A stage named by a text."""

    stage: str
    source: SourceRef


@dataclass(slots=True)
class _Work:
    """The piece of work that is under way."""

    workflow: Workflow
    name: str
    files: dict[str, TextFile | None]
    stage: WorkflowStage
    why: SourceRef
    claimed: SourceRef | None = None

    def path(self, file: str) -> str:
        return f"{self.workflow.folder}/{self.name}/{file}"

    def sources(self, part: str) -> tuple[SourceRef, ...]:
        """Sources for text of the workflow: its definition, and the reason for this stage."""
        return (SourceRef(SourceKind.STATIC, note=f"{self.stage.name}: {part}"), self.why)


def augment(made: Continuity, workspace: Workspace, diagnostics: list[InjectionRemark]) -> tuple[str, ...]:
    """Adds the workflow that is under way in a workspace, if there is one; returns its sections, in the order of the text."""
    work = _work(workspace, made.log, made.file, diagnostics)
    if work is None:
        return ()
    _augment(made, work)
    return WORKFLOW


def stage_hint(log: Sequence[LogEntry], file: TextFile | None, agents: TextFile | None) -> Hint | None:
    """The stage named last in the newest log entry's open work, else in the whole entry. Branch names do not count.

    If the log names none, the stage named by `AGENTS.md` counts, provided that it names only one.
    """
    names = "|".join(stage.name for workflow in workflows() for stage in workflow.stages)
    pattern = re.compile(_STAGE_NAME.format(names=names))
    if log and file is not None:
        for lines in (log[0].open_work, log[0].lines):
            for line in reversed(lines):
                if mentions := pattern.findall(line.text):
                    return Hint(mentions[-1], file.source(line.number, "stage"))
    if agents is not None:
        found = {
            name: line.number for line in visible_lines(agents.text) for name in pattern.findall(line.text)
        }
        if len(found) == 1:
            (name, number), *_ = found.items()
            return Hint(name, agents.source(number, "stage"))
    return None


def _work(
    workspace: Workspace, log: Sequence[LogEntry], file: TextFile | None, diagnostics: list[InjectionRemark]
) -> _Work | None:
    hint = stage_hint(log, file, workspace.read(AGENTS))
    there = {workflow.type: _folders(workspace, workflow) for workflow in workflows()}
    chosen = [
        workflow
        for workflow in workflows()
        if hint is not None and hint.stage.startswith(f"{workflow.type}-")
    ]
    for workflow in [*chosen, *workflows()]:
        if there[workflow.type]:
            name = _pick(workspace, workflow, there[workflow.type], log)
            return _read(workspace, workflow, name, hint, diagnostics)
    return None


def _folders(workspace: Workspace, workflow: Workflow) -> list[str]:
    return [
        name
        for name in workspace.names(workflow.folder)
        if name != "attic" and not name.startswith(".") and workspace.is_folder(f"{workflow.folder}/{name}")
    ]


def _pick(workspace: Workspace, workflow: Workflow, names: list[str], log: Sequence[LogEntry]) -> str:
    """The piece of work that is meant: the one that the log named last, else one with open tasks, else the last by name."""
    for entry in log:
        named = _named(workflow, names, entry)
        if named is not None:
            return named

    def weight(name: str) -> tuple[bool, list[tuple[bool, int, str]]]:
        tasks = workspace.read(f"{workflow.folder}/{name}/{workflow.tasks}") if workflow.tasks else None
        still_open = tasks is not None and any(not task.done for task in tasks_of(tasks.text))
        return still_open, _natural(name)

    return max(names, key=weight)


def _natural(name: str) -> list[tuple[bool, int, str]]:
    return [
        (part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in _NUMBER.split(name) if part
    ]


def _named(workflow: Workflow, names: list[str], entry: LogEntry) -> str | None:
    """The piece of work that an entry names as a folder, after a stage, or as a word; of overlapping names, the longest."""
    text = "\n".join(line.text for line in (*entry.lines, *entry.open_work))
    stage_names = "|".join(stage.name for stage in workflow.stages)
    for form in (
        rf"{re.escape(workflow.folder)}/({{name}})(?![\w-])",
        rf"/?(?:{stage_names})\s+(?:next\s+|batch\s+\d+\s+)?({{name}})(?![\w-])",
        r"(?<![\w./-])({name})(?![\w/-])",
    ):
        places: list[tuple[int, int, str]] = []
        for name in names:
            if name not in text:
                continue
            places += [
                (found.start(1), len(name), name)
                for found in re.finditer(form.format(name=re.escape(name)), text)
            ]
        if places:
            return max(places)[2]
    return None


def _read(
    workspace: Workspace, workflow: Workflow, name: str, hint: Hint | None, diagnostics: list[InjectionRemark]
) -> _Work:
    names = dict.fromkeys((*workflow.artifacts, *workflow.progress, *workflow.state))
    files = {file: workspace.read(f"{workflow.folder}/{name}/{file}") for file in names}
    inferred, line = inferred_stage(workflow, files)
    base = SourceRef(SourceKind.DERIVED, file=f"{workflow.folder}/{name}", note="artifacts")
    stage, why = workflow.stage(inferred), base
    if hint is not None and hint.stage.startswith(f"{workflow.type}-"):
        hinted = workflow.stage(hint.stage)
        # If the hinted stage's artifact is missing but the inferred stage's is there, the hint is an old mention.
        if files.get(hinted.artifact) is not None or files.get(stage.artifact) is None:
            stage, why = hinted, hint.source
        if hint.stage != inferred:
            text = f"{name}: the log says {hint.stage}, the artifacts show {inferred}; {stage.name} is used"
            diagnostics.append(InjectionRemark("stage", text))
    claimed = None
    if line is not None:
        claimed = next(
            (file.source(line.number, "progress") for key in workflow.progress if (file := files.get(key))),
            None,
        )
    return _Work(workflow, name, files, stage, why, claimed)


def _augment(made: Continuity, work: _Work) -> None:
    workflow, stage, files = work.workflow, work.stage, work.files
    tasks_file = files.get(workflow.tasks) if workflow.tasks else None
    tasks = tasks_of(tasks_file.text) if tasks_file is not None else []
    upcoming = next((task for task in tasks if not task.done), None)
    made.put("stage.objective", OfferedBullet(stage.objective, work.sources("objective")))
    _steps(made, work, upcoming, tasks_file)
    _status(made, work, tasks, tasks_file, upcoming)
    _progress(made, work, tasks, tasks_file)
    _decisions(made, work)
    made.put("stage.workflow_type", OfferedBullet(workflow.type, (work.why,), whole=True))
    made.put("stage.canonical_stage", OfferedBullet(stage.name, (work.why,), whole=True))
    present = [name for name in workflow.artifacts if files.get(name) is not None]
    artifacts = [
        OfferedBullet(work.path(name), (file.source(),), rank=rank, path=work.path(name))
        for rank, name in enumerate(present)
        if (file := files[name]) is not None
    ]
    made.put("stage.source_artifacts", *artifacts)
    made.put("stage.active_files", *artifacts, *made.items.get("stage.active_files", ()))
    current = files.get(stage.artifact)
    if current is not None:
        made.put(
            "stage.current_artifact", OfferedBullet(work.path(stage.artifact), (current.source(), work.why))
        )
    else:
        text = f"{work.path(stage.artifact)} (not written yet)"
        made.put("stage.current_artifact", OfferedBullet(text, (work.why,)))
    made.put("stage.transition_gate", OfferedBullet(stage.gate, work.sources("gate")))
    made.put("stage.dependencies", *(OfferedBullet(text, work.sources("needs")) for text in stage.needs))
    made.put("stage.verification", *(OfferedBullet(text, work.sources("done")) for text in stage.done))


def _steps(made: Continuity, work: _Work, upcoming: ListedTask | None, tasks: TextFile | None) -> None:
    stage = work.stage
    if stage.name == "spec-execute" and upcoming is not None and tasks is not None:
        source = tasks.source(upcoming.line, "task")
        where = f"{upcoming.batch}: " if upcoming.batch else ""
        label = f"{upcoming.number} — {upcoming.title}" if upcoming.number else upcoming.title
        made.put("stage.current_step", OfferedBullet(f"{where}{label}", (source,)))
        text = stage.next.format(name=work.name, task=upcoming.label)
        made.put("stage.next_action", OfferedBullet(text, (source, work.why)))
        return
    made.put("stage.current_step", OfferedBullet(stage.step, work.sources("step")))
    text = stage.next.format(name=work.name, task="") if stage.next and "{task}" not in stage.next else ""
    made.put(
        "stage.next_action",
        OfferedBullet(text or f"{work.name}, {stage.name}: {stage.step}", work.sources("next")),
    )


def _status(
    made: Continuity, work: _Work, tasks: list[ListedTask], file: TextFile | None, upcoming: ListedTask | None
) -> None:
    at_risk = [item for item in made.items.get("stage.status", ()) if item.text.startswith("At risk: ")]
    if work.workflow.type == "bug":
        claimed = inferred_stage(work.workflow, work.files)[1]
        status = bug_status(work.workflow, work.files, claimed)
        if status is None:
            made.put(
                "stage.status", *at_risk, OfferedBullet(f"{work.name} is in {work.stage.name}", (work.why,))
            )
            return
        text, source_file, line = status
        source = source_file.source(line, "progress")
        made.put(
            "stage.status",
            *at_risk,
            OfferedBullet(f"{work.name} is in {work.stage.name}: {text}", (source, work.why)),
        )
        made.put("stage.artifact_status", OfferedBullet(f"{work.name}: {text}", (source,)))
        return
    if not tasks or file is None:
        made.put("stage.status", *at_risk, OfferedBullet(f"{work.name} is in {work.stage.name}", (work.why,)))
        return
    done = sum(task.done for task in tasks)
    counted = f"{done} tasks complete, {len(tasks) - done} remaining"
    sources = (SourceRef(SourceKind.DERIVED, note="counted"), file.source())
    made.put("stage.status", *at_risk, OfferedBullet(counted, sources))
    following = f"; next is {upcoming.label}" if upcoming is not None else ""
    made.put("stage.artifact_status", OfferedBullet(f"{work.name}: {counted}{following}", sources))


def _progress(made: Continuity, work: _Work, tasks: list[ListedTask], file: TextFile | None) -> None:
    """Sets the finished and remaining work, from the artifacts."""
    workflow, stage = work.workflow, work.stage
    position = workflow.stages.index(stage)
    done: list[OfferedBullet] = []
    approved: list[OfferedBullet] = []
    for before in workflow.stages[:position]:
        written = work.files.get(before.artifact)
        if not meaningful(written) or written is None:
            continue
        sources = (SourceRef(SourceKind.DERIVED, note="inferred"), written.source(), work.why)
        if before.artifact not in {item.text.partition(" ")[0] for item in done}:
            text = f"{before.artifact} is written; {before.name} is done."
            done.append(OfferedBullet(text, sources, rank=100))
            approved.append(
                OfferedBullet(
                    f"{before.artifact}: approved, since {stage.name} follows it (inferred)", sources
                )
            )
    left: list[OfferedBullet] = []
    if file is not None:
        finished = [task for task in tasks if task.done]
        for rank, task in enumerate(reversed(finished)):
            done.insert(
                len(approved), OfferedBullet(task.label, (file.source(task.line, "task"),), rank=rank)
            )
        left = [
            OfferedBullet(task.label, (file.source(task.line, "task"),)) for task in tasks if not task.done
        ]
    notes = work.files.get(workflow.notes) if workflow.notes else None
    if notes is not None:
        found = section(notes.text, DISCOVERIES)[-2:]
        done += [OfferedBullet(line.text, (notes.source(line.number),), rank=50) for line in found]
    if work.claimed is not None and made.items.get("stage.artifact_status"):
        text = made.items["stage.artifact_status"][0].text.partition(": ")[2]
        done.append(OfferedBullet(text, (work.claimed,)))
    if stage.name != "spec-execute" or not left:
        left = [OfferedBullet(stage.step, work.sources("step")), *left]
    question = made.items.get("stage.pending", [])
    if stage.approval and not question:
        question = [OfferedBullet(stage.approval, work.sources("approval"))]
    if stage.name != "spec-execute":
        left += [OfferedBullet(item.text, item.sources, Tier.SECOND) for item in question[:1]]
    tests = [
        item for item in made.items.get("stage.remaining", ()) if item.text.startswith("Pending tests: ")
    ]
    made.put("stage.completed", *done)
    made.put("stage.remaining", *left, *tests)
    made.put("stage.approved", *approved)
    made.put("stage.pending", *question)


def _decisions(made: Continuity, work: _Work) -> None:
    name = work.workflow.notes or work.workflow.decisions
    file = work.files.get(name) if name else None
    items = []
    if file is not None:
        found = section(file.text, DECISIONS)
        items = [OfferedBullet(line.text, (file.source(line.number),), rank=-1) for line in found]
    made.put("stage.decisions", *items, *made.items.get("stage.decisions", ()))
