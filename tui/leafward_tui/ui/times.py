"""Times as they are shown: in the user's own zone, to the minute."""

from __future__ import annotations

from datetime import datetime

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def moment(stamp: str) -> str:
    """An ISO time as `21 Nov 15:48`; empty where it is none."""
    try:
        when = datetime.fromisoformat(stamp)
        when = when.astimezone() if when.tzinfo is not None else when
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{when.day} {_MONTHS[when.month - 1]} {when:%H:%M}"
