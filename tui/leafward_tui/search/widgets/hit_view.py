"""One hit in its text, beside the list of hits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from leafward.base.safe_text import safe_line
from leafward_tui.search.model.finds import label_of
from leafward_tui.ui.panes.side_pane import PaneLine, SidePane
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit, fit_path, right, wrap
from leafward_tui.ui.text.hits import marked
from leafward_tui.ui.text.paths import tilde
from leafward_tui.ui.text.times import moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.catalogue.cards.card import Card
    from leafward.query.search.text_match import Hit
    from leafward_tui.ui.appearance.theme import Ground


class HitView(SidePane):
    """The place of the hit, then its text with every hit marked, scrolled so that the first is visible."""

    def __init__(self) -> None:
        super().__init__()
        self._card: Card | None = None
        self._hit: Hit | None = None
        self._text: str | None = None
        self._spans: Sequence[tuple[int, int]] = ()
        self._problem = ""

    def show(self, card: Card | None, hit: Hit | None) -> None:
        """Shows the facts of a hit from the list; its text follows."""
        if (card, hit) != (self._card, self._hit):
            self._card, self._hit, self._text, self._spans, self._problem = card, hit, None, (), ""
            self.changed(from_top=True)

    def fill(self, hit: Hit, text: str, spans: Sequence[tuple[int, int]], problem: str = "") -> None:
        """Sets the text around a hit, safe, or why there is none; dropped where another hit is on show by now."""
        if hit is self._hit:
            self._text, self._spans, self._problem = text, spans, problem
            self.changed(from_top=True)

    def on_resize(self) -> None:
        """Breaks the lines again."""
        self.changed(from_top=True)

    def make_lines(self, width: int) -> tuple[list[PaneLine], list[PaneLine], int]:
        """The facts of the hit stay, its text scrolls; the first hit is in sight."""
        ground = services_of(self).styles_now.bg
        return self._head(width, ground), *self._body(width, ground)

    def _head(self, width: int, ground: Ground) -> list[PaneLine]:
        services = services_of(self)
        glyphs = services.glyphs
        card, hit = self._card, self._hit
        lines = self.title_lines(card.title if card is not None else "", width, ground, glyphs)
        if card is None:
            return lines
        agent = safe_line(card.agent)
        where = fit_path(tilde(card.project), max(0, width - cell_len(agent) - 2), gap=glyphs.gap)
        lines.append(
            [Segment(agent, ground.sub), Segment(f"  {where}" if card.project else "", ground.faint)]
        )
        if hit is not None:
            label = " ".join(part for part in label_of(hit) if part)
            failed = f"  {glyphs.malformed} failed" if hit.failed else ""
            behind = moment(hit.time) if hit.time else ""
            room = max(4, width - cell_len(failed) - cell_len(behind) - 2)
            label = fit(safe_line(label), room, ellipsis=glyphs.ellipsis)
            used = cell_len(label) + cell_len(failed)
            lines.append(
                [
                    Segment(label, ground.text),
                    Segment(failed, ground.bad),
                    Segment(right(behind, max(0, width - used)), ground.faint),
                ]
            )
        lines.append([])
        return lines

    def _body(self, width: int, ground: Ground) -> tuple[list[PaneLine], int]:
        """The lines of the text, and the one with the first hit."""
        if self._problem:
            return [[Segment(line, ground.faint)] for line in wrap(self._problem, width)], 0
        if self._text is None:
            return [], 0
        lines: list[PaneLine] = []
        first, at = -1, 0
        for line in self._text.split("\n"):
            begin = 0
            for piece in wrap(line, width) or [""]:
                start = max(0, line.find(piece, begin))
                begin = start + len(piece)
                here = [
                    (max(0, a - at - start), min(len(piece), b - at - start))
                    for a, b in self._spans
                    if a < at + begin and b > at + start
                ]
                if here and first < 0:
                    first = len(lines)
                lines.append(marked(piece, piece, here, ground.text, ground.hit))
            at += len(line) + 1
        return lines, max(0, first)
