"""The drawing of X-ray lines: both sides and their connector, fitted to a width. Pure but for the words of a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from leafward.compaction.xray.alignment import Link, What
from leafward_tui.ui.text.cells import fit, right
from leafward_tui.ui.text.hits import lit
from leafward_tui.xray.model.arrangement import TELLS, Arrangement, Piece, Side, XRayLine
from leafward_tui.xray.model.captions import LINK_INK, LINK_WORD, Teller

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.style import Style

    from leafward.compaction.xray.alignment import Band
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.appearance.theme import Ground, Styles

LEAST_TWO = 99
"""Cells from which both sides stand beside each other: a screen of 100 with its scrollbar."""
WORD = 6
"""Cells of the kind column."""
TOKENS = 8
"""Cells of the number column, gap included."""
MIDDLE = 10
"""Cells between the sides: pointer, air, connector, air."""
_ARM = 6
"""Cells of a connector."""


@dataclass(frozen=True, slots=True)
class SideColumns:
    """The places of the two sides. Where only one is shown, the other has no cells."""

    width: int
    before: int
    """Cells of the side before, its cursor included."""
    after: int

    @classmethod
    def fitting(cls, width: int, side: Side) -> SideColumns:
        """The columns for a width; one of them where it is narrow."""
        if width >= LEAST_TWO:
            before = (width - MIDDLE) * 45 // 100
            return cls(width, before, width - MIDDLE - before)
        return cls(width, width, 0) if side is Side.BEFORE else cls(width, 0, width)

    @property
    def both(self) -> bool:
        """Whether both sides are on the screen."""
        return self.before > 0 and self.after > 0

    @property
    def after_at(self) -> int:
        """The first cell of the side after."""
        return self.before + MIDDLE if self.both else 0


@dataclass(frozen=True, slots=True)
class Painter:
    """Draws the lines of an arrangement in one state."""

    arrangement: Arrangement
    teller: Teller
    styles: Styles
    columns: SideColumns
    cursor: int
    """The line of the cursor."""
    side: Side
    """The side it is on."""
    lit: frozenset[int]
    """Lines of the other side that belong to the cursor's."""
    focused: bool
    query: str = ""
    """The words of the search, lit in the lines."""

    def line(self, at: int) -> Iterator[Segment]:
        """The segments of one line of the arrangement."""
        line = self.arrangement.lines[at]
        columns, styles = self.columns, self.styles
        if line.band < 0:
            yield Segment(" " * columns.width, styles.bg.blank)
            return
        if line.hidden:
            yield from self._hidden(line, at, columns)
            return
        if columns.before:
            yield from self._side(at, Side.BEFORE, columns.before)
        if columns.both:
            yield from self._middle(at)
        if columns.after:
            yield from self._side(at, Side.AFTER, columns.after)

    def _hidden(self, line: XRayLine, at: int, columns: SideColumns) -> Iterator[Segment]:
        glyphs = self.teller.glyphs
        selected = at == self.cursor
        ground = self.styles.sel if selected else self.styles.bg
        word = LINK_WORD[line.link] if line.link is not None else ""
        yield Segment(glyphs.cursor if selected else " ", ground.leaf)
        yield Segment(f" {glyphs.rail_hidden}     ", ground.faint)
        text = f"{line.hidden:,} {word} hidden"
        yield Segment(fit(text, columns.width - 8, pad=True), ground.nothing)

    def _ground(self, at: int, side: Side) -> tuple[Ground, bool]:
        """The ground of one side of a line, and whether the cursor is there."""
        styles = self.styles
        if at == self.cursor and side is self.side:
            return styles.sel, True
        return (styles.warn_tint if side is not self.side and at in self.lit else styles.bg), False

    def _side(self, at: int, side: Side, width: int) -> Iterator[Segment]:
        glyphs = self.teller.glyphs
        line = self.arrangement.lines[at]
        piece = line.side(side)
        ground, selected = self._ground(at, side)
        lead = 2 if side is Side.BEFORE or not self.columns.both else 1
        cursor = glyphs.cursor if selected else " "
        ink = ground.leaf if self.focused else ground.faint
        if not self.columns.both:
            sign, sign_ink = _sign(line.link, glyphs)
            sign = glyphs.differs if self.arrangement.differs(at) else sign
            yield Segment(cursor, ink)
            yield Segment(sign if piece is not None else " ", getattr(ground, sign_ink))
            yield Segment(" ", ground.blank)
            lead = 3
        else:
            if side is Side.AFTER and at in self.lit and not selected and side is not self.side:
                cursor, ink = glyphs.arrow, ground.warn
            yield Segment(cursor, ink)
            yield Segment(" " * (lead - 1), ground.blank)
        room = width - lead - (0 if side is Side.BEFORE and self.columns.both else 1)
        if piece is None or line.link is None:
            words = self._absent(line, at, side)
            yield Segment(" " * WORD, ground.blank)
            yield Segment(fit(words, room - WORD, pad=True), ground.nothing)
        else:
            yield from self._cell(line, piece, at, side, room, ground, selected)
        if not (side is Side.BEFORE and self.columns.both):
            yield Segment(" ", ground.blank)

    def _absent(self, line: XRayLine, at: int, side: Side) -> str:
        """Words for the empty side of a band's first line."""
        if at != self.arrangement.spans[line.band].start:
            return ""
        if line.link is Link.INJECTED and side is Side.BEFORE:
            return "nothing here before"
        if line.link is Link.CUT and side is Side.AFTER:
            return "not summarised"
        if line.link is Link.PREFIX and side is Side.AFTER:
            return "in the summary above"
        if line.link is Link.ERROR and side is Side.AFTER and not self.arrangement.xray.recorded:
            return "estimate; exact after the next reply"
        if line.link is Link.REPLACED and side is Side.AFTER:
            return "the summary is empty"
        if line.link is Link.REPLACED and side is Side.BEFORE:
            return "no message was summarised"
        return ""

    def _cell(
        self,
        line: XRayLine,
        piece: Piece,
        at: int,
        side: Side,
        room: int,
        ground: Ground,
        selected: bool,
    ) -> Iterator[Segment]:
        link = line.link if line.link is not None else Link.REST
        caption = self.teller.piece(piece, link)
        glyphs = self.teller.glyphs
        word, word_ink = caption.word, caption.word_ink
        first = at == self.arrangement.spans[line.band].start
        if side is Side.AFTER and not word and first and link in (Link.REPLACED, Link.PREFIX):
            word, word_ink = "sum", LINK_INK[link]
        if side is Side.AFTER and link is Link.INJECTED and (first or piece.cell.what is not What.ADDED):
            word, word_ink = "inj", LINK_INK[link]
        number = self._number(line, piece, at, side)
        note = f"  {caption.note}  " if caption.note else ""
        text_room = max(0, room - WORD - TOKENS - cell_len(note))
        style: Style = getattr(ground, caption.ink)
        if selected and caption.ink in ("text", "sub", "faint"):
            style = ground.strong
        yield Segment(
            fit(word, WORD - 1, pad=True, ellipsis=glyphs.ellipsis) + " ", getattr(ground, word_ink)
        )
        fitted = fit(caption.text, text_room, pad=True, ellipsis=glyphs.ellipsis)
        yield from lit(fitted, self.query, style, ground.strong_hit if selected else ground.hit)
        if note:
            yield Segment(note, ground.faint)
        yield Segment(
            right(number, TOKENS, ellipsis=glyphs.ellipsis),
            ground.edge if number == glyphs.zero else ground.sub,
        )

    def _number(self, line: XRayLine, piece: Piece, at: int, side: Side) -> str:
        """The size at the right: of a message its own; for the lines of a summary, the whole size on the last one."""
        if side is Side.BEFORE or piece.cell.what not in TELLS:
            if piece.cell.what in (What.FILE, What.ADDED) and piece.inside:
                return ""
            return self.teller.size(piece.tokens)
        ends = self.arrangement.ends[line.band]
        return self.teller.size(ends.summary_tokens) if at == ends.last_of_summary else ""

    def _middle(self, at: int) -> Iterator[Segment]:
        styles, glyphs = self.styles, self.teller.glyphs
        arrangement = self.arrangement
        line = arrangement.lines[at]
        lit = self.side is Side.AFTER and at in self.lit
        tint = styles.warn_tint
        selected = at == self.cursor and self.side is Side.BEFORE
        yield Segment(
            f" {glyphs.pointer}" if lit else "  ",
            tint.warn if lit else styles.sel.blank if selected else styles.bg.blank,
        )
        link = line.link if line.link is not None else Link.REST
        sign = _connector(arrangement, arrangement.xray.bands[line.band], line, at, glyphs)
        yield Segment(f"{fit(sign, _ARM + 1, pad=True)} ", getattr(styles.bg, LINK_INK[link]))


def _sign(link: Link | None, glyphs: Glyphs) -> tuple[str, str]:
    """The sign of a link in a column of its own, and its ink."""
    if link in (None, Link.REST, Link.ERROR):
        return " ", "faint"
    signs = {
        Link.SYSTEM: glyphs.kept,
        Link.KEPT: glyphs.kept,
        Link.REPLACED: glyphs.compaction,
        Link.PREFIX: glyphs.compaction,
        Link.INJECTED: glyphs.injected,
        Link.CUT: glyphs.cut,
    }
    return signs[link], LINK_INK[link]


def _connector(arrangement: Arrangement, band: Band, line: XRayLine, at: int, glyphs: Glyphs) -> str:
    """The connector between both sides of a line, seven cells at most."""
    if line.hidden or band.link in (Link.REST, Link.ERROR):
        return ""
    if band.link in (Link.SYSTEM, Link.KEPT):
        return (glyphs.differs if arrangement.differs(at) else glyphs.kept) * _ARM
    if band.link is Link.INJECTED:
        return " " * _ARM + glyphs.injected
    if band.link is Link.CUT:
        return glyphs.cut
    ends = arrangement.ends[line.band]
    first, last = ends.first_before, ends.last_before
    if first < 0 or at > last:
        return ""
    arm = glyphs.arm * (_ARM - 1) + glyphs.arrow
    points_at = min((first + last) // 2, ends.last_after) if ends.last_after >= 0 else -1
    if first == last:
        return glyphs.arm + arm if points_at >= 0 else glyphs.arm
    if at == points_at and at not in (first, last):
        return glyphs.bracket_out + arm
    if at == first:
        return glyphs.join_down + arm if at == points_at else glyphs.bracket_top
    if at == last:
        return glyphs.bracket_bottom
    return glyphs.bracket_side
