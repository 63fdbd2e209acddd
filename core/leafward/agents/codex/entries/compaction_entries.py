"""Entries for the messages that compactions keep: earlier ones, found again, or new ones for a text that only the compaction has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.agents.codex.entries.compactions import KeptMessages, is_encrypted, kept_users, summary_place
from leafward.agents.codex.entries.items import item_text, kind_of_item
from leafward.session.entries import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents.codex.entries.current_path import Course
    from leafward.agents.codex.entries.message_keys import MessageIndex
    from leafward.session.columns import Columns


class CompactionEntries:
    """The compactions of one transcript, and the entries that they keep."""

    def __init__(
        self, columns: Columns, messages: MessageIndex, add: Callable[[Kind, int, int], int]
    ) -> None:
        """`add` makes an entry of a kind from a line: its offset, and the number of the entry in it."""
        self.kept: dict[int, KeptMessages] = {}
        """The entries that each compaction keeps beside its summary."""
        self.literals: dict[int, tuple[int, int]] = {}
        """Entries that stand only in a compaction: the number in `replacement_history`, or -1; and, for a message cut to fit the
        budget, the entry that it was cut from, else -1."""
        self.budgets: dict[int, int] = {}
        """Tokens to which such a message was cut."""
        self.ahead: tuple[int, ...] = ()
        """The initial context as a compaction without a history has it ahead of its summary."""
        self._columns, self._messages, self._add = columns, messages, add
        self.recorded: set[int] = set()
        """Compactions whose context is stored in the file."""
        self.readable: set[int] = set()
        """Messages that only compactions have, and that Codex takes for the user's: summaries in plain text, messages cut short."""

    def read(self, payload: dict[str, Any], at: int, course: Course) -> None:
        """Adds a compaction. The entries before it must be linked and settled."""
        items = payload.get("replacement_history")
        before: list[int] = []
        after: list[int] = []
        part = 0
        place = -1
        if isinstance(items, list):
            items = [item if isinstance(item, dict) else {} for item in items]
            place = summary_place(items, payload.get("message"))
            matches = self._messages.find(
                [{} if number == place else item for number, item in enumerate(items)], course
            )
            for number, (item, index) in enumerate(zip(items, matches, strict=True)):
                if number == place:
                    continue
                if index < 0:
                    index = self._add(kind_of_item(item), at, part)
                    self.literals[index] = number, -1
                    self._messages.add(index, item, item_text(item))
                    part += 1
                (before if place < 0 or number < place else after).append(index)
        else:
            before, part = self._rebuilt(at, course)
        index = self._add(Kind.COMPACTION, at, part)
        self.kept[index] = KeptMessages(tuple(before), tuple(after), place)
        if isinstance(items, list):
            self.recorded.add(index)
            self.ahead = ()
        if not (isinstance(items, list) and is_encrypted(payload, place)):
            self.readable.add(index)

    def _rebuilt(self, at: int, course: Course) -> tuple[list[int], int]:
        """The kept entries of a compaction in versions that do not record them: initial context, then the newest user messages.

        The initial context is sent anew, the developer's messages ahead (0.101 began the thread with one of them last).
        """
        initial, users = course.opening(self._columns.kind)
        initial = [index for index in initial if index not in self.literals]
        initial.sort(key=lambda index: index not in self._messages.developers)
        self.ahead = tuple(initial)
        first = users[0] if users else len(self._columns)
        users += [index for index in self._messages.warnings if index > first and course.holds(index)]
        users = sorted(index for index in set(users) if self._messages.size(index))
        sizes = [self._messages.size(index) for index in users]
        chosen, cut = kept_users(sizes)
        kept = [users[position] for position in chosen]
        part = 0
        for place, position in enumerate(chosen):
            budget = cut if place == 0 else None
            # Only the text of a message is kept, not its images.
            if budget is None and users[position] not in self._messages.pictured:
                continue
            index = self._add(Kind.INJECTED, at, part)
            self.literals[index] = -1, kept[place]
            self.readable.add(index)
            self.budgets[index] = sizes[position] if budget is None else budget
            kept[place] = index
            part += 1
        return initial + kept, part
