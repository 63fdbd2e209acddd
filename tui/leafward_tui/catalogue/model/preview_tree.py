"""The small tree of the preview: the path from its first prompt to the leaf, its landmarks, and the turns between.

Its rows cover the whole session: their turns are those of the list, their entries those of the session's title.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.session.entries import BOOKKEEPING_BYTES, PROMPTS, EntryIndex, Kind
from leafward.session.headlines.entry_headline import headline
from leafward_tui.ui.words.size_change import SizeChange

if TYPE_CHECKING:
    from leafward.context.basis import Basis
    from leafward.session.session import Session
    from leafward.session.tree.tree import Run

_BRANCHES = 3
"""The latest branches and branch summaries, which have rows of their own; those before count in the turns between."""
_COMPACTIONS = 6
"""The latest compactions, which have rows of their own; those before count in the turns between."""
_PROMPT = re.compile(b"[" + re.escape(bytes(PROMPTS)) + b"]")


class Sign(StrEnum):
    """The kinds of rows of the small tree."""

    PROMPT = "prompt"
    BRANCH = "branch"
    RUN = "run"
    COMPACTION = "compaction"
    SUMMARY = "summary"
    LEAF = "leaf"


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One row of the small tree."""

    sign: Sign
    text: str
    number: int | None = None
    """Its entries; those of compactions and branch summaries count in the next row with a number."""
    turns: int = 0
    """Its turns."""
    change: SizeChange | None = None
    """The change of the context's size by a compaction."""


class _Mark(NamedTuple):
    """A landmark of the path."""

    position: int
    """Its position on the path; of a branch, that of the entry after the one it leaves."""
    sign: Sign
    entry: EntryIndex
    """The entry that names its row."""
    entries: int = 0
    """Of a branch, all of its entries."""
    turns: int = 0


def tree_rows(session: Session, place: int, basis: Basis) -> tuple[TreeRow, ...]:
    """The rows of a session up to an entry of the conversation; none for -1."""
    path = session.tree.path_runs(place)
    return _Rows(session, path, basis).rows() if path else ()


class _Rows:
    """Makes the rows of one path from its beginning on."""

    def __init__(self, session: Session, path: list[Run], basis: Basis) -> None:
        self._session, self._path, self._basis = session, path, basis
        kinds = session.columns.kind
        self._kinds = b"".join(bytes(kinds[run.start : run.stop]) for run in path)
        self._prompts = [found.start() for found in _PROMPT.finditer(self._kinds)]
        self._ends = list(accumulate(run.stop - run.start for run in path))
        """The number of entries on the path up to the end of each of its runs."""
        self._rows: list[TreeRow] = []
        self._folded: list[_Mark] = []
        """Marks without a row that are not counted in a row yet."""
        self._uncounted = 0
        """Entries of rows without a number."""

    def rows(self) -> tuple[TreeRow, ...]:
        """All of them."""
        marks = [*self._memories(), *self._branches()]
        shown = self._shown(marks)
        folded = (mark for mark in marks if mark not in shown and mark.sign is not Sign.SUMMARY)
        self._folded = sorted(folded, key=lambda mark: mark.position)
        end = len(self._kinds)
        at = 0
        marked = sum(mark.entries for mark in marks)
        for mark in shown:
            if mark.position >= end:
                continue
            self._between(at, mark.position)
            at = mark.position
            if mark.sign is Sign.BRANCH:
                self._rows.append(self._branch(mark))
            else:
                self._rows.append(self._memory(mark))
                self._uncounted += 1
                at += 1
        beside = self._session.columns.entries - self._entries(0, end) - marked
        self._last(at, end, beside)
        self._rows += [self._branch(mark) for mark in shown if mark.position >= end]
        return tuple(self._rows)

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _first(self, at: int, end: int) -> int:
        """Adds the row of the first turn, with the entries before it; the position where the next row begins."""
        if at or not self._prompts or self._prompts[0] >= end:
            return at
        end = min([end, *self._prompts[1:2]])
        self._add(Sign.PROMPT, self._headline(self._prompts[0]), self._entries(0, end), 1)
        return end

    def _between(self, at: int, end: int) -> None:
        """Adds a row for turns without a row of their own, and the marks folded among them."""
        at = self._first(at, end)
        turns, entries = self._turns(at, end), self._entries(at, end)
        folded = [mark for mark in self._folded if mark.position <= end]
        if not entries and not folded:
            return
        self._folded = self._folded[len(folded) :]
        turns += sum(mark.turns for mark in folded)
        entries += sum(mark.entries for mark in folded)
        goes_on = "turn goes on" if self._prompts and self._prompts[0] < at else "before the first prompt"
        text = counted(turns, "turn") if turns else goes_on
        for sign, one, many in (
            (Sign.BRANCH, "branch", "branches"),
            (Sign.COMPACTION, "compaction", "compactions"),
        ):
            number = sum(mark.sign is sign for mark in folded)
            text += f", with {counted(number, one, many)}" if number else ""
        self._add(Sign.RUN, text, entries, turns)

    def _last(self, at: int, end: int, beside: int) -> None:
        """Adds the row of the leaf: the last turn, or the entries after the last row, with bookkeeping from elsewhere."""
        last = next((prompt for prompt in reversed(self._prompts) if prompt >= at), -1)
        if last >= 0 and last != self._prompts[0]:
            self._between(at, last)
            at = last
        elif last >= 0:
            at = 0
        self._uncounted += beside
        if at < end:
            first = at + len(self._kinds[at:end]) - len(self._kinds[at:end].lstrip(BOOKKEEPING_BYTES))
            self._add(
                Sign.LEAF,
                self._headline(last if last >= 0 else min(first, end - 1)),
                self._entries(at, end),
                int(last >= 0),
            )
        elif self._rows and self._rows[-1].sign in (Sign.COMPACTION, Sign.SUMMARY):
            number, self._uncounted = self._uncounted, 0
            self._rows[-1] = replace(self._rows[-1], sign=Sign.LEAF, number=number)

    def _add(self, sign: Sign, text: str, entries: int, turns: int) -> None:
        self._rows.append(TreeRow(sign, text, entries + self._uncounted, turns))
        self._uncounted = 0

    def _branch(self, mark: _Mark) -> TreeRow:
        return TreeRow(Sign.BRANCH, headline(self._session, mark.entry).text, mark.entries, mark.turns)

    def _memory(self, mark: _Mark) -> TreeRow:
        """The row of a compaction, with the sizes of its row in the tree, or of a branch summary."""
        if mark.sign is Sign.SUMMARY:
            return TreeRow(mark.sign, "branch summary")
        return TreeRow(mark.sign, "compaction", change=SizeChange.of(self._basis, mark.entry))

    # --- places -------------------------------------------------------------------------------------------------------

    def _entry(self, position: int) -> EntryIndex:
        run = bisect_right(self._ends, position)
        return EntryIndex(self._path[run].stop - (self._ends[run] - position))

    def _entries(self, at: int, end: int) -> int:
        """The number of entries between two positions."""
        spans, begin = [], 0
        for run in self._path:
            stop = begin + run.stop - run.start
            if at < stop and begin < end:
                spans.append(range(run.start + max(0, at - begin), run.start + min(stop, end) - begin))
            begin = stop
        return self._session.columns.entries_in(spans)

    def _headline(self, position: int) -> str:
        return headline(self._session, self._entry(position)).text

    def _turns(self, at: int, end: int) -> int:
        return sum(at <= prompt < end for prompt in self._prompts)

    def _memories(self) -> list[_Mark]:
        found = []
        for kind, sign in ((Kind.COMPACTION, Sign.COMPACTION), (Kind.BRANCH_SUMMARY, Sign.SUMMARY)):
            at = self._kinds.find(kind)
            while at >= 0:
                found.append(_Mark(at, sign, self._entry(at)))
                at = self._kinds.find(kind, at + 1)
        return found

    def _branches(self) -> list[_Mark]:
        """Branches of the path, and other roots; each run once."""
        tree = self._session.tree
        on_path = {tree.run_of(run.start) for run in self._path}
        seen = set(on_path)
        found = [
            self._leaving(0, tree.content_from(root), tree.subtree_spans(root))
            for root in tree.content_children(-1)
            if root not in seen
        ]
        found = [mark for mark in found if mark.turns]
        position = 0
        for run in self._path:
            position += run.stop - run.start
            here = tree.run_of(run.start)
            end = tree.bounds(here)[1]
            if run.stop == end:
                for child in tree.content_children(here):
                    if child not in seen:
                        seen.add(child)
                        found.append(
                            self._leaving(position, tree.content_from(child), tree.subtree_spans(child))
                        )
                continue
            # The conversation goes on below the leaf.
            rest = bytes(self._session.columns.kind[run.stop : end])
            skipped = len(rest) - len(rest.lstrip(BOOKKEEPING_BYTES))
            spans = [range(run.stop, end), *tree.subtree_spans(here)[1:]]
            if skipped < len(rest):
                found.append(self._leaving(position, run.stop + skipped, spans))
            else:
                found += [
                    self._leaving(position, tree.content_from(child), tree.subtree_spans(child))
                    for child in tree.content_children(here)
                ]
        return found

    def _leaving(self, position: int, entry: int, spans: list[range]) -> _Mark:
        kinds = self._session.columns.kind
        turns = sum(len(_PROMPT.findall(kinds, span.start, span.stop)) for span in spans)
        return _Mark(position, Sign.BRANCH, EntryIndex(entry), self._session.columns.entries_in(spans), turns)

    @staticmethod
    def _shown(marks: list[_Mark]) -> list[_Mark]:
        # A branch leaves from the entry before its position.
        ordered = sorted(marks, key=lambda mark: (mark.position, mark.sign is not Sign.BRANCH))
        compactions = [mark for mark in ordered if mark.sign is Sign.COMPACTION][-_COMPACTIONS:]
        others = [mark for mark in ordered if mark.sign is not Sign.COMPACTION][-_BRANCHES:]
        kept = {*compactions, *others}
        return [mark for mark in ordered if mark in kept]
