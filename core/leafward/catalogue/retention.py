"""The time left before an agent deletes a session, in the same words in lists, previews and on the command line."""

from __future__ import annotations

from leafward.base.figures import counted

SOON = 7
"""Days before a deletion from which on it is announced."""
_DAY = 86_400_000


def leaves_in(expires: int, now: int) -> str:
    """`deleted in 3 days`, from two times in milliseconds since 1970; empty if there is more time.

    Agents delete sessions when they start, so a session whose time has come may still exist.
    """
    days = (expires - now) // _DAY
    if days >= SOON:
        return ""
    if expires <= now:
        return "may be deleted any time"
    if days < 1:
        return "deleted within a day"
    return f"deleted in {counted(days, 'day')}"
