"""Sessions of opencode in which somebody went back, or that hold odd messages: how they are made, and what opencode sends next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.opencode_store import Conversation, call, said

if TYPE_CHECKING:
    from collections.abc import Callable

STOPPED = {"name": "MessageAbortedError", "data": {"message": "stopped"}}


def _three(talk: Conversation) -> None:
    for name in ("one", "two", "three"):
        talk.turn(name)


def _child(talk: Conversation) -> None:
    talk.info["parentID"] = "ses_parent"
    _three(talk)


def _worked(talk: Conversation) -> None:
    talk.turn("one")
    talk.ask("two?")
    talk.reply(
        said("First."),
        call("read", "aaa", filePath="a", number=1),
        said("Then."),
        call("read", "bbb", filePath="b", number=2),
    )
    talk.reply(said("two."))
    talk.turn("three")


def _pruned(talk: Conversation) -> None:
    _worked(talk)
    talk.messages[3][1][2]["state"]["time"]["compacted"] = talk.time + 500


def _running(talk: Conversation) -> None:
    talk.turn("one")
    talk.ask("two?")
    talk.reply(said("First."), call("bash", command="wait", status="running", number=1), said("Then."))
    talk.turn("three")


def _stopped(talk: Conversation) -> None:
    talk.turn("one")
    talk.ask("two?")
    talk.reply(said("First."), said("Then."), error=STOPPED)
    talk.turn("three")


def _packed(talk: Conversation) -> None:
    talk.turn("one")
    talk.turn("two")
    talk.compaction("Sum.")
    talk.turn("three")
    talk.turn("four")


def _tailed(talk: Conversation) -> None:
    talk.turn("one")
    talk.turn("two")
    talk.compaction("Sum.", talk.messages[2][0]["id"])
    talk.turn("three")
    talk.turn("four")


def _packed_twice(talk: Conversation) -> None:
    talk.turn("one")
    talk.compaction("Sum.")
    talk.turn("two")
    talk.compaction("Summa.")
    talk.turn("three")


def _asked_for(talk: Conversation) -> str:
    talk.turn("one")
    return talk.message("user", [{"type": "compaction", "auto": False}])


def _summed_twice(talk: Conversation) -> None:
    request = _asked_for(talk)
    for summary in ("Sum.", "Summa."):
        talk.reply(said(summary), parentID=request, summary=True)
    talk.turn("three")


def _spoken_between(talk: Conversation) -> None:
    request = _asked_for(talk)
    talk.ask("two?")
    talk.reply(said("two."), parentID=request)
    talk.reply(said("Sum."), parentID=request, summary=True)
    talk.turn("three")


def _empty(talk: Conversation) -> None:
    talk.message("user", [], agent="build")
    talk.message("user", [said("Not for the model", ignored=True)], agent="build")
    talk.reply()
    talk.turn("one")


SHAPES: dict[str, Callable[[Conversation], object]] = {
    "three": _three,
    "child": _child,
    "worked": _worked,
    "pruned": _pruned,
    "running": _running,
    "stopped": _stopped,
    "packed": _packed,
    "tailed": _tailed,
    "packed twice": _packed_twice,
    "summed twice": _summed_twice,
    "spoken between": _spoken_between,
    "empty": _empty,
}
ASKED = "What did we do so far?"
GONE = "gone"
"""A part, or a message, that is not there."""
REVERTS: dict[tuple[str | int, ...], str] = {
    ("three",): "one? one. two? two. three? three.",
    ("three", 0): "",
    ("three", 2): "one? one.",
    ("three", 3): "one? one. two?",
    ("child", 2): "one? one.",
    ("three", GONE): "one? one. two? two. three? three.",
    # Into a message. Where the part is missing, its message stays whole.
    ("three", 3, 0): "one? one. two?",
    ("three", 3, 1): "one? one. two?",
    ("three", 3, GONE): "one? one. two? two.",
    ("three", 2, 0): "one? one.",
    ("three", 2, GONE): "one? one. two?",
    ("three", 5, GONE): "one? one. two? two. three? three.",
    ("worked", 3, 2): "one? one. two? First.",
    ("worked", 3, 3): "one? one. two? First. aaa",
    ("worked", 3, 4): "one? one. two? First.Then. aaa",
    ("worked", 6, 1): "one? one. two? First.Then. aaa bbb two. three?",
    ("stopped", 3, 2): "one? one. two? First.",
    ("stopped", 3, 1): "one? one. two?",
    ("pruned", 3, 3): "one? one. two? First. [Old tool result content cleared]",
    ("running", 2): "one? one.",
    ("running", 3, 3): "one? one. two? First. [Tool execution was interrupted]",
    # Before, into and behind a compaction.
    ("packed", 0): "",
    ("packed", 2): "one? one.",
    ("packed", 3): "one? one. two?",
    ("packed", 4): "one? one. two? two.",
    ("packed", 6): f"{ASKED} Sum.",
    ("packed", 8): f"{ASKED} Sum. three? three.",
    ("tailed", 1): "one?",
    ("tailed", 2): "one? one.",
    ("tailed", 3): "one? one. two?",
    ("tailed", 4): "one? one. two? two.",
    ("tailed", 8): f"{ASKED} Sum. two? two. three? three.",
    ("packed twice", 2): "one? one.",
    ("packed twice", 6): f"{ASKED} Sum. two? two.",
    # No revert: everything from the request for a summary on is sent, and no message without content.
    ("summed twice",): f"{ASKED} Sum. Summa. three? three.",
    ("spoken between",): f"{ASKED} two? two. Sum. three? three.",
    ("empty",): "one? one.",
}
"""What opencode sends ahead of a new prompt (1.3.2 and 1.18.33), by shape, message and part where the revert begins."""


def made(talk: Conversation, shape: str | int, *places: str | int) -> None:
    """Fills a session, and takes it back to a place."""
    SHAPES[str(shape)](talk)
    if not places:
        return
    message, part = (*places, None)[:2]
    body, parts = talk.messages[message] if isinstance(message, int) else ({"id": f"msg_{message}"}, [])
    talk.info["revert"] = {"messageID": body["id"]}
    if part is not None:
        talk.info["revert"]["partID"] = parts[part]["id"] if isinstance(part, int) else f"prt_{part}"
