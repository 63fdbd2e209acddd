"""The last row: the keys that matter in this state, or for a moment the effect of the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment

from leafward_tui.ui.keys.intents import WRITES, intent
from leafward_tui.ui.messages import IntentPressed
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from leafward_tui.ui.appearance.theme import Ground
    from leafward_tui.ui.keys.key_overrides import Keymap

_NARROW = 100
_ALWAYS = ("app.help", "app.palette")


class Hint(NamedTuple):
    """Keys and their present effect: `Hint("sort.next", "sort: when")`; two ids show as `[ ] branch`."""

    ids: str | tuple[str, ...]
    words: str = ""
    """Words instead of the intent's own hint."""
    short: str = ""
    """Words below 100 columns; empty for the same words."""
    key_only: bool = False
    """Whether only the key is the intent's and the action here is another one."""

    @property
    def writes(self) -> bool:
        """Whether the hint is for something that appends to the session."""
        ids = (self.ids,) if isinstance(self.ids, str) else self.ids
        return not self.key_only and not WRITES.isdisjoint(ids)


class _Cell(NamedTuple):
    keys: tuple[tuple[str, str], ...]
    """The keys as the bar shows them, each with its intent."""
    words: str

    @property
    def key(self) -> str:
        return " ".join(label for label, _ in self.keys)

    @property
    def width(self) -> int:
        return cell_len(self.key) + 1 + cell_len(self.words)

    def spans(self, at: int) -> list[tuple[int, int, str]]:
        """The intents that a click runs, by cells from `at` on: each key its own intent, the words that of the first."""
        found, x = [], at
        for label, intent_id in self.keys:
            found.append((x, x + cell_len(label), intent_id))
            x = found[-1][1] + 1
        return [*found, (x - 1, at + self.width, self.keys[0][1])]


class KeyBar(Painted):
    """Five to ten hints in whole words, dropped from the right when narrow; `?` and `ctrl+p` at the right edge. Click runs one."""

    DEFAULT_CSS = "KeyBar { height: 1; width: 1fr; background: $lw-panel; }"
    GROUND = "panel"

    def __init__(self) -> None:
        super().__init__()
        self._hints: tuple[Hint, ...] = ()
        self._message = ""
        self._spans: list[tuple[int, int, str]] = []

    @property
    def message(self) -> str:
        """The text instead of the hints; empty for none."""
        return self._message

    def say(self, text: str) -> None:
        """Shows a text instead of the hints until the next key; an empty text brings the hints back."""
        if text != self._message:
            self._message = text
            self.refresh()

    def show(self, hints: Sequence[Hint]) -> None:
        """Sets the hints of this state, the most important first."""
        if tuple(hints) != self._hints:
            self._hints = tuple(hints)
            self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:  # noqa: ARG002  it has one row
        """The bar at the widget's width."""
        keymap = services_of(self).keymap
        narrow = width < _NARROW
        gap = 2 if narrow else 3
        shown = _ALWAYS[1:] if self._is_typed(keymap.label("app.help")) else _ALWAYS
        always = [_cell(Hint(one), keymap, narrow) for one in (shown[:1] if narrow else shown)]
        right = [cell for cell in always if cell is not None]
        room = width - 2 - sum(cell.width + gap for cell in right)
        left: list[_Cell] = []
        for hint in self._hints if not self._message else ():
            cell = _cell(hint, keymap, narrow)
            if cell is None:
                continue
            needed = cell.width + (gap if left else 0)
            if needed > room:
                break
            room -= needed
            left.append(cell)
        self._spans = []
        segments = [Segment(" ", ground.blank)]
        at = 1
        if self._message:
            glyphs = services_of(self).glyphs
            message = fit(f"{glyphs.malformed} {self._message}", max(0, room), ellipsis=glyphs.ellipsis)
            segments.append(Segment(message, ground.warn))
            at += cell_len(message)
            room -= cell_len(message)
        for number, cell in enumerate([*left, *right]):
            space = (gap if number else 0) + (max(0, room) if number == len(left) and left else 0)
            if not left and number == 0:
                space = max(0, room) + gap
            segments += [
                Segment(" " * space, ground.blank),
                Segment(cell.key, ground.strong),
                Segment(f" {cell.words}", ground.faint),
            ]
            at += space
            self._spans += cell.spans(at)
            at += cell.width
        return segments

    def _is_typed(self, key: str) -> bool:
        """Whether a key, as it is written here, goes into the field that has the keys."""
        focused = self.screen.focused
        return focused is not None and len(key) == 1 and focused.check_consume_key(key, key)

    def on_mount(self) -> None:
        """Draws the bar again where the focus moves, because other keys work in a field."""
        self.watch(self.screen, "focused", self._keys_went_elsewhere, init=False)

    def _keys_went_elsewhere(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Runs the clicked hint."""
        for start, end, intent_id in self._spans:
            if start <= event.x < end:
                self.post_message(IntentPressed(intent_id))


def _cell(hint: Hint, keymap: Keymap, narrow: bool) -> _Cell | None:
    """The hint as the bar shows it; None where the user unbound its keys."""
    ids = (hint.ids,) if isinstance(hint.ids, str) else hint.ids
    keys = tuple((label, one) for one in ids if (label := keymap.label(one)))
    words = (hint.short if narrow and hint.short else hint.words) or intent(ids[0]).hint
    return _Cell(keys, words) if keys else None
