"""The choice of a theme, each seen at once while the cursor moves over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from leafward_tui.ui.appearance.palette import HUES
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.sheets.modal import MODAL_MARGIN, Modal
from leafward_tui.ui.text.cells import fit

if TYPE_CHECKING:
    from rich.color import Color as RichColor
    from textual.binding import BindingType

    from leafward_tui.ui.appearance.theme import Ground

_TITLE = 15
_BEFORE = 2 + _TITLE + 2 * len(HUES) + 8
"""Cells before a description: cursor, title, hues, kind."""


class ThemesScreen(Modal):
    """Moving shows a theme, enter keeps it, esc goes back to the one before."""

    NAME = "themes"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("themes")]

    def __init__(self) -> None:
        super().__init__(self._row, {"theme.keep": self.chosen}, cursor=0)

    def on_mount(self) -> None:
        """Puts the cursor on the theme in use."""
        app = self.services
        self._names = list(app.themes.palettes)
        self._before = app.theme
        self.rows.cursor = self._names.index(app.theme) if app.theme in self._names else 0
        described = max(cell_len(palette.description) for palette in app.themes.palettes.values())
        size = self.app.size - MODAL_MARGIN
        self.frame(
            "Themes",
            len(self._names),
            ("theme.keep", "keep"),
            ("mode.leave", "cancel"),
            width=min(size.width, _BEFORE + described),
            height=min(size.height, len(self._names)),
        )
        self.call_after_refresh(self.rows.step, 0)

    def _row(self, number: int, width: int, ground: Ground) -> list[Segment]:
        """A theme: its name, its hues as dots, its purpose."""
        app = self.services
        palette = app.themes.palettes[self._names[number]]
        shown = app.themes.shown(palette.name)
        glyphs = self.services.glyphs
        current = number == self.rows.cursor
        pieces = [
            Segment(f"{glyphs.cursor if current else ' '} ", ground.leaf),
            Segment(
                fit(palette.title, _TITLE, pad=True, ellipsis=glyphs.ellipsis),
                ground.strong if current else ground.text,
            ),
        ]
        pieces += [
            Segment(f"{glyphs.block} ", ground.blank + Style(color=_colour(getattr(shown, hue))))
            for hue in HUES
        ]
        kind = "dark " if palette.dark else "light"
        pieces.append(Segment(f" {kind}  ", ground.faint))
        room = max(0, width - _BEFORE)
        pieces.append(Segment(_described(palette.description, room, glyphs.ellipsis), ground.sub))
        return pieces

    def moved(self) -> None:
        """Shows the theme under the cursor."""
        self.services.show_theme(self._names[self.rows.cursor])

    def chosen(self) -> None:
        """Keeps the theme under the cursor, for the next start as well."""
        self.services.choose_theme(self._names[self.rows.cursor])
        self.dismiss(None)

    def leave(self) -> None:
        """Goes back to the theme before."""
        self.services.show_theme(self._before)
        self.dismiss(None)


def _described(text: str, room: int, ellipsis: str) -> str:
    """A description in `room` cells: whole, else the part before its details."""
    for mark in ("", ":", ","):
        shown = text.partition(mark)[0] if mark else text
        if cell_len(shown) <= room:
            return shown.rstrip(".")
    return fit(text, room, ellipsis=ellipsis)


def _colour(name: str) -> RichColor:
    from textual.color import Color

    return Color.parse(name).rich_color
