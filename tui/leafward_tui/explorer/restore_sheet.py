"""The files that a restore would put back: a list to choose from over the diff of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from leafward_tui.explorer.controllers.restore_choice import RestoreChoice
from leafward_tui.explorer.widgets.restore_files import RestoreFiles
from leafward_tui.ui.intents import intent_bindings
from leafward_tui.ui.paths import tilde
from leafward_tui.ui.routed_screen import Routes
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheet import Sheet, SheetLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.session.session import Session
    from leafward_tui.ui.lines_view import LinesView

__all__ = ["RestoreSheet"]


class RestoreSheet(Sheet):
    """Chooses files. Ends with "written" once that is done, or with None."""

    NAME: ClassVar[str] = "restore"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("restore")]

    def __init__(
        self,
        session: Session,
        entry: int,
        title: str,
        note: str,
        write: Callable[[RestoreChoice], object],
        moves: str = "",
    ) -> None:
        """`write` begins to write what is chosen; `moves` says what is appended with it, empty where nothing is."""
        self.choice = RestoreChoice(session, entry, self, write, moves)
        about = [SheetLine(f"in {tilde(session.cwd)}; the files from before are kept for the undo", lines=1)]
        super().__init__(title, about, note=note)
        self.files = RestoreFiles(self.choice, self.hairline())
        self.routes = Routes(RowSteps(self.files.step, self.files.page), self.choice)

    def compose_body(self) -> ComposeResult:
        """The files."""
        yield self.files

    def mounted(self) -> None:
        """Begins to work out what would change."""
        self.choice.begin(services_of(self).jobs(self))
        self.files.file_list.focus()
        self.draw()

    def resized(self) -> None:
        """As high as there is room."""
        self.files.share_room()

    @property
    def key(self) -> str:
        """The file of the cursor."""
        return self.files.file_list.key

    def next_file(self) -> None:
        """Puts the cursor on the file below."""
        self.files.file_list.move_by(1)

    def draw(self) -> None:
        """Shows what is chosen, and what that means."""
        if self.is_mounted:
            self.files.draw()
            self.foot.refresh()

    def close(self, answer: str | None) -> None:
        """Closes the sheet."""
        self.dismiss(answer)

    def action_leave(self) -> None:
        """A click beside the sheet does what the key does."""
        self.choice.leave()

    def keys(self) -> tuple[tuple[str, str], ...]:
        """What commits, what leaves, what chooses."""
        if self.choice.plan is None or self.choice.writing:
            return (("esc", "cancel"),)
        other = "list" if self.choice.in_diff else "diff"
        return (
            ("ctrl+s", "restore"),
            ("esc", "cancel"),
            ("space", "choose"),
            ("a", "all safe"),
            ("tab", other),
        )

    def operation(self) -> str:
        """What would be written, or what is missing for it."""
        return self.choice.operation

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """A click shows a file; one on its box chooses it, or not."""
        message.stop()
        if message.view is self.files.file_list:
            if message.x < len("[ ]"):
                self.choice.switch(message.key)
            self.files.draw_preview()

    def commit(self) -> None:
        """What is chosen."""
        self.choice.accept()

    def pressed(self, number: int) -> None:
        """Does what one of `keys`, which was clicked, does."""
        choice = self.choice
        if choice.plan is None or choice.writing:
            choice.leave()
            return
        (choice.accept, choice.leave, choice.toggle, choice.choose_all, choice.switch_pane)[number]()
