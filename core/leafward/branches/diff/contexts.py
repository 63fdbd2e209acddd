"""The messages that the model receives at two entries, aligned: the shared beginning, and the rest of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.context.message_columns import message_body
from leafward.context.model_context import Context, Ledger, context_at
from leafward.session.entries import NO_ENTRY, Kind

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from leafward.context.message_columns import ContextMessage
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class MessagePair:
    """A message of A, of B, or the same in both."""

    a: ContextMessage | None
    b: ContextMessage | None

    @property
    def same(self) -> bool:
        """Whether both contexts hold it, with the same content."""
        return self.a is not None and self.b is not None


@dataclass(frozen=True, slots=True)
class ContextDifference:
    """Two contexts, aligned."""

    a: Context
    b: Context
    rows: tuple[MessagePair, ...]
    prefix: int
    """Messages that both begin with: a provider's cache could serve them again."""
    prefix_tokens: int
    """Estimated, of these messages."""
    shared_tokens: int
    """Estimated, of all messages that both hold."""
    why: tuple[str, ...]
    """Why no more messages are shared, in sentences."""

    @property
    def same_model(self) -> bool:
        """Whether one cache may serve both: False only where both models are known and differ."""
        return not _other_model(self.a, self.b)

    @property
    def ledgers(self) -> tuple[Ledger, Ledger]:
        """The ledgers of both: system, summary, kept and after."""
        return self.a.ledger, self.b.ledger


def compare_contexts(session: Session, a: int, b: int) -> ContextDifference:
    """Aligns the contexts at two entries; -1 is before everything.

    A message counts as shared where it comes from the same entry and the same context edit applies. A system message that
    a compaction carries counts as shared where its text is equal. The order of both is kept.
    """
    left, right = context_at(session, a), context_at(session, b)
    mine, theirs = list(left.messages), list(right.messages)
    apart = left.compaction != right.compaction
    keys = [_key(session, one, apart) for one in mine], [_key(session, one, apart) for one in theirs]
    place = {key: at for at, key in enumerate(keys[1])}
    rows: list[MessagePair] = []
    prefix, shared, upto = 0, 0, 0
    for at, one in enumerate(mine):
        there = place.get(keys[0][at], -1)
        # Both contexts hold entries in the order of their paths, so that shared ones come in the same order.
        if there < upto:
            rows.append(MessagePair(one, None))
            continue
        rows += [MessagePair(None, other) for other in theirs[upto:there]]
        rows.append(MessagePair(one, theirs[there]))
        shared += one.tokens
        if at == there == prefix:
            prefix += 1
        upto = there + 1
    rows += [MessagePair(None, other) for other in theirs[upto:]]
    rows = _grouped(rows)
    tokens = sum(one.tokens for one in mine[:prefix])
    only_system = bool(prefix) and all(one.role == "system" for one in mine[:prefix])
    reasons = (
        *_compacted(session, left, right, only_system=only_system),
        *_reasons(left, right, mine, theirs),
    )
    return ContextDifference(left, right, tuple(rows), prefix, tokens, shared, reasons)


def _key(session: Session, message: ContextMessage, apart: bool) -> Hashable:
    if apart and message.role == "system":
        body = message_body(session, message)
        return json.dumps({**body, "timestamp": None}, sort_keys=True)
    return message.entry, message.role, message.edited


def _grouped(rows: list[MessagePair]) -> list[MessagePair]:
    """The rows with A's messages before B's between two shared ones."""
    found: list[MessagePair] = []
    mine: list[MessagePair] = []
    theirs: list[MessagePair] = []
    for row in rows:
        if row.same:
            found += [*mine, *theirs, row]
            mine, theirs = [], []
        else:
            (mine if row.a is not None else theirs).append(row)
    return [*found, *mine, *theirs]


def _compacted(session: Session, a: Context, b: Context, *, only_system: bool) -> Iterable[str]:
    """Sentences on which of the two was compacted after they parted."""
    if a.compaction == b.compaction:
        return
    for name, other, here, there in (("A", "B", a, b), ("B", "A", b, a)):
        if there.compaction == NO_ENTRY:
            yield f"{name} was compacted, {other} was not"
            break
        if session.tree.is_ancestor(there.compaction, here.at):
            yield f"{name} has a compaction that {other} has not"
            break
    else:
        yield "A and B have different compactions"
    if only_system:
        yield "only the system part is shared"


def _other_model(a: Context, b: Context) -> bool:
    return None not in (a.model, b.model) and (a.provider, a.model) != (b.provider, b.model)


def _reasons(a: Context, b: Context, mine: list[ContextMessage], theirs: list[ContextMessage]) -> list[str]:
    found = []
    if _other_model(a, b):
        found.append("A and B use different models: neither can use the other's cache")
    edited = {one.entry for one in mine if one.edited >= 0} ^ {one.entry for one in theirs if one.edited >= 0}
    if edited:
        number = "a context edit" if len(edited) == 1 else f"{len(edited)} context edits"
        found.append(f"A and B differ by {number}")
    carried = [
        name
        for name, messages in (("A", mine), ("B", theirs))
        if any(one.kind == Kind.BRANCH_SUMMARY for one in messages)
    ]
    found += [f"{name} has a branch summary" for name in carried]
    return found
