"""opencode: messages and parts that nobody here has seen, wherever they stand. All that others say stays as it is, and they are shown."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from leafward.session.entries import Kind
from leafward.session.headlines.entry_headline import headline
from tests.foreign_sessions import problems
from tests.foreign_sessions import said as spoken
from tests.opencode_store import START, Conversation, Database, call, opened, said, write_tree

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


def talk() -> Conversation:
    """A turn with calls, of which one failed and one was pruned, a compaction that keeps a tail, a reply that was stopped."""
    made = Conversation()
    made.ask("Count the pears")
    made.reply(
        said("Let me see."),
        call("read", "three", compacted=START + 3000, filePath="pears.txt"),
        call("bash", status="error", error="no pears", command="ls pears"),
        {"type": "patch", "hash": "h", "files": ["/home/ada/orchard/list.txt"]},
    )
    made.reply(said("Seven."))
    tail = made.ask("And the plums?")
    made.reply(said("None."))
    made.compaction("Seven pears were counted.", tail)
    made.ask("And the figs?")
    made.reply(said("Let me"), error={"name": "MessageAbortedError", "data": {"message": "stopped"}})
    made.ask("Thanks")
    made.reply({"type": "retry", "attempt": 1, "error": {}}, said("Gladly."))
    return made


def told(session: Session) -> list[Any]:
    bodies = [session.body(index) or {} for index in range(len(session))]
    messages = [body["message"] for body in bodies if "message" in body]
    return [
        spoken(session),
        [(one["role"], one.get("usage"), one.get("isError")) for one in messages],
        session.branches,
    ]


def shown(session: Session, name: str) -> None:
    """A record that is not known is an entry of its name, and counted."""
    (entry,) = (
        index
        for index, kind in enumerate(session.columns.kind)
        if kind == Kind.UNKNOWN and "plum" in str(session.body(index))
    )
    assert headline(session, entry).text == f"opencode.{name}"
    assert problems(session)["unknown-record"] == 1


@pytest.mark.parametrize("is_tree", [False, True])
def test_a_message_between_others_changes_nothing_that_they_say(tmp_path: Path, *, is_tree: bool) -> None:
    whole = talk()
    expected = told(opened(Database(tmp_path / "whole").write(whole)))
    for place in range(len(whole.messages) + 1):
        changed = deepcopy(whole)
        before = whole.messages[place - 1][0]["time"]["created"] if place else START
        body = {"id": "msg_plum", "sessionID": whole.id, "role": "gardener", "time": {"created": before + 1}}
        part = {"id": "prt_plum", "sessionID": whole.id, "messageID": "msg_plum", **said("plum")}
        changed.messages.insert(place, (body, [part]))
        root = tmp_path / str(place)
        path = write_tree(root, changed) if is_tree else Database(root).write(changed)
        session = opened(path)
        assert told(session) == expected, place
        shown(session, "gardener")


def test_a_part_between_others_changes_nothing_that_they_say(tmp_path: Path) -> None:
    whole = talk()
    expected = told(opened(Database(tmp_path / "whole").write(whole)))
    for message, (_, parts) in enumerate(whole.messages):
        for place in range(len(parts) + 1):
            changed = deepcopy(whole)
            body, found = changed.messages[message]
            # Ids are ordered as texts: one that goes on from that of the part before comes right behind it.
            before = found[place - 1]["id"] if place else f"prt_{0:012x}"
            part = {"sessionID": changed.id, "messageID": body["id"], "type": "hologram", "colour": "plum"}
            found.insert(place, {"id": f"{before}z", **part})
            session = opened(Database(tmp_path / f"{message}-{place}").write(changed))
            assert told(session) == expected, (message, place)
            shown(session, "hologram")
