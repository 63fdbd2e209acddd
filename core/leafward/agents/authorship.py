"""The entries of an open session that its agent wrote: Leafward's own are among them and cannot be copied into its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import NO_ENTRY, EntryIndex, Kind
from leafward.session.journal.write import WriteRemark

if TYPE_CHECKING:
    from leafward.agents.fork_draft import ForkPoint
    from leafward.session.columns import Columns
    from leafward.session.session import Session


class OwnCut(NamedTuple):
    """A cut in the entries that the agent wrote."""

    entry: EntryIndex
    """The requested entry, or the agent's nearest entry above it."""
    end: EntryIndex
    prompt: EntryIndex
    passed: int
    """Entries of ours, above the end, that are not copied."""

    def last(self, columns: Columns) -> int:
        """The last entry of the path that is copied; -1 for none.

        Before a prompt, the entry that it follows; else the requested entry, or the entry above a command that stands unanswered
        behind the last reply.
        """
        if self.prompt >= 0:
            return columns.parent[self.prompt]
        chosen = at = int(self.entry)
        while at >= 0 and at != self.end:
            if columns.kind[at] == Kind.CUSTOM_MESSAGE:
                chosen = columns.parent[at]
            at = columns.parent[at]
        return chosen

    def remarks(self) -> tuple[WriteRemark, ...]:
        """Remarks on the entries that are not copied."""
        if not self.passed:
            return ()
        text = f"notes of Leafward are not copied ({self.passed:,}: labels, moves)"
        return (WriteRemark("leafward-entries", text),)


def own_cut(session: Session, columns: Columns, cut: ForkPoint) -> OwnCut:
    """A cut of a session, in the columns that its reader made."""
    if columns is session.columns:
        return OwnCut(cut.entry, cut.end, cut.prompt, 0)
    ids, parents = session.columns.id, session.columns.parent
    passed: set[int] = set()

    def owned(index: int) -> EntryIndex:
        while index >= 0:
            found = columns.index(ids(EntryIndex(index)))
            if found >= 0:
                return EntryIndex(found)
            passed.add(index)
            index = parents[index]
        return NO_ENTRY

    end = owned(cut.end)
    prompt = owned(cut.prompt) if cut.prompt >= 0 else NO_ENTRY
    entry = owned(cut.entry) if cut.prompt < 0 else prompt
    at: int = cut.end
    while at >= 0:
        if columns.index(ids(EntryIndex(at))) < 0:
            passed.add(at)
        at = parents[at]
    return OwnCut(entry, end, prompt, len(passed))
