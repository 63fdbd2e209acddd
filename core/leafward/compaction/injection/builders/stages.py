"""The sections on the state of the work: continuity of any session, and of a workflow if one is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.compaction.injection.builders.continuity import AGENTS, GENERIC, continuity, with_placeholders
from leafward.compaction.injection.values import Contribution

if TYPE_CHECKING:
    from leafward.compaction.injection.builders.builder_input import BuildInput
    from leafward.compaction.injection.values import InjectionRemark

_FOLDER = ".codex"
"""The folder in which all workflows keep their pieces of work (`workflows`)."""


def stages(inputs: BuildInput) -> Contribution:
    """Continuity of any session, and of a workflow if one is under way."""
    made = continuity(inputs)
    diagnostics: list[InjectionRemark] = []
    sections: tuple[str, ...] = ()
    if inputs.workspace is not None:
        # A file that cannot be read is told of in any case.
        inputs.workspace.read(AGENTS)
        if inputs.workspace.holds(_FOLDER):
            # Few projects have a workflow, and an agent waits for what is loaded.
            from leafward.compaction.injection.builders.workflow import augment

            sections = augment(made, inputs.workspace, diagnostics)
    if made.file is not None or sections:
        with_placeholders(made, GENERIC)
    if sections:
        with_placeholders(made, sections)
    else:
        made.items.pop("stage.pending", None)
    items = {key: tuple(found) for key, found in made.items.items()}
    return Contribution(items, diagnostics=tuple(diagnostics))
