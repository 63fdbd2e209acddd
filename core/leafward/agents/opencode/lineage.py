"""The session that another one was copied from. opencode stores no link, but copies keep the times of messages, and their calls."""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.opencode.storage.records import object_in
from leafward.session.entries import text_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.agents.opencode.storage.records import Info, MessageRecord

_COMPARED = 6
"""Messages that are compared word by word: two conversations may begin in the same millisecond."""


class ForkParent(NamedTuple):
    """The source of a copied session."""

    session: str
    shared: int
    """Messages that were copied."""


def source_of(
    session: str,
    own: list[int],
    siblings: list[Info],
    times: Callable[[str], list[int]],
    messages_of: Callable[[str], Iterator[MessageRecord]],
) -> ForkParent | None:
    """The older session that shares the most messages with one, the oldest of several; None where none begins like it."""
    best: ForkParent | None = None
    for other in sorted(siblings, key=lambda info: (info.created or 0, info.id)):
        same = zip(own, times(other.id), strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], same))
        if shared > (best.shared if best is not None else 0):
            count = min(shared, _COMPARED)
            if _opening(messages_of(session), count) == _opening(messages_of(other.id), count):
                best = ForkParent(other.id, shared)
    return best


def _opening(messages: Iterator[MessageRecord], count: int) -> list[tuple[object, ...]]:
    """Roles, calls and texts of a session's first messages, which a copy keeps."""
    found: list[tuple[object, ...]] = []
    for record in islice(messages, count):
        parts = [object_in(part.data) for part in record.parts]
        calls = tuple(text_at(part, "callID") for part in parts if part.get("type") == "tool")
        texts = tuple(text_at(part, "text") for part in parts if part.get("type") == "text")
        found.append((object_in(record.message.data).get("role"), calls, texts))
    return found
