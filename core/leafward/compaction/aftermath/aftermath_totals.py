"""Aftermaths of compactions, added up by agent, model and strategy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from leafward.catalogue.cards.card_fields import spoken_at
from leafward.compaction.aftermath.aftermath import Repeat, aftermath_of
from leafward.compaction.stored_summary.provenance import stored_provenance
from leafward.context.basis import Basis
from leafward.context.projection import latest
from leafward.session.entries import EntryIndex, Kind
from leafward.session.journal.operation_log import operations

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.aftermath.aftermath import Aftermath
    from leafward.session.entries import Body
    from leafward.session.session import Session

_SPOKEN = frozenset({Kind.USER, Kind.ASSISTANT})

OWN = "agent's own"
"""The strategy of a compaction that the agent made by itself."""


class Maker(NamedTuple):
    """Key of a sum; its texts come from the session."""

    agent: str
    model: str
    """The model that continues after the compaction; empty if none is named."""
    strategy: str

    @property
    def model_name(self) -> str:
        """The model without its provider, in words where none is named."""
        return self.model.rpartition("/")[2] or "unknown model"


@dataclass(slots=True)
class AftermathSum:
    """Sum over several compactions."""

    compactions: int = 0
    calls: int = 0
    """Number of tool calls that were looked at."""
    counts: dict[Repeat, int] = field(default_factory=lambda: dict.fromkeys(Repeat, 0))
    tokens: int = 0
    dollars: float = 0.0
    """Sum over the compactions whose price is known."""
    unpriced: int = 0
    """Number of compactions whose repeated tokens have no known price."""

    def add(self, one: Aftermath) -> None:
        """Adds one compaction."""
        self.compactions += 1
        self.calls += one.calls
        for kind in Repeat:
            self.counts[kind] += one.count(kind)
        self.tokens += one.tokens
        self.dollars += one.dollars or 0.0
        self.unpriced += one.dollars is None

    def __add__(self, other: AftermathSum) -> AftermathSum:
        """The sum over the compactions of both."""
        return AftermathSum(
            self.compactions + other.compactions,
            self.calls + other.calls,
            {kind: self.counts[kind] + other.counts[kind] for kind in Repeat},
            self.tokens + other.tokens,
            self.dollars + other.dollars,
            self.unpriced + other.unpriced,
        )


class AftermathTotals:
    """The sums so far. A compaction shared by several sessions counts once; one of ours that was undone before use never counts."""

    def __init__(self) -> None:
        self.sums: dict[Maker, AftermathSum] = {}
        self._seen: set[tuple[str, ...]] = set()

    def add(self, agent: str, session: Session, stop: Callable[[], bool] = lambda: False) -> None:
        """Adds the compactions of a session. Raises Cancelled if `stop` returns true."""
        undone = _undone(session)
        for index, kind in enumerate(session.columns.kind):
            if kind != Kind.COMPACTION:
                continue
            entry = session.entry(index)
            # A copy that was stored again has other ids and times of entries, but the same messages.
            names = {(str(entry.id), str(entry.timestamp)), _content(session, index, entry.body)}
            shared = not names.isdisjoint(self._seen)
            self._seen |= names
            if shared:
                continue
            found = aftermath_of(session, index, stop)
            if index in undone and not found.calls:
                continue
            maker = Maker(agent, _model(session, EntryIndex(index)), _strategy(entry.body))
            self.sums.setdefault(maker, AftermathSum()).add(found)


def _undone(session: Session) -> frozenset[int]:
    """Our compactions that were undone."""
    if Kind.COMPACTION not in session.columns.kind:
        return frozenset()
    return frozenset(one.entry for one in operations(session) if one.undone)


def _content(session: Session, index: int, body: Body) -> tuple[str, ...]:
    """Time of the last message before a compaction, its `tokensBefore` and its summary: equal in every copy."""
    last = latest(session, session.columns.parent[index], _SPOKEN)
    said = spoken_at(session.body(last)) if last >= 0 else 0
    return str(said), str(body.get("tokensBefore")), str(body.get("summary"))


def _model(session: Session, index: EntryIndex) -> str:
    model = Basis.of(session).sizes.outline(index).model
    return "/".join(part for part in model if part) if model is not None else ""


def _strategy(body: Body) -> str:
    strategy = stored_provenance(body).get("strategy")
    return strategy if isinstance(strategy, str) and strategy else OWN
