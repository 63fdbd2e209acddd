"""One problem that a check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leafward.session.entries import EntryId


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a session or of files beside it."""

    code: str
    """A stable word for the kind of the problem."""
    text: str
    """The problem for a person, on one line."""
    entry: EntryId | None = None
    offset: int | None = None
    """Bytes from the start of the file; None for a problem that lies in no file, such as one in a row of a database."""
    session: str | None = None
    """Path of the session, where several sessions were checked."""
