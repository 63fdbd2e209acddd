"""The sheets of a summary: who makes it, what would be sent, what it should dwell on, and the summary itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.explorer.model.branch_summary import (
    branch_words,
    done_figures,
    redacted_words,
    sending_words,
    span_words,
)
from leafward_tui.explorer.model.write_words import appending, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.branch import Branch, BranchDraft
    from leafward.session.session import Session
    from leafward.summaries.summarizers.model import Outgoing
    from leafward_tui.explorer.model.branch_summary import SummaryRequest, SummaryRun
    from leafward_tui.explorer.ports import ExplorerView
    from leafward_tui.explorer.state import ExplorerState
    from leafward_tui.ui.reading_sheet import ReadingSheet
    from leafward_tui.ui.services import AppServices

_REMEMBERED = "summariser"


class SummarySheets:
    """What is asked and shown; what follows from the answers is its caller's."""

    def __init__(self, state: ExplorerState, view: ExplorerView, services: AppServices) -> None:
        self._state = state
        self._view = view
        self._services = services
        self.draft: BranchDraft | None = None
        """The summary on show."""

    def _appending(self) -> str:
        return appending(self._state.session) if self._state.session is not None else ""

    def choose_summarizer(
        self,
        session: Session,
        run: SummaryRun,
        branch: Branch,
        outgoing: Outgoing | None,
        chosen: Callable[[str | None], object],
        focus: Callable[[], object],
    ) -> None:
        """Asks who summarises: `chosen` hears the name, None for nobody; `focus` is called where one is wanted first."""
        from leafward_tui.explorer.jobs.summary import MODEL, OFFLINE
        from leafward_tui.ui.sheet import Choice, ChoiceSheet, SheetLine

        request = run.request
        before = self._services.recall(_REMEMBERED)
        operation = "preview only: nothing is written" if request.preview else appending(session)
        if run.then is not None:
            operation = "goes into the new session; you see it before anything is written"
        about = [SheetLine(branch_words(branch))]
        title, effect = "Extractive", "extracts text locally, no cost"
        choices = [Choice("x", title, effect, operation, current=before == OFFLINE)]
        if outgoing is not None:
            from leafward.summaries.summarizers.addresses import host_of

            current = before in (None, MODEL)
            choices += [
                Choice("m", outgoing.model, sending_words(outgoing), operation, current=current),
                Choice("v", "Read what would be sent", "every request, word for word"),
            ]
            taken_out = redacted_words(outgoing.redacted)
            host = host_of(outgoing.model, outgoing.base_url)
            about.append(SheetLine(f"{outgoing.model} is asked at {host}"))
            about += [SheetLine(taken_out, "warn")] if taken_out else []
            about += [SheetLine(remark, "warn") for remark in outgoing.remarks]
        if request.preview:
            choices.append(Choice("f", "With a focus", request.focus or "you say what to emphasise"))

        def done(key: str | None) -> None:
            if key == "v" and outgoing is not None:

                def back() -> None:
                    self.choose_summarizer(session, run, branch, outgoing, chosen, focus)

                self._show_requests(outgoing, back)
            elif key == "f":
                focus()
            elif key is None:
                chosen(None)
            else:
                name = OFFLINE if key == "x" else MODEL
                self._services.remember(_REMEMBERED, name)
                chosen(name)

        note = span_words(request, self._services.glyphs)
        self._view.ask(ChoiceSheet("Summariser", choices, about, note=note), done)

    def _show_requests(self, outgoing: Outgoing, back: Callable[[], object]) -> None:
        from leafward_tui.ui.reading_sheet import ReadingSheet

        parts = []
        for request in outgoing.requests:
            later = ", built from the answers to the others" if request.later else ""
            parts.append(
                f"{request.title}: {request.tokens:,} tokens{later}\n\n{request.system}\n\n{request.prompt}"
            )
        sheet = ReadingSheet(
            f"What {outgoing.model} would be sent",
            "\n\n\n".join(parts),
            note=sending_words(outgoing),
            markdown=False,
        )
        self._view.ask(sheet, lambda _none: back())

    def ask_focus(self, request: SummaryRequest, done: Callable[[str | None], object]) -> None:
        """Asks what the summary should dwell on."""
        from leafward_tui.ui.sheet import TextSheet

        sheet = TextSheet(
            "Focus of the summary",
            request.focus,
            note=span_words(request, self._services.glyphs),
            placeholder="what to emphasise (empty: everything)",
            commit="summarise",
            operation_of=lambda _text: "" if request.preview else self._appending(),
        )
        self._view.ask(sheet, done)

    def open(
        self,
        request: SummaryRequest,
        done: Callable[[str | None], object],
        *,
        running: bool,
        cancel: Callable[[], object],
        save: Callable[[str], object],
    ) -> ReadingSheet:
        """Opens the sheet in which a summary is shown, whole or as it grows."""
        from leafward_tui.ui.reading_sheet import ReadingSheet

        title = "Summary of the abandoned branch" if request.carried else "Summary of this branch"
        sheet = ReadingSheet(
            f"{title}: {request.focus}" if request.focus else title,
            note=span_words(request, self._services.glyphs),
            running=running,
            cancel=cancel,
            save=save,
        )
        self._view.ask(sheet, done)
        return sheet

    def show_draft(
        self, sheet: ReadingSheet, request: SummaryRequest, draft: BranchDraft, problem: str
    ) -> None:
        """Shows a summary that is whole and not written; `problem` is why it is not, where it was to be."""
        self.draft = draft
        who = draft.summary.summarizer
        words = [f"{who}, made locally" if draft.summary.usage is None else who, *draft.remarks]
        taken_out = redacted_words(draft.summary.redacted)
        refused = "" if request.carried else "this branch is not the active one: nothing is moved"
        if self._state.refusal:
            refused = f"read only: {self._state.refusal}"
        sheet.ended(
            draft.text,
            f"not written: {problem}"
            if problem
            else "; ".join([*words, *([taken_out] if taken_out else [])]),
            figures=done_figures(draft, self._services.glyphs),
            tone="bad" if problem else "warn" if draft.remarks else "",
            move=f"move to {named(request.to)} with it",
            refused=refused,
            operation=self._appending(),
            again=True,
        )
