"""All errors of Leafward, as one tree. The text of an error is one line, ready to be shown."""

from __future__ import annotations


class LeafwardError(Exception):
    """A refusal or failure that the user sees as one line."""


class NotASession(LeafwardError):
    """The file cannot be read as a session."""


class NotFound(LeafwardError):
    """No session, entry or file has that name, or several have it."""


class Ambiguous(NotFound):
    """Several sessions have that name."""


class Refused(LeafwardError):
    """A write that would not be safe: the file changed, is locked, is too new, or is not ours."""


class OutputFailed(LeafwardError):
    """What was to be printed reached nobody."""


class Cancelled(LeafwardError):
    """The caller asked to stop."""


def reason_of(error: Exception) -> str:
    """The reason of a failure in words: a system error without its number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename!r}" if error.filename else error.strerror
    return str(error)


def not_written(path: object, error: OSError) -> str:
    """The message that a file was not written. The reason comes first, as the path may be long."""
    return f"{error.strerror or error}, nothing was written to {path}"
