"""The means of a controller, the same for all controllers of a screen; a constructor names its neighbours only."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from leafward_tui.ui.jobs import Jobs
    from leafward_tui.ui.services import AppServices

State = TypeVar("State")
View = TypeVar("View")


class Means(NamedTuple, Generic[State, View]):
    """The means of every controller of a screen."""

    state: State
    """The state of the feature. Each part of it is written by one controller, and read by the others."""
    view: View
    """The screen, as its controllers see it."""
    services: AppServices
    jobs: Jobs


class ScreenController(Generic[State, View]):
    """A controller of a screen."""

    actions: Mapping[str, Callable[[], object]] = MappingProxyType({})
    """The actions by the ids of the intents that run them; none where only other controllers call it."""

    def __init__(self, means: Means[State, View]) -> None:
        self._state, self._view, self._services, self._jobs = means
