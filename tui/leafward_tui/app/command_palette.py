"""The command palette, made from the intents of its screen: only those that work now, the last ones run first."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Provider
from textual.content import Content

from leafward.base.config import config_path
from leafward_tui.ui.keys.intents import INTENTS, WRITES, Intent, intents_for
from leafward_tui.ui.keys.key_reasons import SCREEN_TITLES
from leafward_tui.ui.panes.line_scroll import slim
from leafward_tui.ui.screens.screen import BaseScreen
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import right

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.command import Hits


def working_intents(screen: BaseScreen[Any]) -> list[Intent]:
    """The intents of the screen that do something in its present state and make sense from the palette."""
    return [
        entry
        for entry in intents_for(screen.NAME)
        if entry.palette and screen.enabled(entry.id) and not (screen.refusal and entry.id in WRITES)
    ]


_RECENT = 5
"""Number of commands run last that are listed first."""
_ORDER = ("Change", "Compare", "Compaction", "Sessions", "Find", "View", "Go", "Tree", "Rows", "Leafward")
"""The order of the groups in the palette before anything is typed: the groups of the most used commands first."""

_TELLING = 3
"""Letters from which a word that no command here contains is looked for on other screens."""
_SETTINGS = ("settings", "configuration", "options", "preferences")
"""Words that find the file of the settings."""

_KEYS = 16
_WIDTH = 96
_AROUND = 7
"""Cells beside a command: frame, padding and scrollbar."""


class Palette(CommandPalette):
    """Textual's palette in our frame."""

    CSS_PATH = Path(__file__).with_name("command_palette.tcss")

    def __init__(self) -> None:
        super().__init__(placeholder="type to find a command", id="--command-palette")

    def on_mount(self) -> None:
        """Puts the title and the key that closes it into the rules, and makes the scrollbar that of all lists."""
        slim(self.query_one(CommandList))
        frame = self.query_one("#--container")
        frame.border_title = Content("Commands")
        frame.border_subtitle = Content("enter run   esc cancel")
        glyphs = services_of(self).glyphs
        if glyphs.hairline == "-":
            frame.styles.border = ("ascii", services_of(self).palette_now.line)


class IntentCommands(Provider):
    """The intents of the screen that work now, with their keys."""

    def _working(self) -> list[Intent]:
        if not isinstance(self.screen, BaseScreen):
            return []
        recent = self._recent()

        def place(entry: Intent) -> tuple[int, int]:
            last = recent.index(entry.id) if entry.id in recent else len(recent)
            return last, _ORDER.index(entry.group)

        return sorted(working_intents(self.screen), key=place)

    def _recent(self) -> list[str]:
        """The commands run last on this screen, the latest first."""
        recalled = services_of(self.screen).recall("commands")
        return [str(one) for one in recalled] if isinstance(recalled, list) else []

    def _run(self, intent_id: str) -> None:
        if isinstance(self.screen, BaseScreen):
            others = [one for one in self._recent() if one != intent_id]
            services_of(self.screen).remember("commands", [intent_id, *others][:_RECENT])
            self.screen.run_intent(intent_id)

    def _line(self, entry: Intent, title: Content) -> Content:
        """Title and keys on one line, as wide as the palette."""
        services = services_of(self.screen)
        keys = "  ".join(services.keymap.labels(entry.id))
        room = min(_WIDTH, self.app.size.width) - _AROUND - _KEYS
        ellipsis = services.glyphs.ellipsis
        if title.cell_length > room:
            title = title.truncate(room - cell_len(ellipsis)) + ellipsis
        title = title.truncate(room, pad=True)
        return Content.assemble(title, (right(keys, _KEYS, ellipsis=ellipsis), "$lw-sub"))

    async def discover(self) -> Hits:
        """All commands that work now."""
        for entry in self._working():
            yield DiscoveryHit(
                self._line(entry, Content(entry.title)),
                partial(self._run, entry.id),
                text=entry.title,
            )

    async def search(self, query: str) -> Hits:
        """Commands that work now and match by title, key bar words, id, or words for the screen they open.

        Where any contains the query, only those; where no working command does, also those of other screens that do,
        each with its screen.
        """
        matcher, words = self.matcher(query), query.casefold()
        working = self._working()
        held = [
            one for one in working if words in f"{one.title}\n{one.hint}\n{one.id}\n{one.also}".casefold()
        ]
        for entry in held or working:
            score = max(
                matcher.match(entry.title),
                0.9 * matcher.match(entry.hint),
                0.8 * matcher.match(entry.id),
            )
            title = entry.title
            if words in entry.also and words not in title.casefold():
                score, title = matcher.match(entry.also), f"{title}: {entry.also}"
            if score > 0:
                yield Hit(
                    score,
                    self._line(entry, matcher.highlight(title)),
                    partial(self._run, entry.id),
                    text=entry.title,
                )
        for title, place in self._elsewhere(words) if not held else ():
            text = f"{title} ({place})"
            yield Hit(1, Content(text), partial(self._tell, text), text=text)

    def _elsewhere(self, words: str) -> Iterator[tuple[str, str]]:
        """Commands that contain the words but do not work here now: the title, and the reason or their screen."""
        if len(words) < _TELLING or not isinstance(self.screen, BaseScreen):
            return
        if any(one.startswith(words) for one in _SETTINGS):
            yield "Settings", str(config_path())
        name, told = self.screen.NAME, set[str]()
        for entry in sorted(INTENTS, key=lambda one: name not in one.screens):
            held = words in f"{entry.title}\n{entry.id}\n{entry.also}".casefold()
            if not entry.palette or not held or entry.title in told:
                continue
            told.add(entry.title)
            if name in entry.screens:
                yield entry.title, self.screen.reason(entry.id)
            else:
                yield entry.title, f"in the {SCREEN_TITLES.get(entry.screens[0], entry.screens[0])}"

    def _tell(self, text: str) -> None:
        """Shows in the key bar where a command works."""
        if isinstance(self.screen, BaseScreen) and self.screen.answer is not None:
            self.screen.answer(text)
