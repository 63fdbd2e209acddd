"""The results of calls in a session, to be searched for an agent's notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entries import Body, EntryIndex, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.session.session import Session


def tool_results(session: Session, since: int, stop: Callable[[], bool]) -> Iterator[tuple[EntryIndex, Body]]:
    """Each result from an entry on with its message, in the order of the file, until `stop` turns true."""
    kinds = session.columns.kind
    results = [index for index in range(since, len(session)) if kinds[index] == Kind.TOOL_RESULT]
    for index, body in session.bodies(results):
        if stop():
            return
        message = (body or {}).get("message")
        if isinstance(message, dict):
            yield index, message
