"""A user's view of a session: cursor, mark, folds, filter. By the ids of entries, it outlasts reading the file again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.session.entries import EntryId, EntryIndex
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.model.folds import Folds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.columns import Columns
    from leafward_tui.explorer.model.exploration import Exploration


@dataclass(frozen=True, slots=True)
class ViewState:
    """The user's settings. Entries that are gone are skipped when it is applied again."""

    cursor: EntryId | None
    mark: EntryId | None
    filter: Filter
    runs: tuple[EntryId, ...]
    """First entries of the runs that are folded."""
    branches: tuple[EntryId, ...]
    """First entries of the branches that are folded."""
    divides: tuple[EntryId, ...]
    """First entries of the rows at which runs are divided."""
    opened: tuple[EntryId, ...]
    """Archived branches that are open."""

    @classmethod
    def of(cls, exploration: Exploration, columns: Columns, row: int) -> ViewState:
        """The view of a session with the cursor on a row. `columns` are those that the exploration was laid out from."""

        def ids(entries: Iterable[int]) -> tuple[EntryId, ...]:
            return tuple(columns.id(EntryIndex(entry)) for entry in entries if 0 <= entry < len(columns))

        folds = exploration.folds or Folds()
        head = exploration.layout.head
        return cls(
            next(iter(ids(head[row : row + 1] if row >= 0 else ())), None),
            next(iter(ids([exploration.mark])), None),
            # The entries of a query are indexes into the file as it was.
            Filter.CONVERSATION if exploration.filter is Filter.CHOSEN else exploration.filter,
            ids(sorted(folds.runs)),
            ids(sorted(folds.branches)),
            ids(sorted(folds.divides)),
            ids(sorted(exploration.opened)),
        )

    def take_up(self, exploration: Exploration) -> int:
        """Applies all of it to another exploration of the same session; the entry of the cursor, -1 where it is gone."""
        columns = exploration.session.columns

        def found(ids: Iterable[EntryId]) -> set[int]:
            return {int(index) for index in map(columns.index, ids) if index >= 0}

        exploration.filter = self.filter
        exploration.mark = columns.index(self.mark) if self.mark is not None else -1
        exploration.folds = Folds(found(self.runs), found(self.branches), found(self.divides))
        exploration.opened = found(self.opened)
        exploration.lay_out()
        return columns.index(self.cursor) if self.cursor is not None else -1
