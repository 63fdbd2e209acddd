"""What is to be said of the steps of a file beside its content."""

from __future__ import annotations

from enum import StrEnum


class Remark(StrEnum):
    """What is to be said of a step."""

    CHANGED_OUTSIDE = "changed outside"
    """The file is shown with another content than the steps before it leave."""
    NOT_FOUND = "did not apply"
    """The agent says that the edit was made, but its old text is not there."""
    AMBIGUOUS = "ambiguous"
    """The old text is there more than once."""
    LOOSE = "applied loosely"
    """The old text is there but for spaces or typographic signs."""
    LINE_ENDS = "line ends are mixed"
    """Which of them an edit keeps is not known."""
    UNANSWERED = "no result"
    BY_COMMAND = "by a command"
    """A command changed it, in a way that its words do not tell."""
    BY_CHECKOUT = "by git checkout"
    """Here and below: it may have changed the file, which it does not name."""
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
    FOLDER_REMOVED = "by rm of its folder"
    """The folder was removed, or not."""
    FOLDER_MOVED = "by mv of its folder"
    """It is there under the new name, or one folder below where that was there before."""
    CELL = "a cell changed"
    """Of a notebook: where in the file it stands is not known."""

    @property
    def words(self) -> str:
        """What a screen says, as a sentence of its own; the value is that of documents."""
        command = self.value.removeprefix("by ")
        return _WORDS.get(self) or (f"`{command}` ran" if command != self.value else command)


_WORDS = {
    Remark.CHANGED_OUTSIDE: "changed outside the session",
    Remark.NOT_FOUND: "an edit's old text is not there",
    Remark.AMBIGUOUS: "an edit's old text is there more than once",
    Remark.LOOSE: "an edit matches but for spaces or signs",
    Remark.UNANSWERED: "a call without a result",
    Remark.BY_COMMAND: "a command changed it",
    Remark.BY_UNPACKING: "an archive was unpacked",
    Remark.FOLDER_REMOVED: "its folder was removed",
    Remark.FOLDER_MOVED: "its folder was moved",
    Remark.CELL: "a notebook cell changed",
}


CONTRADICTIONS = (Remark.CHANGED_OUTSIDE, Remark.NOT_FOUND, Remark.AMBIGUOUS)
"""A result shows another content than the recorded calls leave."""
