"""One thread of Codex as a transcript: put together from its segments, and each entry translated on request."""

from __future__ import annotations

import re
from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.codex.assembly import Assembly, Piece
from leafward.agents.codex.chain import SegmentChain, Thread, resolved
from leafward.agents.codex.description import described
from leafward.agents.codex.entries.translation import UNCERTAIN, Translator
from leafward.agents.codex.kept_thread import packed_thread, take_packed
from leafward.agents.codex.rollout import Rollout
from leafward.agents.storage.lines import another_session, stretch_of
from leafward.base.errors import NotASession
from leafward.base.gc_pause import gc_paused
from leafward.session.columns import Columns
from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.session.source import UNCERTAIN_CONTEXT, EntryLocation, SourceRemark
from leafward.session.transcript import KeptReading, Transcript, unknown_records

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents.codex.store import Segment


_WINDOW = re.compile(rb'"model_context_window"\s*:\s*([1-9]\d{0,9})')
_JOINED = "lines of another session begin here in the same file: Codex sends them with those before them"
_TOLD_BACK = 500
"""Entries above an entry that are searched for its context window: each turn records it."""


class CodexReader:
    """Reads one thread, and keeps its files open while the session is."""

    translation: Translator
    """The entries as they were last read."""

    def __init__(self, thread: Callable[[], Thread]) -> None:
        self._thread = thread
        self._pieces: list[Piece] = []
        self._begins: list[int] = []
        self.columns = Columns()
        self._made: Assembly | None = None
        self._open: list[Rollout] = []
        self._begun = b""
        """The reading that another process made of the file; empty if there is none."""

    def kept(self) -> KeptReading | None:
        """The reading, without any text; None where a later reading cannot go on from there."""
        data = packed_thread(self._made) if self._made is not None else None
        return KeptReading(data, ()) if data is not None else None

    def go_on_from(self, data: bytes) -> None:
        """Takes what a reader of the same file kept, before anything is read."""
        self._begun = data

    def close(self) -> None:
        """Closes the files."""
        for rollout in self._open:
            rollout.close()
        self._open = []

    def read(self, stop: Callable[[], bool]) -> Transcript:
        """Reads everything, or only the appended lines where nothing else changed.

        Raises NotASession where the thread's first file cannot be read or holds no record.
        """
        thread = self._thread()
        made = self._made
        if made is not None and made.goes_on(thread):
            made.extend(stop)
            return self._transcript(thread, made)
        before = self._open
        self._open = []
        try:
            with gc_paused():
                found = self._read(thread, stop)
        except BaseException:  # an interrupt too: files opened before stay open, new ones are closed
            self.close()
            self._open = before
            raise
        for rollout in before:
            rollout.close()
        return found

    def _read(self, thread: Thread, stop: Callable[[], bool]) -> Transcript:
        chain = resolved(thread.segments, thread.find, self._opened)
        made = Assembly(chain, thread)
        begun, self._begun = self._begun, b""
        if begun and take_packed(made, begun, thread):
            made.extend(stop)
            return self._transcript(thread, made)
        for step in chain.steps:
            made.step(step, thread, stop)
            if stop():
                made.whole = False
                break
        made.builder.settle()
        if not any(made.known.values()):
            own = made.own(thread)
            why = "not a session: no line of it is a record" if own.end else "empty"
            raise NotASession(f"{own.segment.path} is {why}")
        return self._transcript(thread, made)

    def _transcript(self, thread: Thread, made: Assembly) -> Transcript:
        own = made.own(thread)
        self._made = made
        self._pieces, self.columns = made.pieces, made.builder.columns
        self._begins = [piece.begin for piece in made.pieces]
        notes = [*thread.notes, *made.notes]
        for damaged, text in made.orphans:
            origin = self.origin(damaged)
            notes.append(SourceRemark("missing-base", text, EntryIndex(damaged), origin.path, origin.offset))
        builder = made.builder
        if builder.unknown:
            origin = self.origin(builder.first_unknown)
            notes.append(unknown_records(builder.unknown, builder.first_unknown, origin.path, origin.offset))
        for index in sorted(builder.uncertain):
            origin = self.origin(index)
            notes.append(
                SourceRemark(UNCERTAIN_CONTEXT, UNCERTAIN, EntryIndex(index), origin.path, origin.offset)
            )
        for index in builder.begun_anew:
            origin = self.origin(index)
            notes.append(another_session(index, origin.path, origin.offset))
        for index in builder.joined:
            origin = self.origin(index)
            notes.append(
                SourceRemark("joined-session", _JOINED, EntryIndex(index), origin.path, origin.offset)
            )
        header = described(thread, made.chain.metas.get(own.segment.path, {}))
        self.translation = Translator(made.builder, self.region, self._line, header)
        live = made.tips.get(thread.live.path, -1)
        return Transcript(
            header,
            made.builder.columns,
            EntryIndex(live if live >= 0 else max(made.last, NO_ENTRY)),
            tuple(dict.fromkeys(Path(piece.segment.path) for piece in (own, *made.pieces))),
            made.end,
            notes,
            made.pending,
            made.inherited,
            numbered="ordinal",
        )

    def _opened(self, segment: Segment) -> Rollout:
        rollout = Rollout(segment.path)
        self._open.append(rollout)
        return rollout

    # --- entries ---

    def _span(self, index: int) -> tuple[Piece, int, int]:
        """The piece of an entry, and begin and end of the entry's stretch in it."""
        within = self._made.builder.within.get(index) if self._made is not None else None
        start = self.columns.start[index] if within is None else within[0]
        piece = self._pieces[bisect_right(self._begins, start) - 1]
        end = piece.begin + piece.end
        if within is not None:
            first = start - piece.begin
            return piece, first, first + piece.rollout.extent(first, within[1])
        start, stop = stretch_of(self.columns, index, end)
        return piece, start - piece.begin, min(stop, end) - piece.begin

    def region(self, index: int) -> bytes:
        """The stretch of the file that belongs to an entry."""
        piece, start, stop = self._span(index)
        return piece.rollout.region(start, stop - start)

    def _line(self, place: int, size: int) -> bytes:
        """A line, by its offset in all files put together."""
        piece = self._pieces[bisect_right(self._begins, place) - 1]
        first = place - piece.begin
        return piece.rollout.region(first, piece.rollout.extent(first, size))

    def records(self, index: int) -> list[bytes]:
        """The lines of an entry."""
        return self.region(index).rstrip(b"\n").split(b"\n")

    def origin(self, index: int) -> EntryLocation:
        """The place of the entry's first line."""
        piece, start, stop = self._span(index)
        place = piece.rollout.long_lines.get(start)
        if place is not None:
            return EntryLocation(Path(piece.segment.path), start, place.size)
        first = piece.rollout.at(start, min(stop - start, 1 << 16)).find(b"\n")
        return EntryLocation(Path(piece.segment.path), start, first if first >= 0 else stop - start)

    @property
    def chain(self) -> SegmentChain:
        """The segments of the thread, and the base of each."""
        return self._made.chain if self._made is not None else SegmentChain()

    def begun_anew(self, index: int) -> int:
        """The entry above an entry, or itself, with which another conversation begins in the same file; -1 without one."""
        starts = self._made.builder.begun_anew if self._made is not None else []
        while index >= 0 and index not in starts:
            index = self.columns.parent[index] if starts else -1
        return index

    def stands_alone(self, index: int) -> bool:
        """Whether an entry has lines of its own and does not only stand in a compaction."""
        return self._made is None or index not in self._made.builder.compactions.literals

    def stretch(self, index: int) -> tuple[Rollout, int, int]:
        """The file of an entry, and begin and end of the entry's stretch in it."""
        piece, start, stop = self._span(index)
        return piece.rollout, start, stop

    def window(self, index: int) -> int | None:
        """The context window in force at an entry, as Codex uses it, in tokens; None where it is not recorded."""
        parents, at = self.columns.parent, index
        for _ in range(_TOLD_BACK):
            if at < 0:
                return None
            found = _WINDOW.findall(self.region(at))
            if found:
                return int(found[-1])
            at = parents[at]
        return None
