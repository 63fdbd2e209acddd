"""The tokens of a compacted context: its parts, and the strategies in columns beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward_tui.ui.text.cells import count

if TYPE_CHECKING:
    from leafward.base.strategies import Strategy
    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.injection.values import Injection
    from leafward.compaction.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class LedgerPart:
    """One part of the context afterwards."""

    name: str
    tokens: int
    note: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """The context afterwards. The parts sum to `total`."""

    parts: tuple[LedgerPart, ...]
    before: int
    window: int
    sign: str = "~"
    """The sign before the total: `~` for an estimate."""

    @property
    def total(self) -> int:
        """Tokens of the context afterwards."""
        return sum(part.tokens for part in self.parts)

    @property
    def size(self) -> str:
        """The total in brief, with its sign."""
        return f"{self.sign}{count(self.total, zero='0')}"

    @property
    def frees(self) -> int:
        """Tokens freed by the compaction; negative where the context grows."""
        return self.before - self.total


def ledger_of(plan: Plan, injected: Injection | None, draft: Draft | None) -> Ledger:
    """The ledger of a plan; its summary has the size of the draft's, without a draft the planned size."""
    tokens = plan.tokens
    after = tokens.counted_before
    if plan.nothing:
        kept = tokens.parts - tokens.system - tokens.previous_summary
        parts = [LedgerPart("kept", kept, "nothing to compact")]
        if tokens.previous_summary:
            parts.insert(0, LedgerPart("summary", tokens.previous_summary, "the earlier one"))
    else:
        extra = injected.tokens if injected is not None and injected.text else 0
        summary, kept = tokens.summary, tokens.kept
        after = tokens.counted_after + extra
        if draft is not None:
            after = draft.counted_after
            summary = draft.summary_tokens
            kept = draft.kept_tokens
        replaced = tokens.summarize + tokens.turn_prefix + tokens.previous_summary
        verb = "replaces" if draft is not None else "to replace"
        parts = [LedgerPart("summary", summary, f"{verb} {count(replaced)}")]
        if extra and injected is not None:
            note = counted(len(injected.sections), "section")
            parts.append(LedgerPart("injected", extra, note))
        parts.append(LedgerPart("kept", kept, _kept_note(plan)))
    if tokens.system:
        parts.insert(0, LedgerPart("system", tokens.system, "stays cached"))
    missing = tokens.not_in_file
    unknown = plan.sizes.context.begins_midway and not plan.nothing
    if missing or unknown:
        about = "unknown: prompt, tools" if unknown else "prompt, tools"
        parts.append(LedgerPart("not in file", missing, about))
    error = after - sum(part.tokens for part in parts)
    if error:
        note = f"{'above' if error > 0 else 'below'} estimate"
        parts.append(LedgerPart("estimation error", error, note))
    # A context that stays as it is has the size that it had before.
    sign = tokens.before_sign if plan.nothing else "~"
    return Ledger(tuple(parts), tokens.counted_before, plan.settings.window, sign)


def _kept_note(plan: Plan) -> str:
    if plan.first_kept >= 0:
        return f"from #{plan.first_kept:,}, " + ("some cut short" if plan.pruned else "as is")
    return f"{counted(len(plan.kept), 'prompt')}, as is" if plan.kept else "nothing"


@dataclass(frozen=True, slots=True)
class Column:
    """A strategy's plan in numbers; None is not known yet, 0 is none."""

    strategy: Strategy
    before: int
    sign: str
    """The sign before that size: `~` for an estimate."""
    after: str
    """The size afterwards, with its sign."""
    summarised: int
    prefix: int
    pruned: int
    kept: int
    injected: int
    facts: float | None
    """The share of facts that survive, 0…1."""
    cost: float | None
    """US dollars for the same summariser as for the facts; 0 where no model is asked, None where it is not known."""
    by_model: bool = False
    """Whether facts and cost are those of a model's summary."""


def column_of(
    plan: Plan,
    injected: Injection | None,
    draft: Draft | None,
    cost: float | None,
    *,
    by_model: bool = False,
) -> Column:
    """The column of a plan."""
    ledger = ledger_of(plan, injected, draft)
    tokens = plan.tokens
    shares = {part.name: part.tokens for part in ledger.parts}
    return Column(
        plan.settings.strategy,
        ledger.before,
        tokens.before_sign,
        ledger.size,
        0 if plan.nothing else tokens.summarize + tokens.previous_summary,
        0 if plan.nothing else tokens.turn_prefix,
        0 if plan.nothing else tokens.pruned,
        shares["kept"],
        shares.get("injected", 0),
        draft.survival.overall() if draft is not None else None,
        cost,
        by_model,
    )
