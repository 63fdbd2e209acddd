"""The price of a move in words: entries dropped and added, tokens at full price, and surprises. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.text.cells import count, money

if TYPE_CHECKING:
    from leafward.context.price import Price
    from leafward_tui.ui.appearance.glyphs import Glyphs

_IN_BRIEF = {
    "above-compaction": "compacted text comes back",
    "other-compaction": "another compaction applies",
    "into-compaction": "a compaction applies",
    "edits": "context edits lost",
    "empty": "before everything",
    "two-prompts": "no reply here",
    "dangling-calls": "calls without result",
    "model": "nothing cached",
}
"""Surprises in few words, by their code; used where one line has to hold them all."""

# A named tuple: making a frozen dataclass takes eight times as long, and the first frame waits for it.


class PriceWords(NamedTuple):
    """The price of a move."""

    parts: tuple[str, ...]
    """The most important first."""
    brief: str
    """The entries dropped and added, without tokens."""
    warnings: tuple[str, ...] = ()
    """Surprising effects of the move."""
    brief_warnings: tuple[str, ...] = ()
    """The warnings in few words where such a form exists, one for each."""

    @classmethod
    def of(cls, price: Price, glyphs: Glyphs) -> PriceWords:
        """The words for all of a price."""
        full: list[str] = []
        brief: list[str] = []
        unit = " tokens"
        for verb, side in (("drops", price.left), ("adds", price.entered)):
            if side.entries:
                # The counted thing is named once.
                number = f"{side.entries:,}" if full else counted(side.entries, "entry", "entries")
                brief.append(f"{verb} {number}")
                size = price.size_of(side)
                if size is None:
                    full.append(f"{verb} {number}")
                    continue
                full.append(f"{verb} {number} ({size[0]}{count(size[1], zero='0')}{unit})")
                unit = ""
        sign = price.after.sign
        again = f"{sign}{count(price.sent_again)}" if price.sent_again else "nothing"
        again += " at full price"
        if price.sent_again and price.cost_again:
            cost = money(price.cost_again)
            again += f" ({cost})" if cost.startswith("<") else f" (~{cost})"
        cached = f"{sign}{count(price.cached)} cached, " if price.cached else ""
        if price.expired:
            cached = "cache expired, "
        sizes = (f"{size.sign}{count(size.total, zero='0')}" for size in (price.before, price.after))
        context = f"context {f' {glyphs.arrow} '.join(sizes)}"
        files = price.file_words
        return cls(
            (
                ", ".join(full) or "drops and adds nothing",
                cached + again,
                context,
                *([f"files named on the path: {files}"] if files else []),
            ),
            ", ".join(brief) or "drops nothing",
            tuple(safe_line(text).replace(UNICODE.arrow, glyphs.arrow) for _, text in price.surprises),
            tuple(_IN_BRIEF.get(code) or safe_line(text) for code, text in price.surprises),
        )
