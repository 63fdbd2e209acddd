"""Two entries as they are compared: their files and names first, then contexts and outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from leafward.branches.diff.contexts import ContextDifference, compare_contexts
from leafward.branches.diff.file_sets import FileSets, compare_files
from leafward.session.entries import NO_ENTRY
from leafward.session.headlines.entry_headline import row_text, turn_entry
from leafward_tui.ui.text.cells import count

if TYPE_CHECKING:
    from leafward.branches.diff.sides import Side, Sides
    from leafward.context.model_context import Context


class HeadEntry(NamedTuple):
    """One of the two entries, for the head."""

    letter: str
    words: str
    """The turn of the entry, as in the tree, safe."""
    entry: int
    entries: int
    turns: int
    edits: int
    size: str
    """Size of its context, with `~` where nobody counted it; empty until it is known."""
    leaf: bool
    mark: bool


@dataclass(frozen=True, slots=True)
class ComparedSides:
    """The values that are shown first: the files of both entries, and their names."""

    sides: Sides
    sets: FileSets
    named: tuple[HeadEntry, HeadEntry]
    ancestor: str
    """The first words of the common ancestor, safe; empty where there is none."""

    @property
    def plain(self) -> str:
        """The special relation of the pair; empty where both have gone their own way."""
        if self.sides.a.entry == self.sides.b.entry:
            return "A and B are the same entry"
        if self.sides.ancestor < 0:
            return "they have no common ancestor"
        above = self.sides.ancestor_side
        return f"{above} is an ancestor of {'B' if above == 'A' else 'A'}" if above else ""


@dataclass(frozen=True, slots=True)
class Overall(ComparedSides):
    """All values known before a file is opened, with the outcomes of both sides."""

    contexts: ContextDifference


def compared_sides(sides: Sides, mark: int) -> ComparedSides:
    """The values that are shown first. Decodes the first words of each side."""
    session = sides.session
    named = _named(sides, "A", sides.a, mark), _named(sides, "B", sides.b, mark)
    # Where the ancestor is bookkeeping, the entry of the conversation above it counts.
    content = session.tree.content_at(sides.ancestor) if sides.ancestor >= 0 else NO_ENTRY
    words = row_text(session, content) if content >= 0 else ""
    return ComparedSides(sides, compare_files(sides), named, words)


def looked_at(first: ComparedSides) -> Overall:
    """Both sides with their contexts and outcomes, which are decoded for it."""
    sides, (a, b) = first.sides, first.named
    contexts = compare_contexts(sides.session, sides.a.entry, sides.b.entry)
    named = a._replace(size=size_of(contexts.a)), b._replace(size=size_of(contexts.b))
    for side in (sides.a, sides.b):
        # Outcomes are computed on first use: here, in the job, and not while drawing.
        _ = side.outcomes
    return Overall(sides, first.sets, named, first.ancestor, contexts)


def size_of(context: Context) -> str:
    """The size of a context in brief, with `~` where no provider counted it."""
    return f"{context.sign}{count(context.total)}"


def _named(sides: Sides, letter: str, side: Side, mark: int) -> HeadEntry:
    session = sides.session
    known_by = turn_entry(session, side.entry, NO_ENTRY if sides.ancestor_side else sides.ancestor)
    words = row_text(session, known_by) if known_by >= 0 else "before everything"
    leaf = side.entry in (session.place, session.leaf)
    return HeadEntry(
        letter,
        words,
        side.entry,
        len(side.entries),
        side.turns,
        side.edits,
        "",
        leaf,
        0 <= mark == side.entry,
    )
