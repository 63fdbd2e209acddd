"""A session that another screen was opened on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from leafward.session.lines.scan import Scan
    from leafward.session.session import Session


class Visit(NamedTuple):
    """A session in the state in which another screen was opened on it."""

    session: Session
    scan: Scan
    entries: int
