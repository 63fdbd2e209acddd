"""Every verb that writes, on a session of another agent: kept beside it, said so, and nothing of theirs is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.session.sidecar import every_sidecar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Run
    from tests.foreign_stores import Store

Asked = Any


@pytest.fixture
def asked(run: Run, foreign: Store) -> Callable[..., Asked]:
    """The document of a verb on the session."""

    def ask(verb: str, *arguments: str) -> Asked:
        outcome = run(verb, foreign.path, *arguments, "--json")
        assert outcome.code == 0, outcome.err
        return outcome.document

    return ask


def codes(document: Asked) -> list[str]:
    return [one["code"] for one in document["diagnostics"]]


def entry(tree: Asked, number: int) -> str:
    """The reply that ends a turn."""
    replies = [one["id"] for one in tree["entries"] if one["role"] == "assistant"]
    return str(replies[number])


def test_what_is_said_and_kept(asked: Callable[..., Asked], run: Run, foreign: Store) -> None:
    before = asked("tree")
    assert (before["what_if"], before["own_leaf"]) == (False, before["leaf"])
    assert before["session"]["read_only"] is None
    first, second = entry(before, 0), entry(before, 1)
    would = asked("move", first, "--dry-run")
    assert (would["dry_run"], codes(would), list(every_sidecar())) == (True, ["what-if"], [])
    moved = asked("move", first)
    assert (moved["from"], moved["target"], codes(moved)) == (before["place"], first, ["what-if"])
    assert codes(asked("label", second, "look here")) == []
    asked("name", "The orchard")
    asked("archive", second)
    tree = asked("tree")
    assert (tree["what_if"], tree["place"], tree["own_leaf"]) == (True, first, before["leaf"])
    assert tree["session"]["name"] == "The orchard"
    assert tree["archived"] == [second]
    assert {one["id"]: one["label"] for one in tree["entries"] if one["label"]} == {second: "look here"}
    assert [one["text"] for one in asked("context")["messages"]] == ["one?", "one."]
    assert [one["kind"] for one in asked("log")["ops"]] == ["move", "label", "name", "archive"]
    shown = run("tree", foreign.path, "--archived").out
    assert "preview leaf" in shown
    assert "agent's leaf" in shown
    assert f"the agent itself goes on at {before['place']}" in " ".join(shown.split())
    listed = run("ls", foreign.root, "--json").document["sessions"]
    assert [(one["name"], one["title"]) for one in listed] == [("The orchard", "The orchard")]
    exported = run("export", foreign.path, "--format", "json").out
    assert all(one["op"] in exported for one in asked("log")["ops"])
    assert [one["code"] for one in asked("doctor")["problems"] if one["code"] != "cwd-missing"] == []
    for _ in range(4):
        asked("undo")
    back = asked("tree")
    assert (back["what_if"], back["place"], back["archived"]) == (False, before["place"], [])
    asked("redo")
    assert asked("tree")["place"] == first


def test_resume_says_where_the_agent_goes_on(asked: Callable[..., Asked], run: Run, foreign: Store) -> None:
    if foreign.path.suffix == ".json":
        pytest.skip("opencode itself no longer opens these files")
    assert "what-if" not in codes(asked("resume", "--print"))
    asked("move", "#0")
    assert "what-if" in codes(asked("resume", "--print"))
    assert "goes on at its own leaf" in run("resume", foreign.path, "--print").err


def test_a_summary_is_carried_along(asked: Callable[..., Asked]) -> None:
    first = entry(asked("tree"), 0)
    moved = asked("move", first, "--summary", "extractive")
    assert moved["summary_entry"] == moved["entries"][-1]
    assert codes(moved) == ["what-if"]
    context = asked("context")["messages"]
    assert [one["role"] for one in context] == ["user", "assistant", "branchSummary"]
    undone = asked("undo")
    assert undone["undoes"] == moved["op"]
    assert len(asked("context")["messages"]) == 6


def test_a_compaction(asked: Callable[..., Asked]) -> None:
    made = asked("compact", "--keep-recent", "1", "--pin", "pears need frost", "--larger")
    tree = asked("tree")
    assert (tree["place"], tree["what_if"]) == (made["entry"], True)
    context = asked("context")
    assert context["tokens"]["total"] == made["tokens_after"]
    assert "pears need frost" in context["messages"][0]["text"]
    assert asked("survival", made["entry"])["facts"] is not None
    asked("undo")
    assert asked("tree")["what_if"] is False


def test_doctor_names_what_belongs_to_no_session(
    asked: Callable[..., Asked], run: Run, foreign: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked("label", "#0", "x")
    assert [one["code"] for one in run("doctor", "--json").document["problems"]] == []
    away = tmp_path / "away"
    foreign.root.rename(away)
    [problem] = run("doctor", "--json").document["problems"]
    assert problem["code"] == "sidecar-orphan"
    away.rename(foreign.root)


def test_the_document_of_an_injection_says_that_the_leaf_is_a_preview(
    asked: Callable[..., Asked], run: Run, foreign: Store
) -> None:
    assert "what-if" not in codes(asked("inject"))
    asked("move", entry(asked("tree"), 0))
    own = asked("tree")["own_leaf"]
    assert "what-if" in codes(asked("inject"))
    assert f"itself is at {own}" in run("inject", foreign.path).err
