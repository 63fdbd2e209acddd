"""Workflows as data: their stages, artifacts, gates and words. One TOML file each."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

NAMES = ("spec", "bug")
"""In the order in which they are looked for."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a workflow."""

    name: str
    """Canonical; printed as it is, always."""
    artifact: str
    """The file that the stage works on."""
    objective: str
    step: str
    gate: str
    """What has to hold before the next stage begins."""
    needs: tuple[str, ...]
    done: tuple[str, ...]
    approval: str = ""
    """The question that is open while the stage goes on; empty where none is."""
    next: str = ""
    """The next action; empty: the step."""


@dataclass(frozen=True, slots=True)
class Pack:
    """A workflow."""

    type: str
    folder: str
    """Each folder in it is one piece of work."""
    artifacts: tuple[str, ...]
    """In the order in which they are listed."""
    stages: tuple[Stage, ...]
    tasks: str = ""
    """The file with the list of tasks."""
    notes: str = ""
    """The file that is carried from batch to batch."""
    progress: tuple[str, ...] = ()
    """Files in which progress is noted; the first that is there counts."""
    state: tuple[str, ...] = ()
    """JSON files that hold the state; the first that is there counts."""
    decisions: str = ""
    """The file whose trade-offs are decisions."""

    def stage(self, name: str) -> Stage:
        """The stage of that name. Raises StopIteration where it has none."""
        return next(stage for stage in self.stages if stage.name == name)


def _tuples(raw: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}


@cache
def packs() -> tuple[Pack, ...]:
    """The workflows that come with Leafward."""
    found = []
    for name in NAMES:
        raw = tomllib.loads((files(__name__) / f"{name}.toml").read_text("utf-8"))
        stages = tuple(Stage(**_tuples(stage)) for stage in raw.pop("stages"))
        found.append(Pack(stages=stages, **_tuples(raw)))
    return tuple(found)
