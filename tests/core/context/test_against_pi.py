"""Contexts, sizes, leaves, labels and names agree with what pi 1.5.2 itself computed (tests/oracle)."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from leafward.context.model_context import context_at
from leafward.session.entries import NO_ENTRY
from leafward.session.session import Session
from tests.oracle import golden

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = list(golden.pairs())


def broken_off(session: Session, entry: int) -> bool:
    message = (session.body(entry) or {}).get("message")
    return isinstance(message, dict) and message.get("stopReason") in ("aborted", "error")


@pytest.mark.parametrize(("path", "answers"), PAIRS, ids=[path.stem for path, _ in PAIRS])
def test_every_golden_node_agrees(path: Path, answers: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    shutil.copyfile(path, copy)
    session = Session.open(copy)
    expected = golden.load(answers)
    assert len(session) == expected.head["entry_count"]
    assert session.leaf == (NO_ENTRY if expected.head["leaf"] is None else expected.head["leaf"])
    assert session.name == expected.head["name"]
    assert {str(entry): label for entry, label in session.labels.items()} == expected.head["labels"]
    assert session.tree.children(NO_ENTRY) == sorted(expected.head["roots"])
    for node in expected.nodes:
        context = context_at(session, node.at)
        told = [(message.entry, message.role, message.tokens) for message in context.messages]
        assert told == [(row.entry, row.role, row.tokens) for row in node.messages], node.at
        # What pi holds in its context and leaves out on the way to the provider is told by the replies themselves.
        assert [message.sent for message in context.messages] == [
            row.digest is not None and not broken_off(session, row.entry) for row in node.messages
        ]
        assert context.thinking == node.thinking
        assert (context.provider, context.model) == (node.model or (None, None))
        assert node.tokens is not None
        size = (context.size.total, context.size.from_usage, context.size.trailing)
        assert size == (node.tokens["total"], node.tokens["from_usage"], node.tokens["trailing"]), node.at
        assert context.ledger.total == context.total
    session.close()
