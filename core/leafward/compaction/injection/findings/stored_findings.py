"""The findings of an earlier run on a path, in the form in which they are kept: a later run reads only the entries behind them.

It holds places of entries, paths, and names of tools and models, and no text of the conversation: the last request and the last
actions are read again. The text of an injection is the same either way; only the sources of its lines are incomplete.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from leafward.compaction.injection.findings.action_outcomes import OFFERED_ACTIONS
from leafward.compaction.injection.findings.collection import collect, complete, last_compaction, read_path
from leafward.compaction.injection.findings.path_findings import Collected, PastCompaction, PathFile, PathUse
from leafward.compaction.injection.findings.path_reader import LateResult, PathReader
from leafward.session.entries import NO_ENTRY, EntryIndex, Kind
from leafward.session.foreign import brief_bodies, settled_entries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward.compaction.injection.findings.path_findings import RecordedAction
    from leafward.session.session import Session

_MOST_UNANSWERED = 1_000
"""Calls without a result with which nothing is kept."""
_UNUSABLE = (LateResult, ValueError, TypeError, KeyError, IndexError, AttributeError)


@dataclass(frozen=True, slots=True)
class PathFound:
    """The findings of a path."""

    found: Collected
    stored: dict[str, Any] | None
    """The form that is kept, of JSON types; None where a later run could not go on from it."""
    read: int
    """Number of entries that it is further than the earlier findings."""


def collect_on(session: Session, at: int, stored: Mapping[str, Any] | None) -> PathFound:
    """Reads the path to an entry, only behind the entry of earlier findings where these are of the same path.

    Findings that are malformed, or that a later entry contradicts, count as none.
    """
    if stored is not None:
        try:
            return _collected(session, at, stored)
        except _UNUSABLE:
            pass
    try:
        return _collected(session, at, None)
    except LateResult:
        return PathFound(collect(session, at), None, 0)


def _collected(session: Session, at: int, stored: Mapping[str, Any] | None) -> PathFound:
    found = Collected(EntryIndex(at), session.cwd, session.id)
    path = session.tree.path(at) if at >= 0 else ()
    begin = stored["length"] if stored is not None else 0
    if stored is not None and path[begin - 1] != stored["leaf"]:
        raise ValueError("another path")
    found.path = cast("list[EntryIndex]", list(path))
    behind = found.path[begin:]
    last = last_compaction(session, behind)
    known = stored["compactions"][-1:] if stored is not None else ()
    reader = PathReader(found, max(last, *(EntryIndex(one[0]) for one in known), NO_ENTRY), session)
    if stored is not None:
        _restore(reader, stored)
    kinds, limit = session.columns.kind, settled_entries(session)
    ends = (
        place + (kinds[behind[place]] == Kind.COMPACTION)
        for place in reversed(range(len(behind)))
        if kinds[behind[place]] in (Kind.ASSISTANT, Kind.COMPACTION) and behind[place] < limit
    )
    # Calls of the last reply may still run: a later run reads it again.
    settled = next(ends, 0)
    read_path(reader, behind[:settled])
    made = None
    if settled:
        reader.settle()
        reader.name_prompts()
        made = _stored(reader, begin + settled)
    read_path(reader, behind[settled:])
    reader.settle()
    complete(reader)
    return PathFound(found, made, settled)


def _restore(reader: PathReader, stored: Mapping[str, Any]) -> None:
    """Gives a reader the findings of an earlier run, before it takes in later entries."""
    found, session = reader.found, reader.session
    found.files = {
        path: PathFile(path, PathUse(use), EntryIndex(seq), [], gone=gone)
        for path, use, seq, gone in stored["files"]
    }
    found.tools, found.model = set(stored["tools"]), stored["model"]
    found.compactions = [
        PastCompaction(EntryIndex(entry), stamp, count) for entry, stamp, count in stored["compactions"]
    ]
    lost = stored["lost"]
    # Only replies behind the last compaction count.
    if lost is not None and lost[0] > reader.last_compaction:
        found.lost_thread = EntryIndex(lost[0]), lost[1]
    reader.moves += [(EntryIndex(entry), path) for entry, path in stored["moves"]]
    reader.prompts.extend((EntryIndex(entry), names) for entry, names in stored["prompts"])
    reader.unanswered.update(stored["unanswered"])
    again = PathReader(Collected(found.at, found.cwd, found.session), NO_ENTRY, session)
    for entry, results in stored["actions"]:
        actions = again.actions_in(EntryIndex(entry))
        found.actions += [
            _with_result(action, *result) for action, result in zip(actions, results, strict=True)
        ]
    found.earlier_actions = stored["earlier_actions"]
    again = PathReader(Collected(found.at, found.cwd, found.session), NO_ENTRY, session)
    bodies = brief_bodies(session) or session.body
    for entry in (*[one.entry for one in found.compactions[-1:]], *stored["asked"]):
        body = bodies(entry)
        if body is None:
            raise ValueError("an entry that cannot be read")
        again.read(EntryIndex(entry), Kind(session.columns.kind[entry]), body)
    found.pins = again.found.pins
    found.prompt, found.prompt_entry, found.request = (
        again.found.prompt,
        again.found.prompt_entry,
        again.found.request,
    )
    reader.go_on_asked(again)


def _with_result(action: RecordedAction, result: int, failed: bool) -> RecordedAction:
    if result == NO_ENTRY:
        return action
    return replace(action, outcome="failed" if failed else "ok", result=EntryIndex(result))


def _stored(reader: PathReader, length: int) -> dict[str, Any] | None:
    """The settled findings of a reader up to a length of its path; None where they cannot be kept."""
    found = reader.found
    if reader.shell or len(reader.unanswered) > _MOST_UNANSWERED:
        return None
    first = max(0, len(found.actions) - OFFERED_ACTIONS)
    while 0 < first < len(found.actions) and found.actions[first - 1].entry == found.actions[first].entry:
        # An entry is read again as a whole.
        first -= 1
    actions: dict[int, list[tuple[int, bool]]] = {}
    for action in found.actions[first:]:
        actions.setdefault(action.entry, []).append((action.result, action.outcome == "failed"))
    return {
        "length": length,
        "leaf": found.path[length - 1],
        "files": [(file.path, file.use.value, file.seq, file.gone) for file in found.files.values()],
        "moves": list(reader.moves),
        "prompts": list(reader.prompts),
        "tools": sorted(found.tools),
        "model": found.model,
        "compactions": [(one.entry, one.timestamp, one.replaced) for one in found.compactions],
        "lost": found.lost_thread,
        "unanswered": sorted(reader.unanswered),
        "actions": list(actions.items()),
        "earlier_actions": found.earlier_actions + first,
        "asked": list(reader.asked),
    }
