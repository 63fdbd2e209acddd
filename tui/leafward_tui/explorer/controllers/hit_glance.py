"""The text around a hit of the search, for the lines below a tree without a pane beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.session.entries import EntryIndex, Kind
from leafward.session.headlines.entry_headline import headline
from leafward.session.messages import message_text, messages_of
from leafward_tui.explorer.controllers.row_metrics import glance_at
from leafward_tui.explorer.widgets.peek import TurnDigest
from leafward_tui.ui.text.hits import spans_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.session import Session
    from leafward_tui.ui.jobs import Job

_BEFORE = 30
"""Characters before a hit."""
_AROUND = 400
"""Characters that two lines may need."""


def glance(
    session: Session, entries: Sequence[range], head: int, hit: int, words: str, job: Job
) -> TurnDigest:
    """The text around a hit of the search, where there is one; else the digest of the turn."""
    around = glance_at_hit(session, EntryIndex(hit), words) if hit >= 0 else None
    return around or glance_at(session, entries, head, job)


def glance_at_hit(session: Session, entry: EntryIndex, words: str) -> TurnDigest | None:
    """The words around the first hit of an entry; None where its shown text does not hold them."""
    body = session.body(entry) or {}
    messages = messages_of(body, Kind(session.columns.kind[entry]))
    text = " ".join(" ".join(message_text(message) for message in messages).split())
    places = spans_of(text, words)
    if not places:
        return None
    start = max(0, places[0][0] - _BEFORE)
    # A word is not cut where the text before the hit begins.
    start = 0 if start == 0 else text.find(" ", start, places[0][0]) + 1 or places[0][0]
    around = safe_line(text[start : start + _AROUND], _AROUND)
    return TurnDigest(headline(session, entry).word, around, (), words, start > 0)
