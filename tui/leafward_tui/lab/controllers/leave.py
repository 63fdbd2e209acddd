"""Leaving: one thing at a time, and nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.state import Mode
from leafward_tui.ui.screen_results import LabResult

if TYPE_CHECKING:
    from leafward_tui.lab.controllers.edit import SummaryEdit
    from leafward_tui.lab.controllers.layout import PaneLayout
    from leafward_tui.lab.controllers.paid_summaries import KeptSummaries
    from leafward_tui.lab.controllers.request import SummaryRequest


class Leave(LabController):
    """Leaves one mode at a time: the field, the summary being written, the pane with all the room, then the lab."""

    def __init__(
        self,
        means: LabMeans,
        layout: PaneLayout,
        edit: SummaryEdit,
        request: SummaryRequest,
        kept: KeptSummaries,
    ) -> None:
        super().__init__(means)
        self._layout = layout
        self._edit = edit
        self._request = request
        self._kept = kept
        self.actions = {"mode.leave": self.leave}

    def leave(self) -> None:
        """Leaves the mode under way; a write is waited for."""
        mode = self._state.mode
        if mode is Mode.EDIT:
            self._edit.end()
        elif mode is Mode.STREAM:
            self._request.cancel()
        elif self._state.layout.whole:
            self._layout.toggle_whole()
        elif mode is Mode.CHOICE:
            left = self._kept.left_words()
            self._view.dismiss(LabResult(None, left) if left else None)
