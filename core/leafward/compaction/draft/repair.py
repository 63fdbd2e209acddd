"""Corrects a compaction: the same cut at the same place, the same summary unless another is asked for, lost facts pinned.

The corrected compaction is appended beside the first one, as a child of the same entry. Entries after the first one stay
there, as a branch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Refused
from leafward.base.strategies import Strategy
from leafward.compaction.injection.values import Injection
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.stored_summary.pins import pins_in
from leafward.compaction.stored_summary.provenance import stored_provenance
from leafward.compaction.stored_summary.stored_summary import stored_parts
from leafward.compaction.strategies.by_name import rules_of
from leafward.context.estimators import Estimator
from leafward.session.entries import EntryIndex, Kind
from leafward.session.injected_block import enclose
from leafward.summaries.summarizers.summary import Summary, SummaryLine, tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.compaction.plan.plan import Plan
    from leafward.session.entries import Body
    from leafward.session.session import Session
    from leafward.summaries.summarizers.summary import Span, Summarizer


class Correction(NamedTuple):
    """The beginning of a draft that corrects a compaction."""

    plan: Plan
    pins: tuple[str, ...]
    injection: Injection | None


def corrected(
    session: Session, compaction: int, pins: Sequence[str] = (), injection: Injection | None = None
) -> Correction:
    """The cut of a compaction, its pins and new ones, and its injected context, unless another is given.

    Raises Refused if the entry is not a compaction.
    """
    body = session.body(compaction) or {}
    if session.columns.kind[compaction] != Kind.COMPACTION:
        raise Refused(f"{session.columns.id(EntryIndex(compaction))} is not a compaction")
    stored = stored_parts(str(body.get("summary") or ""))
    if injection is None and stored.injected:
        injection = _carried(stored.injected)
    return Correction(plan_of(session, compaction), (*pins_in(body), *pins), injection)


def own_summary(session: Session, compaction: int) -> Summarizer:
    """A summariser that returns the summary of a compaction unchanged."""
    return _AsItIs(session, session.body(compaction) or {})


def plan_of(session: Session, compaction: int) -> Plan:
    """The plan that leads to the cut of an existing compaction, at the entry it follows.

    Raises IllegalCut if no plan could make that cut.
    """
    body = session.body(compaction) or {}
    parent = session.columns.parent[compaction]
    noted = stored_provenance(body)
    kept = body.get("firstKeptEntryId")
    first = session.columns.index(kept) if isinstance(kept, str) else EntryIndex(-1)
    sizes = measure(session, parent, estimators=tuple(Estimator))
    if 0 <= first != compaction and sizes.position(first) >= 0:
        return plan(sizes, PlanSettings(strategy=Strategy.PI, cut=first))
    settings = noted.get("settings")
    quoting = next(
        (one for one in Strategy if one == noted.get("strategy") and not rules_of(one).keeps_tail), None
    )
    keep = settings.get("keep_recent") if quoting is not None and isinstance(settings, dict) else 0
    strategy = quoting if quoting is not None else Strategy.CODEX
    return plan(sizes, PlanSettings(strategy=strategy, keep_recent=keep if isinstance(keep, int) else 0))


def _carried(text: str) -> Injection:
    """The context injected by an earlier compaction, unchanged."""
    from hashlib import sha256

    whole = enclose(text)
    digest = sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
    return Injection(whole, (), (), (), (), tokens_of(whole), tokens_of(whole), digest, len(whole))


class _AsItIs:
    """Summariser that returns a compaction's own summary, with the sources stored with it."""

    def __init__(self, session: Session, body: Body) -> None:
        noted = stored_provenance(body)
        made_by = noted.get("summarizer")
        self.name = made_by if isinstance(made_by, str) else "the agent"
        whole = str(body.get("summary") or "").split("\n")
        self._sources: dict[str, tuple[EntryIndex, ...]] = {}
        rows = noted.get("sources")
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, list) and row and isinstance(row[0], int) and 0 <= row[0] < len(whole):
                found = (session.columns.index(str(entry)) for entry in row[1:])
                self._sources[whole[row[0]]] = tuple(entry for entry in found if entry >= 0)
        self._text = stored_parts("\n".join(whole)).summary

    def summarize(
        self,
        span: Span,  # noqa: ARG002  # the protocol's
        budget: int,  # noqa: ARG002
        progress: Callable[[str], object] = lambda _text: None,
        stop: Callable[[], bool] = lambda: False,  # noqa: ARG002
    ) -> Summary:
        """The stored summary."""
        progress(self._text)
        lines = tuple(SummaryLine(line, "", self._sources.get(line, ())) for line in self._text.split("\n"))
        return Summary(self._text, self.name, lines)
