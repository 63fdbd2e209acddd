"""The path as it was after an operation, in few rows: its last turns, and the branch that a move left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.session.entries import NO_ENTRY, Kind
from leafward.session.headlines.entry_headline import HEADS
from leafward.session.journal.operation_log import ARCHIVED, Subject
from leafward_tui.ui.words.operation_text import label_words

if TYPE_CHECKING:
    from leafward.session.journal.operation_log import Operation
    from leafward_tui.ui.words.operation_text import OperationText

Piece = tuple[str, str]
"""A text and the name of its ink."""


@dataclass(frozen=True, slots=True)
class PathRow:
    """A row of the path as it was after an operation: its signs, its words, and a chip or count after them."""

    signs: tuple[Piece, ...]
    text: str
    ink: str
    behind: str = ""
    behind_ink: str = "faint"


class PathThen:
    """Draws paths for the operations of a session."""

    def __init__(self, text: OperationText) -> None:
        self._text = text

    def rows(self, operation: Operation, rows: int) -> list[PathRow]:
        """The path as it was after an operation, at most `rows` rows: its last turns, and the branch that a move left.

        For a label or an archived branch, the path to the entry that was labelled or archived.
        """
        tree = self._text.session.tree
        moved = operation.subject is Subject.MOVE
        to = self._text.place(operation.after) if moved else tree.content_at(self._text.shows(operation))
        left, ancestor = -1, to
        if moved and (left := self._text.place(operation.before)) >= 0:
            ancestor = tree.common_ancestor(left, to)
            left = left if left != ancestor else -1
        room = rows - (left >= 0)
        above, below = self._turns(NO_ENTRY, ancestor), self._turns(ancestor, to)
        below_room = min(below, max(room - min(above, 2), 1))
        drawn = self._stretch(NO_ENTRY, ancestor, room - below_room)
        if not drawn and not below:
            drawn = [self._path_row(to)]
        entered = self._stretch(ancestor, to, below_room)
        here = (entered or drawn)[-1]
        (entered or drawn)[-1] = self._ending(operation, here)
        if left >= 0:
            drawn.append(self._left_row(left, ancestor, last=not entered))
        return (drawn + entered)[-rows:] if rows > 0 else []

    def _stretch(self, above: int, entry: int, room: int) -> list[PathRow]:
        """The turns of a part of the path in `room` rows, the first ones folded into one where there are more."""
        total = self._turns(above, entry)
        if room <= 0 or not total:
            return []
        if total <= room:
            return [self._path_row(head) for head in self._heads(above, entry, total)]
        heads = self._heads(above, entry, room - 1)
        glyphs = self._text.glyphs
        folded = PathRow(
            ((glyphs.run, "leaf"), (" ", "faint"), (" ", "faint")),
            f"{glyphs.folded} {counted(total - len(heads), 'turn')}",
            "faint",
        )
        return [folded, *(self._path_row(head) for head in heads)]

    def _ending(self, operation: Operation, row: PathRow) -> PathRow:
        """The last row of the path, with the mark that the operation put there."""
        if operation.subject is Subject.MOVE:
            return replace(
                row,
                signs=((self._text.glyphs.leaf, "leaf"), *row.signs[1:]),
                ink="text",
                behind=" leaf ",
                behind_ink="leaf",
            )
        behind = ""
        if operation.subject is Subject.LABEL and operation.after:
            behind = label_words(operation.after)
        elif operation.subject is Subject.ARCHIVE:
            behind = "archived" if operation.after == ARCHIVED else "unarchived"
        return replace(row, ink="text", behind=behind, behind_ink="sub")

    def _path_row(self, head: int) -> PathRow:
        glyphs = self._text.glyphs
        kind = self._text.session.columns.kind[head] if head >= 0 else Kind.UNKNOWN
        sign: Piece = (glyphs.prompt, "leaf")
        if kind == Kind.COMPACTION:
            sign = (glyphs.compaction, "memory")
        elif kind == Kind.BRANCH_SUMMARY:
            sign = (glyphs.branch_summary, "memory")
        elif kind not in HEADS:
            sign = (glyphs.rail, "leaf")
        return PathRow((sign, (" ", "faint"), (" ", "faint")), self._text.headline(head), "sub")

    def _left_row(self, left: int, ancestor: int, *, last: bool) -> PathRow:
        tree, glyphs = self._text.session.tree, self._text.glyphs
        entries = self._text.session.columns.entries_in(
            range(run.start, run.stop) for run in tree.below(ancestor, left)
        )
        head = self._first_head(ancestor, left)
        joint = (glyphs.branch_last, "faint") if last else (glyphs.branch, "leaf")
        return PathRow(
            (joint, (glyphs.arm, "faint"), (glyphs.prompt_off, "sub")),
            self._text.headline(head if head >= 0 else left),
            "faint",
            f"abandoned: {counted(entries, 'entry', 'entries')}",
            "warn",
        )

    def _first_head(self, above: int, entry: int) -> int:
        """The first entry that begins a row on the path below `above` and down to `entry`; -1 for none."""
        kind, runs = self._text.session.columns.kind, self._text.session.tree.below(above, entry)
        found = (kind.find(head, run.start, run.stop) for run in runs for head in HEADS)
        return min((at for at in found if at >= 0), default=NO_ENTRY)

    def _heads(self, above: int, entry: int, most: int) -> list[int]:
        """The last entries that begin a row on the path below `above` and down to `entry`, top first."""
        kind = self._text.session.columns.kind
        found: list[int] = []
        for run in reversed(self._text.session.tree.below(above, entry)):
            stop = run.stop
            while len(found) < most:
                at = max(kind.rfind(head, run.start, stop) for head in HEADS)
                if at < 0:
                    break
                found.append(at)
                stop = at
        return found[::-1]

    def _turns(self, above: int, entry: int) -> int:
        kind = self._text.session.columns.kind
        runs = self._text.session.tree.below(above, entry) if entry >= 0 else []
        return sum(kind.count(head, run.start, run.stop) for run in runs for head in HEADS)
