"""The lines below a tree without a pane beside it: the end of a turn, or the text around a hit of the search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.session.entries import EntryIndex, Kind, text_of
from leafward.session.headlines.entry_headline import headline
from leafward.session.messages import message_text, messages_of
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
_HEADING = re.compile(r"(?m)^#{1,6} +")


def glance(
    session: Session, entries: Sequence[range], head: int, hit: int, words: str, _job: Job
) -> TurnDigest:
    """The text around a hit of the search, where there is one; else the digest of the turn."""
    around = _around_hit(session, EntryIndex(hit), words) if hit >= 0 else None
    return around or _end_of_turn(session, entries, head)


def _around_hit(session: Session, entry: EntryIndex, words: str) -> TurnDigest | None:
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


def _end_of_turn(session: Session, spans: Sequence[range], head: int) -> TurnDigest:
    """The end of a turn: who spoke last and the last words, and the files it changed."""
    from leafward.files.working_set import changed_files

    changes = changed_files(session, [index for span in spans for index in span])
    reply = last_words(session, spans)
    if reply:
        return TurnDigest("ai", reply, tuple(changes))
    first = headline(session, head)
    if session.columns.kind[head] in (Kind.BRANCH_SUMMARY, Kind.COMPACTION):
        # The row shows the kind of summary; these lines show its text.
        told = (session.body(head) or {}).get("summary")
        if isinstance(told, str) and told.strip():
            return TurnDigest(
                first.word, safe_line(_HEADING.sub("", told[:_AROUND]), _AROUND), tuple(changes)
            )
    if session.columns.kind[head] == Kind.BASH:
        return TurnDigest("you", f"! {first.text}", tuple(changes))
    return TurnDigest(first.word, first.text, tuple(changes))


def last_words(session: Session, spans: Sequence[range]) -> str:
    """The headline of the last reply with words; empty where there is none."""
    for span in reversed(spans):
        for index in reversed(span):
            if session.columns.kind[index] == Kind.ASSISTANT:
                message = (session.body(index) or {}).get("message") or {}
                if text_of(message.get("content")).strip():
                    return headline(session, index).text
    return ""
