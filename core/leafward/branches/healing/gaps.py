"""Gaps in a path: entries whose parent is not in the file, and the entries before them in the file.

Agents append, so the lost parent followed the entry before the gap in the file. Claude Code reads its transcripts that way since
2.1.197 where at most five seconds passed (2.1.332), and its reader here does so always; pi, and earlier versions of Claude Code,
continue without everything before the gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.conversation import Conversation
from leafward.agents.fork_draft import ForkPoint, last_said
from leafward.agents.model_window import context_window
from leafward.base.figures import counted
from leafward.branches.healing.refused_blocks import HealedDifference
from leafward.context.model_context import context_at
from leafward.session.entries import NO_ENTRY, Damage, EntryIndex, Kind

if TYPE_CHECKING:
    from leafward.agents.conversation import ConversationMessage
    from leafward.base.config import Config
    from leafward.session.session import Session

_LOST = "the entry before it is not in the file"


def before_gaps(
    session: Session, place: int, config: Config | None
) -> tuple[list[ConversationMessage], list[HealedDifference]]:
    """The messages before the beginning of the path to a place, where that is a gap, and a change for each such gap.

    Nothing is added to a path with a compaction, whose context begins there, nor, with `config`, anything beyond the window.
    """
    damage, kinds = session.columns.damage, session.columns.kind
    messages: list[ConversationMessage] = []
    changes: list[HealedDifference] = []
    at = place
    total = context_at(session, at).size.total
    # In a damaged file a parent may stand below its child: the path to an entry before a gap may begin at or behind the gap.
    nearest = len(session)
    while True:
        path = session.tree.path(at)
        lost = [EntryIndex(one) for one in path if damage.get(one) == Damage.ORPHAN]
        begins = bool(lost) and lost[0] == path[0]
        if not begins or not 0 < lost[0] < nearest or any(kinds[one] == Kind.COMPACTION for one in path):
            return messages, changes
        nearest = lost[0]
        above, _ = _spoken_above(session, EntryIndex(lost[0] - 1))
        end = last_said(session, above)
        if end < 0:
            return messages, changes
        context = context_at(session, end)
        total += context.size.total
        if config is not None and total > context_window(session, context, config).tokens:
            changes.append(
                HealedDifference(
                    "gap", f"{_LOST}, and the window has no room for what comes before it", lost[0]
                )
            )
            return messages, changes
        past = Conversation(session, ForkPoint(end, end, NO_ENTRY, None, end))
        earlier = list(past.raw_messages())
        text = f"{_LOST}: {counted(len(earlier), 'message')} from before it in the file come first"
        changes.append(HealedDifference("gap", text, lost[0]))
        messages = [*earlier, *messages]
        at = end


def spoken_place(session: Session) -> tuple[EntryIndex, EntryIndex]:
    """The end of the conversation: the place, or the entry before a gap behind which nothing was said; and that gap.

    -1 where nothing was said at all, and where there is no such gap.
    """
    return _spoken_above(session, session.place if session.place >= 0 else session.leaf)


def _spoken_above(session: Session, at: EntryIndex) -> tuple[EntryIndex, EntryIndex]:
    """The end of the conversation at or above an entry, and the gap below it; -1 each where there is none."""
    damage, columns = session.columns.damage, session.columns
    gap = NO_ENTRY
    while at >= 0 and last_said(session, at) < 0:
        first = EntryIndex(next(iter(session.tree.path(at)), NO_ENTRY))
        # Each gap has to stand above the one before, or two gaps with missing parents would lead to each other forever.
        if first <= 0 or damage.get(first) != Damage.ORPHAN or 0 <= gap <= first:
            return NO_ENTRY, NO_ENTRY
        gap, at = first, EntryIndex(first - 1)
        while at >= 0 and columns.kind[at] == Kind.MALFORMED:
            at = EntryIndex(columns.parent[at])
    return at, gap


def gap_at_end(gap: EntryIndex) -> HealedDifference:
    """The change that says that nothing was said behind a gap."""
    return HealedDifference(
        "gap", f"{_LOST}, and nothing was said after it: the session goes on before it", gap
    )
