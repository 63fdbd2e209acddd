"""Operations on a file: by a tool's call, by a patch, or by a shell command."""

from __future__ import annotations

from enum import StrEnum


class FileOperation(StrEnum):
    """An operation on a file."""

    READ = "read"
    WRITE = "write"
    """The whole content is new."""
    EDIT = "edit"
    APPEND = "append"
    CHANGE = "change"
    """A change that the call does not show: by a command, or a cell of a notebook."""
    DELETE = "delete"
    MOVE = "move"
    COPY = "copy"
    SWEEP = "sweep"
    """Files below a folder may have changed; which ones, and how, is not known."""
    STAGE = "stage"
    """Files stay the same; git's index of them changes."""

    @property
    def changes(self) -> bool:
        """Whether the operation changes a file."""
        return self not in (FileOperation.READ, FileOperation.SWEEP, FileOperation.STAGE)
