"""The command palette, fed by the intents of the screen it was called from: only what works now."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.command import CommandPalette, DiscoveryHit, Hit, Provider
from textual.content import Content

from leafward_tui.ui.cells import right
from leafward_tui.ui.intents import WRITES, Intent, intents_for
from leafward_tui.ui.screen import BaseScreen
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from textual.command import Hits

__all__ = ["IntentCommands", "Palette", "working_intents"]


def working_intents(screen: BaseScreen[Any]) -> list[Intent]:
    """The intents of the screen that do something in its present state and make sense from the palette."""
    return [
        entry
        for entry in intents_for(screen.NAME)
        if entry.palette and screen.enabled(entry.id) and not (screen.refusal and entry.id in WRITES)
    ]


_ORDER = ("Change", "Compare", "Compaction", "Sessions", "Find", "View", "Go", "Tree", "Rows", "Leafward")
"""Groups as the palette lists them before anything is typed: what is done most from there first."""

_KEYS = 16
_COMMANDS = 54


class Palette(CommandPalette):
    """Textual's palette in our frame."""

    CSS_PATH = Path(__file__).with_name("command_palette.tcss")

    def __init__(self) -> None:
        super().__init__(placeholder="type to find a command", id="--command-palette")

    def on_mount(self) -> None:
        """Title and way out stand in the rules."""
        frame = self.query_one("#--container")
        frame.border_title = Content("Commands")
        frame.border_subtitle = Content("enter run   esc cancel")
        glyphs = services_of(self).glyphs
        if glyphs.hairline == "-":
            frame.styles.border = ("ascii", services_of(self).palette_now.line)


class IntentCommands(Provider):
    """What can be done on the screen, with its key."""

    def _working(self) -> list[Intent]:
        if not isinstance(self.screen, BaseScreen):
            return []
        return sorted(working_intents(self.screen), key=lambda entry: _ORDER.index(entry.group))

    def _run(self, intent_id: str) -> None:
        if isinstance(self.screen, BaseScreen):
            self.screen.run_intent(intent_id)

    def _line(self, entry: Intent, title: Content) -> Content:
        """Title and keys on one line."""
        keys = "  ".join(services_of(self.screen).keymap.labels(entry.id))
        gap = max(2, _COMMANDS - title.cell_length)
        return Content.assemble(title, " " * gap, (right(keys, _KEYS), "$lw-faint"))

    async def discover(self) -> Hits:
        """Everything that works now."""
        for entry in self._working():
            yield DiscoveryHit(
                self._line(entry, Content(entry.title)),
                partial(self._run, entry.id),
                text=entry.title,
            )

    async def search(self, query: str) -> Hits:
        """What works now and matches its title, its words in the key bar, or its id."""
        matcher = self.matcher(query)
        for entry in self._working():
            score = max(
                matcher.match(entry.title),
                0.9 * matcher.match(entry.hint),
                0.8 * matcher.match(entry.id),
            )
            if score > 0:
                yield Hit(
                    score,
                    self._line(entry, matcher.highlight(entry.title)),
                    partial(self._run, entry.id),
                    text=entry.title,
                )
