"""Times as they are shown: in the user's own zone, to the minute, with the year where it is not this one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class _Present:
    """The clock that says which year is "this year"."""

    clock: Callable[[], datetime] | None = None

    @classmethod
    def year(cls) -> int | None:
        """The year of the application's clock; None before there is one."""
        return cls.clock().astimezone().year if cls.clock is not None else None


def tell_years_by(clock: Callable[[], datetime]) -> None:
    """Sets the clock that says which year is this one."""
    _Present.clock = staticmethod(clock)


def moment(stamp: str) -> str:
    """An ISO time as `21 Nov 15:48`, in another year as `21 Nov 2025 15:48`; empty where it is none."""
    try:
        when = datetime.fromisoformat(stamp)
        when = when.astimezone() if when.tzinfo is not None else when
    except (ValueError, OverflowError, OSError):
        return ""
    return _written(when, with_year=_of_another_year(when))


def moment_at(milliseconds: int) -> str:
    """A moment in words, from milliseconds since 1970."""
    return moments_at(milliseconds)[0]


def moments_at(*milliseconds: int) -> list[str]:
    """Times that stand beside each other: all with the year where one of them is of another year."""
    found: list[datetime | None] = []
    for one in milliseconds:
        try:
            found.append(datetime.fromtimestamp(one / 1000, UTC).astimezone())
        except (OverflowError, ValueError, OSError):
            found.append(None)
    others = any(_of_another_year(when) for when in found if when is not None)
    return ["" if when is None else _written(when, with_year=others) for when in found]


def period_at(first: int, last: int) -> str:
    """Two times as `21 Nov 20:41 to 20:58`: day and year stand once where both times have them."""
    begin, end = (one.split() for one in moments_at(first, last))
    if begin[:-1] == end[:-1]:
        end = end[-1:] if begin != end else []
    elif begin[2:-1] == end[2:-1]:
        del end[2:-1]
    return " to ".join(" ".join(words) for words in (begin, end) if words)


def _of_another_year(when: datetime) -> bool:
    year = _Present.year()
    return year is not None and when.year != year


def _written(when: datetime, *, with_year: bool) -> str:
    year = f" {when.year}" if with_year else ""
    return f"{when.day} {_MONTHS[when.month - 1]}{year} {when:%H:%M}"
