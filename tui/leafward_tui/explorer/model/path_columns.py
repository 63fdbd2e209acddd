"""The entries of the active path as columns of their own: where its turns begin, and how large the context is at each."""

from __future__ import annotations

import re
from array import array
from itertools import accumulate, compress
from operator import and_
from typing import TYPE_CHECKING

from leafward.session.entries import BOOKKEEPING_BYTES, TURN_STARTS, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.session import Session
    from leafward.session.tree import Run

__all__ = ["CONTENT", "HEAD", "HEADS", "PathColumns"]

HEADS = TURN_STARTS | {Kind.COMPACTION}
"""Kinds that a column of the overview begins with."""
HEAD = re.compile(b"[" + b"".join(re.escape(bytes([kind])) for kind in sorted(HEADS)) + b"]")
"""One of them, among kinds."""
CONTENT = re.compile(b"[^" + re.escape(BOOKKEEPING_BYTES) + b"]")
"""An entry of the conversation, among kinds."""
_STALE = re.compile(b"[" + re.escape(bytes([Kind.COMPACTION, Kind.CONTEXT_EDIT])) + b"]")
_IS_ZERO = b"\1" + bytes(255)
_IS_CONTENT = bytes(kind not in BOOKKEEPING_BYTES for kind in range(256))
_CHECKED = 2048
"""Turns between two looks at `stop`."""


class PathColumns:
    """The columns of the entries on a path, joined: positions below count from its root."""

    def __init__(self, session: Session, tallies: EntryMetrics, runs: list[Run]) -> None:
        self.session = session
        self.offsets: dict[int, int] = {}
        self.entries: array[int] = array("i")
        self.kinds = bytearray()
        self.flags = bytearray()
        self.tokens: array[int] = array("i")
        self.reported: array[int] = array("i")
        kind = session.columns.kind
        for run in runs:
            self.offsets[session.tree.run_of(run.start)] = len(self.kinds) - run.start
            self.entries.extend(range(run.start, run.stop))
            self.kinds += kind[run.start : run.stop]
            self.flags += tallies.flags[run.start : run.stop]
            self.tokens.extend(tallies.tokens[run.start : run.stop])
            self.reported.extend(tallies.reported[run.start : run.stop])
            # Entries that came after the tallies were last made longer are not known yet.
            for column in (self.flags, self.tokens, self.reported):
                column.extend([0] * (len(self.kinds) - len(column)))

    def turn_starts(self) -> array[int]:
        """Where each turn begins; what stands before the first prompt begins one, or belongs to the first."""
        kinds = self.kinds
        starts = array("i", (match.start() for match in HEAD.finditer(kinds)))
        content = CONTENT.search(kinds)
        if content is not None and (not starts or content.start() < starts[0]):
            starts.insert(0, 0)
        elif starts:
            starts[0] = 0
        return starts

    def heads(self, starts: array[int]) -> array[int]:
        """The entry that each turn begins with."""
        heads = array("i", map(self.entries.__getitem__, starts))
        content = CONTENT.search(self.kinds)
        if heads and content is not None:
            heads[0] = self.entries[content.start()]
        return heads

    def sizes(self, starts: array[int], stop: Callable[[], bool]) -> array[int] | None:
        """The size of the context at the end of each turn; 0 where something it depends on is not known."""
        count = len(self.kinds)
        sums = array("q", accumulate(self.tokens, initial=0))
        missing = map(and_, self.flags.translate(_IS_ZERO), self.kinds.translate(_IS_CONTENT))
        unknown = array("i", accumulate(missing, initial=0))
        trusted = array("i", compress(range(count), self.reported))
        stale = array("i", (match.start() for match in _STALE.finditer(self.kinds)))
        stale_at = trusted_at = compaction = -1
        next_stale = next_trusted = base_from = base = 0
        sizes = array("i")
        for turn in range(len(starts)):
            if not turn % _CHECKED and stop():
                return None
            end = starts[turn + 1] if turn + 1 < len(starts) else count
            while next_stale < len(stale) and stale[next_stale] < end:
                stale_at = stale[next_stale]
                next_stale += 1
                if self.kinds[stale_at] == Kind.COMPACTION:
                    compaction = stale_at
                    base_from, base = self._after_compaction(compaction, sums)
            while next_trusted < len(trusted) and trusted[next_trusted] < end:
                trusted_at = trusted[next_trusted]
                next_trusted += 1
            if trusted_at > stale_at:
                known_from = trusted_at
                size = self.reported[trusted_at] + sums[end] - sums[trusted_at + 1]
            else:
                known_from = base_from
                size = base + sums[end] - sums[compaction + 1]
            sizes.append(size if unknown[end] == unknown[known_from] else 0)
        return sizes

    def _after_compaction(self, at: int, sums: array[int]) -> tuple[int, int]:
        """The first position a context begins with right behind a compaction, and its estimated tokens."""
        body = self.session.body(self.entries[at]) or {}
        kept_id = body.get("firstKeptEntryId")
        entry = self.session.columns.index(kept_id) if isinstance(kept_id, str) else -1
        offset = self.offsets.get(self.session.tree.run_of(entry)) if entry >= 0 else None
        first = entry + offset if offset is not None else at
        if not 0 <= first < at or self.entries[first] != entry:
            first = at
        total = sums[at + 1] - sums[first]
        # Of several compactions only the last one speaks.
        earlier = self.kinds.find(Kind.COMPACTION, first, at)
        while earlier >= 0:
            total -= self.tokens[earlier]
            earlier = self.kinds.find(Kind.COMPACTION, earlier + 1, at)
        return first, total
