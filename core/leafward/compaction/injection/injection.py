"""The injected context of a session at an entry, made by its builders in a fixed order."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.compaction.injection.builders.builder_input import Builder, BuildInput
from leafward.compaction.injection.builders.governance import governance
from leafward.compaction.injection.builders.pins import pins
from leafward.compaction.injection.builders.recovery import recovery
from leafward.compaction.injection.builders.stages import stages
from leafward.compaction.injection.builders.working_set import working_set
from leafward.compaction.injection.builders.workspace import Workspace
from leafward.compaction.injection.composition import compose
from leafward.compaction.injection.findings.collection import collect, utc_time
from leafward.compaction.injection.values import Contribution, Injection, InjectionRemark, InjectionSettings
from leafward.session.tokens import utf16_length

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.compaction.injection.findings.path_findings import Collected
    from leafward.session.session import Session


def _rules(inputs: BuildInput) -> Contribution:
    if inputs.workspace is None or not inputs.workspace.holds(".opencode"):
        return Contribution()
    # Few projects have rules of opencode, and an agent waits for what is loaded.
    from leafward.compaction.injection.builders.rules import rules

    return rules(inputs)


BUILDERS: tuple[tuple[str, Builder], ...] = (
    ("pins", pins),
    ("recovery", recovery),
    ("governance", governance),
    ("workflow stages", stages),
    ("working set", working_set),
    ("rules", _rules),
)


def inject(
    session: Session,
    at: int,
    settings: InjectionSettings | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Injection:
    """The context injected beside the summary of a compaction at an entry. Reads the session and the workspace, writes nothing."""
    return build(collect(session, at, stop=stop), settings or InjectionSettings())


def build(found: Collected, settings: InjectionSettings) -> Injection:
    """The injected context of a path that is already read; with other settings, nothing of the session is read again."""
    return compose(contributions(found, settings), settings.budget, settings.off, settings.again)


def build_within(found: Collected, settings: InjectionSettings, room: int | None) -> Injection:
    """The injected context within a number of UTF-16 units as well as its budget; None: any number."""
    while True:
        made = build(found, settings)
        units = utf16_length(made.text)
        if room is None or units <= room:
            return made
        settings = replace(settings, budget=min(settings.budget, len(made.text)) * room // units - 1)


def contributions(
    found: Collected, settings: InjectionSettings, builders: Sequence[tuple[str, Builder]] = BUILDERS
) -> list[Contribution]:
    """The contribution of each builder. A builder that fails contributes a remark and no text."""
    workspace = workspace_of(found.cwd, settings)
    beside = Workspace(settings.governance.parent) if settings.governance is not None else None
    own = (
        beside.read(settings.governance.name)
        if beside is not None and settings.governance is not None
        else None
    )
    now = utc_time(settings.now) if settings.now is not None else found.time
    inputs = BuildInput(found, workspace, settings, now, own)
    made: list[Contribution] = []
    for name, builder in builders:
        try:
            made.append(builder(inputs))
        except Exception as error:  # no failure of a builder may stop a compaction
            made.append(
                Contribution(
                    diagnostics=(InjectionRemark("builder-failed", f"{name}: {type(error).__name__}"),)
                )
            )
    read = [place for place in (workspace, beside) if place is not None]
    made += [Contribution(diagnostics=tuple(place.diagnostics)) for place in read]
    return made


def workspace_of(cwd: str, settings: InjectionSettings) -> Workspace | None:
    """The folder to read: the configured one, else the session's own if it exists."""
    if settings.workspace is not None:
        return Workspace(settings.workspace)
    there = os.path.isabs(cwd) and os.path.isdir(cwd)
    return Workspace(Path(cwd)) if there else None
