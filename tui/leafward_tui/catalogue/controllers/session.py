"""Destinations from the catalogue: a session, its agent, the search of all text."""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.base.safe_text import pasted_path
from leafward_tui.catalogue.controllers.controller import CatalogueController, CatalogueMeans

if TYPE_CHECKING:
    from leafward.agents.resume import Resume
    from leafward.catalogue.cards.card import Card
    from leafward_tui.catalogue.controllers.arrangement import Arrangement
    from leafward_tui.catalogue.controllers.stores import Stores
    from leafward_tui.ui.jobs import Job


_OF_A_SESSION = frozenset(
    {"session.open", "session.resume", "session.keep", "session.archive", "session.delete"}
)


class SessionExits(CatalogueController):
    """The keys that lead to other screens and programs."""

    def __init__(self, means: CatalogueMeans, arrangement: Arrangement, stores: Stores) -> None:
        super().__init__(means)
        self._arrangement, self._stores = arrangement, stores
        self._search: object = None
        """The last search of all text, for the next time."""
        self.actions = {
            "session.open": self.open,
            "session.resume": self.resume,
            "search.open": self.search,
            "demo.open": self._services.screens.demo,
            "copy.text": self.copy,
        }

    def enabled(self, intent_id: str) -> bool:
        """Whether one of its intents does something now."""
        card = self._view.card
        if intent_id == "session.open":
            return self._view.line is not None
        if intent_id == "session.resume":
            return card is not None and card.problem is None
        return intent_id != "copy.text" or card is not None

    def refusal(self, intent_id: str) -> str:
        """The reason why the row under the cursor has no session for an intent; empty for any other intent."""
        if self._view.line is None and self._state.stores.searching:
            return "still looking for sessions"
        if intent_id not in _OF_A_SESSION:
            return ""
        if self._view.line is None:
            return "no session here"
        if self._view.card is None:
            return "this row is a project or a day; go to a session"
        return "this file cannot be read as a session"

    def open(self) -> None:
        """Opens the session in the explorer; folds or unfolds a group."""
        card = self._view.card
        if card is None:
            self._arrangement.toggle_here()
        else:
            self._services.screens.session(Path(card.path), card.agent)

    def search(self) -> None:
        """Opens the search of all text with its last result, or with the text of the filter."""

        def left(search: object) -> None:
            self._search = search

        self._services.screens.search(
            self._state.paths, self._state.stores.cards, self._state.list.view.text, self._search, left
        )

    def copy(self) -> None:
        """Copies the path of the session."""
        if (card := self._view.card) is not None:
            self._services.copy(pasted_path(card.path))

    def resume(self) -> None:
        """Reads the session to get the command of its agent, then hands the terminal over."""
        if (card := self._view.card) is not None:
            work = partial(resume_command, card, self._services.keymap.label("session.fork"))
            self._jobs.latest("resume", work, self._resume_with, self._resume_with)

    def _resume_with(self, answer: Resume | str) -> None:
        """Hands the terminal over, unless another screen was opened meanwhile; afterwards looks for new lines of the agent."""
        if not self._view.on_top:
            return
        problem: str | None = answer if isinstance(answer, str) else None
        if not isinstance(answer, str) and (failed := self._view.run_in_agent(answer)) is not None:
            self._services.copy(answer.line(), "the command")
            problem = f"{failed}; its command is copied"
        if problem:
            self._services.say(problem, problem=True)
        self._stores.look_again()


def resume_command(card: Card, fork_key: str, _job: Job) -> Resume | str:
    """The command with which an agent opens its session, or why it cannot. Raises LeafwardError, OSError."""
    from leafward.agents.registry import agent_named

    agent = agent_named(card.agent)
    with closing(agent.open(Path(card.path))) as session:
        command = agent.resume(session, os.environ)
        problem = command.obstacle()
    if problem is not None:
        return f"{problem}; open it, and begin a new session in another folder ({fork_key})"
    return command
