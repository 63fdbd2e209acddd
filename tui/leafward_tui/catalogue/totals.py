"""The usage and the cost of the listed sessions, by project and agent, and by day."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment

from leafward.base.shown_path import NO_PROJECT_FOLDER, split_path
from leafward_tui.catalogue.model.totals_table import TotalsRow, aftermath_rows, aftermaths
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.sheets.modal import MODAL_MARGIN, MODAL_WIDTH, Modal
from leafward_tui.ui.text.cells import fit, right
from leafward_tui.ui.text.paths import fit_project, tilde

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.binding import BindingType

    from leafward.catalogue.cards.card import Card
    from leafward_tui.catalogue.model.totals_table import AftermathReading
    from leafward_tui.ui.appearance.theme import Ground

_MISSING = f"  {NO_PROJECT_FOLDER}"
_MISSING_SHORT = "  no folder"
_FIGURE = 12
_FIGURES = 3
_NARROW = 60
"""Cells of a row below which the days have no bars."""
_NARROW_FIGURES = {3: (9, 9, 10), 4: (12, 8, 8, 10)}
_GAP = 2
_BAR = 16


class TotalsScreen(Modal):
    """A table to read; it scrolls."""

    NAME = "totals"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("totals")]

    def __init__(self, lines: Sequence[TotalsRow], note: str, cards: Sequence[Card] = ()) -> None:
        """`note` is about all rows; `cards` are those whose compactions are read, beside the screen."""
        super().__init__(self._row, {"app.help": self.show_help})
        self._first = tuple(lines)
        self.lines: tuple[TotalsRow, ...] = self._first
        self.followed: AftermathReading | None = None
        """The aftermath of the compactions, once all are read."""
        self._last: tuple[TotalsRow, ...] = ()
        self._tight = False
        """Whether the columns of figures take no more than they need, as a name needs the room."""
        self._cards = cards
        self._note = note

    def on_mount(self) -> None:
        """Shows the rows; those about compactions come in below them."""
        self._show()
        jobs = self.services.jobs(self)
        jobs.latest("aftermath", partial(aftermaths, self._cards, self._follow), self._followed)

    def show_help(self) -> None:
        """Shows the keys, and the meanings of signs and words."""
        from leafward_tui.ui.sheets.key_help import HelpScreen

        self.app.push_screen(HelpScreen(self.NAME))

    def on_resize(self) -> None:
        """Lays the rows out for the new size."""
        self._show()

    def _follow(self, found: AftermathReading) -> None:
        self._last = tuple(aftermath_rows(found))
        self._show()

    def _followed(self, found: AftermathReading) -> None:
        self.followed = found
        self._follow(found)

    def _show(self) -> None:
        room = self.app.size - MODAL_MARGIN
        lines = (*self._first, *self._last)
        whole = max(cell_len(tilde(line.name)) + len(_MISSING) * line.missing for line in lines)
        width = min(room.width, max(MODAL_WIDTH - MODAL_MARGIN.width, whole + _GAP + _FIGURE * _FIGURES))
        self._tight = whole + _GAP + _FIGURE * _FIGURES > width
        self.lines = tuple(shown for line in lines for shown in self._with_remark(line, width))
        height = min(room.height, len(self.lines))
        leave = ("mode.leave", "close")
        self.frame("Totals", len(self.lines), leave, note=self._note, width=width, height=height)

    def _with_remark(self, line: TotalsRow, width: int) -> tuple[TotalsRow, ...]:
        """A row; below the name of a missing folder that leaves no room for the remark, the remark as a row."""
        if not line.missing or self._missing(line, width - sum(self._columns(line))):
            return (line,)
        return line, TotalsRow(_MISSING, warns=True)

    def _columns(self, line: TotalsRow) -> tuple[int, ...]:
        """Cells of the columns of a row's figures."""
        narrow = _NARROW_FIGURES.get(len(line.figures), ()) if self._tight else ()
        return narrow or (_FIGURE,) * len(line.figures)

    def _missing(self, line: TotalsRow, room: int) -> str:
        """The remark on a missing folder, where enough of its name fits to distinguish it from others; else empty."""
        path = tilde(line.name)
        two_last = "/".join(path.rsplit("/", 2)[-2:])
        short = f"{path[: path.find('/', 1) + 1]}{self.services.glyphs.gap}/{two_last}"
        named = min(cell_len(path), cell_len(short))
        word = _MISSING_SHORT if self._tight else _MISSING
        return word if named + len(word) <= room else ""

    def _row(self, number: int, width: int, ground: Ground) -> list[Segment]:
        """Name at the left, figures in columns at the right; before those of a day a bar, where there is room."""
        line = self.lines[number]
        glyphs = self.services.glyphs
        figures = "".join(
            right(one, room, ellipsis=glyphs.ellipsis)
            for one, room in zip(line.figures, self._columns(line), strict=True)
        )
        with_bar = line.share >= 0 and width >= _NARROW
        bar = max(int(line.share > 0), round(_BAR * line.share)) if with_bar else 0
        room = max(0, width - cell_len(figures) - (_BAR + 1 if with_bar else 0))
        word = self._missing(line, room) if line.missing else ""
        if line.path or (line.missing and line.name):
            folder, name = split_path(fit_project(line.name, room - len(word), glyphs.gap))
        else:
            title = line.name or ("no project" if line.figures and not line.head else "")
            folder, name = "", fit(title, room, ellipsis=glyphs.ellipsis)
        style = (
            ground.strong
            if line.head
            else ground.warn
            if line.warns
            else ground.faint
            if line.quiet
            else ground.text
        )
        left = max(0, room - cell_len(folder) - cell_len(name) - len(word))
        pieces = [
            Segment(folder, ground.faint),
            Segment(name, style),
            Segment(word, ground.warn),
            Segment(" " * left, ground.blank),
        ]
        if with_bar:
            pieces += [
                Segment(glyphs.heavy * bar, ground.leaf),
                Segment(" " * (_BAR + 1 - bar), ground.blank),
            ]
        return [*pieces, Segment(figures, ground.faint if line.head else ground.sub)]
