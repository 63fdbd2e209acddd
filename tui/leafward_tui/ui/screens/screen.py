"""The base of every full screen: title bar, content, key bar, a word when it is too small, and the way back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from rich.segment import Segment
from textual.actions import SkipAction
from textual.binding import Binding
from textual.screen import ScreenResultType

from leafward_tui.ui.bars.key_bar import Hint, KeyBar
from leafward_tui.ui.bars.title_bar import TitleBar
from leafward_tui.ui.keys.intents import intent
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.routed_screen import Actions, RoutedScreen, Routes
from leafward_tui.ui.services import AppServices, services_of
from leafward_tui.ui.text.cells import fit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.events import ScreenResume

    from leafward_tui.ui.appearance.theme import Ground
    from leafward_tui.ui.messages import IntentPressed
    from leafward_tui.ui.panes.line_scroll import LineScroll
    from leafward_tui.ui.routed_screen import Controller

_Answer = TypeVar("_Answer")

LEAST_WIDTH = 60
LEAST_HEIGHT = 16


class TooSmall(Painted):
    """The content of a terminal that is too small: the size needed, and the one key that works."""

    DEFAULT_CSS = "TooSmall { width: 1fr; height: 1fr; display: none; }"

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """The size in the middle row, the key below it."""
        height, has, keymap = self.size.height, self.app.size, services_of(self).keymap
        times = "x" if services_of(self).glyphs.hairline == "-" else "×"
        words = ""
        if y == height // 2:
            words = f"needs {LEAST_WIDTH} {times} {LEAST_HEIGHT}, has {has.width} {times} {has.height}"
        elif y == height // 2 + 1 and (key := keymap.label("app.quit")):
            words = f"{key} {intent('app.quit').hint}"
        words = fit(words, width, ellipsis=services_of(self).glyphs.ellipsis)
        return [Segment(words.center(width), ground.sub)]


def _open_help(screen: BaseScreen[Any]) -> None:
    """Opens the list of all keys of a screen."""
    from leafward_tui.ui.sheets.key_help import HelpScreen

    screen.app.push_screen(HelpScreen(screen.NAME))


def _open_themes(screen: BaseScreen[Any]) -> None:
    """Opens the list of themes, each shown at once."""
    from leafward_tui.ui.sheets.theme_choice import ThemesScreen

    screen.app.push_screen(ThemesScreen())


def _answer(screen: BaseScreen[Any], reason: str) -> None:
    """Clears the message of the key before, and shows in the key bar the `reason` why this one does nothing."""
    if screen.clear_note is not None:
        screen.clear_note()
    screen.key_bar.say(reason)


class BaseScreen(RoutedScreen[ScreenResultType]):
    """A full screen: two bars and the content that a subclass composes between them.

    The subclass gives `NAME` and `BINDINGS = intent_bindings(NAME)`, and hands its controllers to `route` at the
    end of `compose_content`. The rest of its start-up stands in `mounted`.
    """

    clear_note: Callable[[], object] | None = None
    """Clears the screen's message about the key before."""
    _shown = False
    """Whether it has been on top before."""
    resumed: Callable[[], object] | None = None
    """Called when the screen is the one on top, at first and again."""

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
        sizes = (width, self.HORIZONTAL_BREAKPOINTS), (height, self.VERTICAL_BREAKPOINTS)
        self.add_class(*([name for least, name in names if cells >= least][-1] for cells, names in sizes))
        self.title_bar = TitleBar()
        self.key_bar = KeyBar()
        self.answer = partial(_answer, self)
        yield self.title_bar
        yield from self.compose_content()
        yield self.key_bar
        yield TooSmall()

    def compose_content(self) -> ComposeResult:
        """The content between the bars."""
        yield from ()

    @property
    def services(self) -> AppServices:
        """The application's services."""
        return services_of(self)

    @property
    def refusal(self) -> str:
        """The reason why nothing can be written to the session on show; empty where it can."""
        return ""

    def hints(self) -> Sequence[Hint]:
        """The hints of the key bar in the present state, the most important first."""
        return ()

    def show_hints(self) -> None:
        """Shows the hints again after a change of the state behind `hints`; leaves out writes that are refused.

        The reason why the last key did nothing makes room for them once it is no longer true.
        """
        if not self.is_attached:
            return
        self.key_bar.show([hint for hint in self.hints() if not (self.refusal and hint.writes)])
        intent_id, reason = self.refused
        stands = reason and self.key_bar.message == reason
        if stands and (self.enabled(intent_id) or self.reason(intent_id) != reason):
            self.key_bar.say("")

    def route(
        self, *controllers: Controller, condition: Callable[[str], bool] = lambda _intent_id: True
    ) -> None:
        """Sets the controllers of the screen's intents; help, themes and the way back belong to every screen.

        `condition` holds for controllers that have none of their own.
        """
        common: dict[str, Callable[[], object]] = {
            "app.help": partial(_open_help, self),
            "app.themes": partial(_open_themes, self),
            "app.back": self.go_back,
        }
        self.routes = Routes(Actions(common), *controllers, condition=condition)

    def mounted(self) -> None:
        """Called once, when the screen is mounted; overridden."""

    def on_mount(self) -> None:
        """Shows the first hints."""
        self.mounted()
        self.show_hints()

    def make_room(self, height: int) -> None:
        """Keeps the cursor of every view of lines above a sheet of some height."""
        free = self.app.size.height - height
        for view in self.query("LineScroll"):
            cast("LineScroll", view).uncover(max(0, min(view.region.height, view.region.bottom - free)))

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Uncovers the views that a sheet covered, unless another sheet is there already.

        Called before Textual's own handler, which would style all widgets of a new screen again, right after each was styled.
        """
        event.refresh_styles = event.refresh_styles and self._shown
        self._shown = True
        if self.is_mounted and self.app.screen is self:
            for view in self.query("LineScroll"):
                cast("LineScroll", view).uncover(0)
        if self.resumed is not None:
            self.resumed()

    def open_sheet(
        self, sheet: RoutedScreen[_Answer], done: Callable[[_Answer | None], None] | None = None
    ) -> None:
        """Opens a sheet or another screen; `done` gets its answer, None where it was cancelled.

        Without `done` the sheet acts on its answer itself, as one with choices does.
        """
        self.app.push_screen(sheet, done or sheet.take)

    def on_intent_pressed(self, message: IntentPressed) -> None:
        """Does what the clicked key does, or shows why it does nothing now."""
        message.stop()
        if message.intent_id in self.routes:
            self.call_next(self.action_intent, message.intent_id)
        else:
            self.run_intent(message.intent_id)

    def action_copy_selection(self) -> None:
        """Copies the text selected with the mouse; without a selection the key goes on to the application."""
        selected = self.get_selected_text()
        if not selected:
            raise SkipAction
        self.services.copy(selected)

    def go_back(self) -> None:
        """Goes back to the screen before this one; on the first one, quits."""
        if len(self.app.screen_stack) > 1:
            self.dismiss(None)
        else:
            self.app.exit(0)
