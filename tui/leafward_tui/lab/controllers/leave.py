"""Leaving: one thing at a time, and nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.lab.state import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from leafward_tui.lab.controllers.edit import SummaryEdit
    from leafward_tui.lab.controllers.layout import PaneLayout
    from leafward_tui.lab.controllers.request import SummaryRequest
    from leafward_tui.lab.ports import LabPort
    from leafward_tui.lab.state import LabState


class Leave:
    """Leaves one mode at a time: the field, the summary being written, the pane with all the room, then the lab."""

    def __init__(
        self, state: LabState, view: LabPort, layout: PaneLayout, edit: SummaryEdit, request: SummaryRequest
    ) -> None:
        self._state = state
        self._view = view
        self._layout = layout
        self._edit = edit
        self._request = request
        self.actions: Mapping[str, Callable[[], object]] = {"mode.leave": self.leave}

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
