"""A pane of lines without a widget, for the tests of controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.geometry import Size

    from leafward_tui.ui.panes.pane_lines import Lines, SpanLine


class FakeLines:
    """Lines made for a size, and a cursor."""

    def __init__(self, size: Size) -> None:
        self.size, self.cells = size, size.width
        self.lines: Lines | None = None
        self.cursor = 0
        self.rows_above = 0

    @property
    def line(self) -> SpanLine | None:
        found = self.lines is not None and 0 <= self.cursor < len(self.lines)
        return self.lines[self.cursor] if self.lines is not None and found else None

    @property
    def key(self) -> str:
        return self.line.key if self.line is not None else ""

    def show(self, make: Callable[[int, int], Lines], *, at: str | None = None, **_more: object) -> None:
        self.lines = make(*self.size)
        if at is not None:
            self.go(at)

    def shown(self) -> range:
        return range(len(self.lines or ()))

    def move_by(self, step: int) -> None:
        self.cursor = max(0, min(self.cursor + step, len(self.lines or ()) - 1))

    def move_to(self, y: int) -> None:
        self.cursor = y

    def bring(self, y: int, above: int) -> None:
        self.cursor, self.rows_above = y, above

    def go(self, key: str) -> bool:
        at = self.lines.find(key) if self.lines is not None else -1
        self.cursor = max(0, at)
        return at >= 0

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name in ("redraw", "reveal", "light", "focus"):
            return lambda *_, **__: None
        raise AttributeError(name)
