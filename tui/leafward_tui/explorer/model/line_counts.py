"""Rows and tokens of a line of the tree, the same in its row and at the foot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.session.entries import PROMPTS, Kind
from leafward.session.tree.density import Density
from leafward_tui.explorer.model.folds import LineKind

if TYPE_CHECKING:
    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.tree.tree_layout import Layout
    from leafward_tui.explorer.model.folds import ShownLine


def line_tokens(metrics: EntryMetrics, layout: Layout, line: ShownLine, tokens: int) -> int:
    """The tokens of a line whose entries have `tokens` tokens.

    Where a row is an entry, a call and its result share one row. A reply with several calls has no row of its own then:
    each result's row includes its call's share of the reply.
    """
    entry = layout.head[line.row]
    share = metrics.shares.get(entry) if line.kind is LineKind.ROW and line.rows == 1 else None
    if share is None or layout.density is not Density.ENTRIES:
        return tokens
    tree, reply = layout.tree, entry
    while reply >= 0 and tree.kind[reply] != Kind.ASSISTANT:
        reply = tree.parent[reply]
    if reply < 0 or not layout.dropped or not layout.dropped[reply]:
        return tokens
    return metrics.tokens[entry] + share


def rows_words(layout: Layout, line: ShownLine) -> str:
    """The number of rows of a line: turns where there are any among them."""
    if layout.density is Density.ENTRIES:
        return counted(line.rows, "entry", "entries")
    kind = layout.tree.kind
    heads = layout.head[line.row : line.row + line.rows]
    turns = sum(kind[entry] in PROMPTS for entry in heads)
    return counted(turns, "turn") if turns else counted(line.rows, "row")


def fold_words(layout: Layout, line: ShownLine) -> str:
    """The content of folded rows: turns, or consecutive compactions."""
    kind = layout.tree.kind
    heads = layout.head[line.row : line.row + line.rows]
    compactions = sum(kind[entry] == Kind.COMPACTION for entry in heads)
    return counted(compactions, "compaction") if compactions else rows_words(layout, line)
