"""Collects everything that builders need of a path, in one reading: files, the last prompt, actions, compactions, pins.

Only entries on the path count. Files of other branches count if a branch summary on the path lists them.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from leafward.base.gc_pause import gc_paused
from leafward.compaction.injection.findings.action_outcomes import read_outcomes
from leafward.compaction.injection.findings.path_findings import Collected
from leafward.compaction.injection.findings.path_reader import PUT_IN, PathReader
from leafward.session.entries import NO_ENTRY, Body, EntryIndex, Kind
from leafward.session.foreign import brief_bodies, outcomes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from leafward.session.session import Session


_KINDS = frozenset(
    {Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.BASH, Kind.COMPACTION, Kind.BRANCH_SUMMARY}
)
_LAST_MILLISECOND = 4_102_444_800_000
"""The beginning of the year 2100, in milliseconds since 1970."""


def utc_time(text: object) -> datetime | None:
    """An ISO 8601 time or date, in UTC if it has no zone, or milliseconds since 1970; None for anything else."""
    if isinstance(text, datetime):
        return text if text.tzinfo is not None else text.replace(tzinfo=UTC)
    if isinstance(text, date):
        return datetime(text.year, text.month, text.day, tzinfo=UTC)
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
    """Reads the path to an entry once, or only the given entries of it. Once `stop` returns true, returns what was found so far."""
    found = Collected(EntryIndex(at), session.cwd, session.id)
    if entries is None:
        entries = session.tree.path(at) if at >= 0 else ()
    found.path = [EntryIndex(index) for index in entries]
    reader = PathReader(found, last_compaction(session, found.path), session)
    read_path(reader, found.path, stop)
    reader.settle()
    complete(reader)
    return found


def last_compaction(session: Session, entries: Sequence[int]) -> EntryIndex:
    """The last compaction among some entries; -1 where there is none."""
    kinds = session.columns.kind
    return max((EntryIndex(index) for index in entries if kinds[index] == Kind.COMPACTION), default=NO_ENTRY)


def read_path(
    reader: PathReader, entries: Sequence[EntryIndex], stop: Callable[[], bool] = lambda: False
) -> None:
    """Gives a reader the entries of a path, in their order, until `stop` returns true."""
    session = reader.session
    kinds = session.columns.kind
    read_kinds = _KINDS if session.is_native else _KINDS | PUT_IN
    spoken: Iterable[EntryIndex] = [index for index in entries if kinds[index] in read_kinds]
    told = outcomes(session)
    if told is not None:
        spoken = (
            index
            for index in spoken
            if kinds[index] != Kind.TOOL_RESULT or reader.is_needed(index, told(index))
        )
    brief = brief_bodies(session)
    bodies: Iterable[tuple[EntryIndex, Body | None]] = (
        session.bodies(spoken, reader.needs) if brief is None else ((index, brief(index)) for index in spoken)
    )
    with gc_paused():
        for index, body in bodies:
            if stop():
                break
            if body is not None:
                reader.read(index, Kind(kinds[index]), body)


def complete(reader: PathReader) -> None:
    """Adds what depends on the end of the path to what a reader has found and settled."""
    found = reader.found
    reader.add_mentions()
    read_outcomes(found.actions, reader.session)
    found.time = _time(reader.session, found.path)


def _time(session: Session, path: list[EntryIndex]) -> datetime | None:
    for index in reversed(path[-64:]):
        time = utc_time((session.body(index) or {}).get("timestamp"))
        if time is not None:
            return time
    return None
