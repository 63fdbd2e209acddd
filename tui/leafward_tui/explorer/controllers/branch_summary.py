"""Summaries of branches: carried along by a move, put into a new session, or only shown. Given up at any moment."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from leafward_tui.explorer.controllers.summary_sheets import SummarySheets
from leafward_tui.explorer.model.branch_summary import (
    SummaryRun,
    entries_left,
    progress_words,
    span_words,
    summary_between,
)
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.write_words import named
from leafward_tui.ui.cells import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.branch import Branch, BranchDraft
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.cursor_details import CursorDetails
    from leafward_tui.explorer.controllers.write import SessionWrite
    from leafward_tui.explorer.jobs.export import Saved
    from leafward_tui.explorer.jobs.summary import Prospect, Summary
    from leafward_tui.explorer.model.branch_summary import Growth, SummaryRequest
    from leafward_tui.explorer.ports import ExplorerView
    from leafward_tui.explorer.state import ExplorerState
    from leafward_tui.ui.reading_sheet import ReadingSheet
    from leafward_tui.ui.services import AppServices, Jobs

_CANCELLED = "cancelled; nothing was written"


class BranchSummary:
    """Makes one summary at a time. It alone says which is under way."""

    def __init__(
        self,
        state: ExplorerState,
        view: ExplorerView,
        services: AppServices,
        jobs: Jobs,
        write: SessionWrite,
        details: CursorDetails,
    ) -> None:
        self._state = state
        self._view = view
        self._services = services
        self._jobs = jobs
        self._write = write
        self._details = details
        self._sheets = SummarySheets(state, view, services)
        self._sheet: ReadingSheet | None = None
        """Where a summary that is only shown grows."""
        self.actions: dict[str, Callable[[], object]] = {"branch.summarise": self._choose_branch}

    def enabled(self, intent_id: str) -> bool:  # noqa: ARG002  there is one
        """Whether there are rows."""
        return self._state.exploration is not None

    # --- which branch -------------------------------------------------------------------------------------------------

    def _choose_branch(self) -> None:
        """Shows a summary: of the branch under the cursor, of what moving here would leave, or of what a move to the mark would."""
        from leafward_tui.ui.sheet import Choice, ChoiceSheet

        if self._state.session is None or self._write.waits_for_summary():
            return
        ways = self._ways()
        if not ways:
            text = (
                "nothing to summarise between here and the leaf; a marked entry is where a summary can begin"
            )
            self._view.tell(text, "warn")
            return
        if len(ways) == 1:
            self.start(next(iter(ways.values()))[1])
            return
        choices = [
            Choice(key, title, span_words(request, self._services.glyphs), "preview only: nothing is written")
            for key, (title, request) in ways.items()
        ]

        def done(key: str | None) -> None:
            if key is not None:
                self.start(ways[key][1])

        self._view.ask(ChoiceSheet("Summarise", choices), done)

    def _ways(self) -> dict[str, tuple[str, SummaryRequest]]:
        """What can be summarised from the line of the cursor, by the letter that chooses it."""
        exploration, line = self._state.exploration, self._view.tree.line
        if exploration is None or line is None or line.kind is LineKind.HIDDEN:
            return {}
        session, layout = exploration.session, exploration.layout
        here, target = int(session.place), exploration.target(line)
        found: dict[str, tuple[str, SummaryRequest]] = {}

        def offer(key: str, title: str, start: int, to: int, *, carried: bool) -> None:
            if entries_left(session, start, to):
                found[key] = (title, summary_between(session, start, to, preview=True, carried=carried))

        if not layout.on_path(target):
            tip = layout.last_entry_of(exploration.last_row(layout.branch_of(line.row)))
            offer("b", "This branch, from its tip up", tip, here, carried=False)
        offer("p", "The branch a move to here abandons", here, target, carried=True)
        marked = layout.row_of(exploration.mark) if exploration.mark >= 0 else -1
        if marked >= 0 and (to := layout.last_entry_of(marked)) != target:
            offer("m", "The branch a move to the mark abandons", here, to, carried=True)
        return found

    def ask_focus(self, request: SummaryRequest) -> None:
        """Asks what the summary should dwell on, then makes it."""

        def done(focus: str | None) -> None:
            if focus is None:
                self._details.settle()
            else:
                self.start(request._replace(focus=" ".join(focus.split())))

        self._sheets.ask_focus(request, done)

    # --- making -------------------------------------------------------------------------------------------------------

    def start(
        self, request: SummaryRequest, then: Callable[[BranchDraft | None], object] | None = None
    ) -> None:
        """Makes a summary, and hands it to `then`, if there is one.

        Where there is nothing to summarise, what is to follow is done without a question.
        """
        if self._state.session is None or self._write.waits_for_summary():
            return
        run = SummaryRun(request, then=then)
        if run.moves and (self._write.is_read_only() or self._write.waits_for_write()):
            return
        if request.entries:
            self._look_over(run)
        else:
            self._skip(run)

    def _skip(self, run: SummaryRun) -> None:
        """There is nothing to summarise."""
        from leafward.session.journal import move

        request = run.request
        if run.then is not None:
            run.then(None)
        elif request.preview:
            self._view.tell("nothing to summarise there", "warn")
        else:
            done = f"moved to {named(request.to)}; there was nothing to summarise"
            self._write.start(done, lambda session, writing: move(session, request.to, writing))

    def _look_over(self, run: SummaryRun) -> None:
        """Reads the branch, and works out what a model would be sent."""
        session = self._state.session
        if session is None:
            return
        from leafward_tui.explorer.jobs.summary import look_over

        self._state.summary = run
        self._show_progress()
        self._view.show_keys()
        self._jobs.also(
            "summary",
            partial(look_over, session, run.request, self._services.config, run.stop),
            partial(self._choose_summarizer, session, run),
            partial(self._fail, session),
        )

    def _choose_summarizer(self, session: Session, run: SummaryRun, prospect: Prospect) -> None:
        """Goes on with the only summariser there is, or asks which, showing what would be sent."""
        from leafward_tui.explorer.jobs.summary import OFFLINE

        branch = prospect.branch
        if run.stop.is_set() or session is not self._state.session:
            self._end(session, _CANCELLED, "warn")
        elif prospect.problem:
            self._end_without(session, run, prospect.problem)
        elif branch is None:
            self._end(session)
            self._skip(run)
        elif prospect.outgoing is None and not run.asks:
            self._make(session, run, branch, OFFLINE)
        else:

            def chosen(name: str | None) -> None:
                if name is not None:
                    self._make(session, run, branch, name)
                else:
                    self._end(session)
                    self._details.settle()

            def focus() -> None:
                self._end(session)
                self.ask_focus(run.request)

            self._sheets.choose_summarizer(session, run, branch, prospect.outgoing, chosen, focus)

    def _make(self, session: Session, run: SummaryRun, branch: Branch, name: str) -> None:
        """Makes the summary by the summariser of a name."""
        from leafward_tui.explorer.jobs.summary import summarise

        if session is not self._state.session:
            self._end(session, _CANCELLED, "warn")
            return
        run.branch = branch
        if run.request.preview:
            self._sheet = self._open_sheet(run.request, running=True)
        self._show_progress()
        self._jobs.also(
            "summary",
            partial(
                summarise,
                session,
                branch,
                run.request,
                name,
                self._services.config,
                self._services.clock,
                run.moves,
                run.stop,
                partial(self._grow, run),
            ),
            partial(self._show, session, run),
            partial(self._fail, session),
        )

    def _grow(self, run: SummaryRun, growth: Growth) -> None:
        run.growth = growth
        self._show_progress()

    def _show_progress(self) -> None:
        """Says how far the summary is, where it will stand, and what ends it."""
        run = self._state.summary
        if run is None:
            return
        if self._sheet is not None:
            text = run.growth.text if run.growth is not None else ""
            self._sheet.grow(text, progress_words(run))
        self._view.tell("")

    def cancel(self) -> None:
        """Gives the summary up; the file stays as it is."""
        if self._state.summary is not None:
            self._state.summary.stop.set()
            self._show_progress()

    # --- the end ------------------------------------------------------------------------------------------------------

    def _end(self, session: Session, text: str = "", tone: str = "") -> None:
        """No summary is under way any more."""
        self._state.summary = None
        if session is not self._state.session:
            session.close()
        self._view.tell(text, tone)
        self._view.show_keys()

    def _fail(self, session: Session, problem: str) -> None:
        self._sheet = None
        self._end(session, problem, "bad")

    def _end_without(self, session: Session, run: SummaryRun, problem: str) -> None:
        sheet, self._sheet = self._sheet, None
        self._end(session)
        if sheet is not None and run.then is None:
            sheet.ended("", problem, tone="bad", again=True)
        else:
            self._view.tell(f"no summary: {problem}", "bad")

    def _show(self, session: Session, run: SummaryRun, summary: Summary) -> None:
        """Shows what became of it."""
        request, draft, written = run.request, summary.draft, summary.written
        if run.stop.is_set() and written is None:
            self._sheet = None
            self._end(session, _CANCELLED, "warn")
        elif draft is None:
            self._end_without(session, run, summary.problem)
        else:
            sheet, self._sheet = self._sheet, None
            self._end(session)
            if run.then is not None:
                run.then(draft)
            elif written is not None:
                self._write.show(session, written, "; ".join([_moved(request), *draft.remarks]))
            else:
                sheet = sheet or self._open_sheet(request, running=False)
                self._sheets.show_draft(sheet, request, draft, summary.problem)

    def _open_sheet(self, request: SummaryRequest, *, running: bool) -> ReadingSheet:
        """Opens the sheet in which a summary is shown."""

        def done(chosen: str | None) -> None:
            self._sheet = None
            draft = self._sheets.draft
            if chosen == "move" and draft is not None:
                self._move_with(request, draft)
            elif chosen == "again":
                self._ask_again(request)
            else:
                self._details.settle()

        return self._sheets.open(request, done, running=running, cancel=self.cancel, save=self._save)

    def _move_with(self, request: SummaryRequest, draft: BranchDraft) -> None:
        from leafward.compaction.branch import move_with_summary

        self._write.start(
            _moved(request), lambda session, writing: move_with_summary(session, request.to, draft, writing)
        )

    def _ask_again(self, request: SummaryRequest) -> None:
        if not self._write.waits_for_summary():
            self._look_over(SummaryRun(request, asks=True))

    def _save(self, text: str) -> None:
        """Writes a summary to a file in the current folder."""
        from leafward_tui.explorer.jobs.export import save_text

        session = self._state.session
        if session is not None:
            self._jobs.latest(
                "export", partial(save_text, Path.cwd(), f"{session.id[:8]}-summary", text), self._say_saved
            )

    def _say_saved(self, saved: Saved) -> None:
        self._services.say(saved.text, problem=saved.problem)


def _moved(request: SummaryRequest) -> str:
    return f"moved to {named(request.to)} with a summary of {counted(request.entries, 'entry', 'entries')}"
