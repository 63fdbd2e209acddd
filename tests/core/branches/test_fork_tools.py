"""A session that was converted keeps the calls of the agent it came from: what they did to files is read from them there too."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeGuard

import pytest

from leafward.agents.base import SessionCandidate
from leafward.agents.registry import agent_named
from leafward.catalogue.cards.full_card import read_whole
from leafward.compaction.measure.measure import measure
from leafward.context.call_status import outcome
from leafward.context.entry_metrics import EntryMetrics
from leafward.files.file_replay.knowledge import Certainty
from leafward.files.file_replay.replay import replay
from leafward.files.tool_calls import table_of
from leafward.files.working_set import changed_files, working_set
from leafward.session.entries import ToolCall
from tests.acting import Acting, call
from tests.forks import made, terms
from tests.opencode_forks import document, draft, imported

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.session.session import Session

TARGETS = ("pi", "codex", "claude", "opencode")
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-two\n+zwei\n*** End Patch\n"
CREATE = "*** Begin Patch\n*** Add File: a.py\n+one\n+two\n*** End Patch\n"

CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "pi": [
        ("write", {"path": "a.py", "content": "one\ntwo\n"}),
        ("edit", {"path": "a.py", "edits": [{"oldText": "two", "newText": "zwei"}]}),
        ("read", {"path": "b.py"}),
    ],
    "pi of before": [
        ("write", {"path": "a.py", "content": "one\ntwo\n"}),
        ("edit", {"path": "a.py", "oldText": "two", "newText": "zwei"}),
        ("read", {"path": "b.py"}),
    ],
    "codex": [
        ("apply_patch", {"input": CREATE}),
        ("exec_command", {"cmd": f"apply_patch <<'EOF'\n{PATCH}EOF"}),
        ("shell", {"command": ["bash", "-lc", "cat b.py"]}),
    ],
    "claude": [
        ("Write", {"file_path": "a.py", "content": "one\ntwo\n"}),
        ("Edit", {"file_path": "a.py", "old_string": "two", "new_string": "zwei"}),
        ("Read", {"file_path": "b.py"}),
    ],
    "opencode": [
        ("write", {"filePath": "a.py", "content": "one\ntwo\n"}),
        ("edit", {"filePath": "a.py", "oldString": "two", "newString": "zwei"}),
        ("read", {"filePath": "b.py"}),
    ],
}


def source(folder: Path, origin: str) -> Path:
    """A session in pi's format with the calls of an agent: two changes, a read, and a change that failed."""
    file = Acting(folder / "s.jsonl")
    file.user("Write it")
    for number, (tool, arguments) in enumerate(CALLS[origin]):
        file.said(call(tool, f"call_{number}", **arguments))
        file.answered(f"call_{number}", tool)
    file.said("Done.")
    return file.path


@contextmanager
def converted(tmp_path: Path, path: Path, target: str) -> Iterator[Session]:
    """The session, or what another agent has after a fork to it, opened as everybody opens it."""
    session = agent_named("pi").open(path)
    try:
        if target == "pi":
            yield session
            return
        if target == "opencode":
            body = document(draft(session, session.leaf, terms(tmp_path), source="pi"))
            store = imported(body, tmp_path / "store")
            copy = agent_named(target).open(store.path)
            store.close()
        else:
            fork = made(session, session.leaf, target, terms(tmp_path), tmp_path)
            copy = agent_named(target).open(fork.draft.path)
        try:
            yield copy
        finally:
            copy.close()
    finally:
        session.close()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("origin", CALLS)
class TestConverted:
    def test_edits_files_and_contents_are_known(self, tmp_path: Path, origin: str, target: str) -> None:
        with converted(tmp_path, source(tmp_path, origin), target) as session:
            metrics = EntryMetrics(session)
            metrics.fill(session, range(len(session)))
            whole = metrics.sum([range(len(session))])
            assert (whole.edits, whole.added, whole.removed) == (2, 3, 1)
            changed = changed_files(session, session.tree.path(session.leaf))
            assert [(one.path, one.edits, one.added, one.removed) for one in changed] == [("a.py", 2, 3, 1)]
            files = working_set(session)
            assert [one.path for one in files.modified] == ["a.py"]
            assert [one.path for one in files.read] == ["b.py"]
            text = replay(session).rebuilt("a.py")
            assert (text.certainty, text.text) == (Certainty.EXACT, "one\nzwei\n")

    def test_a_listing_says_the_same_without_opening_it(
        self, tmp_path: Path, origin: str, target: str
    ) -> None:
        path = source(tmp_path, origin)
        with converted(tmp_path, path, target) as session:
            there = session.path
        if target == "opencode":
            pytest.skip("what lies in a database is always opened")
        stat = there.stat()
        reading = read_whole(
            SessionCandidate(str(there), [stat.st_size, stat.st_mtime_ns, stat.st_ino], target)
        )
        assert reading is not None
        assert (list(reading.details.changed), list(reading.details.read)) == (["a.py"], ["b.py"])


@pytest.mark.parametrize("origin", ["codex", "claude", "opencode"])
def test_what_pi_lists_in_a_compaction_is_by_its_own_tools_alone(tmp_path: Path, origin: str) -> None:
    with converted(tmp_path, source(tmp_path, origin), "pi") as session:
        assert not measure(session).touches.path


def test_own_names_win_and_a_name_of_several_agents_is_told_by_its_arguments() -> None:
    pi, codex, claude, opencode = (agent_named(name).tool_table for name in TARGETS)
    by_pi, by_opencode = ToolCall("c", "read", {"path": "a"}), ToolCall("c", "read", {"filePath": "a"})
    assert pi.part_of(by_pi) is pi.own
    assert opencode.part_of(by_opencode) is opencode.own
    assert pi.part_of(by_opencode) is claude.part_of(by_opencode) is opencode.own
    assert claude.part_of(by_pi) is pi.own
    assert codex.part_of(by_opencode) is opencode.own
    assert not pi.looks_into("bash")
    assert pi.looks_into("exec_command")
    assert claude.looks_into("bash")
    # What opencode's reader puts for files that no call names is no tool that another agent could have.
    assert "snapshot" in opencode.actions
    assert not any("snapshot" in one.actions for one in (pi, codex, claude))


@pytest.mark.parametrize("target", TARGETS)
def test_a_call_that_failed_is_marked_in_the_format_of_every_agent(tmp_path: Path, target: str) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("Try it")
    file.said(call("bash", "c1", command="make check"))
    file.answered("c1", "bash", "no rule\n\nCommand exited with code 2", failed=True)
    file.said(call("edit", "c2", path="a.py", edits=[{"oldText": "a", "newText": "b"}]))
    file.answered("c2", "edit", "Could not find the text.", failed=True)
    file.said(call("read", "c3", path="a.py"))
    file.answered("c3", "read", "c")
    file.said("No.")
    with converted(tmp_path, file.path, target) as session:
        results = [body for _, body in session.bodies(session.tree.path(session.leaf)) if is_result(body)]
        assert [body["message"]["isError"] for body in results] == [True, True, False]
        made = outcome(results[0], table_of(session))
        assert (made.ok, made.exit_code, made.lines) == (False, 2, 1)
        metrics = EntryMetrics(session)
        metrics.fill(session, range(len(session)))
        whole = metrics.sum([range(len(session))])
        assert (whole.edits, whole.failed) == (0, 2)


def is_result(body: dict[str, Any] | None) -> TypeGuard[dict[str, Any]]:
    return body is not None and body.get("message", {}).get("role") == "toolResult"
