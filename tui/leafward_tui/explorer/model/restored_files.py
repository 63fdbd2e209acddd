"""The files of a restore in the order in which they are shown, and a restore in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.files.restoration.plan import RestoredFile, RestorePlan

_PAST = {"write": "wrote", "create": "created", "delete": "deleted"}
"""Actions that are carried out, in the order in which they are named, each in the past tense."""


def listed(plan: RestorePlan) -> list[RestoredFile]:
    """The files that would change: safe changes first, then those to choose one by one, then impossible ones."""
    from leafward.files.restoration.plan import RestoreAction

    rows = [one for one in plan.changes if one.action is not RestoreAction.SAME]
    return sorted(rows, key=lambda one: (not one.is_safe, not one.is_offered, one.path))


def action_words(changes: Sequence[RestoredFile]) -> str:
    """The changes in words: `write 3 files, delete 1`; empty for none."""
    return _words(changes, {action: action for action in _PAST})


def _words(changes: Sequence[RestoredFile], verbs: dict[str, str]) -> str:
    numbers = [(verb, sum(one.action == action for one in changes)) for action, verb in verbs.items()]
    some = [(verb, number) for verb, number in numbers if number]
    parts = [f"{verb} {counted(number, 'file')}" for verb, number in some[:1]]
    return ", ".join([*parts, *(f"{verb} {number:,}" for verb, number in some[1:])])


def outcome_words(moved: str, then: str, changes: Sequence[RestoredFile], shown: int, left: int) -> str:
    """The outcome in words: files restored as they were `then`, and how many of those `shown` were left alone."""
    from leafward.files.restoration.plan import RestoreAction, is_read_only

    done = _words(changes, _PAST)
    locked = sum(one.action is RestoreAction.WRITE and is_read_only(one.before) for one in changes)
    parts = [
        moved,
        f"{done}, {then}" if done else "no file written",
        f"{locked:,} still read-only" if locked else "",
        f"{left:,} of {shown:,} left alone" if left else "",
    ]
    return "; ".join(filter(None, parts))
