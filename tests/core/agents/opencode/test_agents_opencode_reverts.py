"""Reverts of opencode: the context at the place is what opencode sends with the next prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.messages import message_text
from tests.opencode_reverts import GONE, REVERTS, made
from tests.opencode_store import Conversation, Database, opened, problems, write_tree

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


def sent(session: Session) -> str:
    """The texts of all messages that are sent, without calls."""
    found = []
    for message in context_at(session).messages:
        body = message_body(session, message)
        content = body.get("content")
        text = str(body.get("summary", content))
        if isinstance(content, list):
            text = "".join(block["text"] for block in content if block["type"] == "text")
        if message.sent:
            found.append(text)
    return " ".join(found)


@pytest.mark.parametrize("case", REVERTS, ids=str)
def test_the_context_is_what_opencode_sends(root: Path, case: tuple[str | int, ...]) -> None:
    talk = Conversation()
    made(talk, *case)
    assert sent(opened(Database(root).write(talk))) == REVERTS[case]
    if len(case) < 3:
        assert sent(opened(write_tree(root / "files", talk))) == REVERTS[case]


@pytest.mark.parametrize("part", [0, 3, GONE])
def test_versions_without_a_database_take_back_the_whole_message(root: Path, part: str | int) -> None:
    talk = Conversation()
    made(talk, "worked", 3, part)
    assert sent(opened(write_tree(root, talk))) == "one? one. two?"


@pytest.mark.parametrize("place", [(GONE,), (3, GONE), (5, GONE)], ids=str)
def test_a_revert_to_what_is_not_there_is_said(root: Path, place: tuple[str | int, ...]) -> None:
    talk = Conversation()
    made(talk, "three", *place)
    session = opened(Database(root).write(talk))
    assert problems(session) == ["revert-target"]
    [note] = [note for note in session.source.notes if note.code == "revert-target"]
    assert GONE in note.text
    assert message_text((session.body(0) or {})["message"]) == "one?"
