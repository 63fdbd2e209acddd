"""Leaving: one thing at a time, and nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.state import Mode

if TYPE_CHECKING:
    from leafward_tui.lab.controllers.edit import SummaryEdit
    from leafward_tui.lab.controllers.layout import PaneLayout
    from leafward_tui.lab.controllers.request import SummaryRequest


class Leave(LabController):
    """Leaves one mode at a time: the field, the summary being written, the pane with all the room, then the lab."""

    def __init__(
        self, means: LabMeans, layout: PaneLayout, edit: SummaryEdit, request: SummaryRequest
    ) -> None:
        super().__init__(means)
        self._layout = layout
        self._edit = edit
        self._request = request
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
            self._view.dismiss(None)
