"""The request of a call for one file, as its arguments or the words of its shell command tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.files.shell.exit_evidence import Proof

if TYPE_CHECKING:
    from leafward.files.commands import PatchPlace
    from leafward.files.file_operation import FileOperation
    from leafward.files.file_replay.texts import Replacement
    from leafward.files.shell.bulk_effects import BulkCommand, Staging


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
