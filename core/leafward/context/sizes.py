"""Sizes of contexts, without building their messages: from the entries with messages and their tokens in columns.

The rules and totals are those of `model_context`, but a text is decoded only if a total depends on it: that of the last reply
with usage, of edits and their targets, of system messages. Made for prices and strips, which need many sizes of one session.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cache
from itertools import compress
from typing import TYPE_CHECKING

from leafward.base.errors import Cancelled
from leafward.context.entry_metrics import ABORTED, FAILED
from leafward.context.projection import context_edits, latest, naming_model, replaced_kinds, selected
from leafward.session.entries import BOOKKEEPING_BYTES, CONTEXT_CHANGES, Body, EntryIndex, Kind
from leafward.session.messages import BROKEN_OFF, edit_message, message_in, messages_of, trusted_usage
from leafward.session.tokens import message_tokens, replayed_system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.session import Session


_SILENT = BOOKKEEPING_BYTES + bytes([Kind.CONTEXT_EDIT])
"""Kinds that never put a message into a context."""
_SPEAKS = bytes(kind not in _SILENT for kind in range(256))
_BRINGS_SYSTEM = bytes(kind in (Kind.SYSTEM, Kind.COMPACTION) for kind in range(256))
_ASSISTANT = int(Kind.ASSISTANT)
_BROKEN_OFF = bytes(bool(flags & (FAILED | ABORTED)) for flags in range(256))


@cache
def _speaks_kept(replaced: frozenset[Kind]) -> bytes:
    """`_SPEAKS` for entries before the compaction that applies."""
    return bytes(kind not in _SILENT and kind not in replaced for kind in range(256))


def _found(span: range, marks: bytes | bytearray) -> Iterator[int]:
    """The entries of a range whose mark is 1, searched for: fast where they are few."""
    at = marks.find(1)
    while at >= 0:
        yield span.start + at
        at = marks.find(1, at + 1)


def _marked(span: range, marks: bytes | bytearray) -> Iterator[int]:
    """The entries of a range whose mark is 1, fast however many they are."""
    return compress(span, marks) if marks.count(1) * 16 > len(marks) else _found(span, marks)


_AT_ONCE = 4096
"""Entries summed between two checks of `stop`; one sum of all would keep every other thread waiting."""
_ALL_AT_ONCE = 64
"""Flags that are looked at together in the time of one by itself."""

Model = tuple[str, str]
"""Provider and model."""


@dataclass(frozen=True, slots=True)
class ContextSize:
    """Size of a context in tokens, as pi 1.5.2 counts it. The size shown is a `basis.Footprint`."""

    total: int
    from_usage: int
    """Tokens that the last trusted reply reported; 0 if none can be trusted."""
    trailing: int
    """Estimated tokens of the entries after that reply; of all entries if none can be trusted."""


def broken_off_in(session: Session) -> tuple[str, ...]:
    """Stop reasons of replies that are in the context but sent to no model: aborted or failed, in pi's sessions (1.5.2).

    The readers of other agents apply rules of their own.
    """
    return BROKEN_OFF if session.is_native else ()


@dataclass(frozen=True, slots=True)
class Outline:
    """The entries with messages in a context, in order, without the messages."""

    compaction: EntryIndex
    entries: array[int]
    """The compaction that applies comes first; entries that an edit removes are left out."""
    edits: dict[int, EntryIndex]
    """The edit that applies to an entry, by entry; removed entries are included."""
    shifts: dict[int, int]
    """Tokens that an edit adds to its entry, by entry."""
    systems: list[tuple[int, Body]]
    """Messages of the system prompt, as far as the file holds them, with the position of their entry."""
    stale: EntryIndex
    """Usage of replies at or above this entry measures another context."""
    model: Model | None


class Sizes:
    """Sizes of contexts of one session. Columns are filled as needed.

    Every method raises Cancelled once `stop` returns true.
    """

    def __init__(
        self,
        session: Session,
        metrics: EntryMetrics,
        stop: Callable[[], bool] = lambda: False,
        spoken: array[int] | None = None,
    ) -> None:
        self.session = session
        self.metrics = metrics
        self.spoken = spoken
        """By entry: the estimated tokens of its message plus one, if that was in a context and is sent unchanged; otherwise 0."""
        self.stop = stop
        self.kinds = session.columns.kind

    def body(self, index: int) -> Body:
        """An entry's body; empty if its line is broken."""
        self.check()
        return self.session.body(index) or {}

    def check(self) -> None:
        """Raises Cancelled if the caller asked to stop."""
        if self.stop():
            raise Cancelled("stopped")

    def tokens(self, entries: Sequence[int]) -> int:
        """Estimated tokens of entries, before edits."""
        total = 0
        for start in range(0, len(entries), _AT_ONCE):
            some = entries[start : start + _AT_ONCE]
            if self.spoken is not None:
                sizes = list(map(self.spoken.__getitem__, some))
                total += sum(sizes)
                unknown = sizes.count(0)
                total -= len(some) - unknown
                if not unknown:
                    self.check()
                    continue
                some = [entry for entry, size in zip(some, sizes, strict=True) if not size]
            self.metrics.fill(self.session, some, self.stop)
            self.check()
            total += sum(map(self.metrics.tokens.__getitem__, some))
        return total

    def outline(self, at: EntryIndex) -> Outline:
        """The context at an entry; -1 is the empty context."""
        session, kinds = self.session, self.kinds
        compaction, kept, after = selected(session, at)
        self.check()
        edits = context_edits(session, kept + after)
        entries = array("i", [compaction] if compaction >= 0 else [])
        speaks_kept = _speaks_kept(replaced_kinds(session))
        for span in kept:
            entries.extend(_marked(span, kinds[span.start : span.stop].translate(speaks_kept)))
        for span in after:
            entries.extend(_marked(span, kinds[span.start : span.stop].translate(_SPEAKS)))
        shifts: dict[int, int] = {}
        removed: set[int] = set()
        for target, (_, replacement) in edits.items():
            for message in messages_of(self.body(target), Kind(kinds[target])):
                edited = edit_message(message, replacement)
                if edited is None:
                    removed.add(target)
                else:
                    shifts[target] = shifts.get(target, 0) + message_tokens(edited) - message_tokens(message)
        if removed:
            entries = array("i", (index for index in entries if index not in removed))
        systems: list[tuple[int, Body]] = []
        place = 0
        for index in self._bringing_system(compaction, after):
            if index in removed:
                continue
            place = entries.index(index, place)
            messages = messages_of(self.body(index), Kind(kinds[index]))
            systems += [(place, message) for message in messages if message.get("role") == "system"]
        provider, model = naming_model(session, at, self.body)
        return Outline(
            compaction,
            entries,
            {target: edit for target, (edit, _) in edits.items()},
            shifts,
            systems,
            latest(session, at, CONTEXT_CHANGES),
            (provider, model) if provider is not None and model is not None else None,
        )

    def _bringing_system(self, compaction: EntryIndex, after: list[range]) -> Iterator[int]:
        """Entries of a context that may hold system messages, in order."""
        if compaction >= 0:
            yield compaction
        for span in after:
            yield from _found(span, self.kinds[span.start : span.stop].translate(_BRINGS_SYSTEM))

    def size(self, outline: Outline, until: int | None = None) -> ContextSize:
        """The size of a context, or of its first entries, as pi 1.5.2 counts it."""
        stop = len(outline.entries) if until is None else until
        first, reported = self._reported(outline, stop)
        if first:
            trailing = self.estimate_between(outline, first, stop)
            return ContextSize(reported + trailing, reported, trailing)
        estimate = self._estimate(outline, stop)
        return ContextSize(estimate, 0, estimate)

    def contents(self, outline: Outline, until: int | None = None) -> int:
        """Estimated tokens that are sent of a context, or of its first entries."""
        stop = len(outline.entries) if until is None else until
        # The estimate has filled the flags of these entries.
        return self._estimate(outline, stop) - self._broken_off(outline, 0, stop)

    def _estimate(self, outline: Outline, stop: int) -> int:
        systems = [message for position, message in outline.systems if position < stop]
        return (
            self.estimate_between(outline, 0, stop)
            + replayed_tokens(systems)
            - sum(map(message_tokens, systems))
        )

    def _reported(self, outline: Outline, stop: int) -> tuple[int, int]:
        """Position after the last reply whose usage measures the first entries, and its tokens; zeros if there is none."""
        tree = self.session.tree
        for position in range(stop - 1, -1, -1):
            reply = outline.entries[position]
            if self.kinds[reply] != _ASSISTANT:
                continue
            usage = trusted_usage(message_in(self.body(reply)))
            if usage is None:
                continue
            if outline.stale >= 0 and (reply == outline.stale or not tree.is_ancestor(outline.stale, reply)):
                break
            return position + 1, usage.total
        return 0, 0

    def unsent(self, outline: Outline, until: int | None = None) -> int:
        """Tokens that the size counts although they are not sent: replies of pi that were aborted or failed."""
        stop = len(outline.entries) if until is None else until
        return self.broken_off(outline, self._reported(outline, stop)[0], stop)

    def broken_off(self, outline: Outline, start: int, stop: int) -> int:
        """Tokens of the replies among some entries that were aborted or failed and are sent to no model."""
        if not broken_off_in(self.session):
            return 0
        self.tokens(outline.entries[start:stop])
        return self._broken_off(outline, start, stop)

    def _broken_off(self, outline: Outline, start: int, stop: int) -> int:
        """`broken_off` for entries whose flags are known."""
        if not broken_off_in(self.session):
            return 0
        entries, flags = outline.entries[start:stop], self.metrics.flags
        # One look at the flags of all entries takes as long as many looks at single ones, and most contexts are short.
        if len(entries) * _ALL_AT_ONCE > len(flags) and 1 not in flags.translate(_BROKEN_OFF):
            return 0
        ended = bytes(map(flags.__getitem__, entries)).translate(_BROKEN_OFF)
        broken = [index for index in compress(entries, ended) if self.kinds[index] == _ASSISTANT]
        return self.tokens(broken) + sum(outline.shifts.get(index, 0) for index in broken)

    def estimate_between(self, outline: Outline, start: int, stop: int) -> int:
        """Estimated tokens of some entries of a context, with edits applied."""
        entries = outline.entries[start:stop]
        total = self.tokens(entries)
        if outline.shifts:
            total += sum(outline.shifts.get(index, 0) for index in entries)
        return total


def entries_below(
    session: Session, ancestor: int, index: int, check: Callable[[], object] = lambda: None
) -> array[int]:
    """The path to an entry from below one of its ancestors; the whole path for -1. `check` is called every few thousand entries.

    An array, because the garbage collector would scan a list of so many numbers again and again (0.007 s per million).
    """
    parts: list[range] = []
    for run in session.tree.runs_upwards(index):
        if run.start <= ancestor < run.stop:
            parts.append(range(ancestor + 1, run.stop))
            break
        parts.append(range(run.start, run.stop))
    entries = array("i")
    for part in reversed(parts):
        for start in range(part.start, part.stop, _AT_ONCE):
            check()
            entries.extend(range(start, min(part.stop, start + _AT_ONCE)))
    return entries


def replayed_tokens(systems: list[Body]) -> int:
    """Tokens of the one system message that results from several."""
    system = replayed_system(systems)
    return message_tokens(system) if system is not None else 0


def model_of(body: Body) -> Model | None:
    """Provider and model named by a reply or a change of model."""
    named = message_in(body) or body
    provider, model = named.get("provider"), named.get("model", named.get("modelId"))
    return (provider, model) if isinstance(provider, str) and isinstance(model, str) else None
