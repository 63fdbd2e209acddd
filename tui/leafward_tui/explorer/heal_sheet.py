"""What would heal a session: every change, before the new session is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from leafward_tui.explorer.model.heal_lines import change_lines
from leafward_tui.ui.cells import counted
from leafward_tui.ui.intents import intent_bindings
from leafward_tui.ui.lines_view import LinesView
from leafward_tui.ui.routed_screen import Actions, Routes
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheet import Sheet, SheetLine

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward_tui.explorer.jobs.heal import Healed

__all__ = ["HealSheet"]

_FRAME = 12
"""Lines of the sheet that are no change, and those of the screen that stay in sight."""


class HealSheet(Sheet):
    """Ends with "begin" where the new session is wanted, or with None."""

    NAME: ClassVar[str] = "heal"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("heal")]

    def __init__(self, healed: Healed) -> None:
        self._changes = healed.found.changes
        self._title = healed.agent.title
        about = [SheetLine("a new session is written that the provider accepts; this one stays as it is")]
        about += [SheetLine(remark.text) for remark in healed.found.remarks]
        if healed.found.obstacle is not None:
            about.append(SheetLine(healed.found.obstacle.text, "warn", lines=3))
        note = counted(len(self._changes), "change")
        super().__init__("Heal this session", about, note=note)
        self.changes = LinesView(id="changes", cursor=False, raised=True)
        own = {"heal.accept": self.commit, "mode.leave": self.action_leave, "app.back": self.action_leave}
        steps = RowSteps(self.changes.move_by, lambda: self.changes.size.height)
        self.routes = Routes(steps, Actions(own))

    def compose_body(self) -> ComposeResult:
        """The changes."""
        yield self.changes

    def mounted(self) -> None:
        """Shows them."""
        self.resized()
        glyphs = services_of(self).glyphs
        self.changes.show(lambda width, _rows: change_lines(self._changes, width, glyphs))

    def resized(self) -> None:
        """As high as there is room."""
        self.changes.styles.height = max(3, min(len(self._changes) + 2, self.app.size.height - _FRAME))

    def keys(self) -> tuple[tuple[str, str], ...]:
        """What commits, then what leaves."""
        return (("enter", "begin and open it"), ("esc", "cancel"))

    def operation(self) -> str:
        """What is written."""
        return f"write a new session of {self._title}"

    def commit(self) -> None:
        """The new session."""
        self.dismiss("begin")
