"""Workflows, read from their files: stages, artifacts, gates and texts."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

NAMES = ("spec", "bug")
"""Names in the order in which the workflows are looked for."""


@dataclass(frozen=True, slots=True)
class WorkflowStage:
    """One stage of a workflow."""

    name: str
    """Canonical name, always printed unchanged."""
    artifact: str
    """The file that the stage works on."""
    objective: str
    step: str
    gate: str
    """Condition for the beginning of the next stage."""
    needs: tuple[str, ...]
    done: tuple[str, ...]
    approval: str = ""
    """The question that is open during the stage; empty if there is none."""
    next: str = ""
    """The next action; empty for the step."""


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow."""

    type: str
    folder: str
    """The folder that holds one subfolder for each piece of work."""
    artifacts: tuple[str, ...]
    """Artifacts in the order in which they are listed."""
    stages: tuple[WorkflowStage, ...]
    tasks: str = ""
    """The file with the list of tasks."""
    notes: str = ""
    """The file that is carried from batch to batch."""
    progress: tuple[str, ...] = ()
    """Files in which progress is recorded; the first that exists counts."""
    state: tuple[str, ...] = ()
    """JSON files that hold the state; the first that exists counts."""
    decisions: str = ""
    """The file whose trade-offs are decisions."""

    def stage(self, name: str) -> WorkflowStage:
        """The stage of that name. Raises StopIteration if there is none."""
        return next(stage for stage in self.stages if stage.name == name)


def _tuples(raw: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}


@cache
def workflows() -> tuple[Workflow, ...]:
    """The workflows that come with Leafward."""
    found = []
    for name in NAMES:
        raw = tomllib.loads((files(__package__) / f"{name}.toml").read_text("utf-8"))
        stages = tuple(WorkflowStage(**_tuples(stage)) for stage in raw.pop("stages"))
        found.append(Workflow(stages=stages, **_tuples(raw)))
    return tuple(found)
