"""Who wrote the lines of a file that the session touched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward_tui.explorer.controllers.file_choice import FileChoice
    from leafward_tui.explorer.state import ExplorerState
    from leafward_tui.ui.services import AppServices


class FileBlame:
    """Opens the blame of a file."""

    def __init__(self, state: ExplorerState, services: AppServices, files: FileChoice) -> None:
        self._state, self._services, self._files = state, services, files
        self.actions: dict[str, Callable[[], object]] = {"blame.open": self._ask}

    def _ask(self) -> None:
        self._files.ask("Blame", self._open)

    def _open(self, path: str) -> None:
        session = self._state.session
        if session is not None:
            self._services.screens.blame(Path(session.cwd, path), None, session.path)
