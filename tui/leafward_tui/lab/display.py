"""The widgets of the lab, and its title and notes: all that its controllers see of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.lab.hints import title_facts
from leafward_tui.lab.widgets.panes import LabPanes
from leafward_tui.ui.bars.price_line import PriceLine
from leafward_tui.ui.text.session_crumb import session_crumb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward_tui.lab.state import LabState
    from leafward_tui.ui.bars.price_line import KeyHint
    from leafward_tui.ui.screens.screen import BaseScreen
    from leafward_tui.ui.screens.screen_results import LabResult


class LabDisplay:
    """The screen as its controllers see it."""

    def __init__(self, screen: BaseScreen[LabResult | None], state: LabState) -> None:
        self._screen, self._state = screen, state
        self.panes = LabPanes()
        self.note = PriceLine(id="note")
        self.open_sheet, self.show_hints = screen.open_sheet, screen.show_hints
        self.dismiss, self.set_timer = screen.dismiss, screen.set_timer

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over this one."""
        return self._screen.is_active

    def tell(self, text: str, tone: str = "", keys: Sequence[KeyHint] = ()) -> None:
        """Shows a note in the row over the keys.

        An empty text shows why there is nothing to plan, or the pending work; else nothing.
        """
        if not text and self._state.path.trouble:
            text, tone = self._state.path.trouble, "bad"
        self.note.note(text or self._state.pending or None, tone, keys)

    def show_title(self) -> None:
        """Shows the session, and the place of the planned compaction."""
        state, glyphs = self._state, self._screen.services.glyphs
        crumb = session_crumb(state.session, 60, glyphs)
        self._screen.title_bar.show("Compaction lab", crumb=crumb, facts=title_facts(state, glyphs))
