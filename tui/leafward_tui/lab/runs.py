"""Runs made so far, to be held against each other: which settings, who wrote, what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.survival import Status
from leafward_tui.cells import count, fit, money, percent, right
from leafward_tui.lab.fates import PLURAL, kept_by_kind
from leafward_tui.lab.line import Block, LabLine, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.survival import Survival
    from leafward_tui.glyphs import Glyphs
    from leafward_tui.lab.choices import Choices

__all__ = ["Run", "difference", "run_head", "run_lines"]

_COLUMNS = (("after", 8), ("summary", 9), ("facts", 7), ("lost", 6), ("cost", 8))
_LEAST_NAME = 24


@dataclass(frozen=True, slots=True)
class Run:
    """One summary that was made."""

    name: str
    """Strategy and summariser, or the compaction that is in the session."""
    about: str
    """The settings in a few words."""
    text: str
    """The summary, safe."""
    tokens: int
    after: int
    """Tokens of the context afterwards."""
    survival: Survival
    cost: float | None
    choices: Choices | None = None
    """What leads to it; None for the compaction that is in the session."""

    @property
    def lost(self) -> int:
        """Facts that are lost; those that are contradicted are none of them, as everywhere."""
        return sum(1 for fate in self.survival.fates if fate.status is Status.LOST)


def _shown_columns(width: int) -> list[tuple[str, int]]:
    """The number columns that fit, the last go first."""
    shown = list(_COLUMNS)
    while shown and width - sum(cells for _, cells in shown) - 4 < _LEAST_NAME:
        shown.pop()
    return shown


def run_head(width: int) -> LabLine:
    """The headings of the table."""
    shown = _shown_columns(width)
    room = width - sum(cells for _, cells in shown)
    spans = [Span(fit("    run", room, pad=True), "faint")]
    spans += [Span(right(name, cells), "faint") for name, cells in shown]
    return LabLine(tuple(spans))


def run_lines(runs: Sequence[Run], first: int, width: int, glyphs: Glyphs) -> Block:
    """A line a run; `first` is A, the one that the others are held against."""
    lines = []
    shown = _shown_columns(width)
    room = width - sum(cells for _, cells in shown) - 4
    for number, run in enumerate(runs):
        mark = "A" if number == first else " "
        name = fit(run.name, room, ellipsis=glyphs.ellipsis)
        about = fit(f"   {run.about}", room - len(name), pad=True, ellipsis=glyphs.ellipsis)
        overall = run.survival.overall()
        texts = {
            "after": count(run.after, zero=glyphs.zero),
            "summary": count(run.tokens, zero=glyphs.zero),
            "facts": percent(overall, 1.0) if overall is not None else "",
            "lost": count(run.lost, zero=glyphs.zero),
            "cost": money(run.cost, zero=glyphs.zero),
        }
        numbers = [
            Span(right(texts[name], cells), "edge" if texts[name] == glyphs.zero else "text")
            for name, cells in shown
        ]
        lead = [Span(f"{mark} ", "strong_ghost"), Span(f"{number + 1} ", "faint")]
        lines.append(LabLine((*lead, Span(name, "text"), Span(about, "faint"), *numbers), f"run:{number}"))
    return Block(lines)


def difference(one: Run, other: Run, width: int, glyphs: Glyphs) -> Block:
    """How many facts of each kind survive in one run and in another, a line a kind."""
    first = {kind: (kept, whole) for kind, kept, whole in kept_by_kind(one.survival)}
    second = {kind: (kept, whole) for kind, kept, whole in kept_by_kind(other.survival)}
    lines = [LabLine((Span(fit("facts", 13, pad=True), "strong"), Span("        A           B", "faint")))]
    for kind in PLURAL:
        if kind not in first and kind not in second:
            continue
        spans = [Span(fit(PLURAL[kind], 13, pad=True), "sub")]
        shares = []
        for found in (first.get(kind), second.get(kind)):
            told = f"{found[0]:,} of {found[1]:,}" if found is not None else glyphs.zero
            shares.append(found[0] / found[1] if found is not None else 0.0)
            spans.append(Span(right(told, 12), "text"))
        if shares[0] != shares[1]:
            better = shares[1] > shares[0]
            spans.append(
                Span(f"   B keeps {'more' if better else 'less'}"[: width - 37], "leaf" if better else "warn")
            )
        lines.append(LabLine(tuple(spans)))
    return Block(lines)
