"""New sessions from the turn under the cursor: the choice of an agent, the draft, and the write."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import LeafwardError
from leafward.session.entries import NO_ENTRY, Kind
from leafward_tui.explorer.controllers.controller import (
    ExplorerController,
    ExplorerMeans,
    tell_began,
    tell_not_begun,
)
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.summary_request import messages_left, summary_between
from leafward_tui.ui.words.write_words import named

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from leafward.agents.base import Agent
    from leafward.agents.fork_draft import ForkDraft, ForkPoint
    from leafward.base.config import Config
    from leafward.branches.fork import Fork
    from leafward.compaction.branch_summary import BranchDraft
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.branch_summary import BranchSummary
    from leafward_tui.explorer.controllers.cursor_details import CursorDetails
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.explorer.controllers.resume import AgentResume
    from leafward_tui.explorer.model.forks import Folder, ForkRequest
    from leafward_tui.ui.jobs import Job


class NewSession(ExplorerController):
    """Begins new sessions; the present one is only read."""

    def __init__(
        self,
        means: ExplorerMeans,
        navigation: Navigation,
        details: CursorDetails,
        summary: BranchSummary,
        resume: AgentResume,
    ) -> None:
        super().__init__(means)
        self._navigation = navigation
        self._details = details
        self._summary = summary
        self._resume = resume
        self._left: tuple[tuple[object, ...], BranchDraft] | None = None
        """The last summary of an abandoned branch, with the state it is for: it was paid for, and is not made again."""
        self.actions = {"session.fork": self._begin}

    # --- for whom -----------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Asks for the agent of a new session that begins at the turn of the cursor."""
        from leafward_tui.explorer.model.forks import ForkRequest

        shown = self._navigation.shown_line()
        if shown is None:
            return
        exploration, line = shown
        head = exploration.layout.head[line.row]
        typed = exploration.session.columns.kind[head] == Kind.USER and line.kind is LineKind.ROW
        target = exploration.target(line)
        self._find_cuts(ForkRequest(target, head if typed else NO_ENTRY, before=typed and head == target))

    def _find_cuts(self, request: ForkRequest) -> None:
        session = self._state.session
        if session is not None:
            self._view.tell("finding where a new session can end", "faint")
            self._jobs.latest(
                "fork",
                partial(find_cuts, session, request),
                partial(self._show_cuts, session),
                self._view.fail,
            )

    def _show_cuts(self, session: Session, points: ForkPoints | RefusedFolder) -> None:
        """Shows the agents that could go on, and why the others could not."""
        from leafward.agents.registry import all_agents
        from leafward_tui.explorer.model.forks import letters, nearest_of, options, targets
        from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet
        from leafward_tui.ui.sheets.sheet import SheetLine

        self._view.tell("")
        if not self._view.on_top:
            return
        request = points.request
        if isinstance(points, RefusedFolder):
            self._ask_folder(replace(request, cwd=""), request.cwd, points.problem)
            return
        cuts, folder = points.cuts, points.folder
        known = letters(all_agents())
        leaves = bool(messages_left(session, session.place, request.entry))
        made = self._summary_of(session, next(iter(cuts.values())).end)
        choices = [
            *targets(known, cuts, points.own, folder, copied=points.copied),
            *options(request, known, cuts, named, folder, made, leaves=leaves),
        ]
        where = "before this prompt" if request.before else "here"
        about = [SheetLine(f"the new session ends {where}; this one stays as it is, and so do the files")]
        if folder.obstacle:
            about.append(SheetLine(folder.obstacle, "bad"))

        def done(key: str | None) -> None:
            if key is None:
                self._details.settle()
            elif key in known:
                self._ask_for_draft(session, request, known[key], cuts[known[key].name])
            elif key in "gx":
                self._navigation.show_entry(nearest_of(cuts)["gx".index(key)])
            else:
                self._change(request, key, folder)

        self._view.open_sheet(
            ChoiceSheet("New session from here", choices, about, note=named(request.entry)), done
        )

    def _change(self, request: ForkRequest, key: str, folder: Folder) -> None:
        """Asks again with the option of a key changed."""
        if key == "f":
            self._ask_folder(request, folder.path)
            return
        if key == "s" and request.summary:
            # Off, and on again: the user wants another one.
            self._left = None
        changed = {
            "b": replace(request, before=not request.before),
            "i": replace(request, inject=not request.inject),
            "s": replace(request, summary=not request.summary),
            "h": replace(request, cwd=folder.here),
        }
        self._find_cuts(changed[key])

    def _ask_folder(self, request: ForkRequest, typed: str, problem: str = "") -> None:
        from leafward.base.safe_text import safe_line
        from leafward_tui.ui.sheets.sheet import SheetLine, TextSheet

        def done(text: str | None) -> None:
            self._find_cuts(request if text is None else replace(request, cwd=text.strip()))

        about = [SheetLine(safe_line(problem), "bad")] if problem else []
        sheet = TextSheet(
            "Folder that the new session works in",
            typed,
            about,
            placeholder="a folder that exists; empty for that of this session",
            commit="choose",
        )
        self._view.open_sheet(sheet, done)

    # --- drafts -------------------------------------------------------------------------------------------------------

    def _summary_of(self, session: Session, end: int) -> BranchDraft | None:
        """The summary of the branch that a session ending at an entry abandons, where it was made already."""
        known = self._left
        return known[1] if known is not None and known[0] == _place(session, end) else None

    def _ask_for_draft(self, session: Session, request: ForkRequest, target: Agent, cut: ForkPoint) -> None:
        """Makes a draft, once the summary that it is to hold is whole."""
        if session is not self._state.session:
            return
        made = self._summary_of(session, cut.end)
        if not request.summary or made is not None:
            self._draft(session, request, target, made if request.summary else None)
            return
        place = _place(session, cut.end)

        def then(summary: BranchDraft | None) -> None:
            self._left = (place, summary) if summary is not None else None
            if session is self._state.session:
                self._draft(session, request, target, summary)
            else:
                self._view.tell("the session was reloaded meanwhile; nothing was written", "warn")

        self._summary.start(summary_between(session, session.place, cut.end), then)

    def _draft(
        self, session: Session, request: ForkRequest, target: Agent, summary: BranchDraft | None
    ) -> None:
        self._view.tell(f"making a session of {target.title}", "faint")
        # No summary is added where no branch is abandoned.
        request = replace(request, summary=summary is not None)
        services = self._services
        self._jobs.latest(
            "fork",
            partial(draft_fork, session, request, target, summary, services.config, services.clock),
            partial(self._show_draft, session, request, target, summary),
            self._view.fail,
        )

    def _show_draft(
        self,
        session: Session,
        request: ForkRequest,
        target: Agent,
        summary: BranchDraft | None,
        made: Fork,
    ) -> None:
        """Shows the draft, and asks."""
        from leafward_tui.explorer.model.forks import draft_lines, ways
        from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet

        if not self._view.on_top:
            keys = self._view.key_hints(("session.fork", "asks for it again"))
            text = f"the new session of {target.title} is not shown: something else was opened"
            self._view.tell(text, "warn", keys)
            return
        self._view.tell("")

        def done(key: str | None) -> None:
            if key is None:
                self._details.settle()
                return
            if key in ("i", "r"):
                self._find_earlier(session, made, target, key, summary)
            else:
                self._store(session, made, target, key)

        title, note = f"A new session of {target.title}", named(request.entry)
        sheet = ChoiceSheet(title, ways(made, target.title), draft_lines(made, request), note=note)
        self._view.open_sheet(sheet, done)

    def _find_earlier(
        self, session: Session, made: Fork, target: Agent, then: str, summary: BranchDraft | None
    ) -> None:
        """Looks for the session of an earlier attempt before the same is written again."""
        self._view.tell("looking for the session of an earlier try", "faint")
        self._jobs.latest(
            "fork",
            partial(find_earlier, session, made, then, summary, self._services.config),
            partial(self._show_earlier, session, made, target, then),
            self._view.fail,
        )

    def _show_earlier(
        self, session: Session, made: Fork, target: Agent, then: str, earlier: ForkDraft | None
    ) -> None:
        """Offers the session of an earlier attempt, or to write it again; without one, writes the draft."""
        from leafward_tui.explorer.model.forks import earlier_choices, earlier_lines
        from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet

        if earlier is None:
            self._store(session, made, target, then)
            return
        if not self._view.on_top:
            text = f"an earlier try wrote this session of {target.title}: {earlier.file.name}"
            self._view.tell(text, "warn", self._view.key_hints(("session.fork", "asks for it again")))
            return
        self._view.tell("")

        def done(key: str | None) -> None:
            if key is None:
                self._details.settle()
            elif key == "a":
                self._store(session, made, target, then)
            else:
                self._store(session, replace(made, draft=earlier), target, then, written=True)

        choices = earlier_choices(earlier, target.title, goes_on=then == "r")
        self._view.open_sheet(
            ChoiceSheet("This session was written before", choices, earlier_lines(earlier)), done
        )

    def _store(
        self, session: Session, made: Fork, target: Agent, then: str, *, written: bool = False
    ) -> None:
        """Writes the draft, unless it is `written`, and takes the chosen next step."""
        self._view.tell("writing", "faint")
        # An import takes seconds: it goes on, and tells how it ended, when the explorer is left.
        self._services.lasting_jobs.also(
            "fork",
            partial(store_fork, session, made, then, written=written),
            partial(self._show_stored, made, target, then, written=written),
            partial(tell_not_begun, self._services, self._view),
        )

    def _show_stored(self, made: Fork, target: Agent, then: str, _none: None, *, written: bool) -> None:
        """Shows that it is there; copies its command, opens it or goes on in it, as chosen, unless the user went elsewhere."""
        draft, services = made.draft, self._services
        done = "reuses" if written else "began"
        if not tell_began(services, self._view, f"{done} a session of {target.title}: {draft.path.name}"):
            return
        if then in ("o", "r") and made.prompt is not None:
            services.copy(made.prompt, "the prompt")
        if then == "o":
            services.screens.session(draft.path, target.name)
        elif then == "r":
            self._resume.run(draft.resume)
        else:
            # The command that the user has to run next.
            waiting = draft.imported if then == "w" else None
            services.copy((draft.resume if waiting is None else waiting.command).line(), "the command")


def _place(session: Session, end: int) -> tuple[object, ...]:
    """The state that decides which branch a session ending at an entry abandons."""
    return session, len(session), session.place, end


class ForkPoints(NamedTuple):
    """The end of each agent's new session, and the folder that it would work in."""

    request: ForkRequest
    own: str
    """The agent of the session itself."""
    cuts: dict[str, ForkPoint]
    folder: Folder
    copied: bool
    """Whether the new session for its own agent would be a copy."""


class RefusedFolder(NamedTuple):
    """A typed folder that no new session can work in, and the reason."""

    request: ForkRequest
    problem: str


def find_cuts(session: Session, request: ForkRequest, job: Job) -> ForkPoints | RefusedFolder:
    """The possible ends of new sessions. Raises LeafwardError."""
    from leafward.agents.recognition import agent_behind
    from leafward.branches import fork
    from leafward_tui.explorer.model import forks

    job.unwanted()
    try:
        if request.cwd:
            request = replace(request, cwd=fork.folder_named(request.cwd, os.environ))
    except LeafwardError as error:
        return RefusedFolder(request, str(error))
    folder = forks.folder_at(request.cwd or session.cwd)
    cuts = fork.cuts(session, request.entry)
    own = agent_behind(session).name
    return ForkPoints(request, own, cuts, folder, fork.is_copy(session, cuts[own]))


def draft_fork(
    session: Session,
    request: ForkRequest,
    target: Agent,
    summary: BranchDraft | None,
    config: Config,
    clock: Callable[[], datetime],
    job: Job,
) -> Fork:
    """The draft of a new session. Raises LeafwardError."""
    from leafward.agents.fork_draft import ForkTerms
    from leafward.branches import fork
    from leafward.compaction.injection.configured import configured_settings

    job.unwanted()
    injection = configured_settings(config) if request.inject else None
    terms = ForkTerms(os.environ, config, clock(), cwd=request.cwd)
    return fork.fork(session, request.entry, target, terms, injection=injection, summary=summary)


def find_earlier(
    session: Session, made: Fork, then: str, summary: BranchDraft | None, config: Config, job: Job
) -> ForkDraft | None:
    """The unused session of an earlier attempt, to be used now. Raises LeafwardError where its agent is missing."""
    from leafward.branches.earlier_fork import models_summary, unused_fork, waiting_import
    from leafward.compaction.branch_summary import summarize_branch
    from leafward.summaries.summarizers.extractive.summarizer import Extractive

    job.unwanted()
    made.draft.resume.program(os.environ)
    put_in = None
    if summary is not None and summary.summary.summarizer != Extractive.name:
        behind = made.injected.partition(summary.text)[2].strip()
        put_in = models_summary(behind, cache(lambda: summarize_branch(summary.branch, Extractive()).text))
    unused = unused_fork(session, made, config, os.environ, put_in) if then == "r" else None
    return unused or waiting_import(made, put_in)


def store_fork(session: Session, made: Fork, then: str, _job: Job, *, written: bool = False) -> None:
    """Writes a new session unless it is there, and imports it where that is wanted. Raises LeafwardError, OSError."""
    from leafward.branches import fork

    if written:
        fork.import_now(made.draft, os.environ)
    elif then in ("i", "r"):
        fork.store_and_import(session, made.draft, os.environ, may_grow=True)
    else:
        fork.store(session, made.draft, may_grow=True)
