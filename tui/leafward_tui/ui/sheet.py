"""A sheet rises from the bottom over price line and key bar: a choice of rows, or one line of text; the rest stays visible."""

from __future__ import annotations

import string
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from leafward.base.safe_text import safe
from leafward_tui.ui.cells import cell_len, fit, right, wrap
from leafward_tui.ui.routed_screen import RoutedScreen
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from textual import events
    from textual.app import ComposeResult

    from leafward_tui.ui.theme import Ground

__all__ = ["Choice", "ChoiceSheet", "Sheet", "SheetLine", "TextSheet"]

_EFFECT_SHARE = 0.45
"""Of a row: what effects may take from titles that are longer than the rest."""
_EFFECT_GAP = 3
_BESIDE = 5 + _EFFECT_GAP + 1
"""Cells of a row that are neither its title nor its effect: cursor, key and dot, the gap, the air at the right."""
_KEY_GAP = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """One row of a sheet."""

    key: str
    """The letter that chooses it, lower or upper case; j, k and q are the sheet's own."""
    title: str
    effect: str = ""
    """What follows from it, beside the title."""
    operation: str = ""
    """What will be written where, in words: ``append 1 line to …``. Shown while the row is the current one."""
    refused: str = ""
    """Why it cannot be chosen now; shown instead of the effect."""
    current: bool = False
    """It is what holds now, as in a choice of filters."""


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One quiet line below the title: what the choice is about, or a warning."""

    text: str
    hue: str = ""
    lines: int = 2
    """At most so many, where the screen is narrow."""


def _shown(text: str) -> str:
    """A text on one line, safe: names of sessions, files and tools stand in sheets. Spaces stay, commands are read off here."""
    return safe(text).replace("\n", "␊")


class OneLine(Widget):
    """One line made when it is painted."""

    DEFAULT_CSS = "OneLine { height: 1; width: 1fr; }"

    def __init__(self, make: Callable[[int, Ground], list[Segment]]) -> None:
        super().__init__()
        self._make = make

    def render_line(self, y: int) -> Strip:  # noqa: ARG002  it has one row
        ground = services_of(self).styles_now.raised
        width = self.size.width
        return Strip(self._make(width, ground)).adjust_cell_length(width, ground.blank)


def _about_line(text: str, hue: str, _width: int, ground: Ground) -> list[Segment]:
    return [Segment(" ", ground.blank), Segment(text, getattr(ground, hue) if hue else ground.sub)]


class Sheet(RoutedScreen["str | None"], ModalScreen["str | None"]):
    """Frame of every sheet: rule, title, lines about it, body, operation, keys."""

    DEFAULT_CSS = """
    Sheet {
        background: transparent;
        align: left bottom;
        overflow: hidden;
        & > Vertical { height: auto; max-height: 100%; width: 1fr; background: $lw-raise; }
    }
    """

    AUTO_FOCUS = ""

    def mounted(self) -> None:
        """Called once, when the sheet is mounted; overridden."""

    def resized(self) -> None:
        """Called when the sheet has another size; overridden."""

    def clicked(self, event: events.Click) -> None:
        """Called for a click on the body; overridden."""

    def on_mount(self) -> None:
        """What the choice is about stays in sight: the screen below is told how much of it is covered."""
        self.mounted()
        self.call_after_refresh(self._ask_for_room)

    def on_resize(self) -> None:
        """What is covered is another part now."""
        self.resized()
        self.call_after_refresh(self._ask_for_room)

    def _ask_for_room(self) -> None:
        below = self.app.screen_stack[-2:]
        make_room = getattr(below[0], "make_room", None)
        if len(below) == 2 and below[1] is self and make_room is not None:
            make_room(self.query_one(Vertical).size.height)

    def __init__(self, title: str, about: Sequence[SheetLine] = (), *, note: str = "") -> None:
        super().__init__()
        self._title_text = _shown(title)
        self._note = _shown(note)
        self._about = tuple(replace(line, text=safe(line.text)) for line in about)

    def compose(self) -> ComposeResult:
        """Rule and title above the body, operation and keys below it."""
        with Vertical():
            yield OneLine(self._rule)
            yield OneLine(self._head)
            yield from self._about_lines()
            yield OneLine(lambda _width, _ground: [])
            yield from self.compose_body()
            yield OneLine(lambda _width, _ground: [])
            self.foot = OneLine(self._foot)
            yield self.foot

    def _about_lines(self) -> Iterator[OneLine]:
        room, ellipsis = self.app.size.width - 2, services_of(self).glyphs.ellipsis
        for line in self._about:
            for text in wrap(line.text, room, lines=line.lines, ellipsis=ellipsis) or [""]:
                yield OneLine(partial(_about_line, fit(text, room, ellipsis=ellipsis), line.hue))

    def compose_body(self) -> ComposeResult:
        """Between head and foot."""
        yield from ()

    def hairline(self) -> OneLine:
        """Parts two things of the body."""
        glyph = services_of(self).glyphs.hairline
        return OneLine(
            lambda width, ground: [Segment(" ", ground.blank), Segment(glyph * (width - 2), ground.line)]
        )

    def keys(self) -> tuple[tuple[str, str], ...]:
        """What commits, then what leaves."""
        return (("enter", "choose"), ("esc", "cancel"))

    def operation(self) -> str:
        """What would be written."""
        return ""

    def _rule(self, width: int, ground: Ground) -> list[Segment]:
        shell = services_of(self)
        return [Segment(shell.glyphs.heavy * width, ground.leaf)]

    def _head(self, width: int, ground: Ground) -> list[Segment]:
        note = fit(self._note, max(0, width // 2), ellipsis=services_of(self).glyphs.ellipsis)
        room = width - 2 - (cell_len(note) + 2 if note else 0)
        title = fit(self._title_text, room, pad=True, ellipsis=services_of(self).glyphs.ellipsis)
        pieces = [Segment(" ", ground.blank), Segment(title, ground.strong)]
        return [*pieces, Segment(f"  {note}", ground.faint)] if note else pieces

    def _foot(self, width: int, ground: Ground) -> list[Segment]:
        pieces = [Segment(" ", ground.blank)]
        used = 1
        for number, (key, words) in enumerate(self.keys()):
            gap = " " * _KEY_GAP if number else ""
            pieces += [Segment(gap + key, ground.strong), Segment(f" {words}", ground.faint)]
            used += cell_len(gap) + cell_len(key) + 1 + cell_len(words)
        room = width - used - 4
        if room > 12 and (operation := _shown(self.operation())):
            ellipsis = services_of(self).glyphs.ellipsis
            text = right(fit(operation, room, ellipsis=ellipsis), room + 3, ellipsis=ellipsis)
            pieces.append(Segment(text, ground.sub))
        return pieces

    def action_leave(self) -> None:
        """Nothing is done."""
        self.dismiss(None)

    def commit(self) -> None:
        """Does what the first of the keys does; overridden."""

    def pressed(self, number: int) -> None:
        """Does what one of `keys`, which was clicked, does."""
        if number:
            self.action_leave()
        else:
            self.commit()

    def on_click(self, event: events.Click) -> None:
        """A click beside the sheet leaves it; one on a key at its foot does what the key does."""
        if event.widget is self:
            self.action_leave()
        elif event.widget is self.foot:
            at = 1
            for number, (key, words) in enumerate(self.keys()):
                width = cell_len(key) + 1 + cell_len(words)
                if at <= event.x < at + width:
                    self.pressed(number)
                at += width + _KEY_GAP
        else:
            self.clicked(event)


class _Choices(Widget):
    """The rows of a choice."""

    DEFAULT_CSS = "_Choices { width: 1fr; height: auto; }"

    def __init__(self, choices: Sequence[Choice], at: int) -> None:
        super().__init__()
        self.choices = tuple(
            replace(one, title=_shown(one.title), effect=_shown(one.effect), refused=_shown(one.refused))
            for one in choices
        )
        self.at = at
        self.styles.height = len(self.choices)

    def render_line(self, y: int) -> Strip:
        shell = services_of(self)
        width = self.size.width
        if y >= len(self.choices):
            return Strip([Segment(" " * width, shell.styles_now.raised.blank)], width)
        choice = self.choices[y]
        ground = shell.styles_now.sel if y == self.at else shell.styles_now.raised
        mark = shell.glyphs.cursor if y == self.at else " "
        room = width - _BESIDE
        titles = self._titles(room)
        title = fit(choice.title, titles, pad=True, ellipsis=shell.glyphs.ellipsis)
        effect = fit(choice.refused or choice.effect, room - titles, ellipsis=shell.glyphs.ellipsis)
        name = ground.faint if choice.refused else ground.strong if y == self.at else ground.text
        return Strip(
            [
                Segment(mark, ground.leaf),
                Segment(f" {choice.key}", ground.faint if choice.refused else ground.strong),
                Segment(f" {shell.glyphs.dot if choice.current else ' '} ", ground.leaf),
                Segment(title, name),
                Segment(f"{' ' * _EFFECT_GAP}{effect}", ground.faint),
            ]
        ).adjust_cell_length(width, ground.blank)

    def _titles(self, room: int) -> int:
        """Cells of the titles, of `room` for them and the effects: as many as the longest has, where the effects fit as well."""
        longest = max(cell_len(one.title) for one in self.choices)
        effects = max(cell_len(one.refused or one.effect) for one in self.choices)
        return min(longest, max(room - effects, int(room * (1 - _EFFECT_SHARE))))


class ChoiceSheet(Sheet):
    """Choices as rows with a letter. Returns the letter chosen, None when left.

    ``cycle`` is a key that goes to the next row, such as the one that opened the sheet.
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
    ) -> None:
        super().__init__(title, about, note=note)
        can = [number for number, one in enumerate(choices) if not one.refused]
        first = next((number for number in can if choices[number].current), can[0] if can else 0)
        self.rows = _Choices(choices, first)
        self._cycle = cycle

    def compose_body(self) -> ComposeResult:
        """The rows."""
        yield self.rows

    def mounted(self) -> None:
        """The key that opened the sheet steps through it."""
        if self._cycle:
            self._bindings.bind(self._cycle, "step(1)", show=False)

    def operation(self) -> str:
        """What the current row would write."""
        choice = self.rows.choices[self.rows.at]
        return choice.refused or choice.operation

    def show_about(self, about: Sequence[SheetLine]) -> None:
        """Says what the choice is about, where that is known only now. Nothing on a sheet that is closed."""
        self._about = tuple(replace(line, text=safe(line.text)) for line in about)
        if self.is_attached:
            self.query_one(Vertical).mount(*self._about_lines(), after=1)
            self.call_after_refresh(self._ask_for_room)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only letters that stand there are keys."""
        if action == "letter":
            return any(choice.key == parameters[0] for choice in self.rows.choices)
        return super().check_action(action, parameters)

    def action_step(self, by: int) -> None:
        """The next row, or the one before, around the ends."""
        self.rows.at = (self.rows.at + by) % len(self.rows.choices)
        self.rows.refresh()
        self.foot.refresh()

    def action_letter(self, letter: str) -> None:
        """The row with this letter."""
        for number, choice in enumerate(self.rows.choices):
            if choice.key == letter:
                self.rows.at = number
        self.action_choose()

    def commit(self) -> None:
        """The current row."""
        self.action_choose()

    def action_choose(self) -> None:
        """The current row, unless it is refused."""
        choice = self.rows.choices[self.rows.at]
        self.rows.refresh()
        self.foot.refresh()
        if not choice.refused:
            self.dismiss(choice.key)

    def clicked(self, event: events.Click) -> None:
        """A row that is clicked is chosen."""
        if event.widget is self.rows:
            self.rows.at = min(event.y, len(self.rows.choices) - 1)
            self.action_choose()


class TextSheet(Sheet):
    """One line of text. Returns it, an empty one too; None when left.

    ``operation_of`` says what committing the present text would do; ``changed`` hears every change, for a search that
    follows as one types.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    AUTO_FOCUS = "Input"

    DEFAULT_CSS = """
    TextSheet {
        Horizontal { height: 1; width: 1fr; }
        Horizontal OneLine { width: 3; }
        Input { width: 1fr; background: $lw-raise; color: $lw-text; border: none; padding: 0; height: 1; }
        Input:focus { border: none; background-tint: transparent; }
        Input > .input--placeholder { color: $lw-sub; }
    }
    """

    def __init__(
        self,
        title: str,
        text: str = "",
        about: Sequence[SheetLine] = (),
        *,
        note: str = "",
        placeholder: str = "",
        commit: str = "keep",
        operation_of: Callable[[str], str] | None = None,
        changed: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__(title, about, note=note)
        self._commit = commit
        self._operation_of = operation_of
        self._changed = changed
        self.input = Input(_shown(text), placeholder=placeholder, compact=True, select_on_focus=False)

    def compose_body(self) -> ComposeResult:
        """The field."""
        with Horizontal():
            yield OneLine(
                lambda _width, ground: [Segment(f" {services_of(self).glyphs.cursor} ", ground.leaf)]
            )
            yield self.input

    def keys(self) -> tuple[tuple[str, str], ...]:
        """What commits, then what leaves."""
        return (("enter", self._commit), ("esc", "cancel"))

    def operation(self) -> str:
        """What the present text would do."""
        return self._operation_of(self.input.value) if self._operation_of is not None else ""

    def tell_outcome(self) -> None:
        """What is said beside the keys is another thing now."""
        if self.is_mounted:
            self.foot.refresh()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tells the listener."""
        event.stop()
        if event.value != _shown(event.value):
            # Pasted: the field would pass it on to the terminal as it is.
            self.input.value = _shown(event.value)
            return
        self.foot.refresh()
        if self._changed is not None:
            self._changed(event.value)

    def commit(self) -> None:
        """The text as it stands."""
        self.dismiss(self.input.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Commits."""
        event.stop()
        self.dismiss(event.value)
