"""Texts of the comparison's title and key bar in its present state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.compare.model.content import Show
from leafward_tui.compare.state import Page
from leafward_tui.ui.bars.key_bar import Hint
from leafward_tui.ui.bars.title_bar import Fact
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
    page, seen = state.page, state.read.overall
    if seen is None:
        return (Hint("app.back"),)
    if searched:
        hits = Hint(("change.next", "change.previous"), "hit")
        return (hits, Hint("mode.leave", "end search", "end"), Hint("compare.find"))
    back = Hint("mode.leave", "back" if page is Page.FILES else "files")
    if page in (Page.FILES, Page.CONTENTS) and not len(seen.sets):
        return (
            _TAB,
            Hint("sides.swap", "swap A B", "swap"),
            back,
            Hint("carry.open"),
            Hint("comparison.save"),
        )
    match page:
        case Page.FILES:
            return _of_files(state, back, three_columns=three_columns)
        case Page.CONTENTS:
            return _of_contents(state, back, on_fold=on_fold)
        case Page.SUMMARY:
            return _of_summary(state, back)
        case _:
            return (Hint("compare.enter", "show entry", "show"), back, _TAB, Hint("compare.find"))


_TAB = Hint("pane.next", "next tab", "next")


def _of_files(state: CompareState, back: Hint, *, three_columns: bool) -> Sequence[Hint]:
    columns = (Hint(("column.left", "column.right"), "column"),) if three_columns else ()
    shows = {Show.SIDES: "ancestor as A", Show.FROM_ANCESTOR: "three-way"}
    return (
        Hint("compare.enter", "open"),
        _TAB,
        Hint(("change.next", "change.previous"), "change"),
        back,
        Hint("sides.swap", "swap A B", "swap"),
        Hint("ancestor.show", shows.get(state.content.show, "A and B"), "ancestor"),
        *columns,
        Hint("compare.find"),
        Hint("carry.open"),
        Hint("comparison.save"),
        Hint("file.timeline"),
        Hint("base.toggle", "no base" if state.files.based else "base"),
        Hint("copy.text", "copy diff", "copy"),
    )


def _of_contents(state: CompareState, back: Hint, *, on_fold: bool) -> Sequence[Hint]:
    return (
        Hint(("change.next", "change.previous"), "change"),
        Hint(("column.left", "column.right"), "file"),
        Hint("compare.enter", "unfold" if on_fold else "whole line"),
        back,
        _TAB,
        Hint("ancestor.show", "ancestor"),
        _fold(state),
        Hint("compare.find"),
        Hint("base.toggle", "no base" if state.files.based else "base"),
        Hint("copy.text", "copy diff", "copy"),
    )


def _of_summary(state: CompareState, back: Hint) -> Sequence[Hint]:
    return (
        Hint(("change.next", "change.previous"), "difference", "change"),
        Hint("compare.enter", "whole line", "read"),
        _fold(state),
        back,
        _TAB,
        Hint("compare.find"),
        Hint("difference.pin"),
    )


def _fold(state: CompareState) -> Hint:
    return Hint("compare.fold", "show same" if state.content.fold else "fold same", "same")


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
