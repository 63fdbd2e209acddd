"""The line where sessions are filtered: the query at the left, the number of matches at the right.

A problem with the query stands at the right as well; one that is too long for that goes on below, whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.containers import Horizontal
from textual.message import Message

from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit, wrap

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.widgets import Input

    from leafward_tui.ui.appearance.theme import Ground

_PLACEHOLDER = "words   file:   project:   since:"
_LEAD = 4


@dataclass(frozen=True, slots=True)
class _State:
    number: str = ""
    rest: str = ""
    note: str = ""
    problem: bool = False


class _Lead(Painted):
    """Cursor sign and slash."""

    DEFAULT_CSS = f"_Lead {{ width: {_LEAD}; height: 1; }}"
    GROUND = "raised"

    def __init__(self) -> None:
        super().__init__()
        self.lit = False

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:  # noqa: ARG002  it has one row
        sign = services_of(self).glyphs.cursor if self.lit else " "
        slash = ground.leaf if self.lit else ground.faint
        blank = Segment(" ", ground.blank)
        return [Segment(sign, ground.leaf), blank, Segment("/", slash), blank]


class _Facts(Painted):
    """The number of matches and the folders that were searched; before anything is typed, also the placeholder."""

    DEFAULT_CSS = "_Facts { width: 1fr; height: 1; }"
    GROUND = "raised"

    def __init__(self, placeholder: str) -> None:
        super().__init__()
        self.state = _State()
        self.placeholder = placeholder
        """The placeholder: examples of queries; empty once there is a field."""

    def edge(self, ground: Ground, room: int) -> list[Segment]:
        state = self.state
        note = f"   {state.note}" if state.note else ""
        used = cell_len(state.number) + cell_len(state.rest) + 1
        if state.problem and used + cell_len(note) > room and not self.overflows(room):
            # A problem with the query takes precedence over the number of matches.
            return [Segment(state.note, ground.warn), Segment(" ", ground.blank)]
        note = note if used + cell_len(note) <= room else ""
        return [
            Segment(state.number, ground.strong if state.rest.startswith(" of") else ground.sub),
            Segment(state.rest, ground.faint),
            Segment(note, ground.warn if state.problem else ground.sub),
            Segment(" ", ground.blank),
        ]

    def overflows(self, room: int) -> bool:
        """Whether the problem with the query is longer than `room` cells."""
        return self.state.problem and cell_len(self.state.note) + 1 > room

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:  # noqa: ARG002  it has one row
        right = self.edge(ground, width)
        taken = sum(piece.cell_length for piece in right)
        ellipsis = services_of(self).glyphs.ellipsis
        left = fit(self.placeholder, max(0, width - taken - 2), ellipsis=ellipsis)
        pad = " " * max(0, width - taken - cell_len(left))
        return [Segment(left, ground.faint), Segment(pad, ground.blank), *right]


class _Problem(Painted):
    """The problem with the query, in as many lines as it takes, below the line of the query."""

    DEFAULT_CSS = "_Problem { dock: bottom; width: 100%; }"
    GROUND = "raised"

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def lines(self, width: int) -> list[str]:
        """Its lines in a bar of `width` cells."""
        ellipsis = services_of(self).glyphs.ellipsis
        return wrap(self.text, max(1, width - _LEAD - 1), ellipsis=ellipsis) if self.text else []

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        line = "".join(self.lines(width)[y : y + 1])
        return [Segment(f"{' ' * _LEAD}{line}", ground.warn)]


class FilterBar(Horizontal):
    """Becomes a field when it is edited; Textual's `Input` is imported only then."""

    DEFAULT_CSS = """
    FilterBar {
        height: 1;
        width: 1fr;
        background: $lw-raise;
        & > Input { width: 1fr; height: 1; border: none; padding: 0; background: $lw-raise; color: $lw-text; text-style: bold; }
        & > Input:focus { border: none; background-tint: transparent; }
        & > Input > .input--placeholder { color: $lw-sub; text-style: none; }
    }
    """

    @dataclass
    class Changed(Message):
        """The query has changed."""

        text: str

    @dataclass
    class Committed(Message):
        """The query is kept, the list has the keys again."""

    def __init__(self, placeholder: str = _PLACEHOLDER, *, whole: bool = False) -> None:
        """`whole`: it takes a search of all text."""
        super().__init__()
        self._lead = _Lead()
        self._facts = _Facts(placeholder)
        self._whole = whole
        self._placeholder = ""
        self._input: Input | None = None
        self._problem: _Problem | None = None

    def compose(self) -> ComposeResult:
        """Sign and figures; the field comes when it is needed."""
        yield self._lead
        yield self._facts

    @property
    def editing(self) -> bool:
        """Whether keys go into the field."""
        return self._input is not None and self._input.has_focus

    def edit(self, text: str = "") -> None:
        """Gives the keys to the field, which begins with `text`; its text is selected, so that typing replaces it."""
        if self._input is None:
            from leafward_tui.ui.bars.query_input import QueryInput

            self._input = QueryInput(text, whole=self._whole)
            self.mount(self._input, after=self._lead)
            # The placeholder stands in the field itself, as long as it is empty.
            self._placeholder, self._facts.placeholder = self._facts.placeholder, ""
        if not self.editing:
            self._input.action_select_all()
        self._fit()
        # `focus` would come after the keys that were typed meanwhile.
        self.screen.set_focus(self._input)

    def clear(self) -> None:
        """Empties the field."""
        if self._input is not None and self._input.value:
            self._input.value = ""

    def show(self, number: str, rest: str, note: str = "", *, problem: bool = False) -> None:
        """Shows `number` and `rest`, and `note`, which names the searched folders or the `problem`.

        `number` stands out from `rest` when `rest` gives the total.
        """
        self._facts.state = _State(number, rest, note, problem)
        self._fit()
        self._facts.refresh()

    def _fit(self) -> None:
        """Lays out the bar: the field has the room that the figures leave, a problem the rest or lines of its own."""
        room = self.size.width
        if self._input is not None:
            room = max(room * 2 // 3, room - _LEAD - cell_len(self._input.value) - 2)
            services = services_of(self)
            width = sum(piece.cell_length for piece in self._facts.edge(services.styles_now.raised, room))
            self._facts.styles.width = width
            left = max(0, self.size.width - _LEAD - width - 2)
            self._input.placeholder = fit(self._placeholder, left, ellipsis=services.glyphs.ellipsis)
        self._go_on_below(self._facts.state.note if self._facts.overflows(room) else "")

    def _go_on_below(self, problem: str) -> None:
        if self._problem is None:
            if not problem:
                return
            self._problem = _Problem(problem)
            self.mount(self._problem)
        self._problem.text = problem
        height = len(self._problem.lines(self.size.width))
        self._problem.display, self._problem.styles.height = bool(height), height
        self.styles.height = 1 + height
        self._problem.refresh()

    def on_resize(self) -> None:
        """Lays the bar out again: the figures yield before the field does."""
        self._fit()

    def on_descendant_focus(self) -> None:
        """Lights the bar while the field has the keys."""
        self._light(lit=True)

    def on_descendant_blur(self) -> None:
        """Draws the bar plain again."""
        self._light(lit=False)

    def _light(self, *, lit: bool) -> None:
        self._lead.lit = lit
        self._lead.refresh()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Posts that the query has changed."""
        event.stop()
        self.post_message(self.Changed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Posts that the query is kept."""
        event.stop()
        self.post_message(self.Committed())

    def on_click(self) -> None:
        """Gives the keys to the field."""
        self.edit()
