"""How soon a session goes, in words: the same in lists, previews and on the command line."""

from __future__ import annotations

SOON = 7
"""Days before an agent deletes a session from which on it is said."""
_DAY = 86_400_000


def leaves_in(expires: int, now: int) -> str:
    """`deleted in 3 days`, both times in milliseconds since 1970; empty where there is time.

    Agents delete when they start, so one whose time has come may still be there.
    """
    days = (expires - now) // _DAY
    if days >= SOON:
        return ""
    if expires <= now:
        return "may be deleted any time"
    if days < 1:
        return "deleted within a day"
    return f"deleted in {days} day{'' if days == 1 else 's'}"
