"""Requests that a transcript recorded (2.1.3xx): for a compaction they show the messages that the model really received.

A request is a list of hashes: those of messages in the file, and those of replies, which are found by hashing the replies.
Only replies identify their messages for certain, so replies are compared.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from leafward.agents.claude.entries.compactions import KeptEntries
from leafward.agents.claude.entries.records import attachment_text, message_of, rows_in, text_in
from leafward.session.entries import BOOKKEEPING, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents.claude.entries.entry_builder import EntryBuilder
    from leafward.agents.claude.entries.transcript_rows import Rows
    from leafward.session.entries import Body

_TRIED = 16
"""Replies below a compaction that are searched for one with a recorded request."""
_LOOKED_BACK = 4096
"""Entries above a compaction that may be kept ones."""
_BASES = 10_000
_SPACE = re.compile(r"\s+")


class Requests:
    """The recorded requests of one transcript."""

    def __init__(
        self, rows: Rows, row: Callable[[int], bytes], entry_rows: Callable[[int], list[Body]]
    ) -> None:
        self._requests = rows.notes.requests.places()
        self._blobs = rows.notes.blobs.places()
        self._row = row
        self._entry_rows = entry_rows

    def __contains__(self, request: object) -> bool:
        return request in self._requests

    def hashes(self, request: str) -> list[str] | None:
        """The messages of a request, by hash; None where a request that it continues is missing."""
        links: list[tuple[int, list[str]]] = []
        name: object = request
        while isinstance(name, str) and name:
            if name not in self._requests or len(links) > _BASES:
                return None
            body: Body = next(rows_in(self._row(self._requests[name])), {})
            keep, tail = body.get("keep"), body.get("tail")
            links.append(
                (
                    keep if isinstance(keep, int) else 0,
                    [one for one in (tail if isinstance(tail, list) else ()) if isinstance(one, str)],
                )
            )
            name = body.get("base")
        found: list[str] = []
        for keep, tail in reversed(links):
            found = found[:keep] + tail
        return found

    def text(self, digest: str) -> str | None:
        """The text of a recorded message of the user's side, without spaces; None for a reply."""
        at = self._blobs.get(digest)
        if at is None:
            return None
        body: Body = next(rows_in(self._row(at)), {})
        message = message_of(body)
        return _squeezed(message.get("content")) if message.get("role") != "assistant" else None

    def reply(self, entry: int) -> str:
        """The hash of a reply."""
        content: list[Any] = []
        for row in self._entry_rows(entry):
            blocks = message_of(row).get("content")
            content += blocks if isinstance(blocks, list) else [{"type": "text", "text": blocks}]
        text = json.dumps(
            {"content": content, "role": "assistant"},
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
        )
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def says(self, entry: int) -> str:
        """The text of an entry that is not a reply, without spaces."""
        row = next(iter(self._entry_rows(entry)), {})
        return _squeezed(attachment_text(row) if "attachment" in row else message_of(row).get("content"))

    def reference(self, entry: int) -> str | None:
        """The request that a reply answers, where it was recorded here."""
        found = next(iter(self._entry_rows(entry)), {}).get("requestRef")
        return found if isinstance(found, str) and found in self._requests else None


def corrected(builder: EntryBuilder, requests: Requests) -> list[int]:
    """Corrects the kept entries of compactions by the first request recorded below each; returns the compactions that were wrong."""
    wrong: list[int] = []
    for compaction, kept in list(builder.compactions.kept.items()):
        below = _first_below(builder, requests, compaction)
        hashes = requests.hashes(below[0]) if below is not None else None
        if hashes is None or below is None:
            continue
        above = _above(builder, compaction)
        kinds = builder.columns.kind
        replies = [one for one in hashes if requests.text(one) is None]
        for entry in below[1]:
            digest = requests.reply(entry)
            if digest in replies:
                # Equal replies may have been kept as well: those below come last.
                del replies[len(replies) - 1 - replies[::-1].index(digest)]
        lying_above = set(above)
        ours = [
            entry
            for entry in (*kept.before, *kept.after)
            if kinds[entry] == Kind.ASSISTANT and entry in lying_above
        ]
        if list(map(requests.reply, ours)) == replies:
            continue
        sent = _lying(above, replies, kinds, requests)
        # Where a reply is missing or written differently, nothing is certain.
        if sent is not None:
            texts = "\n".join(filter(None, map(requests.text, hashes)))
            is_sent = {entry for entry in above if requests.says(entry) in texts}.__contains__
            builder.compactions.kept[compaction] = _kept(kinds, above, sent, kept, is_sent)
            wrong.append(compaction)
    return wrong


def _lying(above: list[int], replies: list[str], kinds: bytearray, requests: Requests) -> list[int] | None:
    """The entries among `above` of recorded replies, the last where several are equal; None where one is missing."""
    wanted, known = Counter(replies), defaultdict[str, list[int]](list)
    left = len(replies)
    for entry in reversed(above):
        if not left:
            break
        if kinds[entry] != Kind.ASSISTANT:
            continue
        digest = requests.reply(entry)
        if wanted[digest] > 0:
            known[digest].append(entry)
            wanted[digest] -= 1
            left -= 1
    return [known[one].pop() for one in replies] if not left else None


def _first_below(builder: EntryBuilder, requests: Requests, compaction: int) -> tuple[str, list[int]] | None:
    """The first recorded request below a compaction that holds all its kept entries, and the replies between."""
    kinds, parents = builder.columns.kind, builder.columns.parent
    passed: list[int] = []
    at = kinds.find(Kind.ASSISTANT, compaction + 1)
    while at >= 0 and len(passed) < _TRIED:
        above = parents[at]
        while (
            above > compaction
            and kinds[above] != Kind.COMPACTION
            and above not in builder.compactions.kept_until
        ):
            above = parents[above]
        if above == compaction:
            found = requests.reference(at)
            if found is not None:
                return found, passed
            passed.append(at)
        at = kinds.find(Kind.ASSISTANT, at + 1)
    return None


def _above(builder: EntryBuilder, compaction: int) -> list[int]:
    """The entries above a compaction that have content, from the first on."""
    kinds, parents = builder.columns.kind, builder.columns.parent
    found: list[int] = []
    at = parents[compaction]
    while at >= 0 and len(found) < _LOOKED_BACK:
        if kinds[at] not in BOOKKEEPING and kinds[at] != Kind.COMPACTION:
            found.append(at)
        at = parents[at]
    return found[::-1]


def _kept(
    kinds: bytearray, above: list[int], sent: list[int], kept: KeptEntries, is_sent: Callable[[int], bool]
) -> KeptEntries:
    """The kept entries, from the replies that were sent: the entries between them, and those sent around them."""
    if not sent:
        return KeptEntries(kept.between, (), kept.between)
    first, last = above.index(sent[0]), above.index(sent[-1])
    begin, end = min(first, last), max(first, last) + 1
    while begin and kinds[above[begin - 1]] != Kind.ASSISTANT and is_sent(above[begin - 1]):
        begin -= 1
    while end < len(above) and kinds[above[end]] != Kind.ASSISTANT and is_sent(above[end]):
        end += 1
    stretch = tuple(entry for entry in above[begin:end] if kinds[entry] != Kind.ASSISTANT or entry in sent)
    replies = [entry for entry in above if kinds[entry] == Kind.ASSISTANT]
    if sent[0] == replies[0] and sent[-1] != replies[-1]:
        return KeptEntries((*stretch, *kept.between), (), kept.between)
    return KeptEntries(kept.between, stretch, kept.between)


def _squeezed(content: object) -> str:
    if isinstance(content, list):
        parts = [
            text_in(part.get("content")) if part.get("type") == "tool_result" else text_in([part])
            for part in content
            if isinstance(part, dict)
        ]
        content = "".join(parts)
    return _SPACE.sub("", content) if isinstance(content, str) else ""
