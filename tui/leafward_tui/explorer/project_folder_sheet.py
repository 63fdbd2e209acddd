"""The sheet that asks for the folder of a session's project where it is missing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.base.shown_path import no_project_folder
from leafward_tui.ui.text.paths import working_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.session.session import Session
    from leafward_tui.explorer.display import ExplorerDisplay


def in_project_folder(
    view: ExplorerDisplay,
    session: Session,
    about: str,
    then: Callable[[str], object],
    cancelled: Callable[[], object],
) -> None:
    """Calls `then` with the project's folder; where that is missing, asks for the one that it is in now until one exists.

    `about` says on the sheet what follows.
    """
    if os.path.isdir(session.cwd):
        then(session.cwd)
    else:
        _ask(view, about, then, cancelled, typed=working_folder(), problem=no_project_folder(session.cwd))


def _ask(
    view: ExplorerDisplay,
    about: str,
    then: Callable[[str], object],
    cancelled: Callable[[], object],
    *,
    typed: str,
    problem: str,
) -> None:
    from leafward_tui.ui.sheets.sheet import SheetLine, TextSheet

    def done(text: str | None) -> None:
        if text is None:
            cancelled()
            return
        folder = os.path.normpath(os.path.join(working_folder(), os.path.expanduser(text.strip())))
        if os.path.isdir(folder):
            then(folder)
        else:
            _ask(view, about, then, cancelled, typed=text, problem=no_project_folder(folder))

    sheet = TextSheet(
        "Folder that the project is in now",
        typed,
        [SheetLine(safe_line(problem, 300), "bad", lines=3), SheetLine(about)],
        placeholder="a folder that exists",
        commit="choose",
        missing="type a folder",
    )
    view.open_sheet(sheet, done)
