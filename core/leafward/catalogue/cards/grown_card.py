"""Updates the card of a file that has only grown, from the lines appended since it was read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.base.regular_files import open_regular
from leafward.catalogue.cards.card import Card, Details, Reading, ReadMark
from leafward.catalogue.cards.card_fields import (
    MESSAGES,
    TouchedFiles,
    archived_by,
    card_title,
    excerpt,
    model_of,
    name_of,
    seal_of,
    spoken_at,
)
from leafward.catalogue.cards.daily_usage import Meter
from leafward.session.entries import BOOKKEEPING, PROMPTS, Kind, is_own
from leafward.session.headlines.entry_headline import IMAGE, shown_only
from leafward.session.lines.line_decoding import decode_line, kind_of
from leafward.session.messages import messages_of, trusted_usage
from leafward.session.tokens import message_tokens

if TYPE_CHECKING:
    from leafward.agents.base import SessionCandidate
    from leafward.session.entries import Body

READ_ON_LIMIT = 1 << 20
"""Most appended bytes with which a file is read on; with more it is read whole."""

_UNTOLD = frozenset(
    {Kind.HEADER, Kind.UNKNOWN, Kind.MALFORMED, Kind.COMPACTION, Kind.CONTEXT_EDIT, Kind.SYSTEM}
)
"""Kinds that need a reading of the whole file; the last three change how the context before them counts."""


def read_on(reading: Reading, candidate: SessionCandidate) -> Reading | None:
    """The reading of a file that has only grown, made from the appended lines; None if the file has to be read whole.

    It has to be read whole if the old bytes changed, or if the new entries do not continue the last one in a row or change
    how the context before them counts.
    """
    try:
        return _read_on(reading, candidate)
    except Exception:
        # This is only a shortcut: if the appended lines are malformed, reading the file whole says how.
        return None


def _read_on(reading: Reading, candidate: SessionCandidate) -> Reading | None:
    # Imported here, as its decoder takes longer to load than anything else in this module.
    from leafward.catalogue.cards.replies import Replies

    card, details, mark, known = reading
    if mark is None or not card.entries or not mark.end < candidate.size <= mark.end + READ_ON_LIMIT:
        return None
    appended = _appended(candidate, mark)
    if appended is None:
        return None
    lines, seal = appended
    grown = _GrownCard(card, details, mark)
    replies = Replies(Meter(card.created or 0, known), TouchedFiles(card.project, details))
    for line in lines.split(b"\n"):
        if not line.strip():
            continue
        body = decode_line(line)
        if body is None or not grown.take(body, kind_of(body)):
            return None
        replies.add_body(body)
    after = grown.card(candidate.size)
    if after is None:
        return None
    replies.settle()
    files = replies.files
    return Reading(
        after,
        Details(tuple(files.changed), tuple(files.read), grown.last_prompt, grown.last_reply),
        ReadMark(mark.end + len(lines), mark.inode, seal, grown.last_id, grown.leaves, grown.at_tip),
        replies.meter.days(),
    )


def _appended(candidate: SessionCandidate, mark: ReadMark) -> tuple[bytes, str] | None:
    """The whole lines after a mark and the seal at their end; None if the bytes before the mark have changed."""
    with open_regular(candidate.path) as file:
        if os.fstat(file.fileno()).st_ino != mark.inode or seal_of(file, mark.end) != mark.seal:
            return None
        file.seek(mark.end)
        lines = file.read(READ_ON_LIMIT)
        return (lines, seal_of(file, mark.end + len(lines))) if lines.endswith(b"\n") else None


class _GrownCard:
    """A card that takes in the appended entries one by one."""

    def __init__(self, card: Card, details: Details, mark: ReadMark) -> None:
        self.last_id, self.leaves, self.at_tip = mark.last_id, mark.leaves, mark.at_tip
        self.last_prompt, self.last_reply = details.last_prompt, details.last_reply
        self._before = card
        self._values = card._asdict()
        self._shown = IMAGE if card.title == IMAGE else ""
        self._spoken = 0

    def take(self, body: Body, kind: Kind) -> bool:
        """Adds one entry; False if only a reading of the whole file can update the card."""
        values = self._values
        name = body.get("id")
        if kind in _UNTOLD or body.get("parentId") != self.last_id or not isinstance(name, str) or not name:
            return False
        if kind is Kind.USER and not self._before.turns:
            return False  # copies are found by the first prompt
        if not self._is_sized(body, kind):
            return False
        self.last_id = name
        values["entries"] += not is_own(body)
        values["messages"] += kind in MESSAGES
        values["turns"] += kind in PROMPTS
        self._spoken = max(self._spoken, spoken_at(body))
        if kind not in BOOKKEEPING:
            self.leaves += not self.at_tip
            self.at_tip = True
            values["tokens"] = _grown(values["tokens"], body, kind)
        self._take_texts(body, kind)
        return True

    def _is_sized(self, body: Body, kind: Kind) -> bool:
        """Whether the size of the context can be kept up with an entry; a reply that records its usage ends an estimate."""
        if kind is not Kind.ASSISTANT or not self._values["estimated"]:
            return True
        if trusted_usage(body.get("message") or {}) is None:
            return True
        if spoken_at(body) < self._before.modified:
            return False  # the entries above decide whether its usage can be trusted
        self._values["estimated"] = False
        return True

    def _take_texts(self, body: Body, kind: Kind) -> None:
        """Takes over an entry's name, prompt or reply, model, and archiving."""
        values = self._values
        if kind is Kind.SESSION_INFO:
            values["name"] = name_of(body)
        elif kind is Kind.USER:
            text = excerpt(body)
            values["prompt"] = values["prompt"] or text
            if text:
                self.last_prompt, self.last_reply = text, ""
            self._shown = self._shown or shown_only(body)
        elif kind is Kind.ASSISTANT:
            self.last_reply = excerpt(body) or self.last_reply
        if kind in (Kind.ASSISTANT, Kind.MODEL_CHANGE):
            values["model"] = model_of(body) or values["model"]
        archived = archived_by(body) if kind is Kind.CUSTOM else None
        if archived is not None:
            values["archived"] = archived

    def card(self, size: int) -> Card | None:
        """The card of a file of `size` bytes; None if only a reading of the whole file can make it."""
        before, values = self._before, self._values
        if self._spoken:
            values["modified"] = max(self._spoken, before.modified if before.messages else 0)
        elif not before.messages and before.created is None:
            return None
        if before.name is not None and values["name"] is None and not values["prompt"]:
            return None
        values.update(
            title=card_title(values["name"], values["prompt"], self._shown),
            branches=self.leaves - self.at_tip,
            size=size,
            partial=False,
        )
        return Card(**values)


def _grown(tokens: int, body: Body, kind: Kind) -> int:
    """The size of a context after one more entry."""
    message = body.get("message")
    usage = trusted_usage(message) if kind is Kind.ASSISTANT and isinstance(message, dict) else None
    if usage is not None:
        return usage.total
    return tokens + sum(message_tokens(message) for message in messages_of(body, kind))
