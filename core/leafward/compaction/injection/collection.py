"""What a path says that builders need, read once: files, the last prompt, what was done, compactions, pins.

Only entries on the path count. What other branches did counts where a branch summary on the path carries it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from leafward.base.gc_pause import gc_paused
from leafward.compaction.injection.path_findings import Collected
from leafward.compaction.injection.path_reader import PUT_IN, PathReader
from leafward.files.tool_calls import table_of
from leafward.session.entries import NO_ENTRY, EntryIndex, Kind
from leafward.session.foreign import outcomes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.session.session import Session

_KINDS = frozenset(
    {Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.BASH, Kind.COMPACTION, Kind.BRANCH_SUMMARY}
)
_LAST_MILLISECOND = 4_102_444_800_000
"""Of the year 2099."""


def utc_time(text: object) -> datetime | None:
    """An ISO 8601 time, in UTC where it names no zone, or milliseconds since 1970; None for anything else."""
    if isinstance(text, datetime):
        return text if text.tzinfo is not None else text.replace(tzinfo=UTC)
    if isinstance(text, (int, float)) and not isinstance(text, bool) and 0 < text < _LAST_MILLISECOND:
        return datetime.fromtimestamp(text / 1000, UTC)
    if not isinstance(text, str) or len(text) > 40:
        return None
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def collect(
    session: Session,
    at: int,
    stop: Callable[[], bool] = lambda: False,
    entries: Iterable[int] | None = None,
) -> Collected:
    """Reads the path to an entry once, or only some entries of it. Where `stop` turns true, what was found is returned."""
    found = Collected(EntryIndex(at), session.cwd, session.id)
    if entries is None:
        entries = session.tree.path(at) if at >= 0 else ()
    found.path = [EntryIndex(index) for index in entries]
    reader = reader_of(session, found)
    with gc_paused():
        read(session, reader, found.path, stop)
    reader.finish()
    found.time = time_at(session, found.path)
    return found


def reader_of(session: Session, found: Collected) -> PathReader:
    """What takes in the entries of the path that is to be read."""
    kinds = session.columns.kind
    last = max((index for index in found.path if kinds[index] == Kind.COMPACTION), default=NO_ENTRY)
    return PathReader(found, table_of(session), last, session)


def read(
    session: Session,
    reader: PathReader,
    path: Iterable[EntryIndex],
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Gives a reader those entries of a path that may say something."""
    kinds = session.columns.kind
    read_kinds = _KINDS if session.is_native else _KINDS | PUT_IN
    spoken: Iterable[EntryIndex] = [index for index in path if kinds[index] in read_kinds]
    told = outcomes(session)
    if told is not None:
        spoken = (
            index for index in spoken if kinds[index] != Kind.TOOL_RESULT or reader.is_needed(told(index))
        )
    for index, body in session.bodies(spoken, reader.needs):
        if stop():
            break
        if body is not None:
            reader.read(index, Kind(kinds[index]), body)


def time_at(session: Session, path: list[EntryIndex]) -> datetime | None:
    """When the last entry of a path was made, as far as it or one shortly before it says."""
    for index in reversed(path[-64:]):
        time = utc_time((session.body(index) or {}).get("timestamp"))
        if time is not None:
            return time
    return None
