"""Rollbacks of Codex: branches, and what the context holds behind them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from leafward.cli.main import main
from leafward.context.model_context import context_at, uncertainties
from leafward.session.source import UNCERTAIN_CONTEXT
from tests.codex_rollout import Rollout
from tests.foreign_sessions import entries_by_text, prompts_of, said

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("turns", "left"),
    [(1, ["a", "b", "d"]), (2, ["a", "d"]), (3, ["d"]), (9, ["d"]), (0, ["a", "b", "c", "d"])],
)
def test_a_rollback_is_a_branch(tmp_path: Path, turns: int, left: list[str]) -> None:
    rollout = Rollout(tmp_path)
    rollout.said("<environment_context>here</environment_context>")
    for text in "abc":
        rollout.event("task_started", turn_id=text)
        rollout.turn(text, text.upper())
    rollout.event("thread_rolled_back", num_turns=turns)
    rollout.turn("d", "D")
    session = rollout.opened()
    assert prompts_of(session) == left
    assert said(session)[0][0] == "custom"
    assert len(list(session.tree.leaves())) == (2 if turns else 1)
    assert "C" in entries_by_text(session)
    if turns:
        assert prompts_of(session, entries_by_text(session)["C"]) == ["a", "b", "c"]


@pytest.mark.parametrize("own_turn", [True, False])
def test_a_rollback_of_a_turn_with_a_compaction_says_that_the_context_is_uncertain(
    tmp_path: Path, own_turn: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """0.107, 0.125 and 0.171 differ; a /compact has a turn of its own and stays."""
    rollout = Rollout(tmp_path)
    rollout.event("task_started", turn_id="a")
    rollout.turn("a", "A")
    rollout.event("task_started", turn_id="b")
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        for text in ("a", "A summary")
    ]
    rollout.line("compacted", message="A summary", replacement_history=history)
    if own_turn:
        rollout.event("task_started", turn_id="c")
    rollout.turn("b", "B")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.turn("c", "C")
    session = rollout.opened()
    notes = [note for note in session.source.notes if note.code == UNCERTAIN_CONTEXT]
    says = [body.get("says", "") for _, body in session.bodies(range(len(session))) if body]
    assert [text for text in says if "uncertain" in text] == [note.text for note in notes]
    assert len(notes) == (0 if own_turn else 1)
    assert all(session.tree.is_ancestor(note.entry, session.leaf) for note in notes)
    found = uncertainties(session, context_at(session))
    assert [note for note in found if note.code == UNCERTAIN_CONTEXT] == notes
    assert main(["context", str(rollout.path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["diagnostics"]
    assert [one["code"] for one in said].count(UNCERTAIN_CONTEXT) == len(notes)


@pytest.mark.parametrize(
    ("version", "stays"),
    [("0.93.0", True), ("0.104.0", True), ("0.116.0", True), ("0.117.0", False), ("odd", False)],
)
def test_a_rollback_takes_back_what_was_injected_for_the_turn_where_the_version_does(
    tmp_path: Path, version: str, stays: bool
) -> None:
    """Up to 0.116 Codex cuts right before the prompt; to 0.104 a resumed thread has its rules again there."""
    rollout = Rollout(tmp_path, cli_version=version)
    rollout.turn("a", "A")
    rollout.said("<environment_context>again</environment_context>")
    rollout.turn("b", "B")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.turn("c", "C")
    session = rollout.opened()
    assert prompts_of(session) == ["a", "c"]
    assert any("again" in text for _, text in said(session)) == stays


@pytest.mark.parametrize(("version", "stays"), [("0.104.0", True), ("0.116.0", True), ("0.117.0", False)])
def test_the_note_that_the_turn_before_was_stopped_is_taken_back_where_the_version_does(
    tmp_path: Path, version: str, stays: bool
) -> None:
    rollout = Rollout(tmp_path, cli_version=version)
    rollout.turn("a", "A")
    rollout.prompt("b")
    rollout.said("<turn_aborted>\nThe user interrupted the turn.\n</turn_aborted>")
    rollout.event("turn_aborted", reason="interrupted")
    rollout.event("task_started", turn_id="t3")
    rollout.turn("c", "C")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.turn("d", "D")
    session = rollout.opened()
    assert prompts_of(session) == ["a", "b", "d"]
    assert any("interrupted" in text for _, text in said(session)) == stays


def test_rollbacks_add_up(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    for text in "ab":
        rollout.turn(text, text.upper())
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.turn("c", "C")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.turn("d", "D")
    assert prompts_of(rollout.opened()) == ["d"]


def test_a_rollback_at_the_end_leaves_the_place_before_what_was_dropped(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("a", "A")
    rollout.turn("b", "B")
    rollout.event("thread_rolled_back", num_turns=1)
    session = rollout.opened()
    assert said(session) == [("user", "a"), ("assistant", "A")]
    assert session.place == entries_by_text(session)["A"]


def test_the_model_is_named_again_where_a_rollback_took_its_naming_away(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("a", "A")
    rollout.line("turn_context", model="beta")
    rollout.turn("b", "B")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.line("turn_context", model="beta")
    rollout.turn("c", "C")
    assert context_at(rollout.opened()).model == "beta"
