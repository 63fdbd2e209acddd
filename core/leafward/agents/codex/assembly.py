"""A thread put together: its segments read one after the other, each from the place of the branch that it continues."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.codex.copied_lines import copied_lines, ordinal
from leafward.agents.codex.description import minor_version
from leafward.agents.codex.entries.current_path import START, PathState
from leafward.agents.codex.entries.entry_builder import EntryBuilder
from leafward.agents.codex.rollout import Rollout, lines_in
from leafward.agents.storage.lines import CHUNK, SPACE, marked_note, oversize_notes
from leafward.agents.storage.stretches import Stretches
from leafward.session.entries import Damage, Kind
from leafward.session.lines.line_decoding import decode_line
from leafward.session.lines.scan import Pending
from leafward.session.source import SourceRemark

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents.codex.chain import ChainStep, SegmentBase, SegmentChain, Thread
    from leafward.agents.codex.copied_lines import CopiedLines
    from leafward.agents.codex.entries.runs import StretchRuns
    from leafward.agents.codex.store import Segment

_RUNS = "leafward.agents.codex.entries.runs:runs_of"


class Piece(NamedTuple):
    """A segment as far as it was read."""

    begin: int
    """Offset of its first byte, counted through all pieces."""
    end: int
    """Bytes of it that were read."""
    rollout: Rollout
    segment: Segment


class ReadSegment(NamedTuple):
    """The extent to which a segment was read, for another process."""

    id: str
    limit: int | None
    """As in `ChainStep`."""
    begin: int
    end: int
    """As in `Piece`."""


class Assembly:
    """A transcript while its segments are read one after the other, and while the last of them grows."""

    def __init__(self, chain: SegmentChain, thread: Thread) -> None:
        self.chain = chain
        self.builder = EntryBuilder()
        self.notes: list[SourceRemark] = []
        self.whole = True
        """Whether the reading was not stopped."""
        self._files = [one.path for one in thread.segments]
        self._live = thread.live.path
        self._sizes: dict[str, int] = {}
        self._plain = False
        """Whether the last segment was read to its end, and no other segment begins in it."""
        self.pieces: list[Piece] = []
        self.end = 0
        """Bytes read of all segments."""
        self.tips: dict[str, int] = {}
        """The last entry of the branch, by file of the thread."""
        self.last = -1
        """The last entry of the last file's branch."""
        self.states: dict[tuple[str, int], PathState] = {}
        """The states of a branch at the cuts where others begin."""
        self.orphans: list[tuple[int, str]] = []
        """The first entry of each segment whose base is missing, with the reason."""
        self.pending: Pending | None = None
        self.inherited = 0
        """Entries, from the first on, that another thread holds too."""
        self.known: dict[str, int] = {}
        """Numbers of records, by file."""

    def own(self, thread: Thread) -> Piece:
        """The thread's first piece."""
        return next((piece for piece in self.pieces if thread.owns(piece.segment)), self.pieces[0])

    def goes_on(self, thread: Thread) -> bool:
        """Whether all unread content was appended to the last segment."""
        if not (self.whole and self._plain and self._live == thread.live.path):
            return False
        if self._files != [one.path for one in thread.segments] or self.pieces[-1].segment.path != self._live:
            return False
        *before, last = self.pieces
        if any(piece.rollout.size != self._sizes[piece.segment.path] for piece in before):
            return False
        return last.rollout.has_name and last.rollout.size >= last.end

    def extend(self, stop: Callable[[], bool]) -> None:
        """Reads the appended content."""
        builder, last = self.builder, self.pieces[-1]
        self.pending = None
        self.end -= last.end
        damage = builder.columns.damage
        if last.rollout.at(last.end, 1) == b"\n":
            for index in [index for index, kind in damage.items() if kind is Damage.UNTERMINATED]:
                del damage[index]
        size = self._plain_lines(last.rollout, last.end, stop)
        self.whole = not stop()
        self._end_responses()
        builder.settle()
        self.pieces[-1] = last._replace(end=size)
        self.end += size
        self.tips[last.segment.path] = self.last = builder.tip

    @property
    def is_plain(self) -> bool:
        """Whether it has no damage but broken lines, was read to its end, and no line waits for what is appended to its last file."""
        if not (self.whole and self._plain and self.pieces[-1].segment.path == self._live):
            return False
        if self.notes or self.orphans or not (self.builder.columns.is_settled and self.builder.is_known):
            return False
        return all(
            step.rollout.has_name
            and not step.rollout.long_lines
            and (piece is self.pieces[-1] or step.limit is not None or piece.end == step.rollout.size)
            for step, piece in zip(self.chain.steps, self.pieces, strict=True)
        )

    def read_segments(self) -> tuple[ReadSegment, ...]:
        """The extent to which each segment was read."""
        steps = zip(self.chain.steps, self.pieces, strict=True)
        return tuple(
            ReadSegment(step.segment.id, step.limit, piece.begin, piece.end) for step, piece in steps
        )

    def take(self, builder: EntryBuilder, read: tuple[ReadSegment, ...], thread: Thread) -> bool:
        """Takes over the entries of segments that were plain; False where the thread has others now.

        The caller has to know that the bytes that were read are the same.
        """
        steps = self.chain.steps
        if [(step.segment.id, step.limit) for step in steps] != [(one.id, one.limit) for one in read]:
            return False
        if steps[-1].segment.path != thread.live.path:
            return False
        for step, one in zip(steps, read, strict=True):
            segment, rollout = step.segment, step.rollout
            # What stands behind a branch point in another thread's file belongs to that thread.
            grows = step is steps[-1] or step.limit is not None
            if step.missing or rollout.size < one.end or not (grows or rollout.size == one.end):
                return False
            meta = self.chain.metas.get(segment.path, {})
            if thread.owns(segment) and copied_lines(meta, step.base, thread, [], segment) is not None:
                return False
        for step, one in zip(steps, read, strict=True):
            self.pieces.append(Piece(one.begin, one.end, step.rollout, step.segment))
            self._sizes[step.segment.path] = step.rollout.size
        self.builder, self._plain = builder, True
        self.end = sum(piece.end for piece in self.pieces)
        self.known[steps[-1].segment.path] = len(builder.columns)
        return True

    def step(self, step: ChainStep, thread: Thread, stop: Callable[[], bool]) -> None:
        """Reads one segment."""
        chain = self.chain
        builder, segment = self.builder, step.segment
        first = len(builder.columns)
        builder.begin(
            self.end,
            segment.id or str(chain.metas.get(segment.path, {}).get("id") or segment.path),
            self._state(step.base),
        )
        builder.version = minor_version(chain.metas.get(segment.path, {}))
        copied = None
        if thread.owns(segment):
            copied = copied_lines(chain.metas.get(segment.path, {}), step.base, thread, self.notes, segment)
        fork_points = sorted(chain.fork_points.get(segment.id, ())) if segment.id else []
        self._lines(step, fork_points, copied, stop)
        for cut in fork_points:
            if (segment.id, cut) not in self.states:
                self.states[segment.id, cut] = builder.state()
        self._end_responses()
        if not thread.owns(segment):
            self.inherited = len(builder.columns)
        else:
            self.tips[segment.path] = builder.tip
            self.last = builder.tip if builder.tip >= 0 else self.last
        if step.missing is not None and len(builder.columns) > first:
            builder.columns.damage[first] = Damage.MISSING_BASE
            self.orphans.append((first, step.missing))

    def _end_responses(self) -> None:
        """Turns a count without a reply at the end of a segment into usage. If its reply is appended later, all is read again."""
        responses = self.builder.responses
        if responses.waiting >= 0:
            responses.unclaimed()
            self.builder.link()
            self._plain = False

    def _state(self, base: SegmentBase | None) -> PathState:
        if base is None:
            return START
        return self.states.get((base.segment, base.ordinal), START)

    def _lines(
        self, step: ChainStep, fork_points: list[int], copied: CopiedLines | None, stop: Callable[[], bool]
    ) -> None:
        builder, rollout, segment = self.builder, step.rollout, step.segment
        if rollout.torn is not None:
            text = f"{segment.path} ends before its content does: {rollout.torn}"
            self.notes.append(SourceRemark("torn-archive", text, path=Path(segment.path)))
        if rollout.is_marked:
            self.notes.append(marked_note(segment.path, "Codex"))
        first = len(builder.columns)
        builder.responses.partial = copied is not None and copied.partial
        plain = not fork_points and step.limit is None and copied is None
        if plain:
            size = self._plain_lines(rollout, 0, stop)
            builder.link()
        else:
            size = self._marked_lines(step, fork_points, copied, stop)
        self.notes += oversize_notes(segment.path, rollout.long_lines)
        size = min(rollout.size, max(size, 0))
        self._sizes[segment.path], self._plain = rollout.size, plain and rollout.torn is None
        self.known[segment.path] = (
            len(builder.columns) - first - builder.columns.kind.count(Kind.MALFORMED, first)
        )
        self.pieces.append(Piece(self.end, size, rollout, segment))
        self.end += size

    def _plain_lines(self, rollout: Rollout, begin: int, stop: Callable[[], bool]) -> int:
        """Reads lines of which no place matters, from an offset on; returns the offset reached."""
        size = self._with_others(rollout, begin, stop)
        for buffer, whole, base in rollout.blocks(stop, size):
            if not whole:
                return self._rest(rollout, buffer, base, size)
            self.builder.feed(buffer, whole, base)
            size = base + rollout.extent(base, whole)
        return size

    def _marked_lines(
        self, step: ChainStep, fork_points: list[int], copied: CopiedLines | None, stop: Callable[[], bool]
    ) -> int:
        """Reads the lines of a segment one by one: up to its limit, with the state where others continue; returns the offset reached."""
        builder, rollout, limit = self.builder, step.rollout, step.limit
        waiting = list(fork_points)
        seen: int | None = None
        size, ended = 0, False
        for buffer, whole, base in rollout.blocks(stop, 0):
            if not whole:
                if limit is None or not waiting:
                    size = self._rest(rollout, buffer, base, size)
                break
            for data, start, end, at in lines_in(buffer, whole, base):
                number = ordinal(data, start, end)
                seen = number if number is not None else seen
                while waiting and number is not None and number >= waiting[0]:
                    self.states[step.segment.id, waiting.pop(0)] = builder.state()
                if ended := limit is not None and number is not None and number >= limit:
                    break
                if copied is not None and not copied.goes_on(data, start, end):
                    self._own_from_here(copied)
                    copied = None
                builder.take(data, start, end, at)
                size = at + rollout.extent(at, end + 1 - start)
            if ended:
                break
            builder.link()
        builder.link()
        if copied is not None:
            self._own_from_here(copied)
        if waiting and seen is not None and waiting[-1] > seen + 1:
            text = (
                f"other segments continue from line {waiting[-1]} of this segment, which ends at line {seen}"
            )
            self.notes.append(SourceRemark("base-short", text, path=Path(step.segment.path)))
        return size

    def _with_others(self, rollout: Rollout, begin: int, stop: Callable[[], bool]) -> int:
        """Reads the whole lines of a large file from an offset on, together with other processes; returns the offset reached."""
        reading: Stretches[StretchRuns] = Stretches(rollout, _RUNS, begin)

        def take(stretch: StretchRuns) -> bool:
            at = reading.end
            for run in stretch.runs:
                self._feed(rollout, at, run.start, stop)
                at = run.start
                if run.follows(self.builder):
                    self.builder.extend(run.entries)
                    at = run.stop
            self._feed(rollout, at, stretch.stop, stop)
            return not stop()

        reading.read(self.builder.feed, take, stop)
        return reading.end

    def _feed(self, rollout: Rollout, start: int, end: int, stop: Callable[[], bool]) -> None:
        """Reads the lines between two offsets, none of which is long."""
        while start < end and not stop():
            data = rollout.at(start, min(CHUNK, end - start))
            whole = data.rfind(b"\n") + 1
            if not whole:
                return
            self.builder.feed(data, whole, start)
            start += whole

    def _own_from_here(self, copied: CopiedLines) -> None:
        """Marks everything read so far as another thread's."""
        responses = self.builder.responses
        responses.unclaimed()
        responses.end()
        responses.partial = False
        self.inherited = len(self.builder.columns)
        copied.close()

    def _rest(self, rollout: Rollout, rest: bytes, base: int, size: int) -> int:
        """Reads a last line without an end: an entry where it is complete even so, else pending. Returns the bytes read."""
        builder = self.builder
        if decode_line(rest) is None:
            if rest.strip(SPACE):
                self.pending = Pending(self.end + base, rollout.extent(base, len(rest)))
            return size
        entries = len(builder.columns)
        builder.take(rest, 0, len(rest), base)
        if len(builder.columns) > entries:
            builder.columns.damage.setdefault(entries, Damage.UNTERMINATED)
        return base + rollout.extent(base, len(rest))
