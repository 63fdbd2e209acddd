"""Spans to fit the ranking on: every long session, cut at several places, with what is used again afterwards.

A real compaction is one place of a session only. Cut where it never was compacted, a session tells as well what is used again,
and the end of the span that an agent would keep can be left out or in.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.agents.recognition import agent_of
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import NO_ENTRY, EntryIndex, Kind
from leafward.session.injected_block import split_enclosed
from leafward.session.messages import message_text
from leafward.summaries.fates.report import facts_of
from leafward.summaries.summarizers.extractive.evidence import collect
from leafward.summaries.summarizers.extractive.selection.ranking import features
from leafward.summaries.survival.earlier_plan import plan_before
from leafward.summaries.survival.spans import ReplacedSpan, SpanMessage
from leafward.summaries.survival.text_match import FactMatch, FactText, file_names
from tests.bench.need import ASKED, needed, project_of, span_of
from tests.surroundings import CORPORA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.session.session import Session
    from leafward.summaries.facts.values import Fact, FactKind
    from leafward.summaries.summarizers.summary import Span

FILES = (
    "pi/before-compaction.jsonl",
    "pi/large-session.jsonl",
    *(f"real/{path.parent.name}/{path.name}" for path in sorted((CORPORA / "real").glob("*/*.jsonl"))),
)
_CUTS = 6
_LEAST = 40
"""Messages that a span must have, and entries that must follow it."""
_KEPT = (0, 12)
"""Messages kept behind the span: none, as Claude Code does it, and some, as pi does."""


@dataclass(frozen=True)
class Case:
    """One span, and which of its facts are used again."""

    project: str
    session: str
    rows: tuple[tuple[FactKind, tuple[float, ...], bool], ...]
    """Kind, features, needed."""
    span: Span
    needed: tuple[Fact, ...]
    names: dict[str, int]


def cuts(session: Session) -> Iterator[ReplacedSpan]:
    """Spans that a compaction could replace, at several places of a session, with nothing and with something kept."""
    ends = [
        index
        for index in range(len(session))
        if session.tree.is_ancestor(index, session.leaf) and session.columns.kind[index] == Kind.ASSISTANT
    ]
    for number in range(1, _CUTS + 1):
        if len(ends) < 2 * _LEAST:
            return
        at = ends[len(ends) * number // (_CUTS + 1)]
        messages: list[SpanMessage] = []
        previous, previous_entry = "", NO_ENTRY
        for message in context_at(session, at).messages:
            if message.role == "compactionSummary":
                previous = split_enclosed(message_text(message_body(session, message)))[0]
                previous_entry = message.entry
            elif message.sent and message.role != "system":
                messages.append(SpanMessage(message.entry, message_body(session, message)))
        for kept in _KEPT:
            border = len(messages) - kept
            if border < _LEAST or len(session) - at < _LEAST:
                continue
            yield ReplacedSpan(
                EntryIndex(at),
                "",
                tuple(messages[:border]),
                previous,
                previous_entry,
                plan_before(session, messages[:border]),
                tuple(messages[border:]),
                "",
            )


def cases(files: Iterable[str] = FILES) -> Iterator[Case]:
    """All spans of some of the sessions that are fitted on."""
    for name in files:
        path = CORPORA / name
        with closing(agent_of(path).open(path)) as session:
            for there in cuts(session):
                facts = facts_of(
                    there.messages, session.cwd, there.previous, there.previous_entry, plan=there.plan
                )
                wanted = needed(session, there, facts)
                later = {(fact.kind, fact.key) for fact in wanted}
                evidence = collect(span_of(session, there), there.messages, there.previous, lambda: False)
                held = FactText("\n".join(message_text(said.message) for said in there.kept), session.cwd)
                names = file_names(facts)
                rows = tuple(
                    (fact.kind, row, (fact.kind, fact.key) in later)
                    for fact, row in features(evidence)
                    if fact.kind in ASKED
                    and not (
                        there.kept and held.holds(fact, names) in {FactMatch.VERBATIM, FactMatch.PARAPHRASED}
                    )
                )
                yield Case(
                    project_of(path), name, rows, span_of(session, there), tuple(wanted), file_names(facts)
                )
