"""The messages that a compaction in the session replaced and kept, and the context that it injected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Refused
from leafward.context.basis import leaf_before
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.context.projection import latest
from leafward.session.entries import BOOKKEEPING, NO_ENTRY, Body, EntryIndex, Kind
from leafward.session.injected_block import split_enclosed
from leafward.session.messages import message_text, messages_of, summary_words
from leafward.summaries.survival.earlier_plan import plan_before

if TYPE_CHECKING:
    from leafward.session.session import Session
    from leafward.summaries.facts.calls.agent_plan import Items


class SpanMessage(NamedTuple):
    """One message, with the entry it comes from; context edits are applied already."""

    entry: EntryIndex
    message: Body


@dataclass(frozen=True, slots=True)
class ReplacedSpan:
    """The parts of one compaction."""

    compaction: EntryIndex
    summary: str
    messages: tuple[SpanMessage, ...]
    """The messages that the summary replaces, in the order of the path, without the summary before it."""
    previous: str
    """The summary before it, without its injected part."""
    previous_entry: EntryIndex
    """The entry of that summary; -1 where there was none."""
    plan: Items
    """The agent's own task list before these messages."""
    kept: tuple[SpanMessage, ...]
    """The kept messages."""
    injected: str
    """Further context that came with it.

    It is the enclosed part of the stored summary, a system message of its own, and messages that extensions added before
    the conversation went on.
    """


def compactions(session: Session, at: int | None = None) -> list[EntryIndex]:
    """The compactions on the path to an entry (the leaf by default), in order."""
    here = session.leaf if at is None else at
    found: list[EntryIndex] = []
    while (here := latest(session, here, frozenset({Kind.COMPACTION}))) >= 0:
        found.append(EntryIndex(here))
        here = session.columns.parent[here]
    return found[::-1]


def replaced_by(session: Session, compaction: int) -> ReplacedSpan:
    """The messages that a compaction replaced and kept, with its summaries. Raises Refused where the entry is not one."""
    body = session.body(compaction)
    if session.columns.kind[compaction] != Kind.COMPACTION or body is None:
        raise Refused(f"{session.columns.id(EntryIndex(compaction))} is not a compaction")
    before = context_at(session, leaf_before(session, compaction))
    now = context_at(session, compaction)
    stayed = {message.entry for message in now.messages}
    replaced, previous, previous_entry = [], "", NO_ENTRY
    for message in before.messages:
        if message.role == "compactionSummary" and message.entry == before.compaction:
            previous = split_enclosed(summary_words(session.body(message.entry) or {}))[0]
            previous_entry = message.entry
        elif message.entry not in stayed and message.sent and message.role != "system":
            replaced.append(SpanMessage(message.entry, message_body(session, message)))
    own_words, enclosed = split_enclosed(summary_words(body))
    kept, injected = [], [enclosed] if enclosed else []
    for message in now.messages:
        if message.entry != compaction:
            kept.append(SpanMessage(message.entry, message_body(session, message)))
        elif message.role == "system":
            injected.append(message_text(message_body(session, message)))
    injected += _added(session, compaction)
    return ReplacedSpan(
        EntryIndex(compaction),
        own_words,
        tuple(replaced),
        previous,
        previous_entry,
        plan_before(session, replaced),
        tuple(kept),
        "\n".join(injected),
    )


def _added(session: Session, compaction: int) -> list[str]:
    """Texts of the messages that extensions added right after a compaction."""
    found: list[str] = []
    below = session.tree.children(compaction)
    while below:
        here = below[-1]
        kind = Kind(session.columns.kind[here])
        if kind in (Kind.CUSTOM_MESSAGE, Kind.INJECTED):
            found += [message_text(message) for message in messages_of(session.body(here) or {}, kind)]
        elif kind not in BOOKKEEPING:
            break
        below = session.tree.children(here)
    return found
