"""Working sets of every agent's real sessions against another count: from the raw lines and rows, by each tool table."""

from __future__ import annotations

import posixpath
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.recognition import agent_of
from leafward.base.config import Config
from leafward.catalogue.listing import Catalogue
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.step_reader import steps
from leafward.files.file_replay.steps import StepOutcome
from leafward.files.working_set import searched
from tests import corpus_files
from tests.corpus_files import Done
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.session.session import Session

STORES: dict[str, tuple[Path, Callable[[Path], set[Done]], int]] = {
    "codex 0.80.0": (CORPORA / "codex" / "v0.80.0" / ".codex", corpus_files.codex, 2),
    "codex 0.125.0": (CORPORA / "codex" / "v0.125.0" / ".codex", corpus_files.codex, 2),
    "codex 0.169.0": (CORPORA / "codex" / "v0.169.0" / ".codex", corpus_files.codex, 23),
    "claude 2.0.65": (CORPORA / "claude" / "v2.0.65" / ".claude", corpus_files.claude, 10),
    "claude 2.1.330": (CORPORA / "claude" / "v2.1.330" / ".claude", corpus_files.claude, 21),
    "opencode 1.0.185": (
        CORPORA / "opencode" / "v1.0.185" / "opencode",
        lambda root: corpus_files.opencode_files(root / "storage"),
        4,
    ),
    "opencode 1.18.33": (
        CORPORA / "opencode" / "v1.18.33" / "opencode",
        lambda root: corpus_files.opencode_database(root / "opencode.db"),
        22,
    ),
}
_VERB = {FileOperation.READ: "read", FileOperation.DELETE: "delete", FileOperation.MOVE: "move"}


def sessions_of(store: Path, tmp_path: Path) -> Iterator[Session]:
    agent = store.name.removeprefix(".")
    catalogue = Catalogue(Config(roots={agent: (str(store),)}), index_path=tmp_path / "index.json")
    catalogue.refresh()
    for card in catalogue.cards():
        if card.agent == agent:
            with closing(agent_of(Path(card.path)).open(Path(card.path))) as session:
                yield session


def done_in(session: Session, *, inferred: bool = False) -> set[Done]:
    """The calls of every branch that did not fail; what is inferred from a command's words, or all but that."""
    found = set()
    for step in steps(session, range(len(session))):
        if step.outcome is StepOutcome.DONE and step.inferred is inferred:
            path = step.to if step.to is not None else step.path
            whole = posixpath.normpath(posixpath.join(session.cwd, path))
            found.add(Done(step.call_id, _VERB.get(step.operation, "change"), whole))
    return found


@needs_corpora
@pytest.mark.parametrize("name", STORES)
def test_calls_of_a_store_are_those_of_its_tool_table(name: str, tmp_path: Path) -> None:
    store, count, told = STORES[name]
    ours: set[Done] = set()
    inferred: set[Done] = set()
    for session in sessions_of(store, tmp_path):
        ours |= done_in(session)
        inferred |= done_in(session, inferred=True)
    theirs = count(store)
    assert ours <= theirs
    # Codex itself says what a lone `cat` printed; to us that is read off its words.
    assert theirs - ours <= {one for one in inferred if name.startswith("codex") and one.verb == "read"}
    assert len(theirs) == told


@needs_corpora
@pytest.mark.parametrize("name", ["large-session", "branched", "branched-compacted", "before-compaction"])
def test_calls_of_pi_are_those_of_its_tool_table(name: str) -> None:
    path = CORPORA / "pi" / f"{name}.jsonl"
    with closing(agent_of(path).open(path)) as session:
        assert done_in(session) == corpus_files.pi(path)


@needs_corpora
def test_places_that_were_looked_through_are_those_of_the_tool_table(tmp_path: Path) -> None:
    store = STORES["opencode 1.18.33"][0]
    ours: set[tuple[str, str]] = set()
    for session in sessions_of(store, tmp_path):
        for leaf in session.tree.leaves():
            for place in searched(session, leaf):
                whole = posixpath.normpath(posixpath.join(session.cwd, place.path))
                ours |= {(pattern, whole) for pattern in place.patterns or ("",)}
    theirs = corpus_files.opencode_searches(store / "opencode.db")
    assert ours == theirs
    assert theirs
