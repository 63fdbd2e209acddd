"""The files of a restore over the diff of one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.containers import Vertical

from leafward_tui.explorer.model.restore_lines import file_lines, preview_lines
from leafward_tui.ui.cells import fit
from leafward_tui.ui.lines_view import LinesView
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheet import OneLine

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from leafward_tui.explorer.controllers.restore_choice import RestoreChoice
    from leafward_tui.ui.theme import Ground

__all__ = ["RestoreFiles"]

_FRAME = 9
"""Lines of the sheet that are neither list nor diff, and the title of the screen."""
_IN_SIGHT = 4
"""Lines of the screen that stay in sight while files are chosen."""

_PREVIEW = 12
"""Lines of a diff that are enough to choose by."""


class RestoreFiles(Vertical):
    """What is going on, the list, and the diff of the file under its cursor."""

    DEFAULT_CSS = "RestoreFiles { height: auto; width: 1fr; }"

    def __init__(self, choice: RestoreChoice, rule: OneLine) -> None:
        super().__init__()
        self._choice, self._rule = choice, rule
        self.state = OneLine(self._state_line)
        self.file_list = LinesView(id="files", raised=True)
        self.preview = LinesView(id="file", cursor=False, raised=True)

    def compose(self) -> ComposeResult:
        """The list over the diff."""
        yield self.state
        yield self.file_list
        yield self._rule
        yield self.preview

    def draw(self) -> None:
        """Shows what is chosen."""
        glyphs, choice = services_of(self).glyphs, self._choice
        self.share_room()
        if choice.plan is not None:
            self.file_list.show(
                lambda width, _rows: file_lines(choice.files, choice.same, choice.chosen, width, glyphs)
            )
        self.draw_preview()
        self.state.refresh()

    def draw_preview(self) -> None:
        """Shows what becomes of the file under the cursor."""
        glyphs, choice = services_of(self).glyphs, self._choice
        file, diff = choice.file, choice.diff() if choice.plan is not None else []
        chosen = file is not None and file.path in choice.chosen
        self.preview.show(lambda width, _rows: preview_lines(file, diff, chosen, width, glyphs))

    def share_room(self) -> None:
        """List and diff share the room; the one that keys go to has more of it."""
        choice = self._choice
        room = max(6, self.app.size.height - _FRAME - (0 if choice.in_diff else _IN_SIGHT))
        some = max(1, len(choice.files) + bool(choice.same))
        rows = min(some, 3 if choice.in_diff else max(3, room // 2))
        self.file_list.styles.height = rows
        self.preview.styles.height = max(3, room - rows if choice.in_diff else min(room - rows, _PREVIEW))
        self.state.display = bool(choice.state or choice.problem)

    def step(self, by: int) -> None:
        """Moves the cursor, or scrolls the diff where keys go there."""
        if self._choice.in_diff:
            self.preview.move_by(by)
            return
        self.file_list.move_by(by)
        self.preview.scroll_to(y=0, animate=False)
        self.draw_preview()

    def page(self) -> int:
        """Lines of what the keys go to."""
        return (self.preview if self._choice.in_diff else self.file_list).size.height

    def _state_line(self, width: int, ground: Ground) -> list[Segment]:
        choice, glyphs = self._choice, services_of(self).glyphs
        problem = f"{glyphs.malformed} {choice.problem}" if choice.problem else ""
        text = fit(problem or choice.state, width - 2, ellipsis=glyphs.ellipsis)
        return [Segment(" ", ground.blank), Segment(text, ground.bad if problem else ground.sub)]
