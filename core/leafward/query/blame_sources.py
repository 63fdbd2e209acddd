"""What a blame is told from: the sessions that may have touched a file, and what one of them was shown of it."""

from __future__ import annotations

import os
from bisect import bisect_left
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from leafward.catalog import parents
from leafward.files.file_names import real_folder
from leafward.files.opaque_calls import opaque_calls
from leafward.session.entries import PROMPTS, EntryIndex, Kind
from leafward.session.messages import message_in, message_text, written_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.catalog import Card
    from leafward.session.session import Session

__all__ = ["UntoldWork", "concerned", "shown_before"]


class UntoldWork:
    """The times in which something may have changed a file and no step tells of it.

    These are the times of programs that are not known, and of sessions of the project that never name the file. They are read
    only when they are first asked for: most files need none of it.
    """

    def __init__(self, sessions: Sequence[tuple[Card, Session]], others: Sequence[Card]) -> None:
        self._sessions, self._others = sessions, others

    def between(self, start: int, end: int) -> bool:
        """Whether there was such work between two times, in milliseconds since 1970."""
        begun, ended = self._spans
        last = bisect_left(begun, end + 1)
        return last > 0 and ended[last - 1] >= start

    @cached_property
    def _spans(self) -> tuple[list[int], list[int]]:
        """When they begin, in order, and the latest end of those up to each."""
        spans = [(card.created or 0, card.modified) for card in self._others]
        for card, session in self._sessions:
            spans += _opaque_spans(card, session)
        spans.sort()
        return [begin for begin, _ in spans], list(accumulate((end for _, end in spans), max))


def _opaque_spans(card: Card, session: Session) -> Iterator[tuple[int, int]]:
    """From each opaque call to the next prompt: what it started may still run after its result."""
    prompts = [entry for entry in range(len(session)) if session.columns.kind[entry] in PROMPTS]
    for call in opaque_calls(session, range(len(session))):
        following = bisect_left(prompts, call.entry)
        end = _time(session, prompts[following]) if following < len(prompts) else None
        yield _time(session, call.entry) or 0, end or card.modified


def _time(session: Session, entry: int) -> int | None:
    body = session.body(EntryIndex(entry))
    return written_at(body) if body is not None else None


def concerned(cards: Sequence[Card], path: str) -> list[Card]:
    """The sessions whose project holds a file, or lies in the repository that does; the oldest first, forks behind their originals.

    `path` is absolute.
    """
    root = _repository(path)
    found = [
        card
        for card in cards
        if card.problem is None
        and card.project
        and (_holds(real_folder(card.project), path) or (root and _holds(root, real_folder(card.project))))
    ]
    # A fork of Claude Code is as old as its original, for it begins with the same rows.
    generation = _generations(cards)
    return sorted(found, key=lambda card: (card.created or card.modified, generation(card.path), card.path))


def _generations(cards: Sequence[Card]) -> Callable[[str], int]:
    """How many sessions one comes from, one from the other, by its path."""
    above = parents(cards)

    def generation(path: str) -> int:
        seen = {path}
        while path in above and above[path][0] not in seen:
            path = above[path][0]
            seen.add(path)
        return len(seen)

    return generation


def _repository(path: str) -> str:
    folder = os.path.dirname(path)
    while folder != os.path.dirname(folder):
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        folder = os.path.dirname(folder)
    return ""


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def shown_before(session: Session, entry: int, name: str) -> str:
    """What a session was shown of a file, by its name, before an entry: prompts, and results that name it or answer a reply that does."""
    return "\n".join(_texts(session, entry, name))


def _texts(session: Session, before: int, name: str) -> Iterator[str]:
    kinds, named = session.columns.kind, False
    for entry, body in session.bodies([EntryIndex(one) for one in range(before)]):
        if body is None:
            continue
        text = message_text(message_in(body))
        if kinds[entry] == Kind.ASSISTANT:
            named = name in text
        elif kinds[entry] in PROMPTS or named or name in text:
            yield text
