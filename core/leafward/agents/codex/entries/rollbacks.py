"""Rollbacks, and the messages that they take back.

Codex drops the last turns of what it would send. Behind a compaction those are messages that the compaction kept and its summary,
which counts as a message of the user, not the turns before it. From 0.107 on it reads its file backwards first, to the last compaction that
no rollback takes back; without one it begins behind the first compaction with a history, and sends nothing from before it.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from leafward.agents.codex.entries.compaction_entries import CompactionEntries
    from leafward.agents.codex.entries.current_path import Course
    from leafward.agents.codex.entries.message_keys import MessageIndex
    from leafward.session.columns import Columns

TAKES_CONTEXT_BACK = 117
"""From 0.117 on Codex takes back what it put in for the turn as well: 0.101, 0.107 and 0.116 still send it, 0.118 does not."""
_READS_BACKWARDS = 107
"""0.106 does not look for such a compaction, 0.107 does."""
_PASSES_WARNINGS = 131
"""0.130 counts its own warning as a prompt, 0.131 does not."""
_SENT = frozenset({Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.INJECTED})
_PUT_IN = frozenset({Kind.INJECTED, Kind.CUSTOM, Kind.MODEL_CHANGE})
"""Kinds between two turns that are taken back with the later one."""


class Sent(NamedTuple):
    """A message that Codex sends."""

    entry: int
    place: int
    """The entry that brings it: its own, or that of the compaction that keeps it."""


class Rollback(NamedTuple):
    """Effects of a rollback besides going back."""

    left_out: tuple[int, ...] = ()
    """Entries on the path that are sent no more."""
    uncertain: bool = False
    """Whether versions of Codex differ in what they send behind it."""


class Rollbacks:
    """The rollbacks of one segment."""

    def __init__(
        self,
        columns: Columns,
        messages: MessageIndex,
        compactions: CompactionEntries,
        begun: Sequence[int],
        elsewhere: Collection[int],
    ) -> None:
        """`begun` are entries that begin turns, `elsewhere` prompts that are not sent in this thread."""
        self._columns, self._messages, self._compactions = columns, messages, compactions
        self._begun, self._elsewhere = begun, elsewhere
        self._turns: dict[int, int] = {}
        """The turns that each rollback takes back, by its entry."""
        self._first = 0
        self._inherited: list[Sent] = []
        self._known: list[int] = []
        """The prompts on the path at the last rollback."""
        self._seen = 0
        """How many of all prompts were looked at by then."""

    def begin(self, course: Course) -> None:
        """Begins a segment, which continues from a path."""
        self._turns = {}
        self._first = len(self._columns)
        self._inherited = self._on(course)
        self._known, self._seen = [], 0

    def take(self, turns: int, course: Course, version: int) -> Rollback:
        """Takes turns back and shortens the path. The entry of the rollback comes next; all before it are linked."""
        columns, compactions = self._columns, self._compactions
        self._turns[len(columns)] = turns
        prompts = (one for one in reversed(self._prompts_on(course)) if self._begins_turn(one, version))
        dropped = list(islice(prompts, turns + 1))
        compaction = next((index for index in reversed(compactions.kept) if course.holds(index)), -1)
        if compaction < 0 or (len(dropped) >= turns and self._is_behind(dropped[turns - 1], compaction)):
            self._drop(dropped, turns, course, version)
            return Rollback()
        left = self._replayed(version)
        if left and course.holds(left[-1].place):
            course.end_at(left[-1].place)
        else:
            self._drop(dropped, turns, course, version)
        kept = {message.entry for message in left}
        on_path = dict.fromkeys(message.entry for message in self._on(course))
        gone = tuple(entry for entry in on_path if entry not in kept)
        return Rollback(gone, uncertain=True)

    def _drop(self, prompts: list[int], turns: int, course: Course, version: int) -> None:
        """Goes back before the last turns, whose prompts are given, the last one first."""
        if not prompts:
            return
        course.cut(prompts[min(turns, len(prompts)) - 1])
        if len(prompts) > turns and version >= TAKES_CONTEXT_BACK:
            while course.tip >= 0 and self._is_put_in(course.tip):
                course.cut(course.tip)

    def _is_behind(self, prompt: int, compaction: int) -> bool:
        """Whether the turn of a prompt began behind a compaction."""
        begun = self._begun
        return compaction < prompt and bisect_left(begun, compaction) < bisect_left(begun, prompt)

    def _is_put_in(self, index: int) -> bool:
        return self._columns.kind[index] in _PUT_IN and index not in self._messages.lasting

    def _prompts_on(self, course: Course) -> list[int]:
        """The messages on the path that begin a turn. Each is looked at once: rollbacks take the last ones away, others are new."""
        known, prompts = self._known, self._messages.prompts
        while known and not course.holds(known[-1]):
            known.pop()
        known += [one for one in prompts[self._seen :] if course.holds(one)]
        self._seen = len(prompts)
        return known

    def _begins_turn(self, prompt: int, version: int) -> bool:
        """Whether a message begins a turn for Codex, also where it wrote it itself."""
        return version < _PASSES_WARNINGS or prompt not in self._messages.cautions

    # --- a file read again, as Codex does ---

    def _replayed(self, version: int) -> list[Sent]:
        """The messages that Codex sends behind the last rollback."""
        columns, compactions = self._columns, self._compactions
        start, history = self._base() if version >= _READS_BACKWARDS else (self._first, [*self._inherited])
        prompts = {one for one in self._messages.prompts if self._begins_turn(one, version)}
        prompts |= compactions.readable
        stop = len(columns)
        for index in range(start, stop + 1):
            if index in self._turns:
                history = self._without(history, self._turns[index], prompts, version)
            elif index < stop:
                history = self._followed(history, index)
        return history

    def _followed(self, history: list[Sent], index: int) -> list[Sent]:
        """The messages that are sent from an entry on; the same list where it only becomes longer."""
        kind = self._columns.kind[index]
        if kind == Kind.COMPACTION:
            return self._kept(index)
        if kind in _SENT and index not in self._compactions.literals and index not in self._elsewhere:
            history.append(Sent(index, index))
        return history

    def _without(self, history: list[Sent], turns: int, prompts: set[int], version: int) -> list[Sent]:
        """Its messages before its last turns."""
        places = [place for place, message in enumerate(history) if message.entry in prompts]
        if not places:
            return history
        cut = places[-turns] if turns < len(places) else places[0]
        while version >= TAKES_CONTEXT_BACK and cut > places[0] and self._is_put_in(history[cut - 1].entry):
            cut -= 1
        return history[:cut]

    def _base(self) -> tuple[int, list[Sent]]:
        """The entry where Codex begins to read on, and the messages that it sends by then: those that the last compaction keeps and no rollback takes back."""
        recorded, begun = self._compactions.recorded, set(self._begun)
        prompts = set(self._messages.prompts)
        start, history = self._first, [*self._inherited]
        pending, compaction, is_turn = 0, -1, False
        for index in range(len(self._columns), self._first - 1, -1):
            pending += self._turns.get(index, 0)
            is_turn = is_turn or index in prompts
            if index in recorded and compaction < 0:
                compaction, start, history = index, index + 1, []
            if index not in begun and index > self._first:
                continue
            if not pending and compaction >= 0:
                return compaction + 1, self._kept(compaction)
            pending -= bool(pending and is_turn)
            compaction, is_turn = -1, False
        return start, history

    def _kept(self, compaction: int) -> list[Sent]:
        kept = self._compactions.kept[compaction]
        has_summary = kept.place >= 0 or compaction not in self._compactions.recorded
        entries = [*kept.before, *([compaction] if has_summary else ()), *kept.after]
        return [Sent(entry, compaction) for entry in entries]

    def _on(self, course: Course) -> list[Sent]:
        """The messages at the end of a path, also those that are left out."""
        history: list[Sent] = []
        for start, stop in course.frozen():
            for index in range(start, stop):
                history = self._followed(history, index)
        return history
