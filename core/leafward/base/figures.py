"""Large figures in few characters, the same wherever one is shown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 turn`, `6 turns`, `2 entries` from `counted(2, "entry", "entries")`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def first_few(names: Sequence[str], most: int) -> str:
    """The first of some names, and the number of the others: `a, b and 3 more`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def finite(value: object) -> float | None:
    """A number as a float; None for anything else, and for one that no float holds, as a whole number of 400 digits."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def short(number: int) -> str:
    """A count in at most six characters and a sign: `812`, `14.0k`, `-1.2M`; `>999G` from a thousand billions on."""
    if number < 0:
        return f"-{short(-number)}"
    if number < 1000:
        return str(number)
    for unit, size in (("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)):
        # Rounded before the unit is chosen: 999,950 is 1.0M.
        tenths = (number * 10 + size // 2) // size
        if tenths < 10_000:
            return f"{tenths // 10}.{tenths % 10}{unit}"
    return ">999G"


def money(dollars: float, *, zero: str = "$0") -> str:
    """A price: `$0.36`, `$1,204`, without cents from 100 on; `<$0.01` for less than a cent."""
    if dollars <= 0:
        return zero
    if dollars < 0.005:
        return "<$0.01"
    # Sums that are shown beside their parts add up for whoever checks.
    return f"${dollars:,.0f}" if dollars >= 99.995 else f"${dollars:,.2f}"


def duration(seconds: float | None) -> str:
    """A span of time: `40 s`, `12 min`, `3.5 h`, `2.1 days`; `not in file` where it is not recorded."""
    if seconds is None:
        return "not in file"
    minutes = seconds / 60
    if seconds < 119.5:
        return f"{seconds:.0f} s"
    if minutes < 119.5:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.1f} h" if minutes < 48 * 60 else f"{minutes / 1440:.1f} days"


def percent(part: float, whole: float) -> str:
    """A share: `20 %`. Rounded, but 0 only for nothing and 100 only for all of it; empty when there is no whole."""
    if whole <= 0:
        return ""
    share = round(part * 100 / whole)
    if share == 0 and part > 0:
        return "<1 %"
    if share == 100 and part < whole:
        return "99 %"
    return f"{share} %"
