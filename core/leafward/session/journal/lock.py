"""The right to write: an advisory lock between processes, and claims between the parts of this one."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING

from leafward.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE = 2.0
"""Seconds that a write waits for the lock before it is refused."""

_PAUSE = 0.02


@contextmanager
def locked(descriptor: int, name: str, patience: float = PATIENCE) -> Iterator[None]:
    """Holds an exclusive lock on an open file: `flock`, or its kin on Windows.

    Raises Refused where another writer holds it for longer than `patience` seconds, or where the file system has no locks.
    """
    # Slow to import, and only a write needs it.
    import portalocker

    give_up = time.monotonic() + patience
    while True:
        try:
            portalocker.lock(descriptor, portalocker.LOCK_EX | portalocker.LOCK_NB)
            break
        except portalocker.AlreadyLocked:
            if time.monotonic() >= give_up:
                raise Refused(f"another program is writing to {name}; nothing was written") from None
            time.sleep(_PAUSE)
        except portalocker.LockException as error:
            cause = error.args[0] if error.args else error
            reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(error)
            raise Refused(f"{name} cannot be locked: {reason}") from error
    try:
        yield
    finally:
        # Closing the file releases the lock as well, and that comes next.
        with suppress(portalocker.LockException, OSError):
            portalocker.unlock(descriptor)


class Claim:
    """The right to write to a session while all other writes of this process are refused."""

    __slots__ = ("path", "work")

    def __init__(self, path: str, work: str) -> None:
        self.path = path
        self.work = work


_claims: dict[str, Claim] = {}
_claims_guard = Lock()


def _key(path: Path) -> str:
    return os.path.normcase(os.path.realpath(path))


@contextmanager
def busy(path: Path, work: str = "a summary") -> Iterator[Claim]:
    """Claims a session for long work whose result will be written to it, such as a summary or a compaction.

    During the claim, writes of this process without it are refused; those of other processes make the file grow, which the
    claimed write then detects. Raises Refused where another claim exists.
    """
    claim = Claim(_key(path), work)
    with _claims_guard:
        refuse_if_busy(path)
        _claims[claim.path] = claim
    try:
        yield claim
    finally:
        with _claims_guard:
            del _claims[claim.path]


def refuse_if_busy(path: Path, claim: Claim | None = None) -> None:
    """Raises Refused where another holder than that of `claim` has claimed a session."""
    holder = _claims.get(_key(path))
    if holder is not None and holder is not claim:
        raise Refused(f"{holder.work} of {path.name} is still running; wait for it or cancel it")
