"""Selects the entries of a path that the model receives, and their order.

The rules are pi 1.5.2's: the latest compaction on the path stands for everything before the entries it kept. Other agents also keep
entries ahead of their summary, or send some entries ahead of earlier ones.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from leafward.session.entries import NO_ENTRY, Damage, EntryIndex, Kind
from leafward.session.messages import PROJECTION, edit_targets, leaves_files_unstored, message_in
from leafward.session.source import GOES_ON

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.session.entries import Body
    from leafward.session.session import Session

_COMPACTION = frozenset({Kind.COMPACTION})
_REPLACED = frozenset({Kind.COMPACTION, Kind.SYSTEM})
_CHOSEN = frozenset({Kind.MODEL_CHANGE})
_MODEL = _CHOSEN | {Kind.ASSISTANT}
_NAMELESS = 5
"""Replies in a row without a model's name that are passed over: agents write some in a model's place."""


def latest(session: Session, at: int, kinds: frozenset[Kind]) -> EntryIndex:
    """The last entry of one of the kinds on the path to `at`; -1 if there is none. Decodes nothing."""
    column = session.columns.kind
    for run in session.tree.runs_upwards(at):
        found = int(NO_ENTRY)
        for kind in kinds:
            found = max(found, column.rfind(kind, max(found + 1, run.start), run.stop))
        if found >= 0:
            return EntryIndex(found)
    return NO_ENTRY


def naming_model(
    session: Session, at: int, body_of: Callable[[EntryIndex], Body | None]
) -> tuple[str | None, str | None]:
    """Provider and model in use at an entry: those of the last reply or change on the path that names a model.

    Beyond a few replies that name none, only a change is looked for.
    """
    provider: str | None = None
    for looked in range(_NAMELESS + 1):
        index = latest(session, at, _MODEL if looked < _NAMELESS else _CHOSEN)
        if index < 0:
            break
        body = body_of(index) or {}
        named = message_in(body) or body
        found = [named.get("provider"), named.get("model", named.get("modelId"))]
        maker, model = (name if isinstance(name, str) else None for name in found)
        if model:
            return maker, model
        provider, at = provider or maker, session.columns.parent[index]
    return provider, None


def replaced_kinds(session: Session) -> frozenset[Kind]:
    """Kinds whose kept entries add no message: the latest compaction brings its own summary and system prompt.

    Claude Code sends an earlier summary as well where a compaction names it among what it kept ("Summarize from here").
    """
    return _REPLACED if session.is_native else _REPLACED - _COMPACTION


def puts_files_in(session: Session, compaction: int) -> bool:
    """Whether the agent puts files in again after a compaction without storing them; False for -1, no compaction."""
    return compaction >= 0 and leaves_files_unstored(session.body(EntryIndex(compaction)) or {})


def begins_midway(session: Session, at: int) -> bool:
    """Whether an agent sent more of a conversation than its file holds: the parent of the path's first entry is missing.

    Always False for a native session: pi continues without the entries before a gap.
    """
    return not session.is_native and begins_at_gap(session, at)


def begins_at_gap(session: Session, at: int) -> bool:
    """Whether the parent of the path's first entry is not in the file, or the path goes on in another session's conversation."""
    if at < 0:
        return False
    if session.columns.damage:
        first = NO_ENTRY
        for run in session.tree.runs_upwards(at):
            first = EntryIndex(run.start)
        if session.columns.damage.get(first) is Damage.ORPHAN:
            return True
    taken_over = (note.entry for note in session.source.notes if note.code == GOES_ON)
    return any(session.tree.is_ancestor(entry, at) for entry in taken_over)


def selected(session: Session, at: int) -> tuple[EntryIndex, list[range], list[range]]:
    """The compaction that applies at an entry, the ranges of entries that it kept, and the ranges after it."""
    tree = session.tree
    compaction = latest(session, at, _COMPACTION)
    if compaction < 0:
        return NO_ENTRY, [], [range(run.start, run.stop) for run in tree.path_runs(at)]
    after = [range(run.start, run.stop) for run in tree.below(compaction, at)]
    body = session.body(compaction) or {}
    named = body.get(PROJECTION)
    last = tree.parent[compaction]
    if isinstance(named, dict):
        before = [range(run.start, run.stop) for run in tree.path_runs(last)]
        ahead, behind = (_named(session, named.get(side), before) for side in ("before", "after"))
        return compaction, ahead + _sent_of(session, behind, after), after
    kept_id = body.get("firstKeptEntryId")
    first = session.columns.index_above(kept_id, compaction) if isinstance(kept_id, str) else NO_ENTRY
    if first < 0 or not tree.is_ancestor(first, last):
        return compaction, [], after
    return (
        compaction,
        [range(first, first + 1), *(range(run.start, run.stop) for run in tree.below(first, last))],
        after,
    )


def _sent_of(session: Session, kept: list[range], after: list[range]) -> list[range]:
    """Kept ranges after a compaction's summary that are sent: all, or those up to the entry that an agent went back to."""
    marks = session.source.kept_until
    last = next((marks[entry] for entry in marks if any(entry in span for span in after)), None)
    if last is None:
        return kept
    sent: list[range] = []
    for span in kept if last >= 0 else ():
        if last in span:
            return [*sent, range(span.start, last + 1)]
        sent.append(span)
    return sent


def context_edits(session: Session, spans: Iterable[range]) -> dict[EntryIndex, tuple[EntryIndex, object]]:
    """The last edit of each entry that edits in some ranges name: the edit, and the entry's replacement.

    Only the bodies of the edits are decoded.
    """
    kind, edits = session.columns.kind, []
    for span in spans:
        at = kind.find(Kind.CONTEXT_EDIT, span.start, span.stop)
        while at >= 0:
            edits.append(at)
            at = kind.find(Kind.CONTEXT_EDIT, at + 1, span.stop)
    found: dict[EntryIndex, tuple[EntryIndex, object]] = {}
    for edit, body in session.bodies(edits):
        if body is not None and "replacement" in body:
            for name in edit_targets(body):
                target = session.columns.index(name)
                if target != NO_ENTRY:
                    found[target] = edit, body["replacement"]
    return found


def edited_entries(session: Session, at: int) -> tuple[EntryIndex, ...]:
    """The entries on the path to `at` that edits on it leave out or replace, ascending."""
    tree = session.tree
    edits = context_edits(session, (range(run.start, run.stop) for run in tree.path_runs(at)))
    return tuple(target for target in sorted(edits) if tree.is_ancestor(target, at))


def _named(session: Session, ids: object, within: list[range]) -> list[range]:
    """Entries named by id that lie in some ranges, in the order given; neighbours form one range."""
    spans: list[range] = []
    for name in ids if isinstance(ids, list) else ():
        index = session.columns.index(name) if isinstance(name, str) else NO_ENTRY
        if not any(index in span for span in within):
            continue
        if spans and spans[-1].stop == index:
            spans[-1] = range(spans[-1].start, index + 1)
        else:
            spans.append(range(index, index + 1))
    return spans


def ahead_of_summary(session: Session, compaction: int) -> int:
    """Number of entries that a compaction keeps ahead of its summary: none in pi's sessions, some in other agents'."""
    named = (session.body(compaction) or {}).get(PROJECTION) if compaction >= 0 else None
    ids = named.get("before") if isinstance(named, dict) else None
    path = [range(run.start, run.stop) for run in session.tree.path_runs(compaction)] if ids else []
    return sum(map(len, _named(session, ids, path)))


def as_sent(
    order: array[int], kept_until: int, kinds: bytearray, hoisted: bytearray
) -> tuple[array[int], int]:
    """Entries in the order in which they are sent: some move ahead of earlier messages, up to the last reply or result.

    Also the number of entries at the beginning that are kept from before the compaction.
    """
    sent, waiting = array("i"), array("i")
    for index in order:
        if kinds[index] in (Kind.ASSISTANT, Kind.TOOL_RESULT):
            sent.extend(waiting)
            del waiting[:]
            sent.append(index)
        elif hoisted[index]:
            sent.append(index)
        else:
            waiting.append(index)
    sent.extend(waiting)
    kept = set(order[:kept_until])
    return sent, next((place for place, index in enumerate(sent) if index not in kept), len(sent))
