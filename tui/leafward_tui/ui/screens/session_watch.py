"""The file that a screen shows something of: said to have changed, once, with the key that reads it anew.

A screen on a session relies on it in the state in which it was opened, so nothing is read while it is on top: the entries of
a rewritten file have other indexes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from leafward_tui.ui.bars.price_line import KeyHint
from leafward_tui.ui.bars.title_bar import Fact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.screen import Screen

    from leafward_tui.ui.keys.key_overrides import Keymap

GONE = "the file is gone or unreadable; what was read before is still shown", "warn"
BACK = "the file is there again", "leaf"
CHANGED = "the session has changed"
NOT_IN_IT = "the file was replaced or rewritten, and this entry is not in it any more"


@dataclass(slots=True)
class FileState:
    """The state of the file since the screen was opened. Written by `SessionWatch`."""

    noun: str = "session"
    """The name of what is in the file."""
    changed: bool = False
    gone: bool = False
    """Whether it was missing at the last look."""

    def facts(self) -> list[Fact]:
        """The state for the title; nothing where the file is as it was."""
        if self.gone:
            return [Fact("file gone", keep=6, hue="warn")]
        return [Fact(f"{self.noun} has changed", short="changed", keep=6, hue="warn")] if self.changed else []


class WatchedFiles(Protocol):
    """The files behind a screen: a session is one of these."""

    @property
    def gone(self) -> bool:
        """Whether one was missing at the last look."""
        ...

    def changed_on_disk(self) -> bool:
        """Whether one changed since it was read; costs a stat for each."""
        ...


class WatchingView(Protocol):
    """The screen, as its watch sees it."""

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over it."""
        ...

    def show_title(self) -> None:
        """Shows the title, with the state of the file."""
        ...

    def show_hints(self) -> None:
        """Shows the keys that matter now."""
        ...

    def tell(self, text: str, tone: str = "", keys: Sequence[KeyHint] = ()) -> object:
        """Shows a note until the next key."""
        ...


def warn_sheet(screen: Screen[Any], changed: Callable[[], bool]) -> None:
    """Says on the sheet that lies on a screen that the session has changed: what it would append is refused then."""
    *below, top = screen.app.screen_stack[-2:]
    warn = getattr(top, "warn", None)
    if below == [screen] and warn is not None:
        warn(CHANGED, changed)


def with_keys(text: str, keys: Sequence[KeyHint]) -> str:
    """A note and its keys as one text, for a place that has no form of its own for keys."""
    return "; ".join([text, *(f"{key.key} {key.words}" for key in keys if key.key)])


class SessionWatch:
    """Looks at the files behind one screen."""

    def __init__(
        self,
        files: WatchedFiles,
        state: FileState,
        view: WatchingView,
        keymap: Keymap,
        *,
        advice: str = "the session has changed: reload it to see what is new",
        key: tuple[str, str] = ("session.reload", "reload"),
    ) -> None:
        """`advice` says that the file has changed and what to do about it, with a `key`: an intent and its name."""
        self._files, self._state, self._view, self._keymap = files, state, view, keymap
        self._advice, self._key = advice, key

    def look(self) -> None:
        """Says so where the files have changed or are gone. Nothing is read."""
        state = self._state
        if state.changed or not self._view.on_top:
            return
        if self._files.changed_on_disk():
            self.say_changed()
        elif self._files.gone is not state.gone:
            state.gone = self._files.gone
            self._view.show_title()
            self._view.tell(*(GONE if state.gone else BACK))

    def say_changed(self) -> None:
        """Says that the files have changed, and names the key that reads them anew."""
        self._state.changed, self._state.gone = True, False
        self._view.show_title()
        self._view.show_hints()
        intent, words = self._key
        self._view.tell(self._advice, "warn", (KeyHint(intent, self._keymap.label(intent), words),))
