"""Measures the messages on a path: all numbers that a plan needs, taken once.

A plan is a pure function of this value and of settings, so that a slider makes a new plan at every step without reading
anything again. Everything is in columns over *positions*: the entries in the context at an entry, in the order of the
context, without the latest compaction; entries without a message are included.
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
from leafward.compaction.measure.context_stats import ContextStats
from leafward.compaction.stored_summary.file_lists import FileLists, Touches
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


class ContentKind(IntEnum):
    """Kind of content of the entry at a position."""

    SILENT = 0
    """Never a message: metadata, a context edit, an empty branch summary."""
    OMITTED = 1
    """No message, because a context edit removed it."""
    COMPACTION = 2
    """No message any more: an earlier compaction among the entries that a later one kept."""
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
    """A message of an unknown role."""


QUIET = bytes([ContentKind.SILENT, ContentKind.OMITTED, ContentKind.COMPACTION])
"""Parts that put no message into the context."""
STARTS = bytes([ContentKind.USER, ContentKind.BASH, ContentKind.CUSTOM, ContentKind.NOTE])
"""Parts that begin a turn (pi 1.5.2)."""

_PART_OF_KIND = bytes(
    {
        Kind.USER: ContentKind.USER,
        Kind.ASSISTANT: ContentKind.REPLY,
        Kind.TOOL_RESULT: ContentKind.RESULT,
        Kind.BASH: ContentKind.BASH,
        Kind.CUSTOM_ROLE: ContentKind.CUSTOM,
        Kind.SYSTEM: ContentKind.SYSTEM,
        Kind.COMPACTION: ContentKind.COMPACTION,
        Kind.BRANCH_SUMMARY: ContentKind.NOTE,
        Kind.CUSTOM_MESSAGE: ContentKind.NOTE,
        Kind.INJECTED: ContentKind.OTHER,
        Kind.UNKNOWN: ContentKind.OTHER,
    }.get(Kind(kind), ContentKind.SILENT)
    if kind in set(Kind)
    else ContentKind.SILENT
    for kind in range(256)
)
_PART_OF_ROLE = {
    "user": ContentKind.USER,
    "assistant": ContentKind.REPLY,
    "toolResult": ContentKind.RESULT,
    "bashExecution": ContentKind.BASH,
    "custom": ContentKind.CUSTOM,
    "branchSummary": ContentKind.CUSTOM,
    "compactionSummary": ContentKind.CUSTOM,
    "system": ContentKind.SYSTEM,
}


@dataclass(frozen=True, slots=True)
class PathEdit:
    """A context edit on the path."""

    target: EntryIndex
    removes: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """Estimated tokens by position, and their running sum."""

    tokens: array[int]
    before: array[int]
    """Tokens of everything before a position; has one item more than there are positions."""

    @classmethod
    def of(cls, tokens: array[int]) -> Counts:
        """Counts from a column of tokens."""
        return cls(tokens, array("q", accumulate(tokens, initial=0)))

    def between(self, start: int, stop: int) -> int:
        """Tokens in a range of positions, `stop` excluded."""
        return self.before[stop] - self.before[start]


@dataclass(frozen=True, slots=True)
class RequestSizes:
    """Sizes of the parts of a context, from the counts of requests: the tokens sent before a position, as counted."""

    kept: int
    """Positions before this one were sent before the last compaction, so no request measured them."""
    replies: array[int]
    """Positions of the replies with recorded usage."""
    error: array[int]
    """For each such reply, the count up to its end minus the running sum of the estimates."""
    first_error: int
    """The count of the tokens sent to the first of them, minus the running sum of the estimates."""
    before: array[int]
    """Estimated tokens sent before a position."""
    whole: int
    """Tokens of the context itself."""

    def ahead_of(self, position: int) -> int | None:
        """Counted tokens before a position; None for messages that a compaction kept, where no request measured them.

        If no request was made at all, the messages from the position on are in the whole with their estimates.
        """
        if position < self.kept:
            return None
        if position == len(self.before) - 1:
            return self.whole
        if not self.replies:
            return self.whole - (self.before[-1] - self.before[position])
        last = bisect_left(self.replies, position) - 1
        if last < 0:
            return max(0, self.first_error + self.before[position])
        return self.error[last] + self.before[position]


@dataclass(frozen=True, slots=True)
class PathSizes:
    """The measured path to an entry. It is never changed once made."""

    at: EntryIndex
    compaction: EntryIndex
    """The compaction that applies; -1 if there is none."""
    ends_compacted: bool
    """Whether the last entry of the path is a compaction."""
    previous_summary: str | None
    previous_size: int | None
    """Tokens of the previous summary if only the provider can read it; None if it is readable."""
    previous_files: FileLists | None
    """The file lists of that compaction; None if it has none, or if an extension wrote it."""
    entries: array[int]
    """Entry by position."""
    parts: bytes
    """`ContentKind` by position."""
    kept: int
    """Positions before this one were kept by the compaction that applies."""
    counts: Mapping[Estimator, Counts]
    spoken: array[int]
    """Positions of the messages that a plan divides: all except system messages."""
    starts: array[int]
    """Positions at which a turn begins."""
    cuts: array[int]
    """Positions of messages that a kept tail may begin with."""
    results: array[int]
    systems: array[int]
    edits: Mapping[int, list[PathEdit]]
    """Context edits by position; in pi's files there is one at each."""
    touches: Touches
    tools: Mapping[int, str]
    """Names of tools whose results are treated differently, by position."""
    failed: frozenset[int]
    """Positions of results that are errors."""
    images: Mapping[int, int]
    """Number of images in messages of the user, by position."""
    size: ContextSize
    system_tokens: int
    context: Context
    carry: Carry
    """The values that a compaction of this context takes over."""
    requests: RequestSizes

    def took(self, position: int) -> int | None:
        """Counted tokens of the messages from a position on; None if no request measured them."""
        before, whole = self.requests.ahead_of(position), self.requests.whole
        return whole - before if before is not None and 0 <= before <= whole else None

    def __len__(self) -> int:
        return len(self.entries)

    def counting(self, estimator: Estimator) -> Estimator:
        """The estimator to use for one that is asked for: pi's, if that one was not measured."""
        return estimator if estimator in self.counts else Estimator.PI

    def counts_by(self, estimator: Estimator) -> Counts:
        """The column of an estimator; pi's if that one was not measured."""
        return self.counts[self.counting(estimator)]

    def position(self, entry: int) -> int:
        """The position of an entry; -1 if it is not in the context."""
        try:
            return self.entries.index(entry)
        except ValueError:
            return -1


@gc_paused()
def measure(
    session: Session,
    at: int | None = None,
    *,
    estimators: Iterable[Estimator] = (),
) -> PathSizes:
    """Measures the path to an entry (the leaf by default), decoding the entries of its context once.

    Sizes by pi's estimator are always measured; sizes by other `estimators` need a look at every text.
    """
    others = tuple(estimator for estimator in dict.fromkeys(estimators) if estimator is not Estimator.PI)
    heard: list[ContextStats] = []

    def listen() -> ContextStats:
        heard.append(ContextStats(listed_tools(session), others))
        return heard[-1]

    context = context_at(session, at, listen)
    stats = heard[-1]
    order, kinds, kept = _order(session, context.at)
    edits = _edits(session, order, kinds)
    parts = bytearray(kinds.translate(_PART_OF_KIND))
    lead, speaks = _speaking(session, context, order, parts, edits)
    if len(context.messages.tokens) - len(lead) != speaks.count(1):
        # Entries are read one by one, and the earlier ones are gone from the file.
        raise NotASession(f"{session.path} changed while it was read: try again")
    columns: dict[Estimator, Sequence[int]] = {Estimator.PI: context.messages.tokens}
    columns.update(zip(others, stats.columns, strict=True))
    counts = {name: _counts(column, lead, speaks) for name, column in columns.items()}
    carry = Basis.of(session).carry(context.at)
    # Computed here, as a plan reads nothing of the session.
    _ = context.count, context.ledger
    position = dict(zip(order, range(len(order)), strict=True))
    # If the compaction has no message, an edit removed it from the context, and pi takes nothing over from it.
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
        results=_where(parts, bytes([ContentKind.RESULT])),
        systems=_where(parts, bytes([ContentKind.SYSTEM])),
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


def _counts(column: Sequence[int], lead: frozenset[int], speaks: bytearray) -> Counts:
    """Counts of the entries that speak, from those of all messages; `lead` are numbers of messages of the compaction, which are left out."""
    own = [count for number, count in enumerate(column) if number not in lead] if lead else column
    return Counts.of(_column(speaks, own))


_CUTS = STARTS + bytes([ContentKind.REPLY])
_SPOKEN = bytes(part for part in ContentKind if part not in QUIET and part is not ContentKind.SYSTEM)


def _requests(
    session: Session,
    context: Context,
    position: Mapping[int, int],
    kept: int,
    counts: Counts,
    stats: ContextStats,
) -> RequestSizes:
    # A reply older than the compaction before it was copied there, and counted another context.
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
    ends = map(before[1:].__getitem__, replies)
    return RequestSizes(
        kept,
        replies,
        array("q", map(sub, totals, ends)),
        max(0, totals[0] - stats.outputs[first]) - before[replies[0]] if replies else 0,
        before,
        context.sent,
    )


def _is_older(stamp: object, changed: int | None) -> bool:
    """Whether a reply with this time was made before a compaction."""
    made = written_at({"message": {"timestamp": stamp}}) if changed is not None else None
    return made is not None and changed is not None and made < changed


def _where(parts: bytes | bytearray, classes: bytes) -> array[int]:
    """The positions whose part is one of `classes`."""
    those = parts.translate(bytes(part in classes for part in range(256)))
    return array("i", compress(range(len(parts)), those) if 1 in those else ())


def _order(session: Session, at: EntryIndex) -> tuple[array[int], bytes, int]:
    """The entries of a context without the latest compaction, their kinds, and the number of entries that it kept (pi 1.5.2)."""
    _, before, after = selected(session, at)
    column = session.columns.kind
    order = array("i")
    for span in before:
        order.extend(index for index in span if column[index] != Kind.SYSTEM)
    kept = len(order)
    for span in after:
        order.extend(span)
    if session.hoisted:
        order, kept = as_sent(order, kept, column, session.hoisted)
        return order, bytes(map(column.__getitem__, order)), kept
    said = b"".join(column[span.start : span.stop] for span in after)
    return order, bytes(map(column.__getitem__, order[:kept])) + said, kept


def _edits(session: Session, order: array[int], kinds: bytes) -> dict[int, list[PathEdit]]:
    edits: dict[int, list[PathEdit]] = {}
    for place in _where(kinds, bytes([Kind.CONTEXT_EDIT])):
        body = session.body(order[place]) or {}
        if "replacement" in body:
            removes = body["replacement"] is None
            edits[place] = [PathEdit(session.columns.index(name), removes) for name in edit_targets(body)]
    return edits


def _removed(
    session: Session, order: array[int], edits: dict[int, list[PathEdit]], parts: bytearray
) -> set[int]:
    """Entries that would have a message if no edit had removed them."""
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
    session: Session, context: Context, order: array[int], parts: bytearray, edits: dict[int, list[PathEdit]]
) -> tuple[frozenset[int], bytearray]:
    """The messages of the compaction, by number, and for each position a 1 if another message stands there.

    Corrects `parts` where an entry has no message or another role: a kind only shows what an entry may hold.
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
                if not may_speak[place]:
                    # An earlier summary that the compaction kept.
                    may_speak[place], parts[place] = 1, ContentKind.OTHER
            elif may_speak[place]:
                may_speak[place] = 0
                parts[place] = ContentKind.OMITTED if entry in removed else ContentKind.SILENT
    places = array("i", compress(range(len(order)), may_speak)) if messages.roles else array("i")
    for number, role in messages.roles.items():
        place = number - sum(one < number for one in lead)
        if number not in lead and parts[places[place]] != ContentKind.NOTE:
            parts[places[place]] = _PART_OF_ROLE.get(role, ContentKind.OTHER)
    return lead, may_speak


_MAY_SPEAK = bytes(part > ContentKind.COMPACTION for part in range(256))


def _column(speaks: bytearray, tokens: Sequence[int]) -> array[int]:
    """Tokens by position: each message's tokens at its position, 0 at the others."""
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
    """Tokens of the summary in the context now."""
    if sizes.previous_size is not None:
        return sizes.previous_size
    return text_tokens(sizes.previous_summary, estimator) if sizes.previous_summary is not None else 0
