"""A sheet rises from the bottom over price line and key bar: a choice of rows, or one line of text; the rest stays visible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from leafward.base.safe_text import safe
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.routed_screen import RoutedScreen
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit, right, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.geometry import Size

    from leafward_tui.ui.appearance.theme import Ground


_KEY_GAP = 3


@dataclass(frozen=True, slots=True)
class SheetLine:
    """One quiet line below the title: the subject of the choice, or a warning."""

    text: str
    hue: str = ""
    lines: int = 2
    """The most lines it takes, where the screen is narrow."""


def drawable(text: str) -> str:
    """A text on one line, safe: sheets show names of sessions, files and tools. Spaces stay: commands are copied here."""
    return safe(text).replace("\n", "␊")


class OneLine(Painted):
    """One line made when it is painted."""

    DEFAULT_CSS = "OneLine { height: 1; width: 1fr; }"
    GROUND = "raised"

    def __init__(self, make: Callable[[int, Ground], list[Segment]]) -> None:
        super().__init__()
        self._make = make

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:  # noqa: ARG002  it has one row
        """The line at the widget's width."""
        return self._make(width, ground)


def hairline(sheet: Sheet) -> OneLine:
    """A rule between two parts of a sheet's body."""
    glyph = services_of(sheet).glyphs.hairline
    return OneLine(
        lambda width, ground: [Segment(" ", ground.blank), Segment(glyph * (width - 2), ground.line)]
    )


class SheetKey(NamedTuple):
    """A key at the foot of a sheet, and what it does, which a click on it does too."""

    key: str
    words: str
    act: Callable[[], object]
    x: int = 0
    """The cell where it stands, once the foot is drawn."""

    @property
    def end(self) -> int:
        """The cell after its last."""
        return self.x + cell_len(self.key) + 1 + cell_len(self.words)


class TitleLine(Painted):
    """The title of a sheet, and beside it what it is about, or a warning."""

    DEFAULT_CSS = "TitleLine { height: 1; width: 1fr; }"
    GROUND = "raised"

    def __init__(self, heading: str, note: str) -> None:
        super().__init__()
        self.heading, self._note, self._warning = heading, note, ""

    def warn(self, text: str, when: Callable[[], bool]) -> None:
        """Shows a warning in place of the words beside the title; `when` is asked until it says so once."""
        if not self._warning and self.is_mounted and when():
            self._warning = text
            self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:  # noqa: ARG002  it has one row
        """The title, cut where the words beside it need the room; they get half of it, and what the title leaves."""
        ellipsis = services_of(self).glyphs.ellipsis
        most = max(0, width // 2, width - 4 - cell_len(self.heading))
        beside = fit(self._warning or self._note, most, ellipsis=ellipsis)
        room = width - 2 - (cell_len(beside) + 2 if beside else 0)
        title = fit(self.heading, room, pad=True, ellipsis=ellipsis)
        pieces = [Segment(" ", ground.blank), Segment(title, ground.strong)]
        ink = ground.warn if self._warning else ground.faint
        return [*pieces, Segment(f"  {beside}", ink)] if beside else pieces


class Foot(Painted):
    """The keys of a sheet, and beside or above them, as there is room, the write or a problem."""

    DEFAULT_CSS = "Foot { height: 2; width: 1fr; }"
    GROUND = "raised"

    def __init__(self, sheet: Sheet) -> None:
        super().__init__()
        self._sheet = sheet
        self._message = ""

    def say(self, text: str) -> None:
        """Shows a message instead of the write; an empty text removes it."""
        self._message = text
        self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """The lower line with the keys, or the upper one with the words that do not fit there."""
        ellipsis = services_of(self).glyphs.ellipsis
        upper, lower = self._keys()
        pieces, used = [Segment(" ", ground.blank)], 1
        for one in lower if y else upper:
            pieces += [
                Segment(" " * (one.x - used) + one.key, ground.strong),
                Segment(f" {one.words}", ground.faint),
            ]
            used = one.end
        words, warns = drawable(self._message or self._sheet.operation()), bool(self._message)
        room = width - (lower[-1].end if lower else 1) - 4
        beside = bool(upper) or cell_len(words) <= room
        if words and y and beside and room > 0:
            text = right(fit(words, room, ellipsis=ellipsis), room + 3, ellipsis=ellipsis)
            pieces.append(Segment(text, ground.warn if warns else ground.sub))
        elif words and not y and not beside:
            text = fit(words, width - 2, ellipsis=ellipsis)
            pieces.append(Segment(text, ground.warn if warns else ground.sub))
        return pieces

    def on_click(self, event: events.Click) -> None:
        """Does the same as the clicked key."""
        for one in self._keys()[event.y]:
            if one.x <= event.x < one.end:
                one.act()

    def _keys(self) -> tuple[list[SheetKey], list[SheetKey]]:
        """The keys of the upper and of the lower line; all of them are in the lower one where they fit."""
        rows: list[list[SheetKey]] = [[]]
        x = 1
        for key in self._sheet.sheet_keys():
            one = key._replace(x=x)
            if one.end > self.size.width and len(rows) == 1 and rows[0]:
                rows.append([])
                one = one._replace(x=1)
            rows[-1].append(one)
            x = one.end + _KEY_GAP
        return (rows[0], rows[1]) if len(rows) > 1 else ([], rows[0])


class AboutLines(Painted):
    """The subject of a sheet, wrapped to the present width."""

    DEFAULT_CSS = "AboutLines { height: auto; width: 1fr; }"
    GROUND = "raised"

    def __init__(self, lines: Sequence[SheetLine]) -> None:
        super().__init__()
        self.beside = 0
        """Lines of the sheet that stay on the screen beside these; the longest texts are cut for them."""
        self.show(lines)

    def show(self, lines: Sequence[SheetLine]) -> None:
        """Shows these lines."""
        self.lines = tuple(replace(line, text=safe(line.text)) for line in lines)
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  Textual's own
        """As many lines as the text takes."""
        return len(self._wrapped(width))

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """One of the lines, a free cell before it."""
        text, hue = self._wrapped(width)[y]
        return [Segment(" ", ground.blank), Segment(text, getattr(ground, hue) if hue else ground.sub)]

    def _wrapped(self, width: int) -> list[tuple[str, str]]:
        most, room = max((line.lines for line in self.lines), default=1), self.app.size.height
        room -= self.beside
        lines = self._wrapped_to(most, width)
        while len(lines) > room and most > 1:
            most -= 1
            lines = self._wrapped_to(most, width)
        return lines

    def _wrapped_to(self, most: int, width: int) -> list[tuple[str, str]]:
        """The texts, each in at most so many lines."""
        room, ellipsis = width - 2, services_of(self).glyphs.ellipsis
        return [
            (fit(text, room, ellipsis=ellipsis), line.hue)
            for line in self.lines
            for text in wrap(line.text, room, lines=min(most, line.lines), ellipsis=ellipsis, paths=True)
            or [""]
        ]


class Sheet(RoutedScreen["str | None"], ModalScreen["str | None"]):
    """The frame of every sheet: rule, title, lines about it, body, operation, keys."""

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
        """Tells the screen below how much of it is covered, so that the subject of the choice stays in sight."""
        self.mounted()
        self.call_after_refresh(self._ask_for_room)

    def on_resize(self) -> None:
        """Tells the screen below the new height of the sheet."""
        self.resized()
        self.call_after_refresh(self._ask_for_room)

    def _ask_for_room(self) -> None:
        below = self.app.screen_stack[-2:]
        make_room = getattr(below[0], "make_room", None)
        if len(below) == 2 and below[1] is self and make_room is not None:
            make_room(self.query_one(Vertical).size.height)

    def __init__(self, title: str, about: Sequence[SheetLine] = (), *, note: str = "") -> None:
        super().__init__()
        self.title_line = TitleLine(drawable(title), drawable(note))
        self.warn: Callable[[str, Callable[[], bool]], object] | None = self.title_line.warn
        """Shows a warning that the session has changed; None for a sheet that this does not concern."""
        self.about = AboutLines(about)
        self.foot = Foot(self)
        self.answer = self.say = self.foot.say

    def compose(self) -> ComposeResult:
        """Rule and title above the body, operation and keys below it."""
        with Vertical():
            heavy = services_of(self).glyphs.heavy
            yield OneLine(lambda width, ground: [Segment(heavy * width, ground.leaf)])
            yield self.title_line
            yield self.about
            yield OneLine(lambda _width, _ground: [])
            yield from self.compose_body()
            yield self.foot

    def compose_body(self) -> ComposeResult:
        """The body, between head and foot; overridden."""
        yield from ()

    def sheet_keys(self) -> tuple[SheetKey, ...]:
        """The key that commits, then the key that cancels."""
        return SheetKey("enter", "choose", self.commit), SheetKey("esc", "cancel", self.action_leave)

    def intent_keys(self, *offers: tuple[str, str]) -> tuple[SheetKey, ...]:
        """The keys of intents of the sheet by the user's keymap, each with its words; intents without a key are left out."""
        label = services_of(self).keymap.label
        return tuple(
            SheetKey(label(one), words, partial(self.run_intent, one)) for one, words in offers if label(one)
        )

    def explanations(self) -> list[tuple[str, str]]:
        """Its keys with what each does, for the list of keys."""
        return [(one.key, f"{one.words[:1].upper()}{one.words[1:]}") for one in self.sheet_keys()]

    def operation(self) -> str:
        """The write in words; overridden."""
        return ""

    def action_leave(self) -> None:
        """Closes the sheet without doing anything."""
        self.dismiss(None)

    def commit(self) -> None:
        """Does the same as the first of the keys; overridden."""

    def on_click(self, event: events.Click) -> None:
        """Cancels on a click beside the sheet."""
        if event.widget is self:
            self.action_leave()
        else:
            self.clicked(event)


class TextSheet(Sheet):
    """One line of text. Returns it, an empty one too; None when cancelled.

    `operation_of` says what committing the present text would do; `changed` gets every change, for a search that
    follows as the user types.
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
        selected: bool = False,
        missing: str = "",
        other: tuple[str, str, Callable[[str], object]] | None = None,
        survives_change: bool = False,
    ) -> None:
        """`selected`: the text begins selected, so that typing replaces it, as in a search for something else.

        `survives_change`: what is typed is written also if the session has changed, so nothing warns of that.

        `missing` is shown where the field is empty and may not be; the sheet then stays open. `other` is a key, its
        words, and a function that gets the text once the key has closed the sheet.
        """
        super().__init__(title, about, note=note)
        if survives_change:
            self.warn = None
        self._selected = selected
        self._commit = commit
        self._operation_of = operation_of
        self._changed = changed
        self._missing, self._other = missing, other
        self.input = Input(drawable(text), placeholder=placeholder, compact=True, select_on_focus=False)

    def mounted(self) -> None:
        """Shows the end of the text, where the cursor is; selects it where typing is to replace it; binds the other key."""
        self.call_after_refresh(lambda: self.input.scroll_to(x=self.input.max_scroll_x, animate=False))
        if self._selected:
            self.input.action_select_all()
        if self._other is not None:
            self._bindings.bind(self._other[0], "other", show=False)

    def compose_body(self) -> ComposeResult:
        """The field."""
        with Horizontal():
            yield OneLine(
                lambda _width, ground: [Segment(f" {services_of(self).glyphs.cursor} ", ground.leaf)]
            )
            yield self.input

    def sheet_keys(self) -> tuple[SheetKey, ...]:
        """The key that commits, the key that cancels, then the other key."""
        other = (SheetKey(*self._other[:2], self.action_other),) if self._other is not None else ()
        enter = SheetKey("enter", self._commit, self.commit)
        return enter, SheetKey("esc", "cancel", self.action_leave), *other

    def action_other(self) -> None:
        """Closes the sheet, and passes the text to the other key's function."""
        self.dismiss(None)
        if self._other is not None:
            self._other[2](self.input.value)

    def operation(self) -> str:
        """The effect of committing the present text, in words."""
        return self._operation_of(self.input.value) if self._operation_of is not None else ""

    def tell_outcome(self) -> None:
        """Draws the words beside the keys again, because they changed."""
        if self.is_mounted:
            self.foot.refresh()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Passes the new text to the listener."""
        event.stop()
        self.say("")
        if self._changed is not None:
            self._changed(event.value)

    def commit(self) -> None:
        """Returns the present text, unless it is empty and may not be."""
        if self._missing and not self.input.value.strip():
            self.say(self._missing)
        else:
            self.dismiss(self.input.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Commits."""
        event.stop()
        self.commit()


def model_sheet(title: str, name: str, problem: str, *, commit: str, effect: str) -> TextSheet:
    """A sheet that asks for the name of a model; `problem` says why the one that was typed will not do."""
    about = [SheetLine("as litellm names it: provider/model; keys come from the environment")]
    return TextSheet(
        title,
        name,
        [*about, *([SheetLine(problem, "warn")] if problem else [])],
        placeholder="provider/model",
        commit=commit,
        operation_of=lambda _text: effect,
        missing="type the name of a model",
    )
