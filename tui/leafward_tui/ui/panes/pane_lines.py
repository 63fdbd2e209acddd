"""The lines of a pane: spans with names of inks, and a key for each line that the cursor can rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, overload

from rich.cells import cell_len

from leafward.session.entries import NO_ENTRY
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class SpanLine:
    """One line of a pane."""

    spans: tuple[Span, ...] = ()
    key: str = ""
    """The line's key, as `area:name`; the cursor rests on lines that have one."""
    entry: int = NO_ENTRY
    """The entry it is about; -1 for none."""
    ground: str = ""
    """Field of `theme.Styles` that the whole line is drawn on; empty for the plain ground."""

    @property
    def text(self) -> str:
        """The line as it reads."""
        return "".join(span.text for span in self.spans)


class Lines(Protocol):
    """The lines of a pane; one is made when it is asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, y: int) -> SpanLine: ...

    def find(self, key: str) -> int:
        """The line with a key; -1 where there is none."""
        ...


class Block(list[SpanLine]):
    """Lines that are all made."""

    def find(self, key: str) -> int:
        """The line with a key; -1 where there is none."""
        return next((y for y, line in enumerate(self) if line.key == key), -1)


class MadeLines(Sequence[SpanLine]):
    """Lines of which each is made when it is drawn; a subclass makes one in `_line`, and counts them."""

    def _line(self, y: int) -> SpanLine:  # noqa: ARG002  overridden
        return SpanLine()

    @overload
    def __getitem__(self, y: int) -> SpanLine: ...
    @overload
    def __getitem__(self, y: slice) -> Sequence[SpanLine]: ...
    def __getitem__(self, y: int | slice) -> SpanLine | Sequence[SpanLine]:
        at = range(len(self))[y]
        return self._line(at) if isinstance(at, int) else [self._line(one) for one in at]


class LazyLines(MadeLines):
    """Lines made by a function: for lists that may be very long."""

    def __init__(
        self, number: int, make: Callable[[int], SpanLine], places: Mapping[str, int] | None = None
    ) -> None:
        """`places` has the line of each key."""
        self._number, self._make, self._places = number, make, places or {}

    def __len__(self) -> int:
        return self._number

    def _line(self, y: int) -> SpanLine:
        return self._make(y)

    def find(self, key: str) -> int:
        """The line with a key; -1 where there is none."""
        return self._places.get(key, -1)


def blanks(cells: int) -> Span:
    """A span of empty cells."""
    return Span(" " * max(0, cells), "blank")


def spread(
    left: Sequence[Span], right: Sequence[Span], width: int, key: str = "", entry: int = NO_ENTRY
) -> SpanLine:
    """One line with something at its right edge; both are known to fit."""
    used = sum(cell_len(span.text) for span in (*left, *right))
    return SpanLine((*left, blanks(width - used), *right), key, entry)
