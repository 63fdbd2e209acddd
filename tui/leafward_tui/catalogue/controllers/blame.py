"""The blame of a file of the project under the cursor."""

from __future__ import annotations

import os
from pathlib import Path

from leafward_tui.catalogue.controllers.controller import CatalogueController, CatalogueMeans
from leafward_tui.ui.text.paths import tilde, working_folder


class ProjectBlame(CatalogueController):
    """Asks for a file, and opens its blame."""

    def __init__(self, means: CatalogueMeans) -> None:
        super().__init__(means)
        self._typed = ""
        """The path typed last."""
        self.actions = {"blame.open": self.ask}

    def enabled(self, intent_id: str) -> bool:  # noqa: ARG002  there is one
        """Whether there are sessions."""
        return bool(self._state.stores.cards)

    def ask(self) -> None:
        """Asks for a file, from the project's folder."""
        from leafward_tui.ui.sheets.sheet import TextSheet

        folder = self._view.project

        def done(typed: str | None) -> None:
            if typed is None or not typed.strip():
                return
            self._typed = typed.strip()
            path = Path(folder or working_folder(), os.path.expanduser(self._typed))
            self._services.screens.blame(path, self._state.stores.cards)

        sheet = TextSheet(
            "Blame: which turn wrote each line",
            self._typed,
            note=tilde(folder) if folder else "from the current folder",
            placeholder="a file of this project, such as src/app.py",
            commit="show",
            missing="type the name of a file",
        )
        self._view.open_sheet(sheet, done)
