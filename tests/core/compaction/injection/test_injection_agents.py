"""The files in the injected context: those that each agent's own tools, patches and commands touched."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from leafward.agents.recognition import agent_of
from leafward.compaction.injection.findings.collection import collect
from leafward.compaction.injection.findings.path_findings import PathUse
from leafward.compaction.injection.injection import inject
from leafward.compaction.injection.values import InjectionSettings
from leafward.files.working_set import working_set
from tests.bench.need import sessions
from tests.surroundings import CORPORA, needs_corpora

NOWHERE = Path("/nonexistent/leafward")


@needs_corpora
def test_every_agents_working_set_is_offered() -> None:
    """Without a cap: each file that the session's own tool table knows, with whether it was changed."""
    agents = set()
    for session in sessions():
        found = collect(session, session.leaf).files
        there = working_set(session, session.leaf)
        known = {path for path, file in found.items() if file.use is not PathUse.MENTIONED}
        assert {use.path for use in (*there.read, *there.modified)} <= known, session.path.name
        agents.add(agent_of(session.path).name)
    assert len(agents) >= 3, agents


@needs_corpora
def test_what_codex_patches_and_prints_by_commands_is_told() -> None:
    path = CORPORA / "real" / "codex" / "jdx__mise__49_42d2638f78.jsonl"
    with closing(agent_of(path).open(path)) as session:
        made = inject(session, session.leaf, InjectionSettings(workspace=NOWHERE))
    modified = [line.text for line in made.lines if line.section == "workingset.modified"]
    read = [line.text for line in made.lines if line.section == "workingset.read"]
    assert "- src/plugins/core/rust.rs" in modified
    assert "- src/install_context.rs" in read
