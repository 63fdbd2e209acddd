"""What widgets and screens may ask of the application they run in, without importing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from textual.dom import DOMNode

    from leafward.base.config import Config
    from leafward_tui.app.input_priority import KeysFirst
    from leafward_tui.explorer.view_state import OpenTarget
    from leafward_tui.ui.glyphs import Glyphs
    from leafward_tui.ui.keymap import Keymap
    from leafward_tui.ui.terminal import Copied, Terminal
    from leafward_tui.ui.theme import Palette, Styles

__all__ = ["AppServices", "Job", "Jobs", "services_of"]

Result = TypeVar("Result")


class Job(Protocol):
    """What a job is given beside its values."""

    def stop(self) -> bool:
        """Whether its result is no longer wanted; to be asked every few milliseconds. Waits there while a key is handled."""
        ...

    def report(self, tell: Callable[[], object]) -> None:
        """Runs `tell` in the thread of the screen, as long as the job is wanted: for progress and results in parts."""
        ...


class Jobs(Protocol):
    """Work beside one screen, by keys of which the latest job counts. `app.jobs` has the contract."""

    def latest(
        self,
        key: str,
        work: Callable[[Job], Result],
        on_done: Callable[[Result], object],
        on_error: Callable[[str], object] | None = None,
    ) -> None:
        """Starts a job and cancels the one before with the same key."""
        ...

    def also(
        self,
        key: str,
        work: Callable[[Job], Result],
        on_done: Callable[[Result], object],
        on_error: Callable[[str], object] | None = None,
    ) -> None:
        """Starts a job beside those of the same key. For writes, which nothing cancels."""
        ...

    def running(self, key: str) -> bool:
        """Whether a job of this key has not delivered yet."""
        ...

    def cancel(self, *keys: str) -> None:
        """Cancels the jobs of some keys, of all keys without one; what they find is dropped."""
        ...


class AppServices(Protocol):
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

    def open_session(self, path: Path, agent: str | None = None, arrival: OpenTarget | None = None) -> None:
        """Shows a session in the explorer, with the cursor where somebody wants to arrive."""
        ...

    def jobs(self, owner: DOMNode) -> Jobs:
        """The jobs of a screen or widget, which end with it; made when the owner is mounted."""
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


def services_of(node: DOMNode) -> AppServices:
    """The application of a mounted widget or screen."""
    return cast("AppServices", node.app)
