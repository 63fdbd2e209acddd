"""Claude Code: results and pictures that are sent no more from some place on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import Kind, blocks_of
from tests.claude_transcript import Transcript
from tests.foreign_sessions import problems, said

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session

PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
PAPER = {
    "type": "document",
    "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQ="},
}


def shown(transcript: Transcript, text: str, *pictures: dict[str, Any]) -> str:
    """A prompt with pictures."""
    return transcript.row(
        "user", message={"role": "user", "content": [*pictures, {"type": "text", "text": text}]}
    )


def microcompaction(transcript: Transcript, *calls: str, version: str = "2.1.48") -> str:
    """The row that tells of one."""
    metadata = {"trigger": "auto", "compactedToolIds": list(calls), "clearedAttachmentUUIDs": []}
    return transcript.row(
        "system", subtype="microcompact_boundary", microcompactMetadata=metadata, version=version
    )


def pictures_at(session: Session, at: int) -> list[str]:
    """What users' messages show in the context at an entry: kinds of pictures, and words in their place."""
    blocks = [
        block
        for one in context_at(session, at).messages
        if session.columns.kind[one.entry] in (Kind.USER, Kind.INJECTED)
        for block in blocks_of(message_body(session, one).get("content"))
    ]
    kinds = ["image" if block["type"] == "image" else block["text"] for block in blocks]
    return [kind for kind in kinds if kind == "image" or kind.startswith("[")]


def replies(session: Session) -> list[int]:
    """The entries above each reply: what is sent for it is the context there."""
    columns = session.columns
    return [columns.parent[index] for index, kind in enumerate(columns.kind) if kind == Kind.ASSISTANT]


def test_pictures_are_cleared_once_they_are_answered(tmp_path: Path) -> None:
    """Each request of 2.1.48 behind the first reply has words in place of the picture, and a row of its own says so."""
    transcript = Transcript(tmp_path)
    shown(transcript, "what is this", PICTURE)
    transcript.call("Bash", "c1", command="ls")
    transcript.result("c1", "files")
    microcompaction(transcript)
    transcript.reply("a pear")
    shown(transcript, "and these", PICTURE, PICTURE)
    microcompaction(transcript)
    transcript.reply("plums")
    transcript.prompt("thanks")
    microcompaction(transcript)
    transcript.reply("welcome")
    session = transcript.opened()
    assert [pictures_at(session, at) for at in replies(session)] == [
        ["image"],
        ["[image]"],
        ["[image]", "image", "image"],
        ["[image]", "[image]", "[image]"],
    ]
    # A row that clears nothing new is metadata.
    assert session.columns.kind.count(Kind.CONTEXT_EDIT) == 2
    assert session.tree.branch_points() == []
    assert problems(session) == {}


def test_each_line_of_a_rewound_conversation_clears_its_own_pictures(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    shown(transcript, "what is this", PICTURE)
    answer = transcript.reply("a pear")
    transcript.prompt("on")
    microcompaction(transcript)
    transcript.reply("left")
    transcript.prompt("other", parentUuid=answer)
    microcompaction(transcript)
    transcript.reply("stays")
    session = transcript.opened()
    assert [pictures_at(session, at) for at in replies(session)] == [["image"], ["[image]"], ["[image]"]]


def test_pictures_that_wait_for_an_answer_are_cleared_later(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    shown(transcript, "what is this", PICTURE)
    transcript.reply("a pear")
    shown(transcript, "and this", PAPER)
    shown(transcript, "and that", PICTURE)
    microcompaction(transcript)
    transcript.reply("two more")
    transcript.prompt("thanks")
    microcompaction(transcript)
    transcript.reply("welcome")
    session = transcript.opened()
    contexts = [pictures_at(session, at) for at in replies(session)]
    assert contexts[1][0] == "[image]"
    assert "image" in contexts[1]
    assert contexts[2] == ["[image]", "[document]", "[image]"]


@pytest.mark.parametrize(("version", "sent"), [("2.1.48", "[image]"), ("2.1.29", "image")])
def test_results_and_pictures_may_be_cleared_together(tmp_path: Path, version: str, sent: str) -> None:
    """A row that names results clears pictures too from 2.1.38 on; before it clears the results alone."""
    transcript = Transcript(tmp_path)
    shown(transcript, "what is this", PICTURE)
    transcript.call("Bash", "c1", command="ls")
    transcript.result("c1", "files")
    microcompaction(transcript, "c1", version=version)
    transcript.reply("a pear")
    session = transcript.opened()
    assert pictures_at(session, session.leaf) == [sent]
    assert ("toolResult", "[Old tool result content cleared]") in said(session)
    assert problems(session) == {}


def test_what_was_cleared_is_the_same_in_a_session_that_grew(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    shown(transcript, "what is this", PICTURE)
    transcript.reply("a pear")
    transcript.prompt("on")
    microcompaction(transcript)
    session = transcript.opened()
    transcript.reply("on it")
    shown(transcript, "and this", PICTURE)
    microcompaction(transcript)
    transcript.reply("a plum")
    transcript.prompt("thanks")
    microcompaction(transcript)
    transcript.reply("welcome")
    session.refresh()
    assert pictures_at(session, session.leaf) == ["[image]", "[image]"]
    assert problems(session) == {}
