"""All themes by name: their colours as this terminal shows them, and which one an application starts with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.appearance.palette import DEFAULT_DARK, Palette, Palettes, unknown_theme, user_themes
from leafward_tui.ui.appearance.theme import suited

if TYPE_CHECKING:
    from pathlib import Path

    from leafward_tui.ui.appearance.terminal import Terminal


class Themes:
    """The built-in themes and those of the user's folder."""

    def __init__(self, folder: Path, terminal: Terminal) -> None:
        users, problems = user_themes(folder)
        self.problems = [*problems]
        """One line for each file of the folder that is left out, and for a configured theme that there is not."""
        self.palettes = Palettes(users)
        """The themes by name, with the colours of their files; the defaults first."""
        self._terminal = terminal

    def shown(self, name: str) -> Palette:
        """A theme's colours as this terminal shows them."""
        return suited(self.palettes[name], self._terminal.depth, no_color=self._terminal.no_color)

    def first(self, configured: str | None, chosen: object) -> str:
        """The theme chosen last, as long as the configured theme has not changed since; else the configured one.

        `chosen` is remembered: the theme and the one that was configured then, or anything else.
        """
        if (
            isinstance(chosen, list)
            and len(chosen) == 2
            and chosen[1] == configured
            and chosen[0] in self.palettes
        ):
            return str(chosen[0])
        if configured is None or configured in self.palettes:
            return configured or DEFAULT_DARK
        self.problems.append(unknown_theme(configured, self.palettes))
        return DEFAULT_DARK
