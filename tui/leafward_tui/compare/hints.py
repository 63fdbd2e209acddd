"""Texts of the comparison's title and key bar in its present state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.compare.model.content import Show
from leafward_tui.compare.state import Page
from leafward_tui.ui.bars.title_bar import Fact
from leafward_tui.ui.keys.key_bar import Hint
from leafward_tui.ui.text.cells import fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward_tui.compare.state import CompareState, ReadState
    from leafward_tui.ui.appearance.glyphs import Glyphs


def hints_of(state: CompareState, *, searched: bool, three_columns: bool, on_fold: bool) -> Sequence[Hint]:
    """The hints of the key bar, the most important first; `on_fold` where the cursor is on folded lines."""
    reload = (Hint("session.reload"),) if state.file.changed else ()
    return (*reload, *_hints(state, searched=searched, three_columns=three_columns, on_fold=on_fold))


def _hints(state: CompareState, *, searched: bool, three_columns: bool, on_fold: bool) -> Sequence[Hint]:
    page, seen, content = state.page, state.read.overall, state.content
    if seen is None:
        return (Hint("app.back"),)
    back = Hint("mode.leave", "back" if page is Page.FILES else "files")
    if searched:
        back = Hint("mode.leave", "end search", "end")
        hits = Hint(("change.next", "change.previous"), "hit")
        return (hits, back, Hint("compare.find"))
    tab = Hint("pane.next", "next tab", "next")
    if page in (Page.FILES, Page.CONTENTS) and not len(seen.sets):
        return (
            tab,
            Hint("sides.swap", "swap A B", "swap"),
            back,
            Hint("carry.open"),
            Hint("comparison.save"),
        )
    if page is Page.FILES:
        columns = (Hint(("column.left", "column.right"), "column"),) if three_columns else ()
        ancestor = {Show.SIDES: "ancestor as A", Show.FROM_ANCESTOR: "three-way"}.get(content.show, "A and B")
        return (
            Hint("compare.enter", "open"),
            tab,
            Hint(("change.next", "change.previous"), "change"),
            back,
            Hint("sides.swap", "swap A B", "swap"),
            Hint("ancestor.show", ancestor, "ancestor"),
            *columns,
            Hint("compare.find"),
            Hint("carry.open"),
            Hint("comparison.save"),
            Hint("file.timeline"),
            Hint("base.toggle", "no base" if state.files.based else "base"),
            Hint("copy.text", "copy diff", "copy"),
        )
    if page is Page.CONTENTS:
        return (
            Hint(("change.next", "change.previous"), "change"),
            Hint(("column.left", "column.right"), "file"),
            Hint("compare.enter", "unfold" if on_fold else "whole line"),
            back,
            tab,
            Hint("ancestor.show", "ancestor"),
            Hint("compare.fold", "show same" if content.fold else "fold same", "same"),
            Hint("compare.find"),
            Hint("base.toggle", "no base" if state.files.based else "base"),
            Hint("copy.text", "copy diff", "copy"),
        )
    if page is Page.SUMMARY:
        return (
            Hint(("change.next", "change.previous"), "difference", "change"),
            Hint("compare.enter", "whole line", "read"),
            Hint("compare.fold", "show same" if not content.fold else "fold same", "same"),
            back,
            tab,
            Hint("compare.find"),
            Hint("difference.pin"),
        )
    return (
        Hint("compare.enter", "show entry", "show"),
        back,
        tab,
        Hint("compare.find"),
    )


def title_facts(read: ReadState, found: Fact | None, width: int, glyphs: Glyphs) -> list[Fact]:
    """The number of hits, and the common ancestor of both entries."""
    seen = read.overall
    facts = [found] if found is not None else []
    if seen is None:
        return facts
    ancestor = seen.sides.ancestor
    if ancestor >= 0:
        facts.append(Fact(f"common ancestor #{ancestor:,}", short=f"ancestor #{ancestor:,}", keep=5))
    if seen.plain:
        facts.append(Fact(seen.plain, keep=4, hue="warn"))
    elif width >= 120 and seen.ancestor:
        words = fit(seen.ancestor, width // 4, ellipsis=glyphs.ellipsis)
        facts.append(Fact("last shared entry:", words, short="", keep=1))
    return facts
