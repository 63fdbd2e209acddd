"""Remarks on the steps of a file, besides its content."""

from __future__ import annotations

from enum import StrEnum


class StepRemark(StrEnum):
    """A remark on a step."""

    CHANGED_OUTSIDE = "changed outside"
    """The file is shown with another content than the steps before leave."""
    NOT_FOUND = "did not apply"
    """The agent reports that the edit was made, but its old text is not in the file."""
    AMBIGUOUS = "ambiguous"
    """The old text occurs more than once."""
    LOOSE = "applied loosely"
    """The old text occurs with other spaces or typographic signs."""
    LINE_ENDS = "line ends are mixed"
    """It is not known which line end an edit keeps."""
    UNANSWERED = "no result"
    BY_COMMAND = "by a command"
    """A command changed the file in a way that its words do not show."""
    BY_CHECKOUT = "by git checkout"
    """From here on: a command that may have changed the file without naming it."""
    BY_SWITCH = "by git switch"
    BY_RESTORE = "by git restore"
    BY_STASH = "by git stash"
    BY_STASH_POP = "by git stash pop"
    BY_RESET = "by git reset"
    BY_CLEAN = "by git clean"
    BY_CLEAN_IGNORED = "by git clean -x"
    BY_MERGE = "by git merge"
    BY_PULL = "by git pull"
    BY_REBASE = "by git rebase"
    BY_CHERRY_PICK = "by git cherry-pick"
    BY_REVERT = "by git revert"
    BY_APPLY = "by git apply"
    BY_AM = "by git am"
    BY_COPY = "by cp -r"
    BY_PATCH = "by patch"
    BY_RSYNC = "by rsync"
    BY_UNPACKING = "by unpacking"
    BY_FORMATTER = "by a formatter"
    BY_CD = "by cd"
    """A command after a `cd` that failed changed it, or may have."""
    FOLDER_REMOVED = "by rm of its folder"
    """The folder may have been removed."""
    FOLDER_MOVED = "by mv of its folder"
    """The file is under the new name, or one folder below it where that existed before."""
    CELL = "a cell changed"
    """A cell of a notebook: its place in the file is not known."""

    @property
    def words(self) -> str:
        """The remark for a screen, as a sentence of its own; the value is for documents."""
        command = self.value.removeprefix("by ")
        return _WORDS.get(self) or (f"`{command}` ran" if command != self.value else command)


_WORDS = {
    StepRemark.CHANGED_OUTSIDE: "changed outside the session",
    StepRemark.NOT_FOUND: "an edit's old text is not there",
    StepRemark.AMBIGUOUS: "an edit's old text is there more than once",
    StepRemark.LOOSE: "an edit matches but for spaces or signs",
    StepRemark.UNANSWERED: "a call without a result",
    StepRemark.BY_COMMAND: "a command changed it",
    StepRemark.BY_UNPACKING: "an archive was unpacked",
    StepRemark.BY_FORMATTER: "a formatter ran",
    StepRemark.BY_CD: "a `cd` before the command failed, or may have",
    StepRemark.FOLDER_REMOVED: "its folder was removed",
    StepRemark.FOLDER_MOVED: "its folder was moved",
    StepRemark.CELL: "a notebook cell changed",
}


CONTRADICTIONS = (StepRemark.CHANGED_OUTSIDE, StepRemark.NOT_FOUND, StepRemark.AMBIGUOUS)
"""Remarks on a result that shows another content than the recorded calls leave."""
