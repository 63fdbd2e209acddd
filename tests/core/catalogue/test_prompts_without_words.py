"""Sessions that begin with an image, or with nothing but files: what they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.catalogue.cards.card import NO_MESSAGES
from leafward.catalogue.cards.grown_card import read_on
from leafward.catalogue.cards.quick_card import peek
from leafward.session.headlines.session_title import title_of
from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout
from tests.core.catalogue.test_catalogue_cards import candidate, whole
from tests.core.catalogued import cards_in
from tests.core.listed_sessions import Draft
from tests.opencode_store import Conversation, Database

if TYPE_CHECKING:
    from pathlib import Path

PIXEL = "iVBORw0KGgo="
IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def _pi(home: Path, part: str) -> None:
    draft = Draft()
    draft.user([IMAGE] if part == "image" else [])
    draft.assistant("Seen.")
    draft.write(home / "a.jsonl")


def _codex(home: Path, part: str) -> None:
    rollout = Rollout(home)
    address = f"data:image/png;base64,{PIXEL}"
    parts = [{"type": "input_image", "image_url": address}] if part == "image" else []
    rollout.item("message", role="user", content=parts)
    rollout.event("user_message", message="", images=[address] if parts else [])
    rollout.reply("Seen.")


def _claude(home: Path, part: str) -> None:
    main = Transcript(home)
    block: dict[str, Any] = {
        "type": "image" if part == "image" else "document",
        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
    }
    main.row("user", message={"role": "user", "content": [] if part == "nothing" else [block]})
    main.reply("Seen.")


def _opencode(home: Path, part: str) -> None:
    talk = Conversation(title="")
    kind = "image/png" if part == "image" else "application/pdf"
    file = {"type": "file", "mime": kind, "filename": "a.x", "url": f"data:{kind};base64,{PIXEL}"}
    talk.prompt = talk.message("user", [] if part == "nothing" else [file], agent="build")
    talk.reply({"type": "text", "text": "Seen."})
    Database(home).write(talk)


@pytest.mark.parametrize(
    ("make", "part", "title"),
    [
        (_pi, "image", "[image]"),
        (_codex, "image", "[image]"),
        (_claude, "image", "[image]"),
        (_claude, "file", "[document image/png, 8 bytes]"),
        (_opencode, "image", "[image]"),
        (_opencode, "file", "[file a.x, application/pdf]"),
        (_pi, "nothing", NO_MESSAGES),
        (_codex, "nothing", NO_MESSAGES),
        (_claude, "nothing", NO_MESSAGES),
        (_opencode, "nothing", NO_MESSAGES),
    ],
)
def test_a_session_is_called_by_what_it_began_with(tmp_path: Path, make: Any, part: str, title: str) -> None:
    make(tmp_path, part)
    assert [card.title for card in cards_in(tmp_path, tmp_path / "index")] == [title]


def test_words_that_come_later_are_the_title(tmp_path: Path) -> None:
    draft = Draft()
    draft.user([IMAGE])
    path = draft.write(tmp_path / "a.jsonl")
    known = whole(path)
    assert [peek(candidate(path)).title, known.card.title, known.card.prompt] == ["[image]", "[image]", ""]
    draft.assistant("Seen.")
    draft.append_to(path, 1)
    grown = read_on(known, candidate(path))
    assert grown is not None
    assert grown.card == whole(path).card
    draft.named("Pears")
    draft.append_to(path, 1)
    named = read_on(grown, candidate(path))
    assert named is not None
    assert named.card.title == "Pears"
    draft.named("")
    draft.append_to(path, 1)
    assert read_on(named, candidate(path)) is None, "what it was called before stands in what was read"
    assert whole(path).card.title == "[image]"
    draft.user("prune")
    draft.append_to(path, 1)
    assert whole(path).card.title == "prune"


def test_text_that_is_empty_is_no_image(tmp_path: Path) -> None:
    main = Transcript(tmp_path)
    main.row("user", message={"role": "user", "content": [{"type": "text", "text": " "}]})
    main.reply("What?")
    assert title_of(main.opened()) == "(empty)"
    assert [card.title for card in cards_in(tmp_path, tmp_path / "i")] == [NO_MESSAGES]
