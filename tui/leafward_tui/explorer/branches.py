"""All leaves of a session in one table: what came of each branch since it left the others."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from leafward.base.errors import LeafwardError
from leafward.session.entries import EntryIndex, Kind
from leafward.session.headline import headline
from leafward_tui.explorer.editing import Editing
from leafward_tui.ui.cells import count, counted, fit, money, right

if TYPE_CHECKING:
    from leafward.branches.diff.sides import Side
    from leafward.session.session import Session
    from leafward_tui.ui.glyphs import Glyphs

_LETTERS = "abcdefghilmnoprstuvwxyzABCDEFGHILMNOPRSTUVWXYZ"
"""Letters of the rows; j, k and q are the sheet's own."""


class BranchRow(NamedTuple):
    """A leaf with what its branch adds to the fork above it."""

    leaf: EntryIndex
    words: str
    side: Side


class BranchesRead(Message):
    """What came of each leaf, or why that is not known."""

    def __init__(self, run: int, rows: tuple[BranchRow, ...], text: str = "") -> None:
        super().__init__()
        self.run = run
        self.rows = rows
        self.text = text


def own_part(session: Session, leaf: int, forks: frozenset[int]) -> int:
    """The nearest branch point above a leaf; -1 where it is alone."""
    return next((at for at in reversed(session.tree.path(leaf)) if at != leaf and at in forks), -1)


class Branches(Editing):
    """The table of branches."""

    def action_branches_table(self) -> None:
        """Reads what came of every leaf, then offers them to be compared with the leaf."""
        session = self.session
        if session is None or self.exploration is None:
            return
        if len(list(islice(session.tree.leaves(), 2))) < 2:
            self.tell("this session has one branch only", "warn")
            return
        self.tell("reading all branches", "faint")
        self._read_branches(self.generation, session)

    @work(thread=True, exclusive=True, group="branches", exit_on_error=False)
    def _read_branches(self, run: int, session: Session) -> None:
        from leafward.base.errors import Cancelled
        from leafward.branches.diff.sides import side

        worker = get_current_worker()
        stop = self.shell.keys_first.stop(worker)
        kinds = session.columns.kind
        forks = frozenset(int(at) for at in session.tree.branch_points())
        found = []
        try:
            for leaf in session.tree.leaves():
                made = side(session, own_part(session, leaf, forks), leaf, stop)
                # Made here, and not where they are drawn.
                _ = made.outcomes
                said = next((at for at in made.entries if kinds[at] == Kind.USER), leaf)
                label = next(
                    (session.labels[at] for at in map(EntryIndex, made.entries) if at in session.labels), ""
                )
                words = f"[{label}] " if label else ""
                found.append(BranchRow(leaf, words + headline(session, said).text, made))
        except Cancelled:
            return
        except (LeafwardError, OSError) as error:
            self.post_message(BranchesRead(run, (), str(error)))
        else:
            self.post_message(BranchesRead(run, tuple(found)))

    def on_branches_read(self, message: BranchesRead) -> None:
        """Shows the table; a row that is chosen is compared with the leaf."""
        from leafward.base.safe_text import safe_line
        from leafward_tui.ui.sheet import Choice, ChoiceSheet, SheetLine

        session = self.session
        if message.run != self.generation or session is None or self.app.screen is not self:
            return
        self.tell(message.text, "bad" if message.text else "")
        if not message.rows:
            return
        place = session.place
        # The newest first: what was tried last is what is compared.
        rows = sorted(message.rows, key=lambda row: (row.leaf != place, -row.leaf))
        shown = rows[: max(3, min(len(_LETTERS), self.app.size.height - 10))]
        wide = self.app.size.width >= 120
        choices = [
            Choice(
                letter,
                safe_line(row.words, 200),
                figures(row.side, self.shell.glyphs, wide=wide),
                "compare it with the leaf" if row.leaf != place else "",
                current=row.leaf == place,
            )
            for letter, row in zip(_LETTERS, shown, strict=False)
        ]

        def done(key: str | None) -> None:
            if key is None:
                return
            leaf = shown[_LETTERS.index(key)].leaf
            if leaf == place:
                self.tell("this is the leaf: choose another branch to compare it with", "warn")
            else:
                self.open_compare(leaf, place)

        last = ", with its cost and the tokens that were written" if wide else ""
        about = [SheetLine(f"each since it left the others{last}; enter compares it with the leaf")]
        if len(rows) > len(shown):
            about.append(SheetLine(f"{len(rows) - len(shown):,} older branches are not shown"))
        besides = sum(row.leaf != place for row in rows)
        note = counted(besides, "branch", "branches")
        note = note if besides == len(rows) else f"the path and {note}"
        self.app.push_screen(ChoiceSheet("Branches", choices, about, note=note), done)


def figures(side: Side, glyphs: Glyphs, *, wide: bool) -> str:
    """What came of a branch in columns of fixed width."""
    came = side.outcomes
    # There is room for one: what failed is not hidden by what did not.
    told = sorted(came.checks, key=lambda one: one.ok)
    checks = [f"{glyphs.ok if one.ok else glyphs.error} {one.check.value}" for one in told]
    cells = [
        right(counted(side.turns, "turn"), 9),
        right(counted(side.edits, "edit"), 9),
        right(counted(came.errors, "error"), 10) if came.errors else right(glyphs.zero, 10),
        right(money(came.usage.cost) if came.costs_known else glyphs.dash, 8),
    ]
    if not wide:
        return "".join(cells[:3])
    return f"{fit('  '.join(checks[:1]) or 'no checks', 9, pad=True)}{''.join(cells)}{right(count(came.usage.output), 8)}"
