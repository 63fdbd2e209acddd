"""The state of the operation log besides the operations on show. Written by `Operations`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leafward.session.session import Session


@dataclass(slots=True)
class LogState:
    """The session, and the work under way."""

    session: Session
    writing: bool = False
    """Whether a write or a look at the file is under way; there is never more than one."""
    to_newest: bool = True
    """Whether the cursor goes to the newest operation after the next read."""
