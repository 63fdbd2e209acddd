"""What every full screen has: title bar, content, key bar, a word when it is too small, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from textual.actions import SkipAction
from textual.binding import Binding
from textual.screen import ScreenResultType
from textual.strip import Strip
from textual.widget import Widget

from leafward_tui.ui.cells import fit
from leafward_tui.ui.dismissal import ClosesOnce
from leafward_tui.ui.key_bar import Hint, KeyBar
from leafward_tui.ui.services import AppServices, services_of
from leafward_tui.ui.title_bar import TitleBar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward_tui.ui.messages import IntentPressed

__all__ = ["LEAST_HEIGHT", "LEAST_WIDTH", "BaseScreen", "SafeScreen"]

LEAST_WIDTH = 60
LEAST_HEIGHT = 16


class SafeScreen(ClosesOnce[ScreenResultType]):
    """A screen that survives a click on a widget that was just removed (Textualize/textual#6643)."""

    def get_widget_and_offset_at(self, x: int, y: int) -> tuple[Any, Any]:
        """As in Textual, but nothing where the widget is no longer part of the screen."""
        widget, offset = super().get_widget_and_offset_at(x, y)
        detached = widget is not None and widget is not self and widget.parent is None
        return (None, None) if detached else (widget, offset)


class TooSmall(Widget):
    """The one line that stands on a terminal nothing fits on."""

    DEFAULT_CSS = "TooSmall { width: 1fr; height: 1fr; display: none; }"

    def render_line(self, y: int) -> Strip:
        """The sentence in the middle row."""
        width, height = self.size
        ground = services_of(self).styles_now.bg
        if y != height // 2:
            return Strip([Segment(" " * width, ground.blank)], width)
        has = self.app.size
        times = "x" if services_of(self).glyphs.hairline == "-" else "×"
        words = f"needs {LEAST_WIDTH} {times} {LEAST_HEIGHT}, has {has.width} {times} {has.height}"
        words = fit(words, width, ellipsis=services_of(self).glyphs.ellipsis)
        return Strip([Segment(words.center(width), ground.sub)]).adjust_cell_length(width, ground.blank)


class BaseScreen(SafeScreen[ScreenResultType]):
    """A full screen: two bars and what a subclass composes between them.

    The subclass gives ``NAME`` and ``BINDINGS = bindings_for(NAME)`` and has an action for each of its intents;
    ``check_action`` says which of them work now.
    """

    NAME: ClassVar[str] = ""
    """The screen's name in ``Intent.screens``."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c,super+c", "copy_selection", show=False)]
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012  Textual's own form
        (0, "-tiny"),
        (LEAST_WIDTH, "-narrow"),
        (80, "-compact"),
        (100, "-normal"),
        (120, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012  Textual's own form
        (0, "-flat"),
        (LEAST_HEIGHT, "-short"),
        (30, "-tall"),
        (36, "-high"),
    ]

    DEFAULT_CSS = """
    BaseScreen {
        overflow: hidden;
        /* Toasts stand above the price line and the key bar: what a key does must stay readable. */
        ToastRack { margin-bottom: 2; }
        &.-tall ToastRack, &.-high ToastRack { margin-bottom: 5; }
        &.-tall TitleBar, &.-high TitleBar { margin-bottom: 1; }
        &.-tall KeyBar, &.-high KeyBar { margin-top: 1; }
        &.-tiny > *, &.-flat > * { display: none !important; }
        &.-tiny > TooSmall, &.-flat > TooSmall { display: block !important; }
    }
    """

    def compose(self) -> ComposeResult:
        """Bars and, between them, the content; as few widgets as can be.

        The classes of the size come first: Textual sets them with the first resize, and everything would be styled and laid
        out once more before it is painted.
        """
        width, height = self.app.size
        for cells, breakpoints in ((width, self.HORIZONTAL_BREAKPOINTS), (height, self.VERTICAL_BREAKPOINTS)):
            self.add_class([name for least, name in breakpoints if cells >= least][-1])
        self.title_bar = TitleBar()
        self.key_bar = KeyBar()
        yield self.title_bar
        yield from self.compose_content()
        yield self.key_bar
        yield TooSmall()

    def compose_content(self) -> ComposeResult:
        """What stands between the bars."""
        yield from ()

    @property
    def shell(self) -> AppServices:
        """The application's services."""
        return services_of(self)

    @property
    def two_panes(self) -> bool:
        """Whether there is room for two panes beside each other."""
        width, height = self.app.size
        return width >= 100 and height >= 30

    @property
    def refusal(self) -> str:
        """Why nothing can be written to what is on show; empty where it can."""
        return ""

    def hints(self) -> Sequence[Hint]:
        """What the key bar shows in the present state, the most important first."""
        return ()

    def show_hints(self) -> None:
        """To be called when the state changes that ``hints`` depends on. Keys that are refused are left out."""
        if self.is_attached:
            self.key_bar.show([hint for hint in self.hints() if not (self.refusal and hint.writes)])

    def on_mount(self) -> None:
        """The first hints."""
        self.show_hints()

    def on_intent_pressed(self, message: IntentPressed) -> None:
        """Runs the action of a hint that was clicked."""
        message.stop()
        self.run_intent(message.intent_id)

    def run_intent(self, intent_id: str) -> None:
        """Runs the intent's action if it works now."""
        from leafward_tui.ui.intents import intent

        action = intent(intent_id).action
        if action.startswith("app.") or self.check_action(action, ()):
            self.call_next(self.run_action, action)

    def action_copy_selection(self) -> None:
        """What was selected with the mouse; without a selection the key goes on to the application."""
        selected = self.get_selected_text()
        if not selected:
            raise SkipAction
        self.shell.copy(selected)

    def action_app_help(self) -> None:
        """All keys of this screen."""
        from leafward_tui.ui.key_help import HelpScreen

        self.app.push_screen(HelpScreen(self.NAME))

    def action_app_themes(self) -> None:
        """Choose a theme, seeing it at once."""
        from leafward_tui.ui.theme_choice import ThemesScreen

        self.app.push_screen(ThemesScreen())

    def action_app_back(self) -> None:
        """The screen before this one; from the first one, out."""
        if len(self.app.screen_stack) > 1:
            self.app.pop_screen()
        else:
            self.app.exit(0)
