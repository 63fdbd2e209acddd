"""The application: wiring only. Screens are imported when they are shown."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.binding import Binding

from leafward.base import safe_text
from leafward.base.config import Config
from leafward.base.paths import config_dir, state_dir
from leafward_tui.app.input_priority import InputPriority
from leafward_tui.app.memory import Memory
from leafward_tui.app.own_collector import OwnCollector
from leafward_tui.app.screens import FeatureScreens
from leafward_tui.app.terminal_loss import end_without_terminal, outlasting
from leafward_tui.app.type_ahead import TypeAheadApp
from leafward_tui.ui.appearance.glyphs import ASCII, choose_glyphs
from leafward_tui.ui.appearance.terminal import Copied, CopiedTo, Terminal, copy_text
from leafward_tui.ui.appearance.theme import Styles, textual_theme, theme_variable_defaults
from leafward_tui.ui.appearance.themes import Themes
from leafward_tui.ui.keys.intents import app_bindings
from leafward_tui.ui.keys.key_overrides import Keymap
from leafward_tui.ui.screens.screen import LEAST_HEIGHT, LEAST_WIDTH, BaseScreen
from leafward_tui.ui.text.times import tell_years_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from textual.command import Provider
    from textual.dom import DOMNode
    from textual.screen import Screen

    from leafward.session.lines.prefetch import Prefetch
    from leafward_tui.ui.jobs import Jobs
    from leafward_tui.ui.services import AppServices

    def _serves(app: LeafwardApp) -> AppServices:
        """Makes the type checker report services that the application lacks."""
        return app


_PROBLEM_SECONDS = 12
_SWITCH = 0.0001
"""Seconds after which a waiting thread gets the interpreter.

A key changes threads half a dozen times before the background work hears of it and rests.
"""


_BY_HAND = (events.Key, events.MouseDown, events.MouseScrollDown, events.MouseScrollUp)


def _now() -> datetime:
    return datetime.now(UTC)


def _commands() -> type[Provider]:
    from leafward_tui.app.command_palette import IntentCommands

    return IntentCommands


class LeafwardApp(TypeAheadApp[int], inherit_bindings=False):
    """The application on `paths`: one session file in the explorer, anything else as the catalogue of its sessions."""

    TITLE = "leafward"
    CSS_PATH = Path(__file__).with_name("app.tcss")
    PAUSE_GC_ON_SCROLL = True
    ENABLE_COMMAND_PALETTE = True
    DEFAULT_MODE = "leafward"
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (LEAST_WIDTH, "-narrow"), (80, "-wide")]  # noqa: RUF012  Textual's own form
    """Widgets over a screen are hidden with it where nothing fits; see the stylesheet."""
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (LEAST_HEIGHT, "-short")]  # noqa: RUF012  Textual's own form
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_commands}
    BINDINGS: ClassVar = [*app_bindings(), Binding("ctrl+c", "help_quit", show=False, system=True)]

    def __init__(
        self,
        paths: Sequence[Path] = (),
        config: Config | None = None,
        *,
        problems: Iterable[object] = (),
        clock: Callable[[], datetime] = _now,
        env: Mapping[str, str] | None = None,
        encoding: str | None = None,
        ahead: Prefetch | None = None,
    ) -> None:
        """`problems` of the configuration are shown once the first screen stands; `clock` gives the present time.

        `ahead` is the scan of the named session, where one is under way.
        """
        env = os.environ if env is None else env
        self.paths = tuple(paths)
        self._ahead = ahead
        self._starts = True
        """Whether the first batch of updates, that of the start, is still to come."""
        self.config = config if config is not None else Config()
        self.clock = clock
        tell_years_by(clock)
        self.terminal = Terminal.detect(env)
        ascii_set = None if self.config.ascii == "auto" else self.config.ascii
        self.glyphs = choose_glyphs(
            env, encoding or getattr(sys.__stdout__, "encoding", None), force_ascii=ascii_set
        )
        self.keymap = Keymap.of(self.config.keymap)._replace(arrows=self.glyphs is not ASCII)
        self.collector = OwnCollector(self)
        self.input_priority = InputPriority(pauses_collector=self.collector.is_ours)
        self._memory = Memory()
        self.screens = FeatureScreens(self)
        self.themes = Themes(config_dir() / "themes", self.terminal)
        first = self.themes.first(self.config.theme, self._memory.get("theme"))
        self._problems = [*map(str, problems), *self.keymap.problems, *self.themes.problems]
        self.palette_now = self.themes.shown(first)
        self.styles_now = Styles.of(self.palette_now)
        super().__init__()
        self.add_mode(self.DEFAULT_MODE, self.first_screen)
        for name in list(self.available_themes):
            self.unregister_theme(name)
        self.show_theme(first)
        self._styled_with = self.current_theme
        self.stylesheet.set_variables(self.get_css_variables())
        self.set_keymap(self.keymap.textual)

    # --- themes -------------------------------------------------------------------------------------------------------

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our variables for a theme that lacks them."""
        return theme_variable_defaults()

    def watch_theme(self, theme_name: str) -> None:
        """Sets the styles of line-rendered widgets."""
        if theme_name in self.themes.palettes:
            self.palette_now = self.themes.shown(theme_name)
            self.styles_now = Styles.of(self.palette_now)

    def refresh_css(self, animate: bool = True) -> None:
        """Applies the stylesheets again only where the theme changed: at start-up Textual asks twice for the same."""
        if self.current_theme != self._styled_with:
            self._styled_with = self.current_theme
            super().refresh_css(animate)

    def show_theme(self, name: str) -> None:
        """Switches to a theme."""
        self.register_theme(textual_theme(self.themes.shown(name)))
        self.theme = name

    def choose_theme(self, name: str) -> None:
        """Switches to a theme and remembers it."""
        self.show_theme(name)
        self.remember("theme", [name, self.config.theme])

    # --- screens ------------------------------------------------------------------------------------------------------

    def first_screen(self) -> Screen[Any]:
        """The requested screen: no empty one is painted before it."""
        return self.screens.first(self.paths, self._ahead)

    @contextmanager
    def batch_update(self) -> Iterator[None]:
        """As in Textual, except for the first batch, which is not held back: the first frame would be drawn twice."""
        if self._starts:
            self._starts = False
            yield
            return
        with super().batch_update():
            yield

    def on_unmount(self) -> None:
        """Deletes the demo's copy, and ends what the last key paused."""
        self.screens.close()
        self.input_priority.ended()

    def on_mount(self) -> None:
        """Shows problems of configuration, keymap and themes once, and starts the timers."""
        if self.glyphs is ASCII:
            self.add_class("-ascii")
        if self._problems:
            self.call_after_refresh(self._tell_problems)
        self.collector.begin()
        if not self.is_headless:
            end_without_terminal(self)

    def _tell_problems(self) -> None:
        shown = self._problems[:4]
        more = len(self._problems) - len(shown)
        lines = [*shown, *([f"and {more} more: leafward doctor lists all"] if more else [])]
        self.say("\n".join(lines), problem=True)

    def action_command_palette(self) -> None:
        """Opens the palette, over a full screen only."""
        if isinstance(self.screen, BaseScreen):
            from leafward_tui.app.command_palette import Palette

            self.push_screen(Palette())

    def action_help_quit(self) -> None:
        """Answers ctrl+c without a selection: it never quits by accident, and names the key that does."""
        quits, back = self.keymap.label("app.quit"), self.keymap.label("app.back")
        self.say(f"{quits or 'the palette'} quits, {back or 'the palette'} goes back")

    def noticed(self, event: events.Event) -> None:
        """Pauses background work for the user's input; makes pasted text safe, which fields pass on to the terminal as it is."""
        if isinstance(event, _BY_HAND):
            self.input_priority.pressed()
        elif isinstance(event, events.Paste):
            event.text = safe_text.safe(event.text)

    def ignores(self, event: events.InputEvent | events.Paste) -> bool:
        """Whether input is ignored: a terminal that is too small shows no effects, so only the key that quits works there."""
        if self.size.width >= LEAST_WIDTH and self.size.height >= LEAST_HEIGHT:
            return False
        return not isinstance(event, events.Key) or event.key not in self.keymap.keys["app.quit"]

    def post_display_hook(self) -> None:
        """Resumes background work after a painted frame."""
        self.input_priority.painted()

    def unbound(self, key: str) -> bool:
        """Shows that a key does nothing on this screen; on a sheet, the key of the help explains that sheet."""
        from leafward_tui.ui.keys.key_reasons import reason_for_key
        from leafward_tui.ui.routed_screen import RoutedScreen

        screen = self.screen
        if key in self.keymap.keys["app.help"]:
            below = [one for one in self.screen_stack if isinstance(one, BaseScreen)]
            from leafward_tui.ui.sheets.key_help import HelpScreen
            from leafward_tui.ui.sheets.sheet import Sheet

            self.push_screen(HelpScreen(below[-1].NAME, screen if isinstance(screen, Sheet) else None))
            return True
        if isinstance(screen, RoutedScreen) and screen.answer is not None:
            # A screen without help shows all of its keys itself.
            screen.answer(reason_for_key(key, self.keymap if "app.help" in screen.routes else None))
        return False

    # --- services -----------------------------------------------------------------------------------------------------

    def copy(self, text: str, what: str = "") -> Copied:
        """Puts text on the clipboard, or into a file where that cannot work; `what` names the text in the message."""
        copied = copy_text(
            self, safe_text.safe(text), terminal=self.terminal, fallback=state_dir() / "copied.txt"
        )._replace(what=what)
        self.say(str(copied), problem=copied.to is CopiedTo.NOWHERE)
        return copied

    def jobs(self, owner: DOMNode) -> Jobs:
        """The jobs of a screen or widget, which end with it."""
        from leafward_tui.ui.jobs import Jobs

        return Jobs(owner, self.input_priority.unwanted, partial(self.say, problem=True))

    @cached_property
    def lasting_jobs(self) -> Jobs:
        """Jobs that end with the application only."""
        return self.jobs(self)

    def copy_to_clipboard(self, text: str) -> None:
        """Copies the text of Textual's own fields the same way."""
        self.copy(text)

    def say(self, text: str, *, problem: bool = False) -> None:
        """Shows a toast: for effects elsewhere (clipboard, files, agents) only."""
        timeout = _PROBLEM_SECONDS if problem else None
        self.notify(
            safe_text.safe(text),
            severity="warning" if problem else "information",
            timeout=timeout,
            markup=False,
        )

    def remember(self, key: str, value: object) -> None:
        """Keeps a small choice of the user for the next start; never raises."""
        self._memory.keep(key, value)

    def recall(self, key: str) -> object:
        """The remembered value, None where there is none."""
        return self._memory.get(key)


def run(paths: Sequence[Path] = (), ahead: Prefetch | None = None) -> int:
    """Loads the configuration, runs the application and returns its exit code."""
    from leafward.base.config import load

    config, problems = load()
    # Each read of a line releases the interpreter; with Python's 5 ms a worker would keep it that long each time.
    sys.setswitchinterval(_SWITCH)
    app = LeafwardApp(paths, config, problems=problems, ahead=ahead)
    app.driver_class = outlasting(app.driver_class)
    app.run()
    return app.return_code or 0
