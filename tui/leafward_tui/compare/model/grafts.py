"""Turns of one branch that can be grafted, as lines to choose from, and what is to be said of those that are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.base.safe_text import safe_line
from leafward.session.entries import PROMPTS, EntryIndex
from leafward.session.headline import headline
from leafward_tui.ui.cells import count, counted, fit, right, wrap
from leafward_tui.ui.pane_lines import Block, LabLine, Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from leafward.branches.transfer import GraftDraft
    from leafward.session.session import Session
    from leafward_tui.ui.glyphs import Glyphs

__all__ = ["GraftTurn", "graft_turns", "turn_lines", "validation"]


class GraftTurn(NamedTuple):
    """A turn of a branch."""

    entries: tuple[EntryIndex, ...]
    words: str
    """What it begins with, safe."""


def graft_turns(session: Session, entries: Iterable[int]) -> list[GraftTurn]:
    """The entries of a branch by turns; what stands before the first prompt is one, too."""
    kinds = session.columns.kind
    found: list[list[EntryIndex]] = []
    for at in entries:
        if not found or kinds[at] in PROMPTS:
            found.append([])
        found[-1].append(EntryIndex(at))
    return [GraftTurn(tuple(turn), headline(session, turn[0]).text) for turn in found]


def turn_lines(turns: Sequence[GraftTurn], chosen: Collection[int], width: int, glyphs: Glyphs) -> Block:
    """The turns, each with whether it is chosen."""
    lines = []
    for number, turn in enumerate(turns):
        here = number in chosen
        sign = Span(f"[{glyphs.ok if here else ' '}] ", "leaf" if here else "faint")
        size = right(counted(len(turn.entries), "entry", "entries"), 12)
        words = fit(turn.words, max(4, width - 4 - len(size)), pad=True, ellipsis=glyphs.ellipsis)
        spans = (sign, Span(words, "text" if here else "sub"), Span(size, "faint"))
        lines.append(LabLine(spans, f"turn:{number}", turn.entries[0]))
    return Block(lines)


def validation(draft: GraftDraft | str | None, width: int, glyphs: Glyphs) -> Block:
    """What appending would do and what does not fit; in place of a draft why it is refused, None while it is worked out."""
    if draft is None:
        return Block([LabLine((Span("choose turns with space", "nothing"),))])
    if isinstance(draft, str):
        return Block(_wrapped(f"{glyphs.error} ", draft, "bad", width, glyphs))
    appended = counted(len(draft.sources), "entry", "entries")
    if draft.added:
        appended += f", {len(draft.added):,} of them because calls and results belong together"
    grows = f"{count(draft.tokens)} tokens: {count(draft.tokens_before)} to {count(draft.tokens_after)} of {count(draft.window)}"
    lines = [LabLine((Span(fit(f"{appended}   {grows}", width, ellipsis=glyphs.ellipsis), "text"),))]
    if not draft.misfits:
        lines.append(LabLine((Span(f"{glyphs.ok} everything fits there", "leaf"),)))
    for misfit in draft.misfits:
        lines += _wrapped(f"{glyphs.malformed} ", misfit.text, "warn", width, glyphs)
    return Block(lines)


def _wrapped(sign: str, text: str, ink: str, width: int, glyphs: Glyphs) -> list[LabLine]:
    parts = wrap(safe_line(text, 400), max(4, width - len(sign)), lines=6, ellipsis=glyphs.ellipsis) or [""]
    blank = " " * len(sign)
    return [
        LabLine((Span(blank if number else sign, ink), Span(part, "sub")))
        for number, part in enumerate(parts)
    ]
