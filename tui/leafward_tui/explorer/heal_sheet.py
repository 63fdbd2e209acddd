"""The sheet that heals a session: every change, before the new session is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.panes.lines_view import LinesView
from leafward_tui.ui.routed_screen import Actions, Routes
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheets.sheet import Sheet, SheetKey, SheetLine
from leafward_tui.ui.text.cells import fit, right, wrap
from leafward_tui.ui.words.write_words import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.agents.fork_draft import ForkDraft
    from leafward.branches.healing.healing import Healing
    from leafward.branches.healing.refused_blocks import HealedDifference
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.panes.pane_lines import Lines, SpanLine

_FRAME = 12
"""Lines of the sheet besides the changes, and those of the screen that stay in sight."""


class HealSheet(Sheet):
    """Ends with "begin" where the new session is wanted, or with None."""

    NAME: ClassVar[str] = "heal"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("heal")]

    def __init__(self, healing: Healing, draft: ForkDraft, title: str) -> None:
        """`title` is that of the agent for the new session."""
        self._changes = healing.changes
        self._title = title
        about = [
            SheetLine("a repaired session is written, which the provider accepts; this one stays as it is")
        ]
        about += [SheetLine(remark.text) for remark in (*healing.remarks, *draft.remarks)]
        if healing.obstacle is not None:
            about.append(SheetLine(healing.obstacle.text, "warn", lines=3))
        note = counted(len(self._changes), "repair")
        super().__init__("Heal this session", about, note=note)
        self.changes = LinesView(id="changes", cursor=False, raised=True)
        own = {"heal.accept": self.commit, "mode.leave": self.action_leave, "app.back": self.action_leave}
        steps = RowSteps(self.changes.move_by, lambda: self.changes.size.height)
        self.routes = Routes(steps, Actions(own))

    def compose_body(self) -> ComposeResult:
        """The changes."""
        yield self.changes

    def mounted(self) -> None:
        """Shows the changes."""
        self.resized()
        glyphs = services_of(self).glyphs
        self.changes.show(lambda width, _rows: change_lines(self._changes, width, glyphs))

    def resized(self) -> None:
        """Makes the sheet as high as there is room."""
        self.changes.styles.height = max(3, min(len(self._changes) + 2, self.app.size.height - _FRAME))

    def sheet_keys(self) -> tuple[SheetKey, ...]:
        """The key that commits, then the key that cancels."""
        return self.intent_keys(("heal.accept", "begin and open it"), ("mode.leave", "cancel"))

    def operation(self) -> str:
        """The write in words."""
        return f"write a new session of {self._title}"

    def commit(self) -> None:
        """Ends with "begin"."""
        self.dismiss("begin")


_PLACE = 9
_LONGEST = 400
"""Characters shown of one change."""


def change_lines(changes: Sequence[HealedDifference], width: int, glyphs: Glyphs) -> Lines:
    """The changes in the order of the session: the damage, the change, and the entry."""
    from leafward_tui.ui.panes.pane_lines import LazyLines, SpanLine
    from leafward_tui.ui.text.spans import Span

    room = max(12, width - _PLACE)
    rows: list[tuple[HealedDifference, str, bool]] = []
    for one in changes:
        text = safe_line(one.text, _LONGEST)
        short = len(text) <= room and text.isascii()
        parts = [text] if short else wrap(text, room, lines=4, ellipsis=glyphs.ellipsis)
        rows += [(one, part, at == 0) for at, part in enumerate(parts)]

    def made(y: int) -> SpanLine:
        change, text, first = rows[y]
        place = named(change.entry) if change.entry >= 0 else "all"
        spans = (
            Span(fit(text, room, pad=True), "text"),
            Span(right(place if first else "", _PLACE), "faint"),
        )
        return SpanLine(spans)

    return LazyLines(len(rows), made)
