"""Files of the project as they were at an entry: put back alone or together with a move, from a preview."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.explorer.controllers.write import FileWrite
from leafward_tui.ui.write_words import appending, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward_tui.explorer.controllers.cursor_details import CursorDetails
    from leafward_tui.explorer.controllers.restore_choice import RestoreChoice
    from leafward_tui.explorer.controllers.write import SessionWrite
    from leafward_tui.explorer.ports import ExplorerView
    from leafward_tui.explorer.state import ExplorerState


class FileRestore:
    """Opens the sheet of a restore, and writes what is chosen there."""

    def __init__(
        self,
        state: ExplorerState,
        view: ExplorerView,
        write: SessionWrite,
        details: CursorDetails,
    ) -> None:
        self._state = state
        self._view = view
        self._write = write
        self._details = details
        self.actions: dict[str, Callable[[], object]] = {"files.restore": self._ask_here}

    def enabled(self, intent_id: str) -> bool:  # noqa: ARG002  there is one
        """Whether there are rows."""
        return self._state.exploration is not None

    def _ask_here(self) -> None:
        """The files as they were at the row of the cursor; the leaf stays."""
        exploration, line = self._state.exploration, self._view.tree.line
        if exploration is not None and line is not None and not line.kind.is_fold:
            self.ask(exploration.target(line))

    def ask(self, entry: int, *, moved: str = "", on_accept: Callable[[], object] = lambda: None) -> None:
        """Shows what restoring the files at an entry would do, and does it.

        With `moved`, which says what was done, the leaf moves to the entry as well. `on_accept` is called before.
        """
        from leafward_tui.explorer.restore_sheet import RestoreSheet

        session = self._state.session
        if session is None or self._write.waits_for_summary() or self._write.waits_for_write():
            return
        if moved and self._write.is_read_only():
            return

        done = moved or f"files as at {named(entry)}"

        def write(choice: RestoreChoice) -> None:
            if choice.plan is None:
                return
            if session is not self._state.session:
                # The entries of the one on show have other places.
                choice.fail("the session was reloaded meanwhile; nothing was written")
                return
            on_accept()
            to = entry if moved else None
            request = FileWrite(choice.plan, choice.changes, to, choice.stop, choice.tell)
            self._write.restore(request, _done(done, choice), choice.done, choice.fail)

        title = "Move and restore the files" if moved else "Restore the files"
        moves = appending(session) if moved else ""
        sheet = RestoreSheet(session, entry, title, f"as at {named(entry)}", write, moves)
        self._view.ask(sheet, lambda answer: None if answer else self._details.settle())


def _done(what: str, choice: RestoreChoice) -> str:
    """What was done, and what was left alone."""
    from leafward_tui.explorer.controllers.restore_choice import action_words

    left = sum(1 for one in choice.files if one.path not in choice.chosen)
    parts = [what, _past(action_words(choice.changes)), f"{left:,} left alone" if left else ""]
    return "; ".join(filter(None, parts))


def _past(words: str) -> str:
    for now, then in (("write ", "wrote "), ("create ", "created "), ("delete ", "deleted ")):
        words = words.replace(now, then)
    return words
