"""Comparisons of branches: the row of the cursor with the mark or the leaf, and all leaves in a table."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.session.entries import EntryIndex
from leafward.session.headlines.entry_headline import row_text
from leafward.session.tree.tree_layout import arrange
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.ui.text.cells import count, fit, money, right

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.branches.diff.sides import Side
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.followed_file import FollowedFile
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.explorer.controllers.row_filter import RowFilter
    from leafward_tui.explorer.controllers.write import SessionWrite
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.screen_results import CompareResult

_WIDE = 120
"""Cells of a window from which the table of branches has checks and costs."""
_WIDEST = 140
"""Cells of a window from which the table has the output tokens."""


class Comparison(ExplorerController):
    """Opens comparisons, and acts on their results."""

    def __init__(
        self,
        means: ExplorerMeans,
        followed: FollowedFile,
        navigation: Navigation,
        row_filter: RowFilter,
        write: SessionWrite,
    ) -> None:
        super().__init__(means)
        self._followed = followed
        self._navigation = navigation
        self._filter = row_filter
        self._write = write
        self.actions = {
            "compare.open": self._compare_here,
            "branches.table": self._read_branches,
        }

    def _compare_here(self) -> None:
        """Compares the row of the cursor with the mark; without a mark, with the leaf."""
        shown = self._navigation.shown_line()
        if shown is None:
            return
        exploration, line = shown
        here = exploration.target(line)
        mark = exploration.mark
        other = exploration.end_of(mark) if mark >= 0 else exploration.session.place
        if here == other:
            keys = self._view.key_hints(("mark.set", "mark this row"))
            self._view.tell("nothing to compare: go to another row", "warn", keys)
            return
        self.open(other, here)

    def open(self, a: int, b: int) -> None:
        """Shows two entries compared."""
        exploration = self._state.exploration
        if exploration is not None:
            mark = exploration.end_of(exploration.mark) if exploration.mark >= 0 else -1
            done = partial(self._go_on, a, b)
            self._services.screens.compare(exploration.session, a, b, mark, done)

    def _go_on(self, a: int, b: int, result: CompareResult | None) -> None:
        """Acts on the result of the comparison."""
        if result is None or self._state.session is None:
            return
        if result.reload:
            self._followed.reread((a, b), lambda found: self.open(*found))
        elif result.change is not None:
            self._write.start(result.done, result.change)
        elif result.touching:
            self._filter.show_timeline(result.touching)
        elif result.entry >= 0:
            self._navigation.show_entry(result.entry)

    # --- the table ----------------------------------------------------------------------------------------------------

    def _read_branches(self) -> None:
        """Reads the outcomes of every leaf, then offers to compare each with the leaf."""
        session = self._state.session
        if session is None:
            return
        if len(list(islice(session.tree.leaves(), 2))) < 2:
            self._view.tell("this session has one branch only", "warn")
            return
        self._view.tell("reading all branches", "faint")
        self._jobs.latest(
            "branches",
            partial(read_branches, session),
            partial(self._show_branches, session),
            self._view.fail,
        )

    def _show_branches(self, session: Session, branches: tuple[BranchRow, ...]) -> None:
        """Shows the table; a row that is chosen is compared with the leaf."""
        from leafward.base.safe_text import safe_line
        from leafward_tui.ui.sheets.choice_sheet import LETTERS, Choice, ChoiceSheet
        from leafward_tui.ui.sheets.sheet import SheetLine

        self._view.tell("")
        if not self._view.on_top:
            return
        place = session.place
        width, height = self._view.size
        # The newest first: the last attempt is the one that is compared.
        rows = sorted(branches, key=lambda row: (row.leaf != place, -row.leaf))
        letters = LETTERS + LETTERS.upper()
        shown = rows[: max(3, min(len(letters), height - 12))]
        wide = width >= _WIDE
        choices = [
            Choice(
                letter,
                safe_line(row.words, 200),
                figures(row.side, self._services.glyphs, wide=wide, output=width >= _WIDEST),
                "compare with the leaf" if row.leaf != place else "",
                current=row.leaf == place,
                act=partial(self._compare_leaf, place, row.leaf),
            )
            for letter, row in zip(letters, shown, strict=False)
        ]
        about = about_figures(shown, self._services.glyphs, wide=wide, output=width >= _WIDEST)
        if len(rows) > len(shown):
            older = counted(len(rows) - len(shown), "older branch", "older branches")
            about.append(f"not shown: {older}")
        besides = sum(row.leaf != place for row in rows)
        note = counted(besides, "branch", "branches")
        note = note if besides == len(rows) else f"the path and {note}"
        self._view.open_sheet(ChoiceSheet("Branches", choices, [*map(SheetLine, about)], note=note))

    def _compare_leaf(self, place: int, leaf: int) -> None:
        if leaf == place:
            self._view.tell("nothing to compare: this is the leaf", "warn")
        else:
            # The order of a comparison: A is the leaf.
            self.open(place, leaf)


def read_branches(session: Session, job: Job) -> tuple[BranchRow, ...]:
    """The outcomes of every leaf, in the branches that the tree shows. Raises Cancelled."""
    from leafward.branches.diff.sides import side

    layout = arrange(session.tree, session.leaf)
    found = []
    for leaf in session.tree.leaves():
        row = layout.row_of(leaf)
        branch = layout.branches[layout.branch_of(row)]
        made = side(session, branch.leaves_at, leaf, job.unwanted)
        # Computed here, in the job, and not while drawing.
        _ = made.outcomes
        if layout.on_path(leaf):
            words = f"the path: {row_text(session, layout.head[row])}"
        else:
            labels = (session.labels[at] for at in map(EntryIndex, made.entries) if at in session.labels)
            label = next(labels, "")
            words = f"[{label}] " if label else ""
            words += row_text(session, layout.head[branch.first_row])
        found.append(BranchRow(leaf, words, made))
    return tuple(found)


class BranchRow(NamedTuple):
    """A leaf with the entries of its branch; those of the path are counted from its beginning."""

    leaf: EntryIndex
    words: str
    """The name of the branch in the tree: its first row."""
    side: Side


def figures(side: Side, glyphs: Glyphs, *, wide: bool, output: bool) -> str:
    """The outcomes of a branch in columns of fixed width; with `output`, the output tokens too."""
    came = side.outcomes
    # There is room for one check: one that passed must not hide one that failed.
    ordered = sorted(came.checks, key=lambda one: one.ok)
    checks = [f"{glyphs.ok if one.ok else glyphs.error} {one.check.value}" for one in ordered]
    cells = [
        right(counted(side.turns, "turn"), 9),
        right(counted(side.edits, "change") if side.edits else glyphs.zero, 12),
        right(counted(came.errors, "error"), 10) if came.errors else right(glyphs.zero, 10),
        right(money(came.usage.cost, zero="$0") if came.costs_known else glyphs.dash, 8),
    ]
    if not wide:
        return "".join(cells[:3])
    if output:
        cells.append(right(count(came.usage.output), 8))
    return f"{fit('  '.join(checks[:1]) or 'no checks', 9, pad=True)}{''.join(cells)}"


def about_figures(rows: Sequence[BranchRow], glyphs: Glyphs, *, wide: bool, output: bool) -> list[str]:
    """The meaning of the columns of the table, and of its signs."""
    each = (
        "turns, changes of files (by tools and commands), errors"
        + ", cost" * wide
        + ", output tokens" * output
    )
    about = [
        f"{each}; enter compares with the leaf",
        "Counted from the branch point, without sub-branches; the path from its start",
    ]
    if wide:
        about.append(
            f"{glyphs.ok} test, {glyphs.error} test: its last run passed, failed; no checks: no test, build, lint or script called so"
        )
        if any(not row.side.outcomes.costs_known for row in rows):
            about.append(f"{glyphs.dash}: the cost is not in file")
    return about
