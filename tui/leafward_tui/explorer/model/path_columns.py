"""The entries of the active path as columns of their own, with the starts of its turns and the context at each."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from itertools import accumulate, compress, islice
from operator import and_
from typing import TYPE_CHECKING

from leafward.context.basis import Basis
from leafward.context.recorded_usage import believed
from leafward.session.entries import BOOKKEEPING_BYTES, TURN_STARTS, EntryIndex, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.session import Session
    from leafward.session.tree.tree import Run

HEADS = TURN_STARTS | {Kind.COMPACTION}
"""Kinds that begin a column of the overview."""
HEAD = re.compile(b"[" + b"".join(re.escape(bytes([kind])) for kind in sorted(HEADS)) + b"]")
"""A kind that begins a column, among kinds."""
CONTENT = re.compile(b"[^" + re.escape(BOOKKEEPING_BYTES) + b"]")
"""A kind of the conversation, among kinds."""
_STALE = re.compile(b"[" + re.escape(bytes([Kind.COMPACTION, Kind.CONTEXT_EDIT])) + b"]")
_IS_ZERO = b"\1" + bytes(255)
_IS_CONTENT = bytes(kind not in BOOKKEEPING_BYTES for kind in range(256))
_CHECKED = 2048
"""Turns between two checks of `stop`."""
_AT_ONCE = 1 << 13
"""Values of a column that are made by one call."""


class PathColumns:
    """The columns of the entries on a path, joined: positions below count from its root."""

    def __init__(self, session: Session, metrics: EntryMetrics, runs: list[Run]) -> None:
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
            self.flags += metrics.flags[run.start : run.stop]
            self.tokens.extend(metrics.tokens[run.start : run.stop])
            self.reported.extend(metrics.reported[run.start : run.stop])
            # Entries added since the tallies were last extended are not known yet.
            for column in (self.flags, self.tokens, self.reported):
                column.extend([0] * (len(self.kinds) - len(column)))

    def turn_starts(self) -> array[int]:
        """The start of each turn; entries before the first prompt make a turn, or belong to the first one."""
        kinds = self.kinds
        starts = array("i", (match.start() for match in HEAD.finditer(kinds)))
        content = CONTENT.search(kinds)
        if content is not None and (not starts or content.start() < starts[0]):
            starts.insert(0, 0)
        elif starts:
            starts[0] = 0
        return starts

    def heads(self, starts: array[int]) -> array[int]:
        """The first entry of each turn."""
        heads = array("i", map(self.entries.__getitem__, starts))
        content = CONTENT.search(self.kinds)
        if heads and content is not None:
            heads[0] = self.entries[content.start()]
        return heads

    def sizes(self, starts: array[int], stop: Callable[[], bool]) -> array[int] | None:
        """The context in tokens at the end of each turn; 0 where something it depends on is not known. None once `stop` turns true."""
        count = len(self.kinds)
        sums = _in_steps("q", accumulate(self.tokens, initial=0))
        missing = map(and_, self.flags.translate(_IS_ZERO), self.kinds.translate(_IS_CONTENT))
        unknown = _in_steps("i", accumulate(missing, initial=0))
        trusted = _in_steps("i", compress(range(count), self.reported))
        stale = array("i", (match.start() for match in _STALE.finditer(self.kinds)))
        basis = Basis.of(self.session)
        known_at = base = next_stale = next_trusted = 0
        copied, begun = False, -1
        sizes = array("i")
        for turn in range(len(starts)):
            if not turn % _CHECKED and stop():
                return None
            end = starts[turn + 1] if turn + 1 < len(starts) else count
            reply = bisect_left(trusted, end) - 1
            change = bisect_left(stale, end) - 1
            if change >= next_stale:
                next_stale = change + 1
                known_at = stale[change] + 1
                base = basis.count_at(EntryIndex(self.entries[stale[change]])).total
                next_trusted, copied = bisect_left(trusted, known_at), True
            # After a compaction or an edit the first replies may be copies, which counted another context.
            while copied and next_trusted <= reply:
                copied = not believed(self.session, EntryIndex(self.entries[trusted[next_trusted]]))
                next_trusted += copied
            if not copied and reply >= next_trusted:
                next_trusted, known_at = reply, trusted[reply] + 1
                base = self.reported[trusted[reply]]
            if unknown[end] != unknown[known_at]:
                sizes.append(0)
                continue
            if not known_at and begun < 0:
                # No reply yet: the first request after it measures the part before it.
                begun, base = end, basis.count_at(EntryIndex(self.entries[end - 1])).total
            sizes.append(base + sums[end] - sums[known_at or begun])
        return sizes


def _in_steps(code: str, values: Iterator[int]) -> array[int]:
    """A column of values; a key waits for a step of it, not for a million values."""
    found = array(code)
    while some := array(code, islice(values, _AT_ONCE)):
        found += some
    return found
