"""Keys that come faster than screens: each has the effect that it would have after a wait for the one before.

Textual hands a key to the widget that has the focus when it arrives, and looks for its binding only after it has
bubbled up. Text that is pasted or typed within one read (`/needle`) would go to the widget below, before its first key
has opened the field.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from textual import events
from textual.app import App, ReturnType
from textual.keys import key_to_character
from textual.widget import Widget

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.message_pump import MessagePump

_PATIENCE = 0.25
"""Seconds after which keys go on although the receiver of the one before has not answered: it may be gone."""

_NOTHING_OF_ITS_OWN = Widget._on_key  # noqa: SLF001  distinguishes a field from a widget that only has bindings
_ROUNDS = 2
"""Ways up from a widget to the application: the key itself may make a message that goes up once more (a field's enter)."""


class TypeAheadApp(App[ReturnType], inherit_bindings=False):
    """An application that handles one key after the other.

    A binding is run when its key arrives. Further keys wait for one that a widget handles itself, and for a screen that
    is not ready yet.
    """

    def __init__(self) -> None:
        self._held: deque[events.Key | events.Paste] = deque()
        self._waits_since = 0.0
        """The start of the wait, by the monotonic clock; 0 where nothing is waited for."""
        self._typed_for = 0.0
        """The time, by the clock of events, until which typed text was meant for a field that was not opened."""
        super().__init__()

    async def on_event(self, event: events.Event) -> None:
        """Handles keys and pasted text in order, whatever screens they open; everything else as in Textual."""
        if not event.is_forwarded:
            self.noticed(event)
            if isinstance(event, (events.InputEvent, events.Paste)) and self.ignores(event):
                return
        if not isinstance(event, (events.Key, events.Paste)) or event.is_forwarded:
            await super().on_event(event)
            return
        if self._is_dropped(event):
            return
        self._held.append(event)
        if not self._waits_since or time.monotonic() - self._waits_since > _PATIENCE:
            await self._let_go()

    def noticed(self, event: events.Event) -> None:
        """Called with every event before it is handled; overridden."""

    def ignores(self, event: events.InputEvent | events.Paste) -> bool:  # noqa: ARG002  overridden
        """Whether a key, pasted text or the mouse does nothing at all; overridden."""
        return False

    def drop_typed(self) -> None:
        """Drops the keys typed so far, except for the one that cancels."""
        self._typed_for = events.Event().time
        self._held = deque(event for event in self._held if not self._is_dropped(event))

    def _is_dropped(self, event: events.Key | events.Paste) -> bool:
        return event.time <= self._typed_for and not (isinstance(event, events.Key) and event.key == "escape")

    def unbound(self, key: str) -> bool:  # noqa: ARG002  overridden
        """Called with a key that neither a widget nor a binding wants; whether it did something then. Overridden."""
        return False

    async def _let_go(self) -> None:
        """Hands on the held keys, up to one that has to be waited for."""
        self._waits_since = 0.0
        while self._held:
            if self.screen_stack and not (self.screen.is_mounted and getattr(self.screen, "ready", True)):
                # Called once the screen is there with its focus set, and only then: actions run in the application's task.
                self._wait([self.screen, self], 1)
                return
            event = self._held.popleft()
            if isinstance(event, events.Key) and await self._ran(event):
                continue
            taker = self.focused or (self.screen if self.screen_stack else None)
            await super().on_event(event)
            if taker is not None:
                self._wait([*(node for node in taker.ancestors_with_self if node is not self), self], _ROUNDS)
                return

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        """As in Textual, but a key that is text for the field with the keys runs no command of the application."""
        if (
            priority
            and self.focused is not None
            and self.focused.check_consume_key(key, key_to_character(key))
        ):
            return False
        return await super()._check_bindings(key, priority)

    def _wait(self, way: list[MessagePump], rounds: int) -> None:
        """Goes on once all messages in the queues of the nodes on a way up are handled."""
        self._waits_since = time.monotonic()
        remaining = deque(way * rounds)

        async def step() -> None:
            # A widget that is being removed takes no more messages: its queue is done.
            while remaining:
                if remaining.popleft().call_later(step):
                    return
            await self._let_go()

        self.call_later(step)

    async def _ran(self, event: events.Key) -> bool:
        """Whether the key was a binding, which has been run; a widget that takes keys itself gets them first."""
        if not self.screen_stack or self.screen.maximized is not None:
            return False
        node: DOMNode | None = self.focused or self.screen
        while node is not None and node is not self:
            if _takes(node, event):
                return False
            node = node.parent
        self.app_focus = True
        if await self._check_bindings(event.key, priority=True) or await self._check_bindings(event.key):
            return True
        return self.unbound(event.key)


def _takes(node: DOMNode, event: events.Key) -> bool:
    """Whether a node handles a key besides its bindings. One that does so only at times has `takes_keys`."""
    at_times = getattr(node, "takes_keys", None)
    if at_times is not None:
        return bool(at_times)
    own = hasattr(node, "on_key") or getattr(type(node), "_on_key", None) is not _NOTHING_OF_ITS_OWN
    return own or any(
        hasattr(node, f"{start}{name}") for name in event.name_aliases for start in ("key_", "_key_")
    )
