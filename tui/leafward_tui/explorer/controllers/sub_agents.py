"""The sessions of sub-agents that calls of this one made: marked in the tree, and opened by a key."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans

if TYPE_CHECKING:
    from leafward.agents.sub_agents import SubAgent
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.explorer.model.folds import ShownLine
    from leafward_tui.explorer.state import ExplorerState
    from leafward_tui.ui.jobs import Job


class SubAgents(ExplorerController):
    """Owns `state.sub_agents`."""

    def __init__(self, means: ExplorerMeans, navigation: Navigation) -> None:
        super().__init__(means)
        self._navigation = navigation
        self._looked: tuple[Session | None, int] = (None, 0)
        """The session that was searched, and the number of its entries that were."""
        self.actions = {"session.child": self._open}

    def look(self) -> None:
        """Looks for sub-agents among the entries added since the last time, behind a look under way: a session may grow faster."""
        self._jobs.after("sub_agents", self._look)

    def _look(self) -> None:
        session = self._state.session
        if session is None:
            return
        before, since = self._looked
        if session is not before:
            since = 0
        if since >= len(session):
            return
        total = len(session)

        def take(found: tuple[SubAgent, ...]) -> None:
            self._looked = session, total
            known = dict(self._state.sub_agents) if since else {}
            paths = {one.path for one in known.values()}
            # A later message to a sub-agent names it again.
            new = {session.columns.id(one.entry): one for one in found if one.path not in paths}
            self._state.sub_agents = {**known, **new}
            if new:
                self._navigation.lay_out()
                self._view.show_hints()

        # The tree is whole without them: an unreadable one is reported where it is opened.
        self._jobs.latest("sub_agents", partial(find_sub_agents, session, since), take, lambda _problem: None)

    def _open(self) -> None:
        """Opens the sub-agent that a call of this row made, on top of this session; leaving it comes back here."""
        here = sub_agents_at(self._state, self._view.tree.line)
        if not here:
            some = "this row" if self._state.sub_agents else "this session"
            self._view.tell(f"no call of {some} started a known sub-agent", "warn")
        elif len(here) == 1:
            self._go(here[0])
        else:
            self._choose(here)

    def _choose(self, here: list[SubAgent]) -> None:
        from leafward_tui.ui.sheets.choice_sheet import LETTERS, Choice, ChoiceSheet
        from leafward_tui.ui.sheets.sheet import SheetLine

        choices = [
            Choice(letter, one.title or Path(one.path).stem, act=partial(self._go, one))
            for letter, one in zip(LETTERS + LETTERS.upper(), here, strict=False)
        ]
        more = len(here) - len(choices)
        about = [SheetLine(f"not shown: {counted(more, 'more sub-agent')}")] if more else []
        self._view.open_sheet(ChoiceSheet("Open the session of a sub-agent", choices, about))

    def _go(self, one: SubAgent) -> None:
        self._services.screens.session(Path(one.path), self._state.agent)


def sub_agents_at(state: ExplorerState, line: ShownLine | None) -> list[SubAgent]:
    """The sub-agents that calls of a line made."""
    exploration = state.exploration
    if exploration is None or line is None or not state.sub_agents:
        return []
    spans = exploration.layout.entries_between(line.row, line.rows)
    at = exploration.session.columns.index
    return [one for name, one in state.sub_agents.items() if any(at(name) in span for span in spans)]


def find_sub_agents(session: Session, since: int, job: Job) -> tuple[SubAgent, ...]:
    """The sub-agents named by the results from an entry on."""
    from leafward.agents.recognition import agent_behind
    from leafward.agents.sub_agents import sub_agents_of

    job.unwanted()
    return sub_agents_of(agent_behind(session), session, since, job.unwanted)
