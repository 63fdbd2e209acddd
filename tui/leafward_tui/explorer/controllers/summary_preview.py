"""The sheet for reading a summary: one that grows, one that is whole, one that could not be written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.ui.keys.intents import intent
from leafward_tui.ui.words.write_words import appending, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.branch_summary import BranchDraft
    from leafward_tui.explorer.controllers.cursor_details import CursorDetails
    from leafward_tui.explorer.model.summary_request import SummaryRequest
    from leafward_tui.ui.sheets.reading_sheet import ReadingSheet

_AGAIN = intent("draft.again").hint


class SummaryPreview(ExplorerController):
    """Shows one summary at a time; its keys call back to its owner."""

    def __init__(
        self,
        means: ExplorerMeans,
        details: CursorDetails,
        cancel: Callable[[], object],
        move: Callable[[SummaryRequest, BranchDraft], object],
        again: Callable[[SummaryRequest], object],
    ) -> None:
        super().__init__(means)
        self._details = details
        self._cancel = cancel
        self._move = move
        self._again = again
        self._sheet: ReadingSheet | None = None
        """The sheet of a growing summary."""
        self._draft: BranchDraft | None = None
        """The summary on show."""

    def open(self, request: SummaryRequest) -> None:
        """Opens the sheet for a summary that is about to be made."""
        self._sheet = self._opened(request, running=True)

    def grow(self, text: str, words: str) -> None:
        """Shows the text so far, and its progress in words; nothing where no sheet is open."""
        if self._sheet is not None:
            self._sheet.grow(text, words)

    def leave(self) -> None:
        """Closes the sheet, because the summary was cancelled."""
        self._sheet = None

    def fail(self, problem: str) -> bool:
        """Shows why there is no summary; False where no sheet is open."""
        sheet, self._sheet = self._sheet, None
        if sheet is not None:
            sheet.ended("", problem, tone="bad", again=_AGAIN)
        return sheet is not None

    def show(self, request: SummaryRequest, draft: BranchDraft, problem: str = "") -> None:
        """Shows a whole, unwritten summary; `problem` is the reason where writing it failed."""
        from leafward_tui.explorer.summary_sheets import done_figures, redacted_words

        sheet, self._sheet = self._sheet, None
        sheet = sheet or self._opened(request, running=False)
        session, self._draft = self._state.session, draft
        who = draft.summary.summarizer
        words = [f"{who}, made locally" if draft.summary.usage is None else who, *draft.remarks]
        redacted = redacted_words(draft.summary.redacted)
        refused = "" if request.carried else "this branch is not the active one: nothing is moved"
        if self._state.refusal:
            refused = f"read only: {self._state.refusal}"
        sheet.ended(
            draft.text,
            f"the summary stays here: {problem}"
            if problem
            else "; ".join([*words, *([redacted] if redacted else [])]),
            figures=done_figures(draft, self._services.glyphs),
            tone="bad" if problem else "warn" if draft.remarks else "",
            move=f"move to {named(request.to)} with it",
            refused=refused,
            operation=appending(session) if session is not None else "",
            again=_AGAIN,
        )

    def _opened(self, request: SummaryRequest, *, running: bool) -> ReadingSheet:
        from leafward_tui.explorer.summary_sheets import span_words
        from leafward_tui.ui.sheets.reading_sheet import ReadingSheet

        def done(chosen: str | None) -> None:
            self._sheet = None
            if chosen == "move" and self._draft is not None:
                self._move(request, self._draft)
            elif chosen == "again":
                self._again(request)
            else:
                self._details.settle()

        title = "Summary of the abandoned branch" if request.carried else "Summary of this branch"
        sheet = ReadingSheet(
            f"{title}: {request.focus}" if request.focus else title,
            note=span_words(request, self._services.glyphs),
            running=running,
            cancel=self._cancel,
            save=self._save,
        )
        self._view.open_sheet(sheet, done)
        return sheet

    def _save(self, text: str) -> None:
        """Writes a summary to a file in the current folder."""
        from leafward_tui.ui.saved_files import outcome_toasts, save_text

        session = self._state.session
        if session is not None:
            work = partial(save_text, f"{session.id[:8]}-summary", text)
            self._services.lasting_jobs.also("export", work, *outcome_toasts(self._services))
