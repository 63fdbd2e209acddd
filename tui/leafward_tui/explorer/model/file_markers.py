"""The operations of tree rows on one file: a letter and words for each row, from the file's timeline. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.steps import StepOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward.files.file_replay.steps import ReplayStep
    from leafward.session.tree.tree_layout import Layout
    from leafward_tui.ui.appearance.glyphs import Glyphs

_LETTERS = {
    FileOperation.DELETE: "D",
    FileOperation.MOVE: "N",
    FileOperation.WRITE: "W",
    FileOperation.EDIT: "E",
    FileOperation.APPEND: "A",
    FileOperation.CHANGE: "E",
    FileOperation.COPY: "C",
    FileOperation.READ: "R",
}
"""The letter of each operation; a row with several operations has the letter of the first in this order."""
_WORDS = {
    FileOperation.DELETE: "delete",
    FileOperation.MOVE: "rename",
    FileOperation.WRITE: "write",
    FileOperation.EDIT: "edit",
    FileOperation.APPEND: "append",
    FileOperation.CHANGE: "change",
    FileOperation.COPY: "copy",
    FileOperation.READ: "read",
}


class Touch(NamedTuple):
    """The operations of a row on a file."""

    sign: str
    """One ASCII letter; the sign of an error where every operation failed."""
    ink: str
    words: str
    """`edit +3 −1`, `read, edit failed`."""


def touches_by_row(steps: Iterable[ReplayStep], layout: Layout, glyphs: Glyphs) -> dict[int, Touch]:
    """The touch of each row that has steps of a file."""
    by_row: dict[int, list[ReplayStep]] = {}
    for step in steps:
        row = layout.row_of(step.entry)
        if row >= 0:
            by_row.setdefault(row, []).append(step)
    return {row: _touch(found, glyphs) for row, found in by_row.items()}


def _touch(steps: Sequence[ReplayStep], glyphs: Glyphs) -> Touch:
    done = [step for step in steps if step.outcome is not StepOutcome.FAILED]
    operations = {step.operation for step in done or steps}
    first = next(operation for operation in _LETTERS if operation in operations)
    words = ", ".join(
        _outcome_words(steps, outcome, glyphs) for outcome in StepOutcome if _of(steps, outcome)
    )
    if not done:
        return Touch(glyphs.error, "bad", words)
    return Touch(_LETTERS[first], "leaf" if first.changes else "sub", words)


def _of(steps: Iterable[ReplayStep], outcome: StepOutcome) -> list[ReplayStep]:
    return [step for step in steps if step.outcome is outcome]


def _outcome_words(steps: Iterable[ReplayStep], outcome: StepOutcome, glyphs: Glyphs) -> str:
    """The operations of one outcome in words: their number, and the lines they changed."""
    found = _of(steps, outcome)
    parts = []
    for operation, word in reversed(_WORDS.items()):
        same = [step for step in found if step.operation is operation]
        if not same:
            continue
        words = word if len(same) == 1 else f"{word} {len(same)}x"
        added, removed = sum(step.added for step in same), sum(step.removed for step in same)
        if outcome is not StepOutcome.FAILED:
            words += (f" +{added:,}" if added else "") + (f" {glyphs.minus}{removed:,}" if removed else "")
        parts.append(words)
    ends = {StepOutcome.FAILED: " failed", StepOutcome.UNANSWERED: ", no result"}.get(outcome, "")
    return ", ".join(parts) + ends


def summed(steps: Sequence[ReplayStep]) -> str:
    """All steps of a file in a few words: `3 reads, 2 edits, 1 failed`."""
    failed = len(_of(steps, StepOutcome.FAILED))
    parts = []
    for operation, word in reversed(_WORDS.items()):
        number = sum(
            1 for step in steps if step.operation is operation and step.outcome is not StepOutcome.FAILED
        )
        if number:
            parts.append(counted(number, word, "copies" if operation is FileOperation.COPY else f"{word}s"))
    return ", ".join([*parts, *([f"{failed:,} failed"] if failed else [])])
