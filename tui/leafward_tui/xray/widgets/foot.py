"""The foot of the X-ray: the ledger, which adds up to both totals, and the text about the line under the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from leafward.compaction.xray.alignment import Link
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import count, exact, fit, right
from leafward_tui.xray.model.captions import LINK_INK, LINK_WORD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.compaction.xray.alignment import Share, XRay
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.appearance.theme import Ground

_NAME = 10
_TOTAL = 11
_LEAST_BAR = 12
_LEAST = 10
"""Cells of a column that holds a sum with all its digits and its sign."""


class LedgerBar(Painted):
    """Three rows: the fates of the context's parts, the sums before, the sums after."""

    DEFAULT_CSS = "LedgerBar { height: 3; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._xray: XRay | None = None

    def show(self, xray: XRay | None) -> None:
        """Shows the ledger of an X-ray."""
        self._xray = xray
        self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """Heads, before, after."""
        glyphs, xray = services_of(self).glyphs, self._xray
        if xray is None or y > 2:
            return []
        shares = [
            share
            for share in xray.ledger
            if share.before
            or share.after
            # Edits neither summarise nor inject: columns that are always empty for them are left out.
            or not (xray.of_edits or share.link in (Link.SYSTEM, Link.REST, Link.ERROR))
        ]
        if (width - _NAME - _TOTAL - 3) // len(shares) < _LEAST:
            # Empty columns go first, then the last digits.
            shares = [share for share in shares if share.before or share.after] or shares[:1]
        name, columns = ledger_columns(shares, width, glyphs, of_edits=xray.of_edits)
        taken = name + _TOTAL + 4 + sum(cells for _, cells in columns)
        bar = max(0, width - taken)
        bar = min(24, bar - 2) if bar - 2 >= _LEAST_BAR else 0
        spare = width - taken - bar
        segments = [Segment(" " * 2, ground.blank)]
        if y == 0:
            segments.append(Segment(fit("Ledger", name - 1, pad=True), ground.strong))
            segments += [
                Segment(right(title, cells), getattr(ground, LINK_INK[share.link]))
                for share, (title, cells) in zip(shares, columns, strict=True)
            ]
            segments.append(Segment(" " * (spare + bar), ground.blank))
            return [*segments, Segment(right("total", _TOTAL), ground.faint)]
        after = y == 2
        segments.append(Segment(fit("after" if after else "before", name - 1, pad=True), ground.faint))
        for share, (_, cells) in zip(shares, columns, strict=True):
            amount = share.after if after else share.before
            unknown = after and share.link is Link.REST and xray.lacks_rest
            segments.append(
                Segment(right("unknown", cells, ellipsis=glyphs.ellipsis), ground.faint)
                if unknown
                else _amount(amount, cells, glyphs, ground)
            )
        total = xray.after if after else xray.before
        segments.append(Segment(" " * spare, ground.blank))
        segments += _bar(total, max(xray.before, xray.after), bar, glyphs, ground, after=after)
        sign = "" if (xray.recorded if after else xray.recorded_before) else "~"
        return [*segments, Segment(right(f"{sign}{exact(total)}", _TOTAL), ground.strong)]


_SIGN = {
    Link.KEPT: "kept",
    Link.REPLACED: "compaction",
    Link.INJECTED: "injected",
    Link.CUT: "cut",
}
"""The glyph beside the head of a column, by its name; each stands beside one head, so a split turn has none."""


def ledger_columns(
    shares: Sequence[Share], width: int, glyphs: Glyphs, *, of_edits: bool = False
) -> tuple[int, list[tuple[str, int]]]:
    """Cells of the names of the rows, and the head of each column with its cells; `of_edits` for context edits.

    Columns are alike where whole heads fit; else each is as wide as its own head and sums, two cells apart where that
    fits.
    """
    cells = min(18, (width - _NAME - _TOTAL - 3) // len(shares))
    heads = [_head(share, glyphs, cells - 2, of_edits=of_edits) for share in shares]
    if all(cell_len(head) < cells - 1 for head in heads):
        return _NAME, [(head, cells) for head in heads]
    name = cell_len("before") + 2
    room = width - name - _TOTAL - 2
    whole, short = (
        [max(cell_len(number(amount)) for amount in (share.before, share.after)) for share in shares]
        for number in (exact, count)
    )
    for gap, digits in ((2, whole), (1, whole), (1, short)):
        for most in range(max(cells - gap, *map(cell_len, LINK_WORD.values())), 0, -1):
            heads = [_head(share, glyphs, most, of_edits=of_edits) for share in shares]
            wide = [max(cell_len(head), one) + gap for head, one in zip(heads, digits, strict=True)]
            if sum(wide) <= room:
                return name, list(zip(heads, wide, strict=True))
    # Short sums stay whole; the cells that are left go to the narrowest columns whose heads are cut.
    columns = (
        [one + 1 for one in short] if sum(short) + len(short) <= room else [room // len(shares)] * len(shares)
    )
    for _ in range(room - sum(columns)):
        cut = [at for at, head in enumerate(heads) if cell_len(head) >= columns[at]]
        columns[min(cut, key=columns.__getitem__)] += 1
    return name, [
        (fit(head, cells - 1, ellipsis=glyphs.ellipsis), cells)
        for head, cells in zip(heads, columns, strict=True)
    ]


_SHORTER = {Link.ERROR: ("est. error", "error"), Link.PREFIX: ("split",)}
"""Heads for columns with less room, the longest first."""


def _head(share: Share, glyphs: Glyphs, most: int, *, of_edits: bool) -> str:
    """The sign and the words of a column, in the longest form of at most `most` cells, else in the shortest."""
    by_edit = of_edits and share.link is Link.CUT
    sign = "differs" if by_edit else _SIGN.get(share.link, "")
    glyph = f"{getattr(glyphs, sign)} " if sign else ""
    # "Freed" is the loss of the context, which is more where a provider counts more than the estimate.
    words = ("cut",) if by_edit else (LINK_WORD[share.link], *_SHORTER.get(share.link, ()))
    heads = [head for word in words for head in (glyph + word, word)]
    return next((head for head in heads if cell_len(head) <= most), heads[-1])


def _amount(amount: int, cells: int, glyphs: Glyphs, ground: Ground) -> Segment:
    if not amount:
        return Segment(right(glyphs.zero, cells), ground.edge)
    number = exact(amount) if cell_len(exact(amount)) < cells else count(amount)
    return Segment(right(number.replace("-", glyphs.minus), cells), ground.text)


def _bar(
    total: int, largest: int, cells: int, glyphs: Glyphs, ground: Ground, *, after: bool
) -> list[Segment]:
    if not cells or largest <= 0:
        return []
    done = max(1, round(total * cells / largest)) if total > 0 else 0
    return [
        Segment(glyphs.thin * done, ground.leaf if after else ground.sub),
        Segment(glyphs.hairline * (cells - done), ground.edge),
    ]


class AboutLine(Painted):
    """Two rows about the line under the cursor, or the effect of the last key."""

    DEFAULT_CSS = "AboutLine { height: 2; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[list[tuple[str, str]]] = []
        self._message: tuple[str, str] = ("", "")

    def show(self, lines: list[list[tuple[str, str]]]) -> None:
        """Shows texts with the names of their inks, a list for each row. Other texts than before remove a message."""
        if lines != self._lines:
            self._lines, self._message = lines, ("", "")
            self.refresh()

    def say(self, text: str, ink: str = "warn") -> None:
        """Shows a message until the next key; an empty text removes it."""
        if (text, ink) != self._message:
            self._message = (text, ink)
            self.refresh()

    @property
    def text(self) -> str:
        """The text of the rows."""
        lines = ["".join(text for text, _ in line) for line in self._lines]
        return self._message[0] or "\n".join(lines)

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """One row; where it is too long, the longest text is cut."""
        if self._message[0]:
            text, ink = self._message
            line = [(text, ink)] if y == 0 else []
        else:
            line = self._lines[y] if y < len(self._lines) else []
        lead = " " * (2 if y == 0 or self._message[0] else 10)
        room = width - len(lead) - 1
        over = sum(cell_len(text) for text, _ in line) - room
        if over > 0:
            longest = max(range(len(line)), key=lambda at: cell_len(line[at][0]))
            text, ink = line[longest]
            line = list(line)
            line[longest] = (
                fit(text, max(4, cell_len(text) - over), ellipsis=services_of(self).glyphs.ellipsis),
                ink,
            )
        return [Segment(lead, ground.blank), *(Segment(text, getattr(ground, ink)) for text, ink in line)]
