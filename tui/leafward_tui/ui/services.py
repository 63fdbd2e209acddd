"""The services of the application to its widgets and screens, which must not import it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from textual.dom import DOMNode

    from leafward.base.config import Config
    from leafward.catalogue.cards.card import Card
    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.injection.values import Injection
    from leafward.compaction.plan.plan import Plan
    from leafward.session.session import Session
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.appearance.palette import Palette
    from leafward_tui.ui.appearance.terminal import Copied, Terminal
    from leafward_tui.ui.appearance.theme import Styles
    from leafward_tui.ui.appearance.themes import Themes
    from leafward_tui.ui.jobs import Jobs
    from leafward_tui.ui.keys.key_overrides import Keymap
    from leafward_tui.ui.open_target import OpenTarget
    from leafward_tui.ui.screen_results import CompareResult, LabResult, XRayResult


class Screens(Protocol):
    """Opens the screens of features, none of which knows another. A screen lies on top of the one that asked for it.

    `on_close` gets the result of the screen, None where nothing is wanted. A screen whose modules take longer to load
    than a frame opens once they are loaded, unless another screen is on top by then.
    """

    def session(self, path: Path, agent: str | None = None, target: OpenTarget | None = None) -> None:
        """Opens a session in the explorer, with the cursor on the target."""
        ...

    def demo(self) -> None:
        """Opens a copy of the bundled session, deleted when the application ends."""
        ...

    def search(
        self,
        paths: Sequence[Path],
        cards: Sequence[Card] | None,
        text: str,
        before: object,
        on_close: Callable[[object], None],
    ) -> None:
        """Opens the search of all text, for `text` where there is some; `before` is its result from the last time."""
        ...

    def blame(self, path: Path, cards: Sequence[Card] | None, session: Path | None = None) -> None:
        """Opens the authors of the lines of a file; `cards` are all sessions, None where the screen has to find them.

        `session` is one that counts wherever it lies.
        """
        ...

    def log(self, session: Session, on_close: Callable[[int | None], None]) -> None:
        """Opens the operations on a session; hands back an entry to go to."""
        ...

    def lab(
        self,
        session: Session,
        entry: int,
        pins: tuple[str, ...],
        on_close: Callable[[LabResult | None], None],
    ) -> None:
        """Opens the compaction lab at an entry, or beside a compaction, with facts pinned; hands back its write."""
        ...

    def xray(self, session: Session, compaction: int, on_close: Callable[[XRayResult | None], None]) -> None:
        """Opens the X-ray of a compaction, or of the context edits at an entry."""
        ...

    def planned_xray(
        self,
        session: Session,
        plan: Plan,
        draft: Draft | None,
        injection: Injection | None,
        on_close: Callable[[XRayResult | None], None],
    ) -> None:
        """Opens the X-ray of a planned compaction."""
        ...

    def compare(
        self, session: Session, a: int, b: int, mark: int, on_close: Callable[[CompareResult | None], None]
    ) -> None:
        """Opens the comparison of two entries; `mark` is the marked entry, -1 for none."""
        ...

    def prefetch(self, owner: DOMNode) -> None:
        """Loads the modules of these screens in a job of a screen, so that the next screen opens at once."""
        ...


class Collector(Protocol):
    """The part of garbage collection that screens with very many objects ask for."""

    def keep_for_long(self) -> None:
        """Excludes the objects made so far from garbage collection: no key has to wait for a pass over them."""
        ...

    def let_go(self) -> None:
        """Ends `keep_for_long`: the objects are examined again, once the next screen stands."""
        ...


class AppServices(Protocol):
    """The services of `LeafwardApp`."""

    config: Config
    glyphs: Glyphs
    keymap: Keymap
    terminal: Terminal
    styles_now: Styles
    """The styles of the theme in use. They change with the theme: ask for them at every line, keep nothing."""
    palette_now: Palette
    themes: Themes
    theme: str
    """The name of the theme in use."""

    @property
    def collector(self) -> Collector:
        """Garbage collection in the application's process."""
        ...

    @property
    def screens(self) -> Screens:
        """Opens other screens."""
        ...

    def clock(self) -> datetime:
        """Now, aware, in UTC."""
        ...

    def copy(self, text: str, what: str = "") -> Copied:
        """Puts text on the clipboard, or into a file where that cannot work; `what` names the text in the message."""
        ...

    def say(self, text: str, *, problem: bool = False) -> None:
        """Shows a toast: for effects elsewhere (clipboard, files, agents) only."""
        ...

    def jobs(self, owner: DOMNode) -> Jobs:
        """The jobs of a screen or widget, which end with it; made when the owner is mounted."""
        ...

    @property
    def lasting_jobs(self) -> Jobs:
        """Jobs that go on when the screen that started them is closed: files that were asked for."""
        ...

    def show_theme(self, name: str) -> None:
        """Switches to a theme."""
        ...

    def choose_theme(self, name: str) -> None:
        """Switches to a theme and remembers it."""
        ...

    def remember(self, key: str, value: object) -> None:
        """Keeps a small choice of the user for the next start; never raises."""
        ...

    def recall(self, key: str) -> object:
        """The remembered value, None where there is none."""
        ...

    def drop_typed(self) -> None:
        """Drops the keys typed so far: they were meant for a field that was not opened."""
        ...


def services_of(node: DOMNode) -> AppServices:
    """The application of a mounted widget or screen."""
    return cast("AppServices", node.app)
