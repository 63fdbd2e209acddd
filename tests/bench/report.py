"""Measurements, each beside its reference."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROUNDS = 5
"""Times everything is measured, at least."""


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def p95(values: Sequence[float]) -> float:
    """The value that one in twenty exceeds."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, -(-len(ordered) * 95 // 100) - 1)]


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


HELD_IN = 2
"""Runs in which a figure has to be within its bar."""


@dataclass
class Report:
    """Prints each figure as it comes, and remembers in how many runs it was within its bar."""

    held: dict[str, list[bool]] = field(default_factory=dict)
    """For each figure with a bar, run by run."""
    _widths: tuple[int, ...] = (56, 12, 44, 8, 9)

    @property
    def missed(self) -> list[str]:
        """Figures that were over their bar in as many runs as leave too few, in order."""
        return [what for what, runs in self.held.items() if sum(runs) < min(HELD_IN, len(runs))]

    @property
    def undecided(self) -> bool:
        """Whether one more run can change what is missed."""
        return any(len(runs) < HELD_IN or sum(runs) == 1 == len(runs) - 1 for runs in self.held.values())

    def heading(self) -> None:
        self._row("what", "measured", "compared with", "ratio", "bar", "")
        print("-" * (sum(self._widths) + 10))

    def ratio(
        self, what: str, measured: float, against: str, reference: float, bar: float | None, unit: str = "ms"
    ) -> None:
        """A figure as a multiple of another; seconds are printed as milliseconds. Without a bar it is told only."""
        scale = 1000 if unit == "ms" else 1
        ratio = measured / reference
        self._row(
            what,
            f"{measured * scale:,.1f} {unit}",
            f"{against} {reference * scale:,.1f} {unit}",
            f"{ratio:.3f}",
            f"≤ {bar:g}" if bar is not None else "",
            self._verdict(f"{what}, beside {against}", None if bar is None else ratio <= bar),
        )

    def limit(self, what: str, measured: float, unit: str, bar: float | None, against: str = "") -> None:
        """A figure that has a bar of its own."""
        self._row(
            what,
            f"{measured:,.2f} {unit}",
            against,
            "",
            f"≤ {bar:g} {unit}" if bar is not None else "",
            self._verdict(what, None if bar is None else measured <= bar),
        )

    def least(
        self, what: str, measured: str, against: str, ratio: float | None = None, bar: float | None = None
    ) -> None:
        """A figure that is the better the larger it is as a multiple of another."""
        self._row(
            what,
            measured,
            against,
            f"{ratio:.2f}" if ratio is not None else "",
            f"≥ {bar:g}" if bar is not None else "",
            self._verdict(what, None if bar is None or ratio is None else ratio >= bar),
        )

    def exact(self, what: str, measured: object, wanted: object, against: str = "") -> None:
        """A figure that has one right value."""
        self._row(what, str(measured), against, "", f"= {wanted}", self._verdict(what, measured == wanted))

    def skipped(self, what: str, why: str) -> None:
        self._row(what, "skipped", why, "", "", "")

    def _verdict(self, what: str, good: bool | None) -> str:
        if good is not None:
            self.held.setdefault(what, []).append(good)
        return {None: "", True: "ok", False: "OVER"}[good]

    def _row(self, *cells: str) -> None:
        fitted = [f"{cell:<{width}}" for cell, width in zip(cells, self._widths, strict=False)]
        print(" ".join([*fitted, *cells[len(self._widths) :]]).rstrip(), flush=True)
