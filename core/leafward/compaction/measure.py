"""The messages on a path in numbers: all that a plan needs to know of them, taken once.

A plan is a pure function of this value and of settings, so that a slider makes a new one at every step without reading
anything again. Everything is in columns over *positions*: the entries that stand in the context at an entry, without the
compaction that applies, in the order of the context; those that say nothing are among them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate, compress
from operator import sub
from typing import TYPE_CHECKING

from leafward.base.errors import NotASession
from leafward.base.gc_pause import gc_paused
from leafward.compaction.context_stats import ContextStats
from leafward.compaction.filelists import FileLists, Touches
from leafward.context.basis import Basis
from leafward.context.estimators import Estimator, text_tokens
from leafward.context.model_context import context_at
from leafward.context.projection import as_sent, selected
from leafward.files.tool_calls import listed_tools
from leafward.session.entries import EntryIndex, Kind
from leafward.session.messages import edit_targets, encrypted_tokens, written_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from leafward.context.basis import Carry
    from leafward.context.model_context import Context
    from leafward.context.sizes import ContextSize
    from leafward.session.session import Session


class Part(IntEnum):
    """What the entry at a position says."""

    SILENT = 0
    """Nothing, ever: bookkeeping, a context edit, an empty branch summary."""
    OMITTED = 1
    """Nothing, because a context edit removed it."""
    COMPACTION = 2
    """Nothing any more: an earlier compaction within what a later one kept."""
    SYSTEM = 3
    USER = 4
    BASH = 5
    """A command that the user ran."""
    CUSTOM = 6
    """A message of role `custom`, or a summary stored as a message."""
    NOTE = 7
    """A `custom_message` or `branch_summary` entry."""
    REPLY = 8
    RESULT = 9
    OTHER = 10
    """A message of a role that is not known."""


QUIET = bytes([Part.SILENT, Part.OMITTED, Part.COMPACTION])
"""Parts that put no message into the context."""
STARTS = bytes([Part.USER, Part.BASH, Part.CUSTOM, Part.NOTE])
"""Parts that begin a turn (pi 1.5.2)."""

_PART_OF_KIND = bytes(
    {
        Kind.USER: Part.USER,
        Kind.ASSISTANT: Part.REPLY,
        Kind.TOOL_RESULT: Part.RESULT,
        Kind.BASH: Part.BASH,
        Kind.CUSTOM_ROLE: Part.CUSTOM,
        Kind.SYSTEM: Part.SYSTEM,
        Kind.COMPACTION: Part.COMPACTION,
        Kind.BRANCH_SUMMARY: Part.NOTE,
        Kind.CUSTOM_MESSAGE: Part.NOTE,
        Kind.INJECTED: Part.OTHER,
        Kind.UNKNOWN: Part.OTHER,
    }.get(Kind(kind), Part.SILENT)
    if kind in set(Kind)
    else Part.SILENT
    for kind in range(256)
)
_PART_OF_ROLE = {
    "user": Part.USER,
    "assistant": Part.REPLY,
    "toolResult": Part.RESULT,
    "bashExecution": Part.BASH,
    "custom": Part.CUSTOM,
    "branchSummary": Part.CUSTOM,
    "compactionSummary": Part.CUSTOM,
    "system": Part.SYSTEM,
}


@dataclass(frozen=True, slots=True)
class Edit:
    """A context edit on the path."""

    target: EntryIndex
    removes: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """Estimated tokens by position, and their running sum."""

    tokens: array[int]
    before: array[int]
    """Tokens of everything before a position; one more than there are positions."""

    @classmethod
    def of(cls, tokens: array[int]) -> Counts:
        """Counts over a column."""
        return cls(tokens, array("q", accumulate(tokens, initial=0)))

    def between(self, start: int, stop: int) -> int:
        """Tokens of the positions from `start` to before `stop`."""
        return self.before[stop] - self.before[start]


@dataclass(frozen=True, slots=True)
class Requests:
    """What requests tell of the size of each part of a context: what was sent in front of a position, as it was counted."""

    kept: int
    """Positions before this one were sent before the last compaction, and nothing tells of them."""
    replies: array[int]
    """Positions of the replies that reported what their request took."""
    error: array[int]
    """By such a reply, what was counted up to its end more than the running sum of the estimates says."""
    first_error: int
    """The same of what the first one was sent."""
    before: array[int]
    """Estimated tokens of what is sent before a position."""
    whole: int
    """Tokens of the context itself."""

    def ahead_of(self, position: int) -> int | None:
        """Tokens that were sent in front of a position; None where no request tells."""
        if not self.replies or position < self.kept:
            return None
        if position == len(self.before) - 1:
            return self.whole
        last = bisect_left(self.replies, position) - 1
        if last < 0:
            return max(0, self.first_error + self.before[position])
        return self.error[last] + self.before[position]


@dataclass(frozen=True, slots=True)
class PathSizes:
    """The path to an entry, measured. Nothing in it is changed once it is made."""

    at: EntryIndex
    compaction: EntryIndex
    """The compaction that applies; -1 where none does."""
    ends_compacted: bool
    """Whether the last entry of the path is a compaction."""
    previous_summary: str | None
    previous_size: int | None
    """Its tokens where only the provider can read it; None where anybody can."""
    previous_files: FileLists | None
    """What that compaction carried on; None where it carried nothing, or an extension wrote it."""
    entries: array[int]
    """Entry by position."""
    parts: bytes
    """`Part` by position."""
    kept: int
    """Positions before this one were kept by the compaction that applies."""
    counts: Mapping[Estimator, Counts]
    spoken: array[int]
    """Positions of the messages that a plan deals out: all but those of the system."""
    starts: array[int]
    """Positions where a turn begins."""
    cuts: array[int]
    """Positions of messages that a kept tail may begin with."""
    results: array[int]
    systems: array[int]
    edits: Mapping[int, list[Edit]]
    """Context edits by position: one each in pi's files."""
    touches: Touches
    tools: Mapping[int, str]
    """Names of tools whose results are treated apart, by position."""
    failed: frozenset[int]
    """Positions of results that are errors."""
    images: Mapping[int, int]
    """How many images a message of the user shows, by position."""
    size: ContextSize
    system_tokens: int
    context: Context
    carry: Carry
    """What a compaction of it takes over."""
    requests: Requests

    def took(self, position: int) -> int | None:
        """What the messages from a position on take, as they were counted; None where no count tells."""
        before, whole = self.requests.ahead_of(position), self.requests.whole
        return whole - before if before is not None and 0 <= before <= whole else None

    def __len__(self) -> int:
        return len(self.entries)

    def counting(self, estimator: Estimator) -> Estimator:
        """The estimator that counts where one is wanted: pi's, where that one was not measured."""
        return estimator if estimator in self.counts else Estimator.PI

    def counted(self, estimator: Estimator) -> Counts:
        """The column of an estimator; pi's where that one was not measured."""
        return self.counts[self.counting(estimator)]

    def position(self, entry: int) -> int:
        """The position of an entry; -1 where it is not in the context."""
        try:
            return self.entries.index(entry)
        except ValueError:
            return -1


def measure(
    session: Session,
    at: int | None = None,
    *,
    estimators: Iterable[Estimator] = (),
) -> PathSizes:
    """Measures the path to an entry (the leaf by default), decoding what its context holds, once.

    Sizes as pi counts them are always there; those of other `estimators` cost a look at every text.
    """
    with gc_paused():
        return _measured(session, at, estimators)


def _measured(session: Session, at: int | None, estimators: Iterable[Estimator]) -> PathSizes:
    others = tuple(estimator for estimator in dict.fromkeys(estimators) if estimator is not Estimator.PI)
    heard: list[ContextStats] = []

    def listen() -> ContextStats:
        heard.append(ContextStats(listed_tools(session), others))
        return heard[-1]

    context = context_at(session, at, listen)
    stats = heard[-1]
    order, kept = _order(session, context.at)
    kinds = bytes(map(session.columns.kind.__getitem__, order))
    edits = _edits(session, order, kinds)
    parts = bytearray(kinds.translate(_PART_OF_KIND))
    lead, speaks = _speaking(session, context, order, parts, edits)
    if len(context.messages.tokens) - len(lead) != speaks.count(1):
        # Entries are read one by one, and what was read before is gone from the file.
        raise NotASession(f"{session.path} changed while it was read: try again")
    columns: dict[Estimator, Sequence[int]] = {Estimator.PI: context.messages.tokens}
    columns.update(zip(others, stats.columns, strict=True))
    counts = {
        name: Counts.of(
            _column(
                speaks,
                [count for number, count in enumerate(column) if number not in lead] if lead else column,
            )
        )
        for name, column in columns.items()
    }
    carry = Basis.of(session).carry(context.at)
    # Worked out here: a plan reads nothing of the session any more.
    _ = context.count, context.ledger
    position = dict(zip(order, range(len(order)), strict=True))
    # Without a message of its own, the compaction was edited out of the context, and pi takes nothing over from it.
    body = (session.body(context.compaction) or {}) if lead else {}
    summary = body.get("summary")
    return PathSizes(
        at=context.at,
        compaction=context.compaction,
        ends_compacted=context.at >= 0 and session.columns.kind[context.at] == Kind.COMPACTION,
        previous_summary=summary if isinstance(summary, str) else None,
        previous_size=encrypted_tokens(body),
        previous_files=FileLists.stored(body),
        entries=order,
        parts=bytes(parts),
        kept=kept,
        counts=counts,
        spoken=_where(parts, _SPOKEN),
        starts=_where(parts, STARTS),
        cuts=_where(parts, _CUTS),
        results=_where(parts, bytes([Part.RESULT])),
        systems=_where(parts, bytes([Part.SYSTEM])),
        edits=edits,
        touches=Touches(
            array("i", map(position.__getitem__, stats.touched)),
            tuple(stats.paths),
            bytes(stats.modifies),
        ),
        tools={position[entry]: name for entry, name in stats.tools.items()},
        failed=frozenset(map(position.__getitem__, stats.failed)),
        images={position[entry]: shown for entry, shown in stats.images.items() if entry in position},
        size=context.size,
        system_tokens=context.contents.system,
        context=context,
        carry=carry,
        requests=_requests(session, context, position, kept, counts[Estimator.PI], stats),
    )


_CUTS = STARTS + bytes([Part.REPLY])
_SPOKEN = bytes(part for part in Part if part not in QUIET and part is not Part.SYSTEM)


def _requests(
    session: Session,
    context: Context,
    position: Mapping[int, int],
    kept: int,
    counts: Counts,
    stats: ContextStats,
) -> Requests:
    # A reply that was made before the compaction in front of it was copied there, and counted another context.
    changed = written_at(session.body(context.compaction) or {}) if context.compaction >= 0 else None
    replies = array("i", map(position.__getitem__, stats.replies))
    totals = stats.totals
    first = 0
    if kept or changed is not None:
        those = [
            place >= kept and not _is_older(stamp, changed)
            for place, stamp in zip(replies, stats.stamps, strict=True)
        ]
        replies, totals = array("i", compress(replies, those)), array("q", compress(totals, those))
        first = those.index(True) if replies else 0
    unsent = position.keys() & {context.messages.entry[at] for at in context.messages.unsent}
    if unsent:
        tokens = counts.tokens[:]
        for entry in unsent:
            tokens[position[entry]] = 0
        counts = Counts.of(tokens)
    before = counts.before
    ends = map(before.__getitem__, map(_NEXT, replies))
    return Requests(
        kept,
        replies,
        array("q", map(sub, totals, ends)),
        max(0, totals[0] - stats.outputs[first]) - before[replies[0]] if replies else 0,
        before,
        context.sent,
    )


_NEXT = (1).__add__


def _is_older(stamp: object, changed: int | None) -> bool:
    """Whether a reply with a time was made before a compaction."""
    made = written_at({"message": {"timestamp": stamp}}) if changed is not None else None
    return made is not None and changed is not None and made < changed


def _where(parts: bytes | bytearray, classes: bytes) -> array[int]:
    """The positions of some parts."""
    those = parts.translate(bytes(part in classes for part in range(256)))
    return array("i", compress(range(len(parts)), those) if 1 in those else ())


def _order(session: Session, at: EntryIndex) -> tuple[array[int], int]:
    """The entries of a context without the compaction that applies, and how many of them it kept (pi 1.5.2)."""
    _, before, after = selected(session, at)
    kinds = session.columns.kind
    order = array("i")
    for span in before:
        order.extend(index for index in span if kinds[index] != Kind.SYSTEM)
    kept = len(order)
    for span in after:
        order.extend(span)
    return as_sent(order, kept, kinds, session.hoisted) if session.hoisted else (order, kept)


def _edits(session: Session, order: array[int], kinds: bytes) -> dict[int, list[Edit]]:
    edits: dict[int, list[Edit]] = {}
    for place in _where(kinds, bytes([Kind.CONTEXT_EDIT])):
        body = session.body(order[place]) or {}
        if "replacement" in body:
            removes = body["replacement"] is None
            edits[place] = [Edit(session.columns.index(name), removes) for name in edit_targets(body)]
    return edits


def _removed(session: Session, order: array[int], edits: dict[int, list[Edit]], parts: bytearray) -> set[int]:
    """Entries that would say something, had no edit removed them."""
    removes = {edit.target: edit.removes for made in edits.values() for edit in made}
    removed: set[int] = {target for target, gone in removes.items() if gone}
    if not removed:
        return removed
    silent = {entry for entry, part in zip(order, parts, strict=True) if entry in removed and part in QUIET}
    empty = {
        entry
        for entry in removed
        if session.columns.kind[entry] == Kind.BRANCH_SUMMARY
        and not (session.body(entry) or {}).get("summary")
    }
    return removed - silent - empty


def _speaking(
    session: Session, context: Context, order: array[int], parts: bytearray, edits: dict[int, list[Edit]]
) -> tuple[frozenset[int], bytearray]:
    """The messages that the compaction brings, and a 1 for each position that one of the others stands at.

    Parts are brought in line with what was said: kinds tell only what an entry may say.
    """
    messages = context.messages
    lead = frozenset(
        number
        for number, entry in enumerate(messages.entry if context.compaction >= 0 else ())
        if entry == context.compaction
    )
    speaking = (
        array("i", (entry for number, entry in enumerate(messages.entry) if number not in lead))
        if lead
        else messages.entry
    )
    may_speak = parts.translate(_MAY_SPEAK)
    if array("i", compress(order, may_speak)) != speaking:
        removed = _removed(session, order, edits, parts)
        number = 0
        for place, entry in enumerate(order):
            if number < len(speaking) and speaking[number] == entry:
                number += 1
            elif may_speak[place]:
                may_speak[place] = 0
                parts[place] = Part.OMITTED if entry in removed else Part.SILENT
    places = array("i", compress(range(len(order)), may_speak)) if messages.roles else array("i")
    for number, role in messages.roles.items():
        place = number - sum(one < number for one in lead)
        if number not in lead and parts[places[place]] != Part.NOTE:
            parts[places[place]] = _PART_OF_ROLE.get(role, Part.OTHER)
    return lead, may_speak


_MAY_SPEAK = bytes(part > Part.COMPACTION for part in range(256))


def _column(speaks: bytearray, tokens: Sequence[int]) -> array[int]:
    """Tokens by position: those of each message where it stands, in one piece up to the next position without."""
    column = array("i")
    start = taken = 0
    while start < len(speaks):
        silent = speaks.find(0, start)
        run = (silent if silent >= 0 else len(speaks)) - start
        column.extend(tokens[taken : taken + run])
        if silent >= 0:
            column.append(0)
        taken += run
        start += run + 1
    return column


def summary_size(sizes: PathSizes, estimator: Estimator) -> int:
    """Tokens of the summary that stands in the context now."""
    if sizes.previous_size is not None:
        return sizes.previous_size
    return text_tokens(sizes.previous_summary, estimator) if sizes.previous_summary is not None else 0
