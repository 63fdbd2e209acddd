"""A screen with nothing between its bars, for tests of what every screen shares."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from leafward_tui.app.app import LeafwardApp
from leafward_tui.ui.bars.key_bar import Hint
from leafward_tui.ui.keys.intents import intent_bindings, intents_for
from leafward_tui.ui.routed_screen import Actions
from leafward_tui.ui.screens.screen import BaseScreen
from tests.tui.explored import WIDE
from tests.tui.session_store import app_over

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from textual.app import ComposeResult
    from textual.pilot import Pilot
    from textual.screen import Screen


class Asleep:
    """A controller whose one intent does nothing now."""

    actions = MappingProxyType({"theme.keep": list})

    def enabled(self, intent_id: str) -> bool:
        return False


class Plain(BaseScreen[None]):
    """A screen with nothing between its bars."""

    NAME = "explorer"
    BINDINGS = [*intent_bindings("explorer")]  # noqa: RUF012  Textual's own form

    def __init__(self) -> None:
        super().__init__()
        self.done: list[object] = []

    def hints(self) -> Sequence[Hint]:
        return [
            Hint("move.here"),
            Hint(("branch.previous", "branch.next")),
            Hint("mode.leave", "back to leaf", "leaf"),
            *(
                Hint(one)
                for one in ("leaf.go", "mark.set", "tab.context", "tab.files", "label.edit", "name.edit")
            ),
        ]

    def compose_content(self) -> ComposeResult:
        plain = {one.id: list for one in intents_for("explorer") if one.group not in ("View", "Leafward")}
        own = {one: partial(self.done.append, one) for one in ("leaf.go", "branch.previous", "branch.next")}
        self.route(Actions({**plain, **own}), Asleep())
        yield from ()


class PlainApp(LeafwardApp):
    """Opens on a screen with nothing but its bars."""

    def first_screen(self) -> Screen[Any]:
        return Plain()


@asynccontextmanager
async def plain(size: tuple[int, int] = WIDE) -> AsyncIterator[tuple[Pilot[int], Plain]]:
    app = app_over(kind=PlainApp)
    async with app.run_test(size=size) as pilot:
        screen = app.screen
        assert isinstance(screen, Plain)
        yield pilot, screen
