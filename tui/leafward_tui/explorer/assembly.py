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
from leafward_tui.explorer.controllers.followed_file import FollowedFile
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
    from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
    from leafward_tui.explorer.controllers.restore import RestoreChoice
    from leafward_tui.explorer.restore_sheet import RestoreSheet


class Controllers:
    """All controllers, made in the order of their dependencies."""

    def __init__(self, means: ExplorerMeans) -> None:
        self.metrics = RowMetrics(means)
        self.details = CursorDetails(means, self.metrics)
        self.navigation = Navigation(means, self.details, self.metrics)
        self.search = Search(means, self.navigation, self.details)
        self.navigation.laid_out = self.search.again
        self.files_here = FileChoice(means)
        self.filter = RowFilter(means, self.navigation, self.search, self.files_here)
        self.blame = FileBlame(means, self.files_here)
        self.loader = SessionLoader(means, self.navigation, self.details, self.metrics, self.search)
        self.followed = FollowedFile(means, self.loader, self.navigation, self.metrics)
        self.write = SessionWrite(means, self.followed, self.navigation)
        self.operations = Operations(means, self.write, self.followed, self.navigation)
        self.edits = ContextEdits(means, self.write)
        self.summary = BranchSummary(means, self.write, self.details)
        self.files = FileRestore(means, self.write, self.details, restore_sheet)
        self.move = Move(means, self.write, self.summary, self.details, self.files)
        self.resume = AgentResume(means, self.followed)
        self.fork = NewSession(means, self.navigation, self.details, self.summary, self.resume)
        self.heal = Heal(means)
        self.parent = ParentSession(means, self.loader, self.navigation)
        self.sub_agents = SubAgents(means, self.navigation)
        self.loader.counted = self._look_on
        self.bisect = Bisect(means, self.navigation, self.operations)
        self.export = Export(means, self.navigation)
        self.comparison = Comparison(means, self.followed, self.navigation, self.filter, self.write)
        self.compactions = Compactions(means, self.followed, self.navigation, self.write, self.operations)
        self.exam = CompactionExam(means, self.followed, self.write)
        self.modes = Modes(means, self.summary, self.search, self.filter, self.navigation)
        self.routed: tuple[ExplorerController, ...] = tuple(vars(self).values())

    def _look_on(self) -> None:
        """Looks for healing, the parent session and sub-agents, once the numbers are known."""
        self.heal.look()
        self.parent.look()
        self.sub_agents.look()


def restore_sheet(choice: RestoreChoice, title: str, note: str) -> RestoreSheet:
    """The sheet of a restore; its module is loaded when the sheet is opened."""
    from leafward_tui.explorer.restore_sheet import RestoreSheet

    return RestoreSheet(choice, title, note)
