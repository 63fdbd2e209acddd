"""The keys of the explorer that matter in a state, for the key bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward_tui.ui.inspector_tab import Tab
from leafward_tui.ui.key_bar import Hint

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Situation", "hints"]


class Situation(NamedTuple):
    """What the keys go by."""

    failed: bool = False
    """There is no session to show."""
    summarising: bool = False
    in_tree: bool = True
    tab: Tab = Tab.ENTRY
    bare: bool = False
    """There are no rows."""
    hidden: bool = False
    """Of a session without rows: whether it has entries."""
    proposed: bool = False
    """Whether a move is proposed and has its price."""
    on_path: bool = False
    """Whether the cursor is on the path to the leaf."""
    on_fold: bool = False
    """Whether the cursor is on rows that are folded."""
    damaged: bool = False
    """Whether lines of the file are damaged."""
    on_compaction: bool = False
    """Whether the cursor is on a compaction or a context edit."""


def hints(now: Situation) -> Sequence[Hint]:
    """The keys, the most important first."""
    if now.failed:
        return (Hint("app.back"),)
    if now.summarising:
        return (Hint("mode.leave", "cancel summary"), Hint("tab.context"), Hint("compare.open"))
    if not now.in_tree:
        return (
            Hint("move.here", "open", key_only=True),
            Hint("mode.leave", "tree"),
            Hint("pane.next", "next tab", "next"),
            *((Hint("file.timeline"),) if now.tab is Tab.FILES else ()),
            Hint("copy.text"),
        )
    if now.bare:
        return (*((Hint("density.next", "show entries"),) if now.hidden else ()), Hint("app.back"))
    through = (Hint("xray.open"),) if now.on_compaction else ()
    compact = (Hint("lab.open"),) if now.on_path else ()
    heal = (Hint("session.heal"),) if now.damaged else ()
    common = (*through, *heal, Hint("tab.context"), Hint("compare.open"), Hint("session.fork"), *compact)
    if now.on_fold:
        return (
            Hint("move.here", "unfold", key_only=True),
            Hint("mode.leave", "back to leaf", "leaf"),
            Hint("compare.open"),
            Hint("session.fork"),
            Hint("find.open"),
            Hint("fold.all"),
            Hint(("branch.previous", "branch.next")),
        )
    if now.proposed:
        leave = Hint("mode.leave", "back to leaf", "leaf")
        return (Hint("move.here"), leave, *common, Hint("mark.set"), Hint("operation.undo"))
    return (
        *common,
        Hint("find.open"),
        Hint("fold.toggle"),
        Hint("filter.choose"),
        Hint(("branch.previous", "branch.next")),
        Hint("label.edit"),
        Hint("density.next"),
        Hint("log.open"),
    )
