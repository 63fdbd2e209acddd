"""The way to the blame of a file that the session touched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans

if TYPE_CHECKING:
    from leafward_tui.explorer.controllers.file_choice import FileChoice


class FileBlame(ExplorerController):
    """Opens the blame of a file."""

    def __init__(self, means: ExplorerMeans, files: FileChoice) -> None:
        super().__init__(means)
        self._files = files
        self.actions = {"blame.open": self._ask}

    def _ask(self) -> None:
        self._files.ask("Blame", self._open)

    def _open(self, path: str) -> None:
        session = self._state.session
        if session is not None:
            self._services.screens.blame(Path(session.cwd, path), None, session.path)
