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
