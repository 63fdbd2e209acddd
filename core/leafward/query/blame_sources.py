"""What a blame is told from: the sessions that may have touched a file, and what one of them was shown of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.catalog import parents
from leafward.files.file_names import real_folder
from leafward.session.entries import PROMPTS, EntryIndex, Kind
from leafward.session.messages import message_in, message_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.catalog import Card
    from leafward.session.session import Session

__all__ = ["concerned", "shown_before"]


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
