"""What widgets and screens may ask of the application they run in, without importing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from textual.dom import DOMNode

    from leafward.config import Config
    from leafward_tui.glyphs import Glyphs
    from leafward_tui.keymap import Keymap
    from leafward_tui.keys_first import KeysFirst
    from leafward_tui.stance import Arrival
    from leafward_tui.terminal import Copied, Terminal
    from leafward_tui.theme import Palette, Styles

__all__ = ["Shell", "shell_of"]


class Shell(Protocol):
    """The services of ``LeafwardApp``."""

    config: Config
    glyphs: Glyphs
    keymap: Keymap
    terminal: Terminal
    keys_first: KeysFirst
    """What workers ask whether they may go on."""
    styles_now: Styles
    """The styles of the theme in use. Changes with the theme: ask at every line, keep nothing."""
    palette_now: Palette

    def clock(self) -> datetime:
        """Now, aware, in UTC."""
        ...

    def copy(self, text: str) -> Copied:
        """Puts text on the clipboard, or into a file where that cannot work, and says which."""
        ...

    def say(self, text: str, *, problem: bool = False) -> None:
        """A toast: for what is done elsewhere (clipboard, files, agents) only."""
        ...

    def open_session(self, path: Path, agent: str | None = None, arrival: Arrival | None = None) -> None:
        """Shows a session in the explorer, with the cursor where somebody wants to arrive."""
        ...

    def open_demo(self) -> None:
        """Shows the bundled session, a copy of it that is gone when the application ends."""
        ...

    def remember(self, key: str, value: object) -> None:
        """Keeps a small choice of the user for the next start; never raises."""
        ...

    def recall(self, key: str) -> object:
        """What was remembered, None where nothing was."""
        ...

    def keep_for_long(self) -> None:
        """Much was read that stays: garbage is not looked for among it, so that no key has to wait for that."""
        ...

    def let_go(self) -> None:
        """What was to stay for long is no longer needed; freed once the next screen stands."""
        ...


def shell_of(node: DOMNode) -> Shell:
    """The application of a mounted widget or screen."""
    return cast("Shell", node.app)
