"""The source of an open session, as its own type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.foreign import ForeignFiles
from leafward.session.native_file import NativeFile

if TYPE_CHECKING:
    from leafward.session.session import Session


def native(session: Session) -> NativeFile:
    """The file of a native session."""
    assert isinstance(session.source, NativeFile)
    return session.source


def foreign(session: Session) -> ForeignFiles:
    """The files of another agent's session."""
    assert isinstance(session.source, ForeignFiles)
    return session.source
