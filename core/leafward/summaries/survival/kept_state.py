"""What the messages kept after a span change: a step that is done there is not open, a rule that is revoked there does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.base.cancellation import never, unless_cancelled
from leafward.session.entries import NO_ENTRY
from leafward.summaries.facts.values import FactKind, Sighting, gather
from leafward.summaries.survival.span_reading import read_span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from leafward.summaries.facts.sentences.standing_rules import StandingRules
    from leafward.summaries.facts.values import Fact
    from leafward.summaries.survival.span_reading import SpanReading
    from leafward.summaries.survival.spans import SpanMessage


class KeptState(NamedTuple):
    """What changed in the kept messages."""

    rules: StandingRules
    ended: frozenset[tuple[FactKind, str]]
    """The facts that they end: steps that were done, dropped or worked on, and rules that were revoked."""

    def left(self, facts: Iterable[Fact]) -> list[Fact]:
        """The facts of the span without the steps and rules that no longer stand."""
        return [fact for fact in facts if not self._ends(fact)]

    def _ends(self, fact: Fact) -> bool:
        rule = fact.kind is FactKind.CONSTRAINT
        return (fact.kind, fact.key) in self.ended or (rule and self.rules.is_revoked(fact.text))


def kept_state(
    reading: SpanReading,
    facts: Iterable[Fact],
    kept: Sequence[SpanMessage],
    cwd: str,
    stop: Callable[[], bool] = never,
) -> KeptState:
    """Reads the messages kept after a span, knowing its open steps and the agent's own list. Raises Cancelled.

    Codex keeps prompts from within the span as well: these change nothing that came after them.
    """
    last = reading.messages[-1].entry if reading.messages else NO_ENTRY
    behind = [one for one in kept if one.entry > last]
    steps = [
        Sighting(one.kind, one.key, one.text, one.voice, one.last)
        for one in facts
        if one.kind is FactKind.TODO and one.is_open
    ]
    reader = reading.reader
    plan = tuple(reader.plan.items.items())
    then = read_span(
        unless_cancelled(behind, stop, "kept messages"), cwd, "", NO_ENTRY, reader.texts.known, plan, steps
    )
    sightings = gather(seen for found in then.found for seen in found)
    return KeptState(
        then.reader.rules,
        frozenset((one.kind, one.key) for one in sightings if not one.is_open),
    )
