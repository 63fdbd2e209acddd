"""What is done to a file: by the call of a tool, by a patch, or by a command of the shell."""

from __future__ import annotations

from enum import StrEnum


class FileOperation(StrEnum):
    """What is done to a file."""

    READ = "read"
    WRITE = "write"
    """All of it is new."""
    EDIT = "edit"
    APPEND = "append"
    CHANGE = "change"
    """Changed in a way that the call does not tell: by a command, or a cell of a notebook."""
    DELETE = "delete"
    MOVE = "move"
    COPY = "copy"
    SWEEP = "sweep"
    """Files below a folder may be others now; which, and how, is not known."""
    STAGE = "stage"
    """Files stay as they are; what git holds of them is another now."""

    @property
    def changes(self) -> bool:
        """Whether a file is another afterwards."""
        return self not in (FileOperation.READ, FileOperation.SWEEP, FileOperation.STAGE)
