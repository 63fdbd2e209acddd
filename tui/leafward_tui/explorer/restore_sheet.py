"""The files that a restore would put back: a list to choose from over the diff of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment

from leafward_tui.explorer.controllers.restore_choice import RestoreChoice
from leafward_tui.explorer.model.restore_lines import file_lines, preview_lines
from leafward_tui.ui.cells import fit
from leafward_tui.ui.intents import intent_bindings
from leafward_tui.ui.lines_view import LinesView
from leafward_tui.ui.routed_screen import Routes
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheet import OneLine, Sheet, SheetLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.session.session import Session
    from leafward_tui.ui.theme import Ground

__all__ = ["RestoreSheet"]

_AROUND = 9
"""Lines of the sheet that are neither list nor diff, and those of the screen that stay in sight."""


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
        self.choice = RestoreChoice(session, entry, self, write, moves)
        about = [SheetLine(f"in {session.cwd}; the files from before are kept for the undo", lines=1)]
        super().__init__(title, about, note=note)
        self.file_list = LinesView(id="files", raised=True)
        self.preview = LinesView(id="file", cursor=False, raised=True)
        self.state = OneLine(self._state_line)
        self.routes = Routes(RowSteps(self._step, self._page), self.choice)

    def compose_body(self) -> ComposeResult:
        """What is going on, the files, the diff of one of them."""
        yield self.state
        yield self.file_list
        yield self.hairline()
        yield self.preview

    def mounted(self) -> None:
        """Begins to work out what would change."""
        self.choice.begin(services_of(self).jobs(self))
        self.file_list.focus()
        self.draw()

    def resized(self) -> None:
        """As high as there is room."""
        self._arrange()

    @property
    def key(self) -> str:
        """The file of the cursor."""
        return self.file_list.key

    def next_file(self) -> None:
        """Puts the cursor on the file below."""
        self.file_list.move_by(1)

    def close(self, answer: str | None) -> None:
        """Closes the sheet."""
        self.dismiss(answer)

    def action_leave(self) -> None:
        """A click beside the sheet does what the key does."""
        self.choice.leave()

    def draw(self) -> None:
        """Shows what is chosen, and what that means."""
        if not self.is_mounted:
            return
        glyphs, choice = services_of(self).glyphs, self.choice
        self._arrange()
        if choice.plan is not None:
            self.file_list.show(
                lambda width, _rows: file_lines(choice.files, choice.same, choice.chosen, width, glyphs)
            )
        self._draw_preview()
        self.state.refresh()
        self.foot.refresh()

    def _draw_preview(self) -> None:
        glyphs, choice = services_of(self).glyphs, self.choice
        file, diff = choice.file, choice.diff() if choice.plan is not None else []
        chosen = file is not None and file.path in choice.chosen
        self.preview.show(lambda width, _rows: preview_lines(file, diff, chosen, width, glyphs))

    def _arrange(self) -> None:
        """List and diff share the room; the one that keys go to has more of it."""
        room = max(6, self.app.size.height - _AROUND)
        some = max(1, len(self.choice.files) + bool(self.choice.same))
        rows = min(some, 3 if self.choice.in_diff else max(3, room // 2))
        self.file_list.styles.height = rows
        self.preview.styles.height = max(3, room - rows if self.choice.in_diff else min(room - rows, 12))

    def _step(self, by: int) -> None:
        if self.choice.in_diff:
            self.preview.move_by(by)
            return
        self.file_list.move_by(by)
        self.preview.scroll_to(y=0, animate=False)
        self._draw_preview()

    def _page(self) -> int:
        return (self.preview if self.choice.in_diff else self.file_list).size.height

    def _state_line(self, width: int, ground: Ground) -> list[Segment]:
        choice, glyphs = self.choice, services_of(self).glyphs
        problem = f"{glyphs.malformed} {choice.problem}" if choice.problem else ""
        text = fit(problem or choice.state, width - 2, ellipsis=glyphs.ellipsis)
        return [Segment(" ", ground.blank), Segment(text, ground.bad if problem else ground.sub)]

    def keys(self) -> tuple[tuple[str, str], ...]:
        """What commits, what leaves, what chooses."""
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
        if message.view is self.file_list:
            if message.x < len("[ ]"):
                self.choice.switch(message.key)
            self._draw_preview()

    def commit(self) -> None:
        """What is chosen."""
        self.choice.accept()

    def pressed(self, number: int) -> None:
        """Does what one of `keys`, which was clicked, does."""
        choice = self.choice
        (choice.accept, choice.leave, choice.toggle, choice.choose_all, choice.switch_pane)[number]()
