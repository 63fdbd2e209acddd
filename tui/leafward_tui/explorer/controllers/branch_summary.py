"""Summaries of branches: carried along by a move, added to a new session, or only shown; cancelled at any moment."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled
from leafward.base.figures import counted
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.controllers.summary_preview import SummaryPreview
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.summary_request import (
    Growth,
    SummaryRun,
    messages_left,
    progress_words,
    summary_between,
)
from leafward_tui.ui.words.write_words import appending, named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from threading import Event

    from leafward.base.config import Config
    from leafward.compaction.branch_summary import BranchDraft, LeftBranch
    from leafward.session.session import Session
    from leafward.summaries.summarizers.model.requests import Outgoing
    from leafward_tui.explorer.controllers.cursor_details import CursorDetails
    from leafward_tui.explorer.controllers.write import SessionWrite
    from leafward_tui.explorer.model.summary_request import SummaryRequest
    from leafward_tui.ui.jobs import Job

_CANCELLED = "cancelled; nothing was written"
_REMEMBERED = "summariser"
OFFLINE, MODEL = "extractive", "model"
"""Names of the summarisers that are offered: ours, and the configured model."""


class BranchSummary(ExplorerController):
    """Makes one summary at a time, and alone sets which is under way."""

    def __init__(self, means: ExplorerMeans, write: SessionWrite, details: CursorDetails) -> None:
        super().__init__(means)
        self._write = write
        self._details = details
        self._preview = SummaryPreview(
            means,
            details,
            self.cancel,
            self._move_with,
            self._ask_again,
        )
        self.actions = {"branch.summarise": self._choose_branch}

    # --- which branch -------------------------------------------------------------------------------------------------

    def _choose_branch(self) -> None:
        """Shows a summary of the branch under the cursor, or of the one that a move here or to the mark would abandon.

        Asks which where there are several.
        """
        from leafward_tui.explorer.summary_sheets import span_words
        from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet

        if self._state.session is None or self._write.waits_for_summary():
            return
        ways = self._ways()
        if not ways:
            keys = self._view.key_hints(("mark.set", "mark this row"))
            self._view.tell("no branch to summarise here: go to another row", "warn", keys)
            return
        if len(ways) == 1:
            self.start(next(iter(ways.values()))[1])
            return
        choices = [
            Choice(
                key,
                title,
                span_words(request, self._services.glyphs),
                "preview only: nothing is written",
                act=partial(self.start, request),
            )
            for key, (title, request) in ways.items()
        ]
        self._view.open_sheet(ChoiceSheet("Summarise", choices))

    def _ways(self) -> dict[str, tuple[str, SummaryRequest]]:
        """The summaries that can be made from the line of the cursor, by the letter of each."""
        exploration, line = self._state.exploration, self._view.tree.line
        if exploration is None or line is None or line.kind is LineKind.HIDDEN:
            return {}
        session, layout = exploration.session, exploration.layout
        here, target = int(session.place), exploration.target(line)
        found: dict[str, tuple[str, SummaryRequest]] = {}

        def offer(key: str, title: str, start: int, to: int, *, carried: bool) -> None:
            if messages_left(session, start, to):
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
        """Asks for the focus of the summary, then makes it."""
        from leafward_tui.explorer.summary_sheets import span_words
        from leafward_tui.ui.sheets.sheet import TextSheet

        session = self._state.session

        def done(focus: str | None) -> None:
            if focus is None:
                self._details.settle()
            else:
                self.start(request._replace(focus=" ".join(focus.split())))

        sheet = TextSheet(
            "Focus of the summary",
            request.focus,
            note=span_words(request, self._services.glyphs),
            placeholder="what to emphasise (empty: everything)",
            commit="summarise",
            operation_of=lambda _text: "" if request.preview or session is None else appending(session),
        )
        self._view.open_sheet(sheet, done)

    # --- making -------------------------------------------------------------------------------------------------------

    def start(
        self, request: SummaryRequest, then: Callable[[BranchDraft | None], object] | None = None
    ) -> None:
        """Makes a summary, and hands it to `then`, if there is one.

        Where there is nothing to summarise, the next step follows without a question.
        """
        if self._state.session is None or self._write.waits_for_summary():
            return
        run = SummaryRun(request, then=then)
        if run.moves and (self._write.is_read_only() or self._write.waits_for_write()):
            return
        if request.messages:
            self._look_over(run)
        else:
            self._skip(run)

    def _skip(self, run: SummaryRun) -> None:
        """Goes on without a summary, because there is nothing to summarise."""
        from leafward.session.journal.session_operations import move

        request = run.request
        if run.then is not None:
            run.then(None)
        elif request.preview:
            self._view.tell("nothing to summarise there", "warn")
        else:
            done = f"moved to {named(request.to)}; there was nothing to summarise"
            self._write.start(done, lambda session, writing: move(session, request.to, writing))

    def _look_over(self, run: SummaryRun) -> None:
        """Reads the branch, and makes the requests that a model would be sent."""
        session = self._state.session
        if session is None:
            return
        self._state.summary = run
        self._show_progress()
        self._view.show_hints()
        self._jobs.also(
            "summary",
            partial(look_over, session, run.request, self._services.config, run.stop),
            partial(self._go_on, session, run),
            partial(self._end_without, session, run),
        )

    def _go_on(self, session: Session, run: SummaryRun, prospect: SummaryOffer) -> None:
        """Goes on with the only summariser there is, or shows the requests and asks which summariser to use."""
        branch = prospect.branch
        if run.stop.is_set() or session is not self._state.session:
            self._end(session, _CANCELLED, "warn")
            return
        if branch is None:
            self._end(session)
            self._skip(run)
            return
        asks = prospect.outgoing is not None or run.asks
        if (asks or run.request.preview) and not self._view.on_top:
            # What is typed there must not choose here.
            self._end(session, "no summary: something else was opened before it began", "warn")
        elif asks:
            self._choose_summarizer(session, run, branch, prospect.outgoing)
        else:
            self._make(session, run, branch, OFFLINE)

    def _choose_summarizer(
        self, session: Session, run: SummaryRun, branch: LeftBranch, outgoing: Outgoing | None
    ) -> None:
        """Asks for the summariser, or for a focus first."""
        from leafward_tui.explorer.summary_sheets import requests_sheet, summarizer_sheet

        request = run.request
        before = self._services.recall(_REMEMBERED)
        operation = "preview only: nothing is written" if request.preview else appending(session)
        if run.then is not None:
            operation = "goes into the new session; you see it before anything is written"

        def done(key: str | None) -> None:
            if key == "v" and outgoing is not None:
                self._view.open_sheet(
                    requests_sheet(outgoing),
                    lambda _none: self._choose_summarizer(session, run, branch, outgoing),
                )
            elif key == "f":
                self._end(session)
                self.ask_focus(request)
            elif key is None:
                self._end(session)
                self._details.settle()
            else:
                name = OFFLINE if key == "x" else MODEL
                self._services.remember(_REMEMBERED, name)
                self._make(session, run, branch, name)

        sheet = summarizer_sheet(
            request,
            branch,
            outgoing,
            operation,
            self._services.glyphs,
            current="x" if before == OFFLINE else "m" if before in (None, MODEL) else "",
        )
        self._view.open_sheet(sheet, done)

    def _make(self, session: Session, run: SummaryRun, branch: LeftBranch, name: str) -> None:
        """Makes the summary with the summariser of a name."""
        if session is not self._state.session:
            self._end(session, _CANCELLED, "warn")
            return
        if run.request.preview:
            self._preview.open(run.request)
        self._show_progress()
        self._jobs.also(
            "summary",
            partial(
                summarise,
                session,
                branch,
                run.request.focus,
                name,
                self._services.config,
                run.stop,
                partial(self._grow, run),
            ),
            partial(self._finish, session, run),
            partial(self._end_without, session, run),
        )

    def _grow(self, run: SummaryRun, growth: Growth) -> None:
        run.growth = growth
        self._show_progress()

    def _show_progress(self) -> None:
        """Shows how far the summary is."""
        run = self._state.summary
        if run is None:
            return
        self._preview.grow(run.growth.text if run.growth is not None else "", progress_words(run))
        self._view.tell("")

    def cancel(self) -> None:
        """Cancels the summary; the file is unchanged."""
        if self._state.summary is not None:
            self._state.summary.stop.set()
            self._show_progress()

    # --- the end ------------------------------------------------------------------------------------------------------

    def _end(self, session: Session, text: str = "", tone: str = "") -> None:
        """Ends the summary under way."""
        self._state.summary = None
        if session is not self._state.session:
            session.close()
        self._view.tell(text, tone)
        self._view.show_hints()

    def _end_without(self, session: Session, run: SummaryRun, problem: str) -> None:
        if run.stop.is_set():
            self._preview.leave()
            self._end(session, _CANCELLED, "warn")
            return
        self._end(session)
        if not self._preview.fail(problem):
            self._view.tell(f"no summary: {problem}", "bad")

    def _finish(self, session: Session, run: SummaryRun, draft: BranchDraft | None) -> None:
        """Hands a whole summary on, shows it, or moves with it; None where it was cancelled."""
        if draft is None or run.stop.is_set():
            self._preview.leave()
            self._end(session, _CANCELLED, "warn")
            return
        self._end(session)
        if run.then is not None:
            run.then(draft)
        elif run.request.preview:
            self._preview.show(run.request, draft)
        else:
            self._move_with(run.request, draft, draft.remarks)

    def _move_with(self, request: SummaryRequest, draft: BranchDraft, remarks: Sequence[str] = ()) -> None:
        """Moves the leaf with a summary, and shows `remarks`; where that fails, shows the summary, as it was paid for."""
        from leafward.compaction.branch_summary import move_with_summary

        self._write.start(
            "; ".join([_moved(request), *remarks]),
            lambda session, writing: move_with_summary(session, request.to, draft, writing),
            on_error=partial(self._preview.show, request, draft),
        )

    def _ask_again(self, request: SummaryRequest) -> None:
        if not self._write.waits_for_summary():
            self._look_over(SummaryRun(request, asks=True))


def _moved(request: SummaryRequest) -> str:
    return f"moved to {named(request.to)} with a summary of {counted(request.messages, 'message')}"


# --- jobs -------------------------------------------------------------------------------------------------------------


class SummaryOffer(NamedTuple):
    """The branch to summarise, None where there is nothing, and the requests for the configured model."""

    branch: LeftBranch | None = None
    outgoing: Outgoing | None = None


def look_over(
    session: Session, request: SummaryRequest, config: Config, stop: Event, _job: Job
) -> SummaryOffer:
    """Decodes a branch, and makes the requests for the configured model; nothing leaves the machine.

    Empty where it is stopped. Raises LeafwardError, OSError.
    """
    from leafward.compaction.branch_summary import left_branch
    from leafward.summaries.summarizers.choice import model_settings

    window = config.window_of(config.model)
    try:
        branch = left_branch(
            session, request.start, request.to, window=window, reserve=config.reserve, stop=stop.is_set
        )
    except Cancelled:
        return SummaryOffer()
    if branch is None or config.model is None:
        return SummaryOffer(branch)
    from leafward.summaries.summarizers.model.requests import outgoing

    settings = model_settings(MODEL, config)
    return SummaryOffer(branch, outgoing(branch.span(request.focus), branch.budget(), settings))


def summarise(
    session: Session,
    branch: LeftBranch,
    focus: str,
    name: str,
    config: Config,
    stop: Event,
    grown: Callable[[Growth], object],
    job: Job,
) -> BranchDraft | None:
    """A summary by the summariser of a name, `OFFLINE` or `MODEL`; None where it is stopped. Writes nothing.

    `grown` gets its progress. Raises LeafwardError, OSError.
    """
    from leafward.compaction.branch_summary import summarize_branch
    from leafward.session.journal.lock import busy
    from leafward.summaries.summarizers.choice import model_settings
    from leafward.summaries.summarizers.extractive.summarizer import Extractive
    from leafward.summaries.summarizers.summary import tokens_of

    def grow(now: Growth) -> None:
        job.report(partial(grown, now))

    try:
        with busy(session.path, "a summary"):
            if name == OFFLINE:
                return summarize_branch(
                    branch,
                    Extractive(),
                    focus=focus,
                    progress=lambda text: grow(Growth(text, tokens_of(text))),
                    stop=stop.is_set,
                )
            from leafward.summaries.summarizers.model.summarizer import Model, SummaryProgress

            def watch(now: SummaryProgress) -> None:
                grow(Growth(now.text, now.tokens, now.rate, now.stage))

            model = Model(model_settings(name, config), watch)
            return summarize_branch(branch, model, focus=focus, stop=stop.is_set)
    except Cancelled:
        return None
