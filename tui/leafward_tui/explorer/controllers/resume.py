"""Runs the agent's own command in this terminal."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from leafward.base.errors import LeafwardError
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans

if TYPE_CHECKING:
    from leafward.agents.resume import Resume
    from leafward_tui.explorer.controllers.followed_file import FollowedFile


class AgentResume(ExplorerController):
    """Runs the agent's own command."""

    def __init__(self, means: ExplorerMeans, followed: FollowedFile) -> None:
        super().__init__(means)
        self._followed = followed
        self.actions = {"agent.resume": self._resume}

    def _resume(self) -> None:
        """Runs the agent's own command on this session, and comes back when it ends."""
        from leafward.agents.recognition import agent_behind

        session = self._state.session
        if session is None:
            return
        try:
            command = agent_behind(session).resume(session, os.environ).ready()
        except LeafwardError as error:
            keys = self._view.key_hints(("session.fork", "new session"))
            self._view.tell(str(error), "bad", keys)
            return
        if session.what_if:
            self._ask(command)
        else:
            self.run(command)

    def _ask(self, command: Resume) -> None:
        """Asks, because the agent does not know of the previewed leaf."""
        from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet
        from leafward_tui.ui.sheets.sheet import SheetLine

        about = [
            SheetLine(
                "the leaf here is a preview that only Leafward knows; a new session makes it real", "warn"
            )
        ]
        fork, resume = partial(self._view.run_intent, "session.fork"), partial(self.run, command)
        own = "the agent goes on at its own leaf"
        choices = [
            Choice("n", "New session from here", "an agent goes on at the preview leaf", act=fork),
            Choice("r", "Resume anyway", own, command.command(), act=resume),
        ]
        self._view.open_sheet(ChoiceSheet("Resume", choices, about))

    def run(self, command: Resume) -> None:
        """Hands the terminal to an agent, and takes it back when it ends; where that is impossible, copies its command."""
        problem = self._view.hand_over(command)
        if problem is not None:
            self._services.copy(command.line(), "the command")
            self._view.tell(f"{problem}; its command is copied", "bad")
        self._followed.look()
