"""The messages that the model receives at an entry: those of the entries that `projection` selects, each with its entry.

The rules are pi 1.5.2's: context edits replace or remove messages; summaries and injected messages are sent as the user's. Sizes
are counted as pi counts them.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from leafward.context.basis import Basis
from leafward.context.message_builder import MessageBuilder
from leafward.context.message_columns import ROLE_OF_KIND
from leafward.context.open_calls import open_calls
from leafward.context.projection import (
    ahead_of_summary,
    as_sent,
    begins_midway,
    context_edits,
    latest,
    naming_model,
    puts_files_in,
    selected,
)
from leafward.context.sizes import ContextSize, replayed_tokens
from leafward.session.entries import CONTEXT_CHANGES, Body, EntryIndex, Kind
from leafward.session.messages import SummaryBasis, summary_basis, trusted_usage
from leafward.session.source import UNCERTAIN_CONTEXT, SourceRemark
from leafward.session.tokens import message_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from leafward.context.basis import Count
    from leafward.context.message_builder import Listener
    from leafward.context.message_columns import EditInForce, Messages
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class Ledger:
    """Tokens of a context by part. The first four, in the file, are estimated; with the next three they add up to the total."""

    system: int
    summary: int
    kept: int
    after: int
    not_in_file: int
    """Tokens that the agent sends but its file does not hold: system prompt, tools, files that it put in."""
    error: int
    """The estimation error: the provider's count of the first four parts minus their estimate."""
    unsent: int
    """Tokens that the total counts although they are not sent; they are not part of `kept` and `after`."""
    recorded: bool
    """Whether a provider counted the total, apart from messages since or in between. Otherwise it is shown with `~`."""

    @property
    def total(self) -> int:
        """The sum of the parts: the size of the context, on the basis of `basis`."""
        inside = self.system + self.summary + self.kept + self.after
        return inside + self.not_in_file + self.error + self.unsent

    def as_json(self) -> dict[str, int]:
        """The parts and their sum."""
        names = ("system", "summary", "kept", "after", "not_in_file", "error", "unsent", "total")
        return {name: getattr(self, name) for name in names}


class EstimatedParts(NamedTuple):
    """Estimated tokens of the sent messages that are in the file, by part."""

    system: int
    summary: int
    kept: int
    after: int
    measured: int
    """Number of messages that were part of the last request whose usage holds; 0 if there is none."""

    @property
    def total(self) -> int:
        """The sum of all four parts."""
        return self.system + self.summary + self.kept + self.after


@dataclass(frozen=True)
class Context:
    """The messages at an entry, with the model, thinking level and compaction there. Sizes to be shown are computed on demand."""

    session: Session
    at: EntryIndex
    messages: Messages
    provider: str | None
    model: str | None
    thinking: str | None
    """None where the agent records no level."""
    size: ContextSize
    """Size as pi counts it, for its thresholds and plans. The size shown is the total of the ledger."""
    contents: EstimatedParts
    compaction: EntryIndex
    """The compaction that applies; -1 if there is none."""

    @cached_property
    def count(self) -> Count:
        """The size that is shown. If no reply measures it, the entries above are decoded once."""
        return Basis.of(self.session).measured(
            self.compaction, self.at, self.size, self._unsent(self.contents.measured)
        )

    @cached_property
    def ledger(self) -> Ledger:
        """The parts of the context. After a compaction, the entries above it are decoded once."""
        parts, messages = self.contents, self.messages
        # Unsent messages before the reply that reported the size were not part of its report.
        found = Basis.of(self.session).parts(
            self.compaction, self.at, self.size, self._unsent(parts.measured), parts.total
        )
        first = next(
            compress(range(len(messages)), map(found.counted_to.__lt__, messages.entry)), len(messages)
        )
        unsent = self._unsent(first)
        error = found.count.total - found.not_in_file - parts.total - unsent
        return Ledger(
            parts.system,
            parts.summary,
            parts.kept,
            parts.after,
            found.not_in_file,
            error,
            unsent,
            found.count.recorded,
        )

    @property
    def measured_anew(self) -> bool:
        """Whether a request after the compaction showed other tokens that are not in the file than were carried over it."""
        if self.compaction < 0 or not self.ledger.recorded:
            return False
        return self.ledger.not_in_file != Basis.of(self.session).carried_not_in_file(self.compaction)

    @cached_property
    def begins_midway(self) -> bool:
        """Whether messages before the first one were sent but are not in the file."""
        return self.compaction < 0 and begins_midway(self.session, self.at)

    @property
    def missing(self) -> str:
        """Names of the parts that are not in the file."""
        again = (
            ", files added again"
            if self.measured_anew and puts_files_in(self.session, self.compaction)
            else ""
        )
        return f"{'earlier conversation, ' if self.begins_midway else ''}{self.missing_prompt}{again}"

    @property
    def missing_prompt(self) -> str:
        """Names of the missing parts of which a compaction takes nothing away."""
        return f"{'unrecorded ' if self.ledger.system else ''}system prompt, tools"

    @property
    def summary_basis(self) -> SummaryBasis | None:
        """The source of the summary's size if the summary is encrypted; None if it can be read."""
        body = self.session.body(self.compaction) if self.compaction >= 0 else None
        return summary_basis(body) if body is not None else None

    def _unsent(self, first: int) -> int:
        """Estimated tokens of the unsent messages from a position on."""
        messages = self.messages
        return sum(messages.tokens[position] for position in messages.unsent if position >= first)

    @property
    def error(self) -> int:
        """The total minus the tokens not in the file and the estimates of all messages, unsent ones included."""
        unsent = sum(self.messages.tokens[position] for position in self.messages.unsent)
        return self.ledger.error + self.ledger.unsent - unsent

    @property
    def total(self) -> int:
        """The size that is shown, in tokens."""
        return self.count.total

    @property
    def sign(self) -> str:
        """The sign before the total: empty if a provider counted it, else `~`."""
        return self.count.sign

    def freed(self, edits: Iterable[EditInForce]) -> int:
        """Tokens that some of its edits save."""
        return Basis.of(self.session).freed(self.at, ((one.entry, one.freed) for one in edits))

    @property
    def sent(self) -> int:
        """Tokens that are sent with the next prompt: the total without unsent messages."""
        return self.total - self.ledger.unsent


def lacks_prompt(session: Session, context: Context) -> bool:
    """Whether the size of something that the agent sends but does not store is unknown.

    That is its system prompt if no request was recorded yet, or files that it put in again after a compaction. Always False for a
    native session, whose sizes are pi's.
    """
    return lacks_files(session, context) or _lacks_system(session, context)


def lacks_files(session: Session, context: Context) -> bool:
    """Whether files that the agent put in again after a compaction are not stored, and no request shows their size yet."""
    if session.is_native or context.count.recorded:
        return False
    return Basis.of(session).lacks_files(context.at)


def _lacks_system(session: Session, context: Context) -> bool:
    if session.is_native or context.count.recorded:
        return False
    messages = context.messages
    has_system = any(messages.role(at) == "system" for at in messages.apart)
    return not has_system and context.ledger.not_in_file <= 0


BEGINS_MIDWAY = "begins-midway"
"""Code of a note: the file begins in the middle of a conversation."""
_MIDWAY = "the file begins in the middle of a conversation: what was said before was sent and is not in file"

FILES_UNKNOWN = "files-unknown"
"""Code of a note: files that the agent put in again after a compaction are not stored."""
_FILES = "files added again after the compaction are not in the total: their size is not known yet"

_UNKNOWN = "system prompt and tools are not in the total: their size is not known yet"

_THINKING = frozenset({Kind.THINKING_CHANGE})
_SILENT = bytes(kind for kind in Kind if kind not in ROLE_OF_KIND and kind is not Kind.UNKNOWN)
"""Kinds that never contribute a message: their bodies need not be decoded."""
_SPEAKS = bytes(kind not in _SILENT for kind in range(256))


def uncertainties(session: Session, context: Context) -> Iterator[SourceRemark]:
    """Notes on the uncertainties of a context: missing messages, unknown sizes, unrecorded actions, calls without results."""
    if context.begins_midway:
        yield SourceRemark(BEGINS_MIDWAY, _MIDWAY)
    if len(context.messages) and _lacks_system(session, context):
        yield SourceRemark("prompt-unknown", _UNKNOWN)
    if lacks_files(session, context):
        yield SourceRemark(FILES_UNKNOWN, _FILES)
    for note in session.source.notes:
        behind = note.code == UNCERTAIN_CONTEXT and context.compaction < note.entry <= context.at
        if behind and session.tree.is_ancestor(note.entry, context.at):
            yield note
    yield from open_calls(session, context.messages)


def context_at(
    session: Session, at: int | None = None, listen: Callable[[], Listener] | None = None
) -> Context:
    """The context at an entry (the leaf by default); -1 is the empty context before everything.

    Lines on the path that prove broken are first marked in the session, and the path is taken again. A caller that needs more
    of the messages than their sizes passes `listen`, which is called for a new listener each time the path is taken.
    """
    while True:
        here = session.leaf if at is None else EntryIndex(at)
        broken: list[int] = []
        context = _project(session, here, broken, listen() if listen is not None else None)
        if not broken:
            return context
        session.discredit(broken)


def _project(session: Session, at: EntryIndex, broken: list[int], listener: Listener | None) -> Context:
    compaction, kept, after = selected(session, at)
    column = session.columns.kind
    order, kinds = array("i"), bytearray()
    for span in kept:
        order.extend(span)
        kinds += column[span.start : span.stop]
    ahead = ahead_of_summary(session, compaction)
    if compaction >= 0:
        order.insert(ahead, compaction)
        kinds.insert(ahead, Kind.COMPACTION)
    kept_until = len(order)
    for span in after:
        order.extend(span)
        kinds += column[span.start : span.stop]
    edits = context_edits(session, kept + after)
    if session.hoisted:
        order, kept_until = as_sent(order, kept_until, column, session.hoisted)
        kinds = bytearray(map(column.__getitem__, order))
    speaks = kinds.translate(_SPEAKS)
    spoken = array("i", compress(order, speaks))
    last_kept = sum(speaks[:kept_until])
    builder = MessageBuilder(session, edits, compaction, ahead, listener)
    builder.take(spoken[:last_kept], kept=True)
    builder.messages.first_after = len(builder.messages)
    builder.take(spoken[last_kept:], kept=False)
    broken += builder.broken
    messages, system = builder.messages, builder.system
    provider, model, thinking = settings_at(session, at)
    size, measured = _size(session, at, messages, system)
    contents = _contents(messages, system, measured)
    return Context(session, at, messages, provider, model, thinking, size, contents, compaction)


def _size(
    session: Session, at: EntryIndex, messages: Messages, system: list[Body]
) -> tuple[ContextSize, int]:
    """The size, and the position after the reply that reported it; 0 if all of it is estimated."""
    stale = latest(session, at, CONTEXT_CHANGES)
    for position in range(len(messages) - 1, -1, -1):
        reply = messages.entry[position]
        if messages.kinds[reply] != Kind.ASSISTANT:
            continue
        usage = trusted_usage((session.body(reply) or {}).get("message") or {})
        if usage is None:
            continue
        # Usage from before the latest compaction or edit on the path measures another context.
        if stale < 0 or (reply != stale and session.tree.is_ancestor(stale, reply)):
            trailing = sum(messages.tokens[position + 1 :])
            return ContextSize(usage.total + trailing, usage.total, trailing), position + 1
        break
    estimate = (
        sum(messages.tokens) - sum(message_tokens(message) for message in system) + replayed_tokens(system)
    )
    return ContextSize(estimate, 0, estimate), 0


def _contents(messages: Messages, system: list[Body], measured: int) -> EstimatedParts:
    middle = messages.first_after
    halves = [sum(messages.tokens[:middle]), sum(messages.tokens[middle:])]
    for position in messages.unsent:
        halves[position >= middle] -= messages.tokens[position]
    summary = 0
    for position in messages.apart:
        halves[position >= middle] -= messages.tokens[position]
        if messages.role(position) == "compactionSummary":
            summary += messages.tokens[position]
    return EstimatedParts(replayed_tokens(system), summary, halves[0], halves[1], measured)


def settings_at(session: Session, at: EntryIndex) -> tuple[str | None, str | None, str | None]:
    """Provider, model and thinking level in use: the last of each on the whole path. Without a level pi 1.5.2 thinks `off`."""
    change = latest(session, at, _THINKING)
    level = (session.body(change) or {}).get("thinkingLevel") if change >= 0 else None
    provider, model = naming_model(session, at, session.body)
    return provider, model, level if isinstance(level, str) else "off" if session.is_native else None
