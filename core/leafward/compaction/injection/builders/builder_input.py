"""Input of all builders. Builders never see each other, and none of them reads a clock or the environment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.compaction.injection.values import Contribution, InjectionSettings

if TYPE_CHECKING:
    from datetime import datetime

    from leafward.compaction.injection.builders.workspace import TextFile, Workspace
    from leafward.compaction.injection.findings.path_findings import Collected


@dataclass(frozen=True, slots=True)
class BuildInput:
    """The path, the workspace and the settings."""

    found: Collected
    workspace: Workspace | None
    settings: InjectionSettings
    now: datetime | None
    """The time against which freshness is measured; None if neither the settings nor the path have one."""
    governance: TextFile | None = None
    """The user's own governance file for all projects."""


Builder = Callable[[BuildInput], Contribution]
