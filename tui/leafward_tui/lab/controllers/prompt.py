"""The requests to a model for the present choices, computed without sending them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.compaction.draft.draft_assembly import prepared
from leafward_tui.lab.controllers.controller import LabController, LabMeans

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.base.config import Config
    from leafward.compaction.injection.values import Injection
    from leafward.compaction.plan.plan import Plan
    from leafward.session.session import Session
    from leafward.summaries.summarizers.model.requests import Outgoing
    from leafward_tui.lab.controllers.display import Display
    from leafward_tui.lab.model.choices import Choices
    from leafward_tui.ui.jobs import Job


class PromptReader(LabController):
    """Owns `state.prompt`."""

    def __init__(self, means: LabMeans, display: Display) -> None:
        super().__init__(means)
        self._display = display
        self._then: Callable[[Outgoing], object] | None = None
        """Gets the requests that the user waits for, also where they are made again meanwhile."""
        self._dropped = False
        """Whether requests were known before the choices changed."""

    def read(self, then: Callable[[Outgoing], object] | None = None) -> None:
        """Makes the requests, where a model would be asked; `then` gets them where the user waits for them."""
        what_if = self._state.what_if
        if what_if is None or not what_if.choices.asks or what_if.plan.nothing:
            return
        choices, self._then = what_if.choices, then or self._then
        self._state.prompt.problem = ""
        self._state.prompt.awaited = choices.summarizer if self._then is not None else ""
        injection = what_if.injections.get(what_if.injection_key)
        self._jobs.latest(
            "prompt",
            partial(outgoing, self._state.session, what_if.plan, choices, injection, self._services.config),
            partial(self._read, choices.summarizer),
            self._failed,
        )

    def _read(self, summarizer: str, sending: Outgoing) -> None:
        what_if, then, self._then = self._state.what_if, self._then, None
        if what_if is None:
            return
        self._state.prompt.sending, self._state.prompt.awaited = sending, ""
        what_if.costs[summarizer] = sending.cost
        self._display.show_plan()
        if self._state.layout.page == "Prompt":
            self._display.show_text()
        if then is not None:
            self._view.tell("")
            if self._view.on_top:
                then(sending)

    def _failed(self, text: str) -> None:
        self._then, self._state.prompt.awaited, self._state.prompt.problem = None, "", text
        if self._state.layout.page == "Prompt":
            self._display.show_text()
        self._view.tell(text, "bad")

    def drop(self) -> None:
        """Cancels the requests being made and forgets those that were, because the choices changed."""
        self._jobs.cancel("prompt")
        self._dropped = self._dropped or self._state.prompt.sending is not None
        self._then, self._state.prompt.sending = None, None
        if self._state.prompt.awaited:
            self._state.prompt.awaited = ""
            self._view.tell("")

    def renew(self) -> None:
        """Makes the requests again once the settings rest, where they were known or are on show."""
        known = self._dropped or self._state.prompt.sending is not None
        self._dropped, self._state.prompt.sending = False, None
        if known or self._state.layout.page == "Prompt":
            self.read()

    def remake(self) -> None:
        """Makes the requests again that were made, or are being made, before it was known what is injected."""
        if self._state.prompt.sending is not None or self._jobs.running("prompt"):
            self._state.prompt.sending = None
            self.read()


def outgoing(
    session: Session, plan: Plan, choices: Choices, injection: Injection | None, config: Config, _job: Job
) -> Outgoing:
    """The requests to a model for the draft of a plan; nothing is sent. Raises LeafwardError, OSError."""
    from leafward.summaries.summarizers.choice import model_settings
    from leafward.summaries.summarizers.model.summarizer import Model

    span, budget = prepared(
        session,
        plan,
        pins=choices.pins,
        focus=choices.focus,
        injection=injection if choices.inject else None,
    )
    return Model(model_settings(choices.summarizer, config)).outgoing(span, budget)
