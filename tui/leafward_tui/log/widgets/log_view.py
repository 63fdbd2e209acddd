"""The operation log as lines: the operations, newest at the bottom, and below them the details of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from leafward.base.times import moment_of
from leafward.session.journal.operation_log import OperationKind
from leafward_tui.log.path_then import PathThen
from leafward_tui.ui.panes.line_scroll import LineList
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import age, fit, right
from leafward_tui.ui.text.times import moment

if TYPE_CHECKING:
    from rich.style import Style

    from leafward.session.journal.operation_log import Operation
    from leafward_tui.log.path_then import PathRow
    from leafward_tui.ui.appearance.theme import Ground
    from leafward_tui.ui.words.operation_text import OperationText

_TEXT_AT = 21
"""Cells before the words: cursor, sign, age and verb."""
_VERB = 11
_LABEL = 8
_LEAST_TWO = 100
"""Cells from which the path stands beside the details."""


class LogColumns(NamedTuple):
    """The places of the number columns of the list."""

    width: int
    numbers: tuple[tuple[str, int], ...]
    text: int
    """Cells for the words of an operation."""


def columns_of(width: int, *, states: bool) -> LogColumns:
    """The columns of a list of some width; `states` where some operation is undone."""
    numbers = ((("state", 9),) if states else ()) + ((("by", 10),) if width >= 80 else ())
    return LogColumns(width, numbers, width - _TEXT_AT - sum(cells for _, cells in numbers) - 1)


class LogList(LineList):
    """One line for each operation. Only lines on the screen are drawn."""

    def __init__(self) -> None:
        super().__init__(id="operations")
        self.operations: OperationText | None = None
        self.agent = "agent"
        """The name of the agent."""

    @property
    def operation(self) -> Operation | None:
        """The operation under the cursor; None where there is none."""
        operations = self.operations
        return (
            operations.log[self.cursor]
            if operations is not None and 0 <= self.cursor < len(operations)
            else None
        )

    def show(self, operations: OperationText, agent: str, cursor: int) -> None:
        """Shows other operations, with the cursor on one of them."""
        self.operations, self.agent = operations, agent
        self.show_lines(len(operations), cursor)

    @property
    def cells(self) -> int:
        """The width of a line, beside the scrollbar where there is one or will be one with the next layout."""
        outer = self.outer_size
        scrolls = self.virtual_size.height > outer.height
        return outer.width - (self.styles.scrollbar_size_vertical if scrolls else 0)

    def render_line(self, y: int) -> Strip:
        """One operation."""
        services = services_of(self)
        width = self.cells
        row = y + self.scroll_offset.y
        if self.operations is None or row >= len(self.operations):
            return Strip.blank(width, services.styles_now.bg.blank)
        ground = services.styles_now.sel if row == self.cursor else services.styles_now.bg
        return Strip(self._line(self.operations, row, width, ground)).adjust_cell_length(width, ground.blank)

    def _line(self, operations: OperationText, row: int, width: int, ground: Ground) -> list[Segment]:
        services = services_of(self)
        glyphs = services.glyphs
        operation = operations.log[row]
        doing = operations.doing(operation)
        selected = row == self.cursor
        holds = not operation.undone
        sign, sign_ink = (glyphs.own, ground.leaf) if holds else (glyphs.own_undone, ground.faint)
        if operation.agent and holds:
            sign, sign_ink = glyphs.rail_off, ground.faint
        quiet = operation.agent or not holds
        words = ground.strong if selected else ground.sub if quiet else ground.text
        verb = ground.faint if quiet else ground.sub
        when = moment_of(operation.time)
        columns = columns_of(width, states=operations.some_undone)
        states = dict(columns.numbers).get("state", 0)
        return [
            Segment(glyphs.cursor if selected else " ", ground.leaf if self.has_focus else ground.faint),
            Segment(" ", ground.blank),
            Segment(sign, sign_ink),
            Segment(right(age(services.clock() - when) if when is not None else "", 5), ground.faint),
            Segment("   ", ground.blank),
            Segment(fit(doing.verb, _VERB, pad=True), verb),
            *self._words(doing.lead, doing.follow, columns.text, words, ground),
            Segment(right(doing.state, states), ground.warn if doing.state == "undone" else ground.sub),
            *(
                [Segment(right(self.agent if operation.agent else "Leafward", 10), ground.faint)]
                if "by" in dict(columns.numbers)
                else []
            ),
            Segment(" ", ground.blank),
        ]

    def _words(self, lead: str, follow: str, room: int, style: Style, ground: Ground) -> list[Segment]:
        """From and to with an arrow between them; the shorter one leaves its room to the other."""
        glyphs = services_of(self).glyphs
        if not follow:
            return [Segment(fit(lead, room, pad=True, ellipsis=glyphs.ellipsis), style)]
        arrow = f"  {glyphs.arrow}  "
        free = room - cell_len(arrow)
        first = min(cell_len(lead), max(free // 2, free - cell_len(follow)))
        fitted = fit(lead, first, ellipsis=glyphs.ellipsis)
        rest = free - cell_len(fitted)
        return [
            Segment(fitted, ground.sub if style is ground.text else style),
            Segment(arrow, ground.faint),
            Segment(fit(follow, rest, pad=True, ellipsis=glyphs.ellipsis), style),
        ]


class LogDetails(Painted):
    """The details of one operation, and, where there is room, the path as it was after it."""

    DEFAULT_CSS = "LogDetails { width: 1fr; height: 8; }"

    def __init__(self) -> None:
        super().__init__(id="details")
        self._operations: OperationText | None = None
        self._operation: Operation | None = None
        self._by = ""
        self._rows: dict[int, list[PathRow]] = {}
        """The rows of the path, by their number."""

    def show(self, operations: OperationText, operation: Operation | None, by: str) -> None:
        """Shows an operation and its author."""
        self._operations, self._operation, self._by = operations, operation, by
        self._rows = {}
        self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """One line of the details, and beside it one of the path."""
        operations, operation, height = self._operations, self._operation, self.size.height
        if operations is None or operation is None:
            return []
        path_width = width * 2 // 5 if width >= _LEAST_TWO else 0
        room = width - path_width - (3 if path_width else 1)
        facts = self._facts(operations, operation, room, height, ground)
        line = [Segment(" ", ground.blank), *(facts[y] if y < len(facts) else [])]
        if not path_width:
            return line
        left = Strip(line).adjust_cell_length(width - path_width - 2, ground.blank)
        gap = Segment("  ", ground.blank)
        return [*left, gap, *self._path(operations, operation, y, path_width - 1, height, ground)]

    def _facts(
        self, operations: OperationText, operation: Operation, width: int, height: int, ground: Ground
    ) -> list[list[Segment]]:
        services = services_of(self)
        when = moment(operation.time or "")
        title = operations.title(operation)
        head = [
            Segment(title, ground.strong),
            Segment(f"   by {self._by}", ground.faint),
        ]
        used = cell_len(title) + 6 + cell_len(self._by)
        head.append(Segment(right(when, max(0, width - used - 1)), ground.faint))
        lines = [head, *([[]] if height > 6 else [])]
        facts = operations.facts(operation)
        root = operations.root(operation)
        if operation is not root:
            facts.insert(0, ("of", f"{operations.doing(root).verb}, entry #{root.entry:,}", ""))
        for name, value, ident in facts:
            room = width - _LABEL - (cell_len(ident) + 3 if ident else 1)
            lines.append(
                [
                    Segment(fit(name, _LABEL, pad=True), ground.faint),
                    Segment(fit(value, room, pad=True, ellipsis=services.glyphs.ellipsis), ground.text),
                    Segment(f"  {ident}" if ident else "", ground.faint),
                ]
            )
        undo = operation.kind is OperationKind.UNDO
        if taken := operations.taken_back(operation if undo else root):
            lines.append(_fact("redone" if undo else "undone", taken, width, ground.warn, ground))
        elif not undo:
            lines.append(_fact("undo", operations.outcome(root), width, ground.sub, ground))
        return lines

    def _path(
        self, operations: OperationText, operation: Operation, y: int, width: int, height: int, ground: Ground
    ) -> list[Segment]:
        if y == 0:
            return [Segment(fit("Path at that time", width, pad=True), ground.strong)]
        gap = height > 6
        room = height - 1 - gap
        if room not in self._rows:
            self._rows[room] = PathThen(operations).rows(operation, room)
        rows, at = self._rows[room], y - 1 - gap
        return self._path_row(rows[at], width, ground) if 0 <= at < len(rows) else []

    def _path_row(self, row: PathRow, width: int, ground: Ground) -> list[Segment]:
        services = services_of(self)
        signs = [Segment(sign, getattr(ground, ink)) for sign, ink in row.signs]
        behind = row.behind
        room = width - len(row.signs) - 1 - (cell_len(behind) + 2 if behind else 0)
        style = getattr(ground, row.behind_ink)
        if row.behind_ink == "leaf":
            style = services.styles_now.leaf_tint.leaf
        return [
            *signs,
            Segment(" ", ground.blank),
            Segment(
                fit(row.text, room, pad=True, ellipsis=services.glyphs.ellipsis), getattr(ground, row.ink)
            ),
            Segment("  ", ground.blank),
            Segment(behind, style),
        ]


def _fact(name: str, value: str, width: int, ink: Style, ground: Ground) -> list[Segment]:
    return [
        Segment(fit(name, _LABEL, pad=True), ground.faint),
        Segment(fit(value, max(0, width - _LABEL - 1), pad=True), ink),
    ]


_SENTENCE = "No operation yet: nothing was moved, labelled, named or archived."


class EmptyLog(Painted):
    """One sentence."""

    DEFAULT_CSS = "EmptyLog { width: 1fr; height: 1fr; display: none; }"

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """The sentence, below an empty line where there is room."""
        if y != min(1, self.size.height - 1):
            return []
        sentence = fit(_SENTENCE, width - 3, ellipsis=services_of(self).glyphs.ellipsis)
        return [Segment("  ", ground.blank), Segment(sentence, ground.nothing)]
