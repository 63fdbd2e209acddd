"""The base of every screen, full or modal: one way in for keys, one result, clicks on removed widgets survived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from textual.await_complete import AwaitComplete
from textual.screen import Screen, ScreenResultType

from leafward_tui.ui.keys.intents import APP_ACTIONS, ASKS, INTENT_ACTION, intent
from leafward_tui.ui.services import services_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Controller(Protocol):
    """An object that performs some of the intents of a screen."""

    @property
    def actions(self) -> Mapping[str, Callable[[], object]]:
        """The actions, by the ids of the intents that run them."""
        ...


@runtime_checkable
class Conditional(Protocol):
    """A controller with a condition of its own.

    The intents of a controller without one do something where the screen's condition holds.
    """

    def enabled(self, intent_id: str) -> bool:
        """Whether one of its intents does something in the present state."""
        ...


class Actions:
    """A controller whose actions always work."""

    def __init__(self, actions: Mapping[str, Callable[[], object]]) -> None:
        self.actions = actions

    def enabled(self, intent_id: str) -> bool:  # noqa: ARG002  there is no other answer
        """True: these intents always do something."""
        return True


class Routes:
    """The controller of each intent of a screen."""

    def __init__(
        self, *controllers: Controller, condition: Callable[[str], bool] = lambda _intent_id: True
    ) -> None:
        """`condition` tells whether an intent does something in the present state, where its controller has no condition.

        Raises ValueError where two controllers want the same intent.
        """
        self._actions: dict[str, Callable[[], object]] = {}
        self._conditions: dict[str, Callable[[str], bool]] = {}
        for controller in controllers:
            for intent_id, action in controller.actions.items():
                if intent_id in self._actions:
                    raise ValueError(f"two controllers for {intent_id}")
                self._actions[intent_id] = action
                self._conditions[intent_id] = (
                    controller.enabled if isinstance(controller, Conditional) else condition
                )

    def __contains__(self, intent_id: str) -> bool:
        return intent_id in self._actions

    def run(self, intent_id: str) -> None:
        """Runs the action of the intent."""
        self._actions[intent_id]()

    def enabled(self, intent_id: str) -> bool:
        """Whether the intent does something in the present state."""
        return self._conditions[intent_id](intent_id)


class RoutedScreen(Screen[ScreenResultType]):
    """A screen whose keys go to controllers by the ids of intents. It has a result, given once."""

    NAME: ClassVar[str] = ""
    """The screen's name in `Intent.screens`."""

    routes = Routes()
    """Set once, in `compose`, when the controllers and their widgets are made."""
    ready = True
    """Whether keys have somewhere to go; they are held until then."""
    answer: Callable[[str], object] | None = None
    """Shows the reason why the pressed key does nothing; an empty reason clears the one before."""
    waits_for: Callable[[], str] | None = None
    """The reason why all keys wait now; empty where they do not."""
    refused = "", ""
    """The intent of the last key and the reason why it did nothing, which is empty where it did something."""
    refuses: Callable[[str], str] | None = None
    """The reason why an intent does nothing now, where the screen has a better one than the general; else empty."""

    def enabled(self, intent_id: str) -> bool:
        """Whether an intent of the screen does something in its present state."""
        if intent_id in APP_ACTIONS:
            return True
        return intent_id in self.routes and self.routes.enabled(intent_id)

    def run_intent(self, intent_id: str) -> None:
        """Runs an intent, if it does something now, after the work under way."""
        if intent_id in APP_ACTIONS:
            self.call_next(self.run_action, intent(intent_id).action)
        elif self.enabled(intent_id):
            self.call_next(self.action_intent, intent_id)

    def action_intent(self, intent_id: str) -> None:
        """The one way in for keys: runs the intent, or shows why it does nothing now."""
        enabled = self.enabled(intent_id)
        if self.answer is not None:
            self.refused = intent_id, "" if enabled else self.reason(intent_id)
            self.answer(self.refused[1])
        if enabled:
            self.routes.run(intent_id)
        if intent_id in ASKS and self.app.screen is self:
            services_of(self).drop_typed()

    def reason(self, intent_id: str) -> str:
        """The reason why an intent of the screen does nothing now."""
        from leafward_tui.ui.keys.key_reasons import reason_for_intent

        waits = self.waits_for() if self.waits_for is not None else ""
        if not waits and self.refuses is not None:
            waits = self.refuses(intent_id)
        return reason_for_intent(intent_id, self.NAME, services_of(self).keymap, waits)

    def take(self, result: ScreenResultType | None) -> None:
        """Acts on the result once the screen is closed, where its opener does not; None where it was cancelled. Overridden."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tells Textual whether a key does something: true for every routed intent, since a disabled one shows why."""
        if action == INTENT_ACTION:
            return str(parameters[0]) in self.routes
        return super().check_action(action, parameters)

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Closes with a result, and what lies over it first; nothing where it is closed already.

        Textual pops whichever screen is on top each time a screen is dismissed, and calls back each time: a second enter that
        was queued behind the first would close the screen below, or end the application; a screen that a job closes would
        stay, and the help over it go.
        """
        if self not in self.app.screen_stack:
            return AwaitComplete()
        while self.app.screen is not self:
            self.app.pop_screen()
        return super().dismiss(result)

    def get_widget_and_offset_at(self, x: int, y: int) -> tuple[Any, Any]:
        """As in Textual, but nothing where the widget was just removed (Textualize/textual#6643)."""
        widget, offset = super().get_widget_and_offset_at(x, y)
        detached = widget is not None and widget is not self and widget.parent is None
        return (None, None) if detached else (widget, offset)
