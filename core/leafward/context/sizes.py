"""How large contexts are, without projecting them: the entries that speak, their tokens from columns.

The same rules as in `context`, and the same totals, but texts are decoded only where a total depends on them: of the last
reply that reported its usage, of edits and their targets, of system messages. Made for prices and strips, which want many
sizes of one session.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leafward.base.errors import Cancelled
from leafward.context.entry_metrics import ABORTED, FAILED
from leafward.context.model_context import ContextSize, broken_off_in
from leafward.context.projection import latest, selected
from leafward.session.entries import BOOKKEEPING_BYTES, NO_ENTRY, Body, EntryIndex, Kind
from leafward.session.messages import edit_message, edit_targets, messages_of, trusted_usage
from leafward.session.tokens import message_tokens, replayed_system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.session import Session


_STALE = frozenset({Kind.COMPACTION, Kind.CONTEXT_EDIT})
_MODEL = frozenset({Kind.MODEL_CHANGE, Kind.ASSISTANT})
_SILENT = BOOKKEEPING_BYTES + bytes([Kind.CONTEXT_EDIT])
"""Kinds that never put a message into a context."""
_SILENT_KEPT = _SILENT + bytes([Kind.COMPACTION, Kind.SYSTEM])
"""The same for entries in front of the compaction that applies."""
_BRINGS_SYSTEM = bytes([Kind.SYSTEM, Kind.COMPACTION])
_ASSISTANT = int(Kind.ASSISTANT)

_AT_ONCE = 4096
"""Entries summed between two looks at `stop`: one sum of them all would keep every other thread waiting."""

Model = tuple[str, str]
"""Provider and model."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The entries that speak in a context, in order, without their messages."""

    compaction: EntryIndex
    entries: array[int]
    """The compaction that applies comes first; entries that an edit takes out are not here."""
    edits: dict[int, EntryIndex]
    """The edit that applies to an entry, by entry; those taken out included."""
    shifts: dict[int, int]
    """Tokens that an edit adds to its entry."""
    systems: list[tuple[int, Body]]
    """The messages that make up the system prompt, as far as the file holds them, by the place of their entry."""
    stale: EntryIndex
    """Usage of replies at or above this entry measures another context."""
    model: Model | None


class Sizes:
    """Sizes of contexts of one session. Columns are filled where they are needed and are not filled yet.

    Every method raises Cancelled once `stop` turns true.
    """

    def __init__(
        self, session: Session, tallies: EntryMetrics, stop: Callable[[], bool] = lambda: False
    ) -> None:
        self.session = session
        self.tallies = tallies
        self.stop = stop
        self.kinds = session.columns.kind

    def body(self, index: int) -> Body:
        """An entry's body, empty where its line is broken."""
        self.check()
        return self.session.body(index) or {}

    def check(self) -> None:
        """Raises Cancelled where the caller asked to stop."""
        if self.stop():
            raise Cancelled("stopped")

    def tokens(self, entries: Sequence[int]) -> int:
        """Estimated tokens of entries, before edits."""
        total = 0
        for start in range(0, len(entries), _AT_ONCE):
            some = entries[start : start + _AT_ONCE]
            self.tallies.fill(self.session, some, self.stop)
            self.check()
            total += sum(map(self.tallies.tokens.__getitem__, some))
        return total

    def outline(self, at: EntryIndex) -> Outline:
        """The context at an entry; -1 is the empty one."""
        session, kinds = self.session, self.kinds
        compaction, kept, after = selected(session, at)
        edits, replacements = self._edits(kept + after)
        entries = array("i", [compaction] if compaction >= 0 else [])
        entries.extend(index for span in kept for index in span if kinds[index] not in _SILENT_KEPT)
        entries.extend(index for span in after for index in span if kinds[index] not in _SILENT)
        shifts: dict[int, int] = {}
        removed: set[int] = set()
        for target, replacement in replacements.items():
            for message in messages_of(self.body(target), Kind(kinds[target])):
                edited = edit_message(message, replacement)
                if edited is None:
                    removed.add(target)
                else:
                    shifts[target] = shifts.get(target, 0) + message_tokens(edited) - message_tokens(message)
        if removed:
            entries = array("i", (index for index in entries if index not in removed))
        systems: list[tuple[int, Body]] = []
        for position, index in enumerate(entries):
            if kinds[index] in _BRINGS_SYSTEM:
                messages = messages_of(self.body(index), Kind(kinds[index]))
                systems += [(position, message) for message in messages if message.get("role") == "system"]
        named = latest(session, at, _MODEL)
        model = model_of(self.body(named)) if named >= 0 else None
        return Outline(compaction, entries, edits, shifts, systems, latest(session, at, _STALE), model)

    def _edits(self, spans: list[range]) -> tuple[dict[int, EntryIndex], dict[int, Any]]:
        """The last edit of each entry, and what it puts in its place."""
        edits: dict[int, EntryIndex] = {}
        replacements: dict[int, Any] = {}
        for span in spans:
            at = self.kinds.find(Kind.CONTEXT_EDIT, span.start, span.stop)
            while at >= 0:
                body = self.body(at)
                for name in edit_targets(body) if "replacement" in body else ():
                    target = self.session.columns.index(name)
                    if target != NO_ENTRY:
                        edits[target], replacements[target] = EntryIndex(at), body["replacement"]
                at = self.kinds.find(Kind.CONTEXT_EDIT, at + 1, span.stop)
        return edits, replacements

    def size(self, outline: Outline, until: int | None = None) -> ContextSize:
        """The size of a context, or of what its first entries say, as pi 1.5.2 counts it."""
        stop = len(outline.entries) if until is None else until
        first, reported = self._reported(outline, stop)
        if first:
            trailing = self._said(outline, first, stop)
            return ContextSize(reported + trailing, reported, trailing)
        systems = [message for position, message in outline.systems if position < stop]
        estimate = (
            self._said(outline, 0, stop) + _replayed_tokens(systems) - sum(map(message_tokens, systems))
        )
        return ContextSize(estimate, 0, estimate)

    def _reported(self, outline: Outline, stop: int) -> tuple[int, int]:
        """The place behind the last reply whose usage measures the first entries of a context, and what it reported; zeros for none."""
        tree = self.session.tree
        for position in range(stop - 1, -1, -1):
            reply = outline.entries[position]
            if self.kinds[reply] != _ASSISTANT:
                continue
            usage = trusted_usage(message_in(self.body(reply)))
            if usage is None:
                continue
            if outline.stale >= 0 and (reply == outline.stale or not tree.is_ancestor(outline.stale, reply)):
                break
            return position + 1, usage.total
        return 0, 0

    def unsent(self, outline: Outline, until: int | None = None) -> int:
        """Tokens that the size counts though they are not sent: replies of pi's that were aborted or failed."""
        if not broken_off_in(self.session):
            return 0
        stop = len(outline.entries) if until is None else until
        first, _ = self._reported(outline, stop)
        entries = outline.entries[first:stop]
        self.tokens(entries)
        flags = self.tallies.flags
        broken = [
            index
            for index in entries
            if self.kinds[index] == _ASSISTANT and flags[index] & (FAILED | ABORTED)
        ]
        return self.tokens(broken) + sum(outline.shifts.get(index, 0) for index in broken)

    def _said(self, outline: Outline, start: int, stop: int) -> int:
        entries = outline.entries[start:stop]
        total = self.tokens(entries)
        if outline.shifts:
            total += sum(outline.shifts.get(index, 0) for index in entries)
        return total

    def at(self, index: EntryIndex) -> ContextSize:
        """The size of the context at an entry: what `context_at` says of it."""
        return self.size(self.outline(index))

    def shared(self, here: Outline, there: Outline) -> int:
        """Tokens that two contexts have in common at their beginning, sized as in the second one.

        Nothing where another model answers: no provider's cache serves two models.
        """
        if here.model is not None and there.model is not None and here.model != there.model:
            return 0
        same = 0
        for one, two in zip(here.entries, there.entries, strict=False):
            if one != two or here.edits.get(one) != there.edits.get(two):
                break
            same += 1
        if same:
            return self.size(there, same).total - self.unsent(there, same)
        # Where another compaction comes first, the system prompt in front of it may still be the same.
        mine, theirs = ([message for _, message in outline.systems] for outline in (here, there))
        return _replayed_tokens(theirs) if replayed_system(mine) == replayed_system(theirs) else 0


def entries_below(session: Session, ancestor: int, index: int) -> array[int]:
    """The path to an entry from below one of its ancestors on; the whole path below -1.

    A list of as many numbers would be gone through by the garbage collector again and again, for 0.007 s a million.
    """
    parts: list[Iterable[int]] = []
    for run in reversed(session.tree.path_runs(index)):
        if run.start <= ancestor < run.stop:
            parts.append(range(ancestor + 1, run.stop))
            break
        parts.append(range(run.start, run.stop))
    entries = array("i")
    for part in reversed(parts):
        entries.extend(part)
    return entries


def _replayed_tokens(systems: list[Body]) -> int:
    system = replayed_system(systems)
    return message_tokens(system) if system is not None else 0


def message_in(body: Body) -> Body:
    """The message of a `message` entry, else an empty object."""
    message = body.get("message")
    return message if isinstance(message, dict) else {}


def model_of(body: Body) -> Model | None:
    """Provider and model that a reply or a change of model names."""
    named = message_in(body) or body
    provider, model = named.get("provider"), named.get("model", named.get("modelId"))
    return (provider, model) if isinstance(provider, str) and isinstance(model, str) else None
