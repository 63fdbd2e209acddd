"""Which rows of an X-ray hold some words: messages by all that they say, lines of a summary by theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.compaction.xray import Link, What
from leafward.session.entries import EntryIndex, Kind
from leafward.session.messages import message_text, messages_of
from leafward_tui.xray.model.arrangement import Side

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.xray import XRay
    from leafward.session.session import Session

__all__ = ["rows_holding"]


def rows_holding(
    session: Session, xray: XRay, words: str, stop: Callable[[], bool] = lambda: False
) -> list[tuple[Side, int]]:
    """The rows and sides that hold words, case ignored; what stays on both sides counts once, before. Decodes messages."""
    lowered = words.lower()
    spoken: dict[int, list[tuple[Side, int]]] = {}
    found: list[tuple[Side, int]] = []
    for number, row in enumerate(xray.rows):
        for side, cell in ((Side.BEFORE, row.before), (Side.AFTER, row.after)):
            if cell is None or (side is Side.AFTER and row.link in (Link.SYSTEM, Link.KEPT)):
                continue
            if cell.what is What.MESSAGE and cell.entry >= 0:
                spoken.setdefault(cell.entry, []).append((side, number))
            elif lowered in cell.text.lower():
                found.append((side, number))
    kinds = session.columns.kind
    for index, body in session.bodies([EntryIndex(entry) for entry in sorted(spoken)]):
        if stop():
            return []
        texts = (message_text(message) for message in messages_of(body or {}, Kind(kinds[index])))
        if any(lowered in text.lower() for text in texts):
            found += spoken[index]
    return found
