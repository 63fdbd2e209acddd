"""Parts of a context: the messages of each section of its ledger, in the order in which they are sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.context.message_columns import LedgerSection

if TYPE_CHECKING:
    from leafward.context.model_context import Context


@dataclass(frozen=True, slots=True)
class ContextPart:
    """Messages of one section."""

    section: LedgerSection
    start: int
    stop: int
    tokens: int


def context_parts(context: Context) -> list[ContextPart]:
    """The sections in the order of the messages, the summary at its place; a system message in the middle stays there."""
    messages = context.messages
    summary = next((at for at in messages.apart if messages.role(at) == "compactionSummary"), -1)
    leading = (at for at in range(min(2, len(messages))) if messages.section(at) is not LedgerSection.SYSTEM)
    start = next(leading, min(2, len(messages)))
    middle = max(start, messages.first_after)
    ends = [(LedgerSection.SYSTEM, 0, start)]
    if 0 <= summary < middle:
        # Codex sends its summary after the messages it keeps, pi before them.
        ends += [(LedgerSection.KEPT, start, summary), (LedgerSection.SUMMARY, summary, summary + 1)]
        start = summary + 1
    ends += [(LedgerSection.KEPT, start, middle), (LedgerSection.AFTER, middle, len(messages))]
    unsent = messages.unsent
    return [
        # As in the ledger, where messages that are not sent have a row of their own.
        ContextPart(
            section,
            first,
            stop,
            sum(messages.tokens[first:stop])
            - sum(messages.tokens[at] for at in unsent if first <= at < stop),
        )
        for section, first, stop in ends
        if stop > first
    ]
