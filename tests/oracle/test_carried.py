"""The real pi, resuming sessions with context edits, grafts and merged summaries of ours.

Runs where `test_resume.py` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.oracle.installed_agents import needs_pi
from tests.oracle.test_compacted import assert_pi_follows, prepared
from tests.oracle.test_resume import (
    entries_of,
    leafward,
    session,  # noqa: F401  # a fixture
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [needs_pi]
EVERY = ["branches", "compacted-twice", "print-tools"]


@pytest.mark.parametrize("session", EVERY, indirect=True)
def test_pi_sends_an_edited_context(session: Path, tmp_path: Path) -> None:  # noqa: F811
    home = tmp_path / "home"
    edited = leafward(
        home, "edit-context", str(session), "--select", "context() & (results() | replies())", "--keep", "4"
    )
    assert len(edited["edits"]) == sum(line["type"] == "context_edit" for line in entries_of(session))
    assert_pi_follows(home, session)
    tokens = leafward(home, "context", str(session))["tokens"]
    assert prepared(session)["tokens"] == tokens["as_pi"]
    assert tokens["total"] == edited["tokens_after"]


@pytest.mark.parametrize("session", ["branches"], indirect=True)
def test_pi_sends_a_graft(session: Path, tmp_path: Path) -> None:  # noqa: F811
    home = tmp_path / "home"
    tree = leafward(home, "tree", str(session))
    other = next(leaf for leaf in tree["leaves"] if leaf != tree["leaf"])
    grafted = leafward(home, "graft", str(session), "--select", f"turn({other}) - ancestors(leaf)")
    texts = [message["text"] for message in leafward(home, "context", str(session))["messages"]]
    assert len(grafted["sources"]) <= len(texts)
    assert_pi_follows(home, session)


@pytest.mark.parametrize("session", ["branches"], indirect=True)
def test_pi_sends_a_merged_summary(session: Path, tmp_path: Path) -> None:  # noqa: F811
    home = tmp_path / "home"
    tree = leafward(home, "tree", str(session))
    other = next(leaf for leaf in tree["leaves"] if leaf != tree["leaf"])
    merged = leafward(home, "merge-summaries", str(session), other, "leaf", "--prefer", "both")
    sent = assert_pi_follows(home, session)
    assert merged["summary"] in sent[-1].text
