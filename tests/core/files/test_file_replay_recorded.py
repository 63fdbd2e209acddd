"""Rebuilt contents of real sessions against what their agents recorded of the files beside the calls.

Claude Code notes the whole file that an edit found, opencode the file before and after: neither is needed for what is
rebuilt before it, so that it proves it.
"""

from __future__ import annotations

import json
import posixpath
import sqlite3
from typing import TYPE_CHECKING

import pytest

from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.knowledge import Certainty
from leafward.files.file_replay.remarks import StepRemark
from leafward.files.file_replay.replay import Replay
from leafward.files.file_replay.step_reader import steps
from leafward.files.file_replay.steps import StepOutcome
from tests.core.files.test_working_sets_corpora import STORES, sessions_of
from tests.corpus_counts import lines_of
from tests.surroundings import needs_corpora

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.files.file_replay.replay import Rebuilt
    from leafward.files.file_replay.steps import ReplayStep
    from leafward.session.session import Session


def walked(session: Session) -> Iterator[tuple[ReplayStep, Rebuilt, Rebuilt]]:
    """Every step of every branch that changed a file, with the file before it and after."""
    for leaf in session.tree.leaves():
        replay = Replay(session, {}, {})
        for step in steps(session, session.tree.path(leaf)):
            name = step.to or step.path
            before = replay.rebuilt(name)
            replay.go([step])
            if step.operation.changes and step.outcome is StepOutcome.DONE and not step.inferred:
                yield step, before, replay.rebuilt(name)


@needs_corpora
@pytest.mark.parametrize("name", ["claude 2.0.65", "claude 2.1.330"])
def test_what_claude_code_found_and_left_is_what_is_rebuilt(name: str, tmp_path: Path) -> None:
    store = STORES[name][0]
    found: dict[str, tuple[str | None, str]] = {}
    for path in (store / "projects").rglob("*.jsonl"):
        for row in lines_of(path):
            told = row.get("toolUseResult")
            content = (row.get("message") or {}).get("content")
            if isinstance(told, dict) and "originalFile" in told and isinstance(content, list):
                before = told["originalFile"]
                if "oldString" in told:
                    times = -1 if told.get("replaceAll") else 1
                    after = before.replace(told["oldString"], told["newString"], times)
                else:
                    after = told["content"]
                found[content[0]["tool_use_id"]] = (before, after)
    known = proven = 0
    for session in sessions_of(store, tmp_path):
        for step, before, after in walked(session):
            if step.call_id not in found:
                continue
            was, now = found[step.call_id]
            assert (after.certainty, after.text) == (Certainty.EXACT, now)
            known += 1
            if before.certainty is Certainty.EXACT and was is not None:
                changed = StepRemark.CHANGED_OUTSIDE in [what for _, what in after.remarks]
                same = before.text == was or (
                    not before.newline and (before.text or "").rstrip() == was.rstrip()
                )
                assert same or changed, "a file that was changed outside is said to be"
                proven += same
    assert known
    assert proven


@needs_corpora
def test_what_codex_wrote_is_what_is_rebuilt(tmp_path: Path) -> None:
    """Codex notes beside a patch what became of each file: the text of one that is new."""
    proven = 0
    for name in ("codex 0.125.0", "codex 0.169.0"):
        store = STORES[name][0]
        added: dict[tuple[str, str], str] = {}
        for path in store.rglob("rollout-*.jsonl"):
            for row in lines_of(path):
                payload = row.get("payload") or {}
                item = payload.get("item") or payload
                changes = item.get("changes")
                for file, change in changes.items() if isinstance(changes, dict) else ():
                    if change.get("type") == "add":
                        added[str(item.get("id") or item.get("call_id")), file] = change["content"]
        for session in sessions_of(store, tmp_path):
            for step, _, after in walked(session):
                text = added.get((step.call_id, posixpath.join(session.cwd, step.path)))
                if text is not None:
                    assert (after.certainty, after.text) == (Certainty.EXACT, text)
                    proven += 1
    assert proven


@needs_corpora
def test_what_opencode_found_and_left_is_what_is_rebuilt(tmp_path: Path) -> None:
    store = STORES["opencode 1.18.33"][0]
    with sqlite3.connect(f"file:{store / 'opencode.db'}?mode=ro&immutable=1", uri=True) as base:
        parts = [json.loads(data) for (data,) in base.execute("select data from part")]
    proven = 0
    told = {
        part["callID"]: (part["state"].get("metadata") or {}).get("filediff")
        for part in parts
        if part.get("type") == "tool" and part["tool"] == "edit"
    }
    for session in sessions_of(store, tmp_path):
        for step, before, after in walked(session):
            difference = told.get(step.call_id)
            if difference is None or step.operation is not FileOperation.EDIT:
                continue
            if before.certainty is Certainty.EXACT and after.certainty is Certainty.EXACT:
                added = difference["additions"], difference["deletions"]
                assert added == (step.added, step.removed)
                proven += 1
    assert proven
