"""The file under the cursor of the tab Files, or one that the row touches; asked for where there are several or none."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward_tui.explorer.controllers.controller import ExplorerController, single_row
from leafward_tui.inspector.tab import Tab

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.session.session import Session
    from leafward_tui.ui.jobs import Job

_MOST = 14
"""Rows of the sheet that asks for a file."""


class FileChoice(ExplorerController):
    """Asks for a file."""

    def ask(self, title: str, then: Callable[[str], object]) -> None:
        """Hands a file to `then`, by its name in the session; where there are several, asks with `title`."""
        state, view = self._state, self._view
        if not view.in_tree and (file := view.inspector.file):
            then(file)
            return
        shown = single_row(state, view)
        if shown is None:
            return
        exploration, line = shown
        of_path = not view.in_tree and view.inspector.tab is Tab.FILES
        row = exploration.layout.entries_of(line.row)
        work = partial(_offered, exploration.session, row, of_path=of_path)
        self._jobs.latest("choose", work, partial(self._choose, title, then), view.fail)

    def _choose(self, title: str, then: Callable[[str], object], touched: TouchedFiles) -> None:
        from leafward_tui.ui.sheets.choice_sheet import LETTERS, Choice, ChoiceSheet
        from leafward_tui.ui.sheets.sheet import SheetLine

        if not self._view.on_top:
            return
        paths, missing = touched.paths, touched.missing
        if not paths:
            self._view.tell("no file was touched up to here", "warn")
            return
        if len(paths) == 1 and not touched.elsewhere:
            then(paths[0])
            return
        shown = paths if len(paths) <= _MOST else paths[: _MOST - 1]
        choices = [
            Choice(
                letter,
                safe_line(path, 300),
                "not there now" if path in missing else "",
                file=True,
                act=partial(then, path),
            )
            for letter, path in zip(LETTERS, shown, strict=False)
        ]
        if len(shown) < len(paths):
            rest, ask = (
                counted(len(paths) - len(shown), "more file"),
                partial(self._ask_name, title, then, touched),
            )
            choices.append(Choice(LETTERS[_MOST - 1], rest, "type a part of the name", act=ask))
        asks = [
            SheetLine(
                "this row touches no file; those before it:" if touched.elsewhere else "which of these files?"
            )
        ]
        self._view.open_sheet(ChoiceSheet(title, choices, asks))

    def _ask_name(self, title: str, then: Callable[[str], object], touched: TouchedFiles) -> None:
        """Asks for a part of a name; where it matches several files, asks which."""
        from leafward_tui.ui.sheets.sheet import TextSheet

        paths = touched.paths

        def meaning(text: str) -> str:
            found = named_alike(paths, text)
            if len(found) == 1:
                return safe_line(found[0], 300)
            return f"{len(found):,} of {counted(len(paths), 'file')}"

        def done(text: str | None) -> None:
            if text is None:
                return
            if found := named_alike(paths, text):
                self._choose(title, then, TouchedFiles(found, touched.missing))
            else:
                self._view.tell(f"no file here has {safe_line(text, 80)} in its name", "warn")

        sheet = TextSheet(
            title,
            placeholder="a part of the file's name",
            commit="choose",
            operation_of=meaning,
            missing="type a part of the name",
        )
        self._view.open_sheet(sheet, done)


def named_alike(paths: Sequence[str], text: str) -> tuple[str, ...]:
    """The files whose path contains a text, case ignored; a path that equals the text wins alone."""
    if text in paths:
        return (text,)
    return tuple(path for path in paths if text.strip().casefold() in path.casefold())


class TouchedFiles(NamedTuple):
    """Files that entries touch."""

    paths: tuple[str, ...]
    missing: frozenset[str]
    """Those of them that are missing in the project's folder; none where the folder itself is missing."""
    elsewhere: bool = False
    """Whether the row itself touches none of them."""


def _offered(session: Session, row: Sequence[range], job: Job, *, of_path: bool) -> TouchedFiles:
    """The files that a row touches; those of the path to it where that is asked for, or the row touches none. Raises Cancelled."""
    found = files_touched(session, [at for span in row for at in span], job) if not of_path else None
    if found is not None and found.paths:
        return found
    path = [*session.tree.path(row[-1].stop - 1)]
    return files_touched(session, path, job)._replace(elsewhere=not of_path)


def files_touched(session: Session, entries: Sequence[int], job: Job) -> TouchedFiles:
    """The files that entries touch, changed files first, as those are wanted most often. Raises Cancelled."""
    from leafward.files.file_replay.step_reader import steps

    found = sorted(steps(session, entries, job.unwanted), key=lambda step: not step.operation.changes)
    paths = tuple(dict.fromkeys(step.path for step in found))
    there = os.path.isdir(session.cwd)
    gone = (path for path in paths if there and not os.path.lexists(os.path.join(session.cwd, path)))
    return TouchedFiles(paths, frozenset(gone))
