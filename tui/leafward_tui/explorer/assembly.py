"""The controllers of the explorer, made with their dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.explorer.controllers.bisect import Bisect
from leafward_tui.explorer.controllers.blame import FileBlame
from leafward_tui.explorer.controllers.branch_summary import BranchSummary
from leafward_tui.explorer.controllers.compactions import Compactions
from leafward_tui.explorer.controllers.comparison import Comparison
from leafward_tui.explorer.controllers.context_edit import ContextEdits
from leafward_tui.explorer.controllers.cursor_details import CursorDetails
from leafward_tui.explorer.controllers.exam import CompactionExam
from leafward_tui.explorer.controllers.export import Export
from leafward_tui.explorer.controllers.file_choice import FileChoice
from leafward_tui.explorer.controllers.fork import NewSession
from leafward_tui.explorer.controllers.heal import Heal
from leafward_tui.explorer.controllers.modes import Modes
from leafward_tui.explorer.controllers.move import Move
from leafward_tui.explorer.controllers.navigation import Navigation
from leafward_tui.explorer.controllers.operations import Operations
from leafward_tui.explorer.controllers.parent_session import ParentSession
from leafward_tui.explorer.controllers.restore import FileRestore
from leafward_tui.explorer.controllers.resume import AgentResume
from leafward_tui.explorer.controllers.row_filter import RowFilter
from leafward_tui.explorer.controllers.row_metrics import RowMetrics
from leafward_tui.explorer.controllers.search import Search
from leafward_tui.explorer.controllers.session_loader import SessionLoader
from leafward_tui.explorer.controllers.sub_agents import SubAgents
from leafward_tui.explorer.controllers.write import SessionWrite

if TYPE_CHECKING:
    from leafward_tui.explorer.controllers.restore import RestoreChoice
    from leafward_tui.explorer.ports import ExplorerView
    from leafward_tui.explorer.restore_sheet import RestoreSheet
    from leafward_tui.explorer.state import ExplorerState
    from leafward_tui.ui.screens.routed_screen import Controller
    from leafward_tui.ui.services import AppServices, Jobs


class Controllers:
    """All controllers, made in the order of their dependencies."""

    def __init__(self, state: ExplorerState, view: ExplorerView, services: AppServices, jobs: Jobs) -> None:
        self.metrics = RowMetrics(state, view, services, jobs)
        self.details = CursorDetails(state, view, services, jobs, self.metrics)
        self.navigation = Navigation(state, view, services, self.details, self.metrics)
        self.search = Search(state, view, services, jobs, self.navigation, self.details)
        self.navigation.laid_out = self.search.again
        self.files_here = FileChoice(state, view, jobs)
        self.filter = RowFilter(state, view, jobs, self.navigation, self.search, self.files_here)
        self.blame = FileBlame(state, services, self.files_here)
        self.loader = SessionLoader(
            state, view, services, jobs, self.navigation, self.details, self.metrics, self.search
        )
        self.write = SessionWrite(state, view, services, jobs, self.loader, self.navigation)
        self.operations = Operations(state, view, services, self.write, self.loader, self.navigation)
        self.edits = ContextEdits(state, view, services, jobs, self.write)
        self.summary = BranchSummary(state, view, services, jobs, self.write, self.details)
        self.files = FileRestore(state, view, self.write, self.details, restore_sheet)
        self.move = Move(state, view, services, self.write, self.summary, self.details, self.files)
        self.resume = AgentResume(state, view, services, self.loader)
        self.fork = NewSession(
            state, view, services, jobs, self.navigation, self.details, self.summary, self.resume
        )
        self.heal = Heal(state, view, services, jobs)
        self.parent = ParentSession(state, view, services, jobs, self.loader, self.navigation)
        self.sub_agents = SubAgents(state, view, services, jobs, self.navigation)
        self.loader.counted = self._look_on
        self.bisect = Bisect(state, view, services, jobs, self.navigation, self.operations)
        self.export = Export(state, view, services, jobs, self.navigation)
        self.comparison = Comparison(state, view, services, jobs, self.navigation, self.filter, self.write)
        self.compactions = Compactions(
            state, view, services, self.loader, self.navigation, self.write, self.operations
        )
        self.exam = CompactionExam(state, view, services, jobs, self.write)
        self.modes = Modes(state, view, self.summary, self.search, self.filter, self.navigation)

    def _look_on(self) -> None:
        """Looks for healing, the parent session and sub-agents, once the numbers are known."""
        self.heal.look()
        self.parent.look()
        self.sub_agents.look()

    @property
    def routed(self) -> tuple[Controller, ...]:
        """The controllers that intents go to."""
        return (
            self.navigation,
            self.search,
            self.filter,
            self.blame,
            self.loader,
            self.operations,
            self.edits,
            self.summary,
            self.files,
            self.move,
            self.resume,
            self.fork,
            self.heal,
            self.parent,
            self.sub_agents,
            self.bisect,
            self.export,
            self.comparison,
            self.compactions,
            self.modes,
        )


def restore_sheet(choice: RestoreChoice, title: str, note: str) -> RestoreSheet:
    """The sheet of a restore; its module is loaded when the sheet is opened."""
    from leafward_tui.explorer.restore_sheet import RestoreSheet

    return RestoreSheet(choice, title, note)
