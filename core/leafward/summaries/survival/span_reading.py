"""A span read once for all who ask: for its summary, for what survives in that, for its exam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.summaries.facts.reader import FactReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward.session.entries import EntryIndex, ToolCall
    from leafward.summaries.facts.call_reader import Written
    from leafward.summaries.facts.calls.agent_plan import Items
    from leafward.summaries.facts.known_texts import Known
    from leafward.summaries.facts.values import Sighting
    from leafward.summaries.survival.spans import SpanMessage


@dataclass(frozen=True, slots=True)
class SpanReading:
    """The facts and steps found in the messages of a span."""

    reader: FactReader
    """As it is behind the last message."""
    messages: Sequence[SpanMessage]
    before: Sequence[Sighting]
    """Facts that the summary before them states."""
    told: Sequence[Sighting]
    """Facts that it lists besides as bare lines."""
    found: Sequence[Sequence[Sighting]]
    """By message."""
    calls: Sequence[Sequence[ToolCall]]
    """By message."""
    written: Sequence[Sequence[Written]]
    """By message, what its calls write."""


def read_span(
    messages: Iterable[SpanMessage],
    cwd: str,
    previous: str,
    previous_entry: EntryIndex,
    known: Known | None,
    plan: Items,
    told: Sequence[Sighting] = (),
) -> SpanReading:
    """Reads the messages of a span, and the summary before it; see `FactReader` and `SpanReading`."""
    reader = FactReader(cwd, known, plan)
    before = reader.earlier(previous, previous_entry)
    reader.told.tell(told)
    spoken, found, calls, written = [], [], [], []
    for message in messages:
        spoken.append(message)
        found.append(reader.read(*message))
        calls.append(reader.calls.last)
        written.append(reader.calls.written)
    return SpanReading(reader, spoken, before, told, found, calls, written)
