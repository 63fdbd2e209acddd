"""One thread of Codex as a transcript: its segments, what they are based on, and each entry translated when asked for."""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.agents.codex.chain import Base, Chain, Step, base_of, resolved
from leafward.agents.codex.course import START, State
from leafward.agents.codex.describing import described
from leafward.agents.codex.source import Rollout, lines_in
from leafward.agents.codex.translating import Translator
from leafward.agents.codex.weaving import Weaver
from leafward.agents.lines import SPACE, marked_note, stretch_of
from leafward.collector import collector_paused
from leafward.columns import Columns
from leafward.entries import NO_ENTRY, Damage, EntryIndex, Kind
from leafward.errors import NotASession
from leafward.foreign import Note, Transcript, unknown_records
from leafward.scan import Pending, decode_line
from leafward.session import Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.agents.codex.store import Segment
    from leafward.entries import Body


class Piece(NamedTuple):
    """A segment as far as it was read."""

    begin: int
    """Where its bytes begin, counted through all pieces."""
    end: int
    """Bytes read of it."""
    rollout: Rollout
    segment: Segment


@dataclass(slots=True)
class Thread:
    """What is known of a thread besides its segments."""

    id: str
    segments: list[Segment]
    """Oldest first."""
    live: Segment
    find: Callable[[str], Segment | None]
    """A segment of any thread, by the name a base is given by."""
    source: Callable[[str], Segment | None]
    """The first segment of another thread."""
    name: str | None = None
    title: str | None = None
    """What the database calls it where nobody named it: its own first prompt."""
    spawner: str | None = None
    """The thread that spawned it, as the database says."""
    notes: list[Note] = field(default_factory=list)

    def owns(self, segment: Segment) -> bool:
        """Whether a segment is one of its own."""
        return any(one.path == segment.path for one in self.segments)


class CodexReader:
    """Reads one thread, and keeps its files open while the session is."""

    def __init__(self, thread: Callable[[], Thread]) -> None:
        self._thread = thread
        self._pieces: list[Piece] = []
        self._begins: list[int] = []
        self._columns = Columns()
        self._made: _Made | None = None
        self._open: list[Rollout] = []
        self._translator: Translator | None = None

    def close(self) -> None:
        """Closes the files."""
        for rollout in self._open:
            rollout.close()
        self._open = []

    def read(self, stop: Callable[[], bool]) -> Transcript:
        """Everything anew, or what was appended where nothing else changed.

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
            with collector_paused():
                found = self._read(thread, stop)
        except BaseException:  # also an interrupt: what was open before stays, what was opened now does not
            self.close()
            self._open = before
            raise
        for rollout in before:
            rollout.close()
        return found

    def _read(self, thread: Thread, stop: Callable[[], bool]) -> Transcript:
        chain = resolved(thread.segments, thread.find, self._opened)
        made = _Made(chain, thread)
        for step in chain.steps:
            made.step(step, thread, stop)
            if stop():
                made.whole = False
                break
        made.weaver.settle()
        if not any(made.known.values()):
            own = made.own(thread)
            why = "not a session: no line of it is a record" if own.end else "empty"
            raise NotASession(f"{own.segment.path} is {why}")
        return self._transcript(thread, made)

    def _transcript(self, thread: Thread, made: _Made) -> Transcript:
        own = made.own(thread)
        self._made = made
        self._pieces, self._columns = made.pieces, made.weaver.columns
        self._begins = [piece.begin for piece in made.pieces]
        notes = [*thread.notes, *made.notes]
        for damaged, text in made.orphans:
            origin = self.origin(damaged)
            notes.append(Note("missing-base", text, EntryIndex(damaged), origin.path, origin.offset))
        weaver = made.weaver
        if weaver.unknown:
            origin = self.origin(weaver.first_unknown)
            notes.append(unknown_records(weaver.unknown, weaver.first_unknown, origin.path, origin.offset))
        header = described(thread, made.chain.metas.get(own.segment.path, {}))
        self._translator = Translator(made.weaver, self.region, header.get("provider"))
        live = made.tips.get(thread.live.path, -1)
        return Transcript(
            header,
            made.weaver.columns,
            EntryIndex(live if live >= 0 else max(made.last, NO_ENTRY)),
            tuple(dict.fromkeys(Path(piece.segment.path) for piece in (own, *made.pieces))),
            made.end,
            notes,
            made.pending,
            made.inherited,
        )

    def _opened(self, segment: Segment) -> Rollout:
        rollout = Rollout(segment.path)
        self._open.append(rollout)
        return rollout

    # --- entries ---

    def _span(self, index: int) -> tuple[Piece, int, int]:
        """The piece of an entry, and where in it its stretch begins and ends."""
        start = self._columns.start[index]
        piece = self._pieces[bisect_right(self._begins, start) - 1]
        end = piece.begin + piece.end
        start, stop = stretch_of(self._columns, index, end)
        return piece, start - piece.begin, min(stop, end) - piece.begin

    def region(self, index: int) -> bytes:
        """The stretch of the file that belongs to an entry."""
        piece, start, stop = self._span(index)
        return piece.rollout.at(start, stop - start)

    def records(self, index: int) -> list[bytes]:
        """The lines of an entry."""
        return self.region(index).rstrip(b"\n").split(b"\n")

    def origin(self, index: int) -> Origin:
        """Where the entry's first line lies."""
        piece, start, stop = self._span(index)
        first = piece.rollout.at(start, min(stop - start, 1 << 16)).find(b"\n")
        return Origin(Path(piece.segment.path), start, first if first >= 0 else stop - start)

    @property
    def chain(self) -> Chain:
        """The segments it was read from, and what each is based on."""
        return self._made.chain if self._made is not None else Chain()

    @property
    def columns(self) -> Columns:
        """The entries that the files make."""
        return self._columns

    def stands_alone(self, index: int) -> bool:
        """Whether an entry has lines of its own, rather than standing in a compaction only."""
        return self._made is None or index not in self._made.weaver.literals

    def stretch(self, index: int) -> tuple[Rollout, int, int]:
        """The file of an entry, and where in it what belongs to the entry begins and ends."""
        piece, start, stop = self._span(index)
        return piece.rollout, start, stop

    def body(self, index: int) -> Body | None:
        """An entry, translated."""
        return self._translator.body(index) if self._translator is not None else None


class _Made:
    """A transcript while its segments are read one after the other."""

    def __init__(self, chain: Chain, thread: Thread) -> None:
        self.chain = chain
        self.weaver = Weaver()
        self.notes: list[Note] = []
        self.whole = True
        """Whether nothing stopped it."""
        self._files = [one.path for one in thread.segments]
        self._live = thread.live.path
        self._sizes: dict[str, int] = {}
        self._plain = False
        """Whether the last segment was read to its end, and nothing begins in it."""
        self.pieces: list[Piece] = []
        self.end = 0
        self.tips: dict[str, int] = {}
        self.last = -1
        self.states: dict[tuple[str, int], State] = {}
        """Where a branch stood at the cuts that others begin at."""
        self.ends: dict[str, State] = {}
        self.orphans: list[tuple[int, str]] = []
        self.pending: Pending | None = None
        self.inherited = 0
        self.known: dict[str, int] = {}
        """Records found, by file."""

    def own(self, thread: Thread) -> Piece:
        """The thread's first piece."""
        return next((piece for piece in self.pieces if thread.owns(piece.segment)), self.pieces[0])

    def goes_on(self, thread: Thread) -> bool:
        """Whether all there is to be read was appended to the last segment."""
        if not (self.whole and self._plain and self._live == thread.live.path):
            return False
        if self._files != [one.path for one in thread.segments] or self.pieces[-1].segment.path != self._live:
            return False
        *before, last = self.pieces
        if any(piece.rollout.size != self._sizes[piece.segment.path] for piece in before):
            return False
        return last.rollout.is_at(last.segment.path) and last.rollout.size >= last.end

    def extend(self, stop: Callable[[], bool]) -> None:
        """Reads what was appended."""
        weaver, last = self.weaver, self.pieces[-1]
        self.pending = None
        self.end -= last.end
        damage = weaver.columns.damage
        if last.rollout.at(last.end, 1) == b"\n":
            for index in [index for index, kind in damage.items() if kind is Damage.UNTERMINATED]:
                del damage[index]
        size = last.end
        for buffer, whole, base in last.rollout.blocks(stop, last.end):
            if not whole:
                size = self._rest(buffer, base, size)
                break
            weaver.feed(buffer, whole, base)
            size = base + whole
        self.whole = not stop()
        weaver.settle()
        self.pieces[-1] = last._replace(end=size)
        self.end += size
        self.tips[last.segment.path] = self.last = weaver.tip

    def step(self, step: Step, thread: Thread, stop: Callable[[], bool]) -> None:
        """Reads one segment."""
        chain = self.chain
        weaver, segment = self.weaver, step.segment
        first = len(weaver.columns)
        weaver.begin(
            self.end,
            segment.id or str(chain.metas.get(segment.path, {}).get("id") or segment.path),
            self._state(step.base),
        )
        copied = None
        if thread.owns(segment):
            copied = _copied_lines(chain.metas.get(segment.path, {}), step.base, thread, self.notes, segment)
        cuts = sorted(chain.cuts.get(segment.id, ())) if segment.id else []
        self._lines(step, cuts, copied, stop)
        for cut in cuts:
            if (segment.id, cut) not in self.states:
                self.states[segment.id, cut] = weaver.state()
        if not thread.owns(segment):
            self.inherited = len(weaver.columns)
        else:
            self.tips[segment.path] = weaver.tip
            self.last = weaver.tip if weaver.tip >= 0 else self.last
        if step.missing is not None and len(weaver.columns) > first:
            weaver.columns.damage[first] = Damage.MISSING_BASE
            self.orphans.append((first, step.missing))

    def _state(self, base: Base | None) -> State:
        if base is None:
            return START
        return self.states.get((base.segment, base.ordinal), START)

    def _lines(self, step: Step, cuts: list[int], copied: _Copied | None, stop: Callable[[], bool]) -> None:
        weaver, rollout, segment = self.weaver, step.rollout, step.segment
        limit = step.limit
        if rollout.torn is not None:
            text = f"{segment.path} ends before its content does: {rollout.torn}"
            self.notes.append(Note("torn-archive", text, path=Path(segment.path)))
        if rollout.is_marked:
            self.notes.append(marked_note(segment.path, "Codex"))
        size, first = 0, len(weaver.columns)
        waiting = list(cuts)
        plain = not waiting and limit is None and copied is None
        seen: int | None = None
        for buffer, whole, base in rollout.blocks(stop):
            if not whole:
                if limit is None or not waiting:
                    size = self._rest(buffer, base, size)
                break
            if plain:
                weaver.feed(buffer, whole, base)
                size = base + whole
                continue
            for data, start, end, at in lines_in(buffer, whole, base):
                number = _ordinal(data, start, end)
                seen = number if number is not None else seen
                while waiting and number is not None and number >= waiting[0]:
                    self.states[segment.id, waiting.pop(0)] = weaver.state()
                if limit is not None and number is not None and number >= limit:
                    break
                if copied is not None and not copied.goes_on(data, start, end):
                    self.inherited = len(weaver.columns)
                    copied.close()
                    copied = None
                weaver.take(data, start, end, at)
                size = at + end + 1 - start
            else:
                weaver.link()
                continue
            break
        weaver.link()
        if copied is not None:
            self.inherited = len(weaver.columns)
            copied.close()
        if waiting and seen is not None and waiting[-1] > seen + 1:
            text = f"others go on from line {waiting[-1]} of this segment, which ends at line {seen}"
            self.notes.append(Note("base-short", text, path=Path(segment.path)))
        size = min(rollout.size, max(size, 0))
        self._sizes[segment.path], self._plain = rollout.size, plain and rollout.torn is None
        self.known[segment.path] = (
            len(weaver.columns) - first - weaver.columns.kind.count(Kind.MALFORMED, first)
        )
        self.pieces.append(Piece(self.end, size, rollout, segment))
        self.end += size

    def _rest(self, rest: bytes, base: int, size: int) -> int:
        """A last line that has no end yet: an entry where it is whole all the same, else pending. Returns the bytes read."""
        weaver = self.weaver
        if decode_line(rest) is None:
            if rest.strip(SPACE):
                self.pending = Pending(self.end + base, len(rest))
            return size
        entries = len(weaver.columns)
        weaver.take(rest, 0, len(rest), base)
        if len(weaver.columns) > entries:
            weaver.columns.damage.setdefault(entries, Damage.UNTERMINATED)
        return base + len(rest)


def _ordinal(data: bytes, start: int, end: int) -> int | None:
    """The number of a line, as it stands near its beginning."""
    at = data.find(b'"ordinal":', start, min(end, start + 120))
    if at < 0:
        return None
    at += len(b'"ordinal":')
    digits = bytes(islice(_digits(data, at, end), 20))
    return int(digits) if digits else None


def _digits(data: bytes, at: int, end: int) -> Iterator[int]:
    while at < end and 48 <= data[at] <= 57:
        yield data[at]
        at += 1


class _Copied:
    """Tells how far a fork repeats the lines of its source."""

    def __init__(self, source: Rollout) -> None:
        self.source = source
        self._lines = (
            payload
            for data, start, end, _ in source.lines()
            if (payload := _payload(data, start, end)) is not None
        )
        self._first = True

    def goes_on(self, data: bytes, start: int, end: int) -> bool:
        """Whether a line is still one of the source's."""
        if self._first:
            self._first = False
            return True
        payload = _payload(data, start, end)
        return payload is None or next(self._lines, None) == payload

    def close(self) -> None:
        """Closes the source."""
        self._lines.close()
        self.source.close()


def _payload(data: bytes, start: int, end: int) -> bytes | None:
    """A line from its type on; None for a session's description, which every copy has of its own."""
    at = data.find(b'"type":"', start, min(end, start + 120))
    line = data[at if at >= 0 else start : end].rstrip(b"\r")
    return None if line.startswith(b'"type":"session_meta"') or not line else line


def _copied_lines(
    meta: dict[str, Any], base: Base | None, thread: Thread, notes: list[Note], segment: Segment
) -> _Copied | None:
    """What the lines of an old fork are compared with; None for any other file."""
    source = meta.get("forked_from_id")
    if base is not None or base_of(meta) is not None or not isinstance(source, str):
        return None
    found = thread.source(source.lower())
    if found is not None:
        with suppress(NotASession):
            return _Copied(Rollout(found.path))
    text = f"forked from {source}, which is not here: what was copied from it is not told apart"
    notes.append(Note("fork-source-missing", text, path=Path(segment.path)))
    return None
