"""The summary in a field of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.lab.controllers.controller import LabController, LabMeans

if TYPE_CHECKING:
    from leafward_tui.lab.controllers.display import Display
    from leafward_tui.lab.controllers.drafts import DraftMaker
    from leafward_tui.lab.controllers.layout import PaneLayout


class SummaryEdit(LabController):
    """Owns `state.edit`."""

    def __init__(self, means: LabMeans, display: Display, layout: PaneLayout, drafts: DraftMaker) -> None:
        super().__init__(means)
        self._display = display
        self._layout = layout
        self._drafts = drafts
        self.actions = {"summary.edit": self.begin}

    def begin(self) -> None:
        """Opens the field; leaving it keeps the text."""
        draft, edit = self._state.draft, self._state.edit
        if draft is None or self._state.busy:
            self._view.tell(self._state.busy or "no summary to edit yet", "warn")
            return
        self._layout.go_to("text", "Summary")
        edit.open, edit.text = True, draft.summary.text
        self._view.panes.open_editor(edit.text)
        self._display.show_text()
        self._view.show_hints()

    def changed(self, text: str) -> None:
        """Updates the number of tokens over the field."""
        if self._state.edit.open:
            self._state.edit.text = text
            self._display.show_state()

    def end(self) -> None:
        """Keeps the text of the field, and closes it."""
        text = self._view.panes.close_editor()
        self._state.edit.open, self._state.edit.text = False, ""
        if text.strip():
            self._drafts.set_text(text)
        else:
            self._view.tell("an empty summary would lose everything: the one before stays", "warn")
        self._layout.go_to("text", "Summary")
        self._display.show_text()
        self._view.show_hints()
