"""The request of a call for one file, as its arguments or the words of its shell command tell it."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from leafward.files.file_operation import FileOperation
    from leafward.files.patch_format import PatchPlace
    from leafward.files.text_replacement import Replacement


class Proof(IntEnum):
    """The evidence that a command of a script was done, where the script succeeded."""

    LATER = -2
    """It runs beside what follows: what it changes changes at some moment."""
    COMPLAINT = -1
    """It was done, if at all, where the output reports a failure."""
    NONE = 0
    """None: the command is under a condition, or after one."""
    SILENCE = 1
    """It was run, and would have complained on failure."""
    EXIT = 2
    """The exit code of the script is its own."""


class BulkCommand(StrEnum):
    """A command that may change any file below a folder, by its name."""

    CHECKOUT = "git checkout"
    SWITCH = "git switch"
    RESTORE = "git restore"
    STASH = "git stash"
    POP = "git stash pop"
    RESET = "git reset"
    CLEAN = "git clean"
    CLEAN_IGNORED = "git clean -x"
    MERGE = "git merge"
    PULL = "git pull"
    REBASE = "git rebase"
    CHERRY_PICK = "git cherry-pick"
    REVERT = "git revert"
    APPLY = "git apply"
    AM = "git am"
    COPY = "cp -r"
    PATCH = "patch"
    RSYNC = "rsync"
    UNPACK = "unpacking"
    FORMATTER = "a formatter"
    ELSEWHERE = "cd"
    """No command of its own: one that changed a file may have run in another folder, as the `cd` before it may have failed."""
    NOTICED = "notice"
    """No command: the agent noticed that the one file changed."""
    MISSED = "miss"
    """No command: the agent did not find the one file."""


NOTICES = frozenset({BulkCommand.NOTICED, BulkCommand.MISSED})
"""Sweeps that are no commands, and tell of one file."""


class Staging(StrEnum):
    """The effect of a command on the index of git; the files stay unchanged."""

    ADDED = "added"
    """The index has the current files, except ignored ones that it does not track."""
    TRACKED = "tracked"
    """The index has the current state of the files that it tracks; others are not affected."""
    OTHER = "other"
    """The content of the index is no longer known."""


class FileRequest(NamedTuple):
    """The request of a call for one file."""

    operation: FileOperation
    path: str
    """The path as the agent wrote it; relative to the folder of its command where that was named."""
    inferred: bool = False
    """Derived from a shell command, which may have done something else."""
    text: str | None = None
    """The written or appended text; None where the call does not have it."""
    replacements: tuple[Replacement, ...] = ()
    places: tuple[PatchPlace, ...] = ()
    """The places of a patch, which has no replacements."""
    to: str | None = None
    """The target of a move or copy."""
    fresh: bool = False
    """Whether nothing can have existed there before."""
    proof: Proof = Proof.EXIT
    """The evidence that it was done, where the call was."""
    glob: bool = False
    """Whether `path` is a shell's pattern."""
    by: BulkCommand | Staging | None = None
    """For a sweep, the command. For a change, the sweep that tells of it."""
    whole: bool = False
    """For a sweep, whether it covers the whole repository that the folder belongs to."""
    home: str | None = None
    """The folder of a git command whose use of the index is understood."""
