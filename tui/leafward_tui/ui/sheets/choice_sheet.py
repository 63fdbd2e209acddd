"""A sheet of rows to choose from, by letters or with the cursor."""

from __future__ import annotations

import string
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.strip import Strip
from textual.widget import Widget

from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheets.sheet import Sheet, SheetLine, drawable
from leafward_tui.ui.text.cells import fit, fit_path, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.app import ComposeResult


LETTERS = "abcdefghilmnoprstuvwxyz"
"""Letters of rows that are alike; j, k and q are the sheet's own."""

_EFFECT_SHARE = 0.45
"""The share of a row that effects may take from titles longer than the others."""
_EFFECT_GAP = 3
_MOST_LINES = 4
"""Lines that a title, an effect or a reason may take."""
_LEAST_LINES = 3
"""Lines of the rows that are shown in any case."""
_FRAME = 5
"""Lines of a sheet besides its rows and the lines about them: rule, title, an empty one, the foot."""
_BESIDE = 6 + _EFFECT_GAP + 1
"""Cells of a row that are neither its title nor its effect: cursor, key and mark, the gap, and the bar at the right."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One row of a sheet."""

    key: str
    """The letter that chooses it, lower or upper case; j, k and q are the sheet's own."""
    title: str
    effect: str = ""
    """The effect of the choice, beside the title."""
    operation: str = ""
    """The write in words: `append 1 line to …`. Shown while the row is the current one."""
    refused: str = ""
    """The reason why it cannot be chosen now; shown instead of the effect."""
    current: bool = False
    """Whether this choice is in force now, as in a choice of filters."""
    path: bool = False
    """Whether the effect is a path, which gives up its middle where there is no room."""
    file: bool = False
    """Whether the title is the path of a file: of the same folders, the names tell rows apart."""
    act: Callable[[], object] = lambda: None
    """Called when it was chosen, after the sheet is closed."""


class _Choices(Widget):
    """The rows of a choice."""

    DEFAULT_CSS = "_Choices { width: 1fr; height: auto; }"

    def __init__(self, choices: Sequence[Choice], at: int, moved: Callable[[], object]) -> None:
        """`moved` is called when the wheel went to another row."""
        super().__init__()
        self._moved = moved
        self.choices = tuple(
            replace(
                one, title=drawable(one.title), effect=drawable(one.effect), refused=drawable(one.refused)
            )
            for one in choices
        )
        self.at = at
        self._lines = [
            (number, one.title, one.refused or one.effect) for number, one in enumerate(self.choices)
        ]
        """The row of each line, and its parts of the title and of the effect or the reason."""
        self._most = len(self._lines)
        """Lines that there is room for."""
        self._top = 0
        """The first line on show."""
        self.styles.height = len(self._lines)

    def limit(self, lines: int) -> None:
        """Shows at most so many lines, those of the current row among them."""
        self._most = max(_LEAST_LINES, lines)
        self.reveal()

    def reveal(self) -> None:
        """Draws the rows again, scrolled so that all of the current one is on show."""
        height = min(len(self._lines), self._most)
        mine = [y for y, line in enumerate(self._lines) if line[0] == self.at]
        self._top = max(min(self._top, mine[0], len(self._lines) - height), mine[-1] + 1 - height, 0)
        self.styles.height = height
        self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Goes to the next row, as far as there is one."""
        self._roll(event, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Goes to the row before, as far as there is one."""
        self._roll(event, -1)

    def _roll(self, event: events.MouseEvent, by: int) -> None:
        event.stop()
        self.at = max(0, min(len(self.choices) - 1, self.at + by))
        self.reveal()
        self._moved()

    def on_resize(self) -> None:
        """Breaks texts that are longer than their rows for the new width; paths give up their middle instead."""
        room = self.size.width - _BESIDE
        titles, ellipsis = self._titles(room), services_of(self).glyphs.ellipsis
        self._lines = []
        for number, one in enumerate(self.choices):
            beside = one.refused or one.effect
            heads, tails = [one.title], [beside]
            if not one.file:
                heads = wrap(one.title, titles, lines=_MOST_LINES, ellipsis=ellipsis) or heads
            if one.refused or not one.path:
                tails = wrap(beside, room - titles, lines=_MOST_LINES, ellipsis=ellipsis) or tails
            self._lines += [(number, *both) for both in zip_longest(heads, tails, fillvalue="")]
        self.reveal()

    def row_at(self, y: int) -> int:
        """The row of a line on show."""
        return self._lines[min(y + self._top, len(self._lines) - 1)][0]

    def render_line(self, y: int) -> Strip:
        services = services_of(self)
        width, height, many = self.size.width, self.size.height, len(self._lines)
        thumb = height < many and y * many // height in range(self._top, self._top + height)
        y += self._top
        if y >= many:
            return Strip([Segment(" " * width, services.styles_now.raised.blank)], width)
        row, title, text = self._lines[y]
        choice, first = self.choices[row], y == 0 or self._lines[y - 1][0] != row
        ground = services.styles_now.sel if row == self.at else services.styles_now.raised
        mark = services.glyphs.cursor if row == self.at and first else " "
        room = width - _BESIDE
        titles = self._titles(room)
        if choice.file:
            title = fit_path(title, titles, pad=True, gap=services.glyphs.gap)
        else:
            title = fit(title, titles, pad=True, ellipsis=services.glyphs.ellipsis)
        if choice.path and not choice.refused:
            effect = fit_path(text, room - titles, gap=services.glyphs.gap)
        else:
            effect = fit(text, room - titles, ellipsis=services.glyphs.ellipsis)
        name = ground.faint if choice.refused else ground.strong if row == self.at else ground.text
        bar = [Segment(services.glyphs.tick, ground.edge)] if thumb else []
        strip = Strip(
            [
                Segment(mark, ground.leaf),
                Segment(
                    f" {choice.key if first else ' '}", ground.faint if choice.refused else ground.strong
                ),
                Segment(f" {services.glyphs.ok if choice.current and first else ' '} ", ground.leaf),
                Segment(title, name),
                Segment(f"{' ' * _EFFECT_GAP}{effect}", ground.faint),
            ]
        )
        return Strip([*strip.adjust_cell_length(width - len(bar), ground.blank), *bar], width)

    def _titles(self, room: int) -> int:
        """Cells of the titles, out of `room` for titles and effects: those of the longest where the effects still fit."""
        longest = max(cell_len(one.title) for one in self.choices)
        effects = max(cell_len(one.refused or one.effect) for one in self.choices)
        return min(longest, max(room - effects, int(room * (1 - _EFFECT_SHARE))))


class ChoiceSheet(Sheet):
    """Choices as rows with a letter. Returns the letter chosen, None when left; `take` acts on either.

    `cycle` is a key that goes to the next row, such as the one that opened the sheet.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "step(1)", show=False),
        Binding("k,up", "step(-1)", show=False),
        Binding("enter", "choose", show=False),
        Binding("escape,q", "leave", show=False),
        *(
            Binding(letter, f"letter('{letter}')", show=False)
            for letter in string.ascii_letters + string.digits
            if letter not in "jkq"
        ),
    ]

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        about: Sequence[SheetLine] = (),
        *,
        note: str = "",
        cycle: str = "",
        left: Callable[[], object] = lambda: None,
    ) -> None:
        """`left` is called where the sheet is left without a choice."""
        super().__init__(title, about, note=note)
        self._left = left
        self.about.beside = _FRAME + _LEAST_LINES
        can = [number for number, one in enumerate(choices) if not one.refused]
        first = next((number for number in can if choices[number].current), can[0] if can else 0)
        self.rows = _Choices(choices, first, lambda: self.say(""))
        self._cycle = cycle

    def compose_body(self) -> ComposeResult:
        """The rows."""
        yield self.rows

    def mounted(self) -> None:
        """Binds the key that opened the sheet to step through it; clears notifications, which would cover the rows."""
        self.app.clear_notifications()
        if self._cycle:
            self._bindings.bind(self._cycle, "step(1)", show=False)

    def take(self, letter: str | None) -> None:
        """Acts on the result of the sheet: what the chosen row does, or what leaving does."""
        if letter is None:
            self._left()
        for choice in self.rows.choices:
            if choice.key == letter:
                choice.act()

    def resized(self) -> None:
        """Lets the rows scroll where there is no room for all of them above the keys."""
        about = self.about.get_content_height(self.size, self.size, self.size.width)
        self.rows.limit(self.size.height - about - _FRAME)

    def operation(self) -> str:
        """The write of the current row, in words."""
        return self.rows.choices[self.rows.at].operation

    def explanations(self) -> list[tuple[str, str]]:
        """The choices, whole, then the keys of every sheet."""
        rows = [
            (one.key, ": ".join(filter(None, (one.title, one.refused or one.effect))))
            for one in self.rows.choices
        ]
        return [*rows, *super().explanations()]

    def show_about(self, about: Sequence[SheetLine]) -> None:
        """Shows what the choice is about, for a caller that learns it late; does nothing on a closed sheet."""
        self.about.show(about)
        if self.is_attached:
            self.resized()
            self.call_after_refresh(self._ask_for_room)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only the letters of the choices are keys."""
        if action == "letter":
            return any(choice.key == parameters[0] for choice in self.rows.choices)
        return super().check_action(action, parameters)

    def action_step(self, by: int) -> None:
        """Moves the cursor by rows, around the ends."""
        self.rows.at = (self.rows.at + by) % len(self.rows.choices)
        self.rows.reveal()
        self.say("")

    def action_letter(self, letter: str) -> None:
        """Chooses the row with this letter."""
        for number, choice in enumerate(self.rows.choices):
            if choice.key == letter:
                self.rows.at = number
        self.action_choose()

    def commit(self) -> None:
        """Chooses the current row."""
        self.action_choose()

    def action_choose(self) -> None:
        """Chooses the current row, unless it is refused."""
        choice = self.rows.choices[self.rows.at]
        self.rows.reveal()
        self.say(f"not possible: {choice.refused}" if choice.refused else "")
        if not choice.refused:
            self.dismiss(choice.key)

    def clicked(self, event: events.Click) -> None:
        """Chooses a clicked row."""
        if event.widget is self.rows:
            self.rows.at = self.rows.row_at(event.y)
            self.action_choose()
