"""``?``: every key of the screen it was called from, grouped."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment

from leafward_tui.ui.cells import fit
from leafward_tui.ui.intents import GROUPS, Intent, intent_bindings, intents_for
from leafward_tui.ui.modal import Modal

if TYPE_CHECKING:
    from textual.binding import BindingType

    from leafward_tui.ui.theme import Ground

__all__ = ["HelpScreen"]

_KEYS = 18


class HelpScreen(Modal):
    """Keys at the left, what they do at the right; the user's own keymap is what is shown."""

    NAME = "help"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("help")]

    def __init__(self, screen: str) -> None:
        # The key that opened it closes it.
        super().__init__(self._row, {"app.help": self.leave})
        self._rows: list[str | Intent] = []
        for group in GROUPS:
            members = [entry for entry in intents_for(screen) if entry.group == group]
            if members:
                self._rows += [*([""] if self._rows else []), group, *members]
        self._screen_name = screen

    def on_mount(self) -> None:
        """Title and length."""
        self.frame(f"Keys of the {self._screen_name}", len(self._rows), "j k scroll   esc closes")

    def _row(self, number: int, width: int, ground: Ground) -> list[Segment]:
        """A heading, a key with its sentence, or an empty row."""
        row = self._rows[number]
        if isinstance(row, str):
            return [Segment(row, ground.strong)]
        keys = "  ".join(self.shell.keymap.labels(row.id)) or self.shell.glyphs.zero
        return [
            Segment(fit(keys, _KEYS, pad=True), ground.text),
            Segment(fit(row.title, max(0, width - _KEYS), ellipsis=self.shell.glyphs.ellipsis), ground.sub),
        ]
