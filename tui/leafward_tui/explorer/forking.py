"""New sessions from the turn under the cursor: for which agent, what would be written, and the writing of it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from leafward.base.errors import LeafwardError
from leafward.session.entries import NO_ENTRY, EntryIndex, Kind
from leafward_tui.explorer.handing import Handing
from leafward_tui.explorer.model.folds import LineKind

if TYPE_CHECKING:
    from leafward.agents import Agent
    from leafward.branches.fork import Fork, ForkPoint
    from leafward.compaction.branch import BranchDraft
    from leafward.session.session import Session
    from leafward_tui.explorer.model.forks import Folder, ForkWish


@dataclass(eq=False, repr=False)
class CutsFound(Message):
    """Where each agent's new session would end, and in which folder it would work."""

    run: int
    wish: ForkWish
    own: str
    cuts: dict[str, ForkPoint]
    folder: Folder
    copied: bool
    """Whether its own agent's would be a copy."""


class FolderRefused(Message):
    """No new session can work in the folder that was typed, and why."""

    def __init__(self, run: int, wish: ForkWish, problem: str) -> None:
        super().__init__()
        self.run, self.wish, self.problem = run, wish, problem


@dataclass(eq=False, repr=False)
class Drafted(Message):
    """A new session that would be written; or why there is none."""

    run: int
    wish: ForkWish
    target: Agent
    made: Fork | None = None
    problem: str = ""


@dataclass(eq=False, repr=False)
class Began(Message):
    """A new session was written; or why it was not."""

    run: int
    made: Fork
    target: Agent
    then: str
    problem: str = ""


class Forking(Handing):
    """Actions that begin new sessions; the one that is shown is only read."""

    def action_session_fork(self) -> None:
        """Asks for whom a new session should begin at the turn of the cursor."""
        from leafward_tui.explorer.model.forks import ForkWish

        session, exploration, line = self.session, self.exploration, self.graph.line
        if session is None or exploration is None or line is None or line.kind is LineKind.HIDDEN:
            return
        head = exploration.layout.head[line.row]
        typed = session.columns.kind[head] == Kind.USER and line.kind is LineKind.ROW
        target = exploration.target(line)
        self._look_for_cuts(ForkWish(target, head if typed else NO_ENTRY, before=typed and head == target))

    def _look_for_cuts(self, wish: ForkWish) -> None:
        if self.session is not None:
            self.tell("looking where a new session may end", "faint")
            self._find_cuts(self.generation, self.session, wish)

    @work(thread=True, exclusive=True, group="fork", exit_on_error=False)
    def _find_cuts(self, run: int, session: Session, wish: ForkWish) -> None:
        from leafward import agents
        from leafward.branches import fork as forking
        from leafward_tui.explorer.model.forks import folder_at

        self.shell.keys_first.stop(get_current_worker())
        try:
            if wish.cwd:
                wish = replace(wish, cwd=forking.folder_named(wish.cwd, os.environ))
        except LeafwardError as error:
            self.post_message(FolderRefused(run, wish, str(error)))
            return
        try:
            folder = folder_at(wish.cwd or session.cwd)
            found = forking.cuts(session, wish.entry)
            own = agents.agent_behind(session).name
            copied = forking.is_copy(session, found[own])
        except (LeafwardError, OSError) as error:
            self.post_message(Drafted(run, wish, agents.native(), problem=str(error)))
        else:
            self.post_message(CutsFound(run, wish, own, found, folder, copied))

    def on_cuts_found(self, message: CutsFound) -> None:
        """Shows who could go on, and who could not and why."""
        from leafward.agents import all_agents
        from leafward_tui.explorer.model.forks import letters, nearest_of, options, targets
        from leafward_tui.ui.sheet import ChoiceSheet, SheetLine

        session = self.session
        if message.run != self.generation or session is None or self.app.screen is not self:
            return
        self.tell("")
        wish, cuts, folder = message.wish, message.cuts, message.folder
        known = letters(all_agents())
        leaves = bool(self.entries_left(session.place, wish.entry))
        made = self._made_behind(next(iter(cuts.values())).end)
        choices = [
            *targets(known, cuts, message.own, folder, copied=message.copied),
            *options(wish, known, cuts, self.named, folder, made, leaves=leaves),
        ]
        where = "before this prompt" if wish.before else "here"
        about = [SheetLine(f"it ends {where}; this session stays as it is, and so do the files")]
        if folder.obstacle:
            about.append(SheetLine(folder.obstacle, "bad"))

        def done(key: str | None) -> None:
            if key is None:
                self.settle()
            elif key in known:
                self._ask_for_draft(wish, known[key], cuts[known[key].name])
            elif key == "b":
                self._look_for_cuts(replace(wish, before=not wish.before))
            elif key == "i":
                self._look_for_cuts(replace(wish, inject=not wish.inject))
            elif key == "s":
                if wish.summary:
                    # Off, and on again: another one is wanted.
                    self._behind = None
                self._look_for_cuts(replace(wish, summary=not wish.summary))
            elif key == "h":
                self._look_for_cuts(replace(wish, cwd=folder.here))
            elif key == "f":
                self._ask_folder(wish, folder.path)
            else:
                self.go_to_entry(nearest_of(cuts)["gx".index(key)])

        self.app.push_screen(
            ChoiceSheet("New session from here", choices, about, note=self.named(wish.entry)), done
        )

    def _ask_folder(self, wish: ForkWish, typed: str, problem: str = "") -> None:
        from leafward.base.safe_text import safe_line
        from leafward_tui.ui.sheet import SheetLine, TextSheet

        def done(text: str | None) -> None:
            self._look_for_cuts(wish if text is None else replace(wish, cwd=text.strip()))

        about = [SheetLine(safe_line(problem), "bad")] if problem else []
        sheet = TextSheet(
            "Folder that the new session works in",
            typed,
            about,
            placeholder="a folder that exists; empty for that of this session",
            commit="choose",
        )
        self.app.push_screen(sheet, done)

    def on_folder_refused(self, message: FolderRefused) -> None:
        """Asks again."""
        if message.run == self.generation and self.app.screen is self:
            self.tell("")
            self._ask_folder(replace(message.wish, cwd=""), message.wish.cwd, message.problem)

    # --- drafts -------------------------------------------------------------------------------------------------------

    _behind: tuple[tuple[int, ...], BranchDraft] | None = None
    """The last summary of what is left behind, and of what it is one: it was paid for, and is not made again."""

    def _left_behind(self, end: int) -> tuple[int, ...]:
        """What a session that ends at an entry leaves behind, as far as it can differ."""
        session = self.session
        return (self.generation, len(session), session.place, end) if session is not None else ()

    def _made_behind(self, end: int) -> BranchDraft | None:
        """The summary of what a session that ends at an entry leaves behind, where it was made already."""
        kept = self._behind
        return kept[1] if kept is not None and kept[0] == self._left_behind(end) else None

    def _ask_for_draft(self, wish: ForkWish, target: Agent, cut: ForkPoint) -> None:
        """Makes a draft, once the summary that is wanted in it is whole."""
        session, run = self.session, self.generation
        if session is None:
            return
        if not wish.summary:
            self._start_draft(wish, target, None)
            return
        made = self._made_behind(cut.end)
        if made is not None:
            self._start_draft(wish, target, made)
            return
        place = self._left_behind(cut.end)

        def then(summary: BranchDraft | None) -> None:
            self._behind = (place, summary) if summary is not None else None
            if run == self.generation:
                self._start_draft(wish, target, summary)
            else:
                self.tell("the session was read anew meanwhile; nothing was written", "warn")

        self.start_summary(self.wanted(session.place, cut.end), then)

    def _start_draft(self, wish: ForkWish, target: Agent, summary: BranchDraft | None) -> None:
        if self.session is not None:
            self.tell(f"making a session of {target.title}", "faint")
            self._make_draft(self.generation, self.session, wish, target, summary)

    @work(thread=True, exclusive=True, group="fork", exit_on_error=False)
    def _make_draft(
        self, run: int, session: Session, wish: ForkWish, target: Agent, summary: BranchDraft | None
    ) -> None:
        from leafward.agents.fork_point import cut_at
        from leafward.branches import fork as forking
        from leafward.cli.inject import injection_settings

        self.shell.keys_first.stop(get_current_worker())
        config = self.shell.config
        # Where nothing is left behind that a summary could tell, none is put in.
        wish = replace(wish, summary=summary is not None)
        try:
            cut = cut_at(session, EntryIndex(wish.entry), target.may_end)
            text = forking.carried(session, cut, injection_settings(config) if wish.inject else None, summary)
            kind = "summary" if wish.summary else "injection"
            terms = forking.Terms(os.environ, config, self.shell.clock(), text, kind, wish.cwd)
            made = forking.fork(session, wish.entry, target, terms)
        except (LeafwardError, OSError) as error:
            self.post_message(Drafted(run, wish, target, problem=str(error)))
        else:
            self.post_message(Drafted(run, wish, target, made))

    def on_drafted(self, message: Drafted) -> None:
        """Shows what would be written, and asks."""
        from leafward_tui.explorer.model.forks import told, ways
        from leafward_tui.ui.sheet import ChoiceSheet

        if message.run != self.generation:
            return
        made, target = message.made, message.target
        if self.app.screen is not self:
            hint = self.key_hints(("session.fork", "asks for it again"))
            self.tell(
                f"the new session of {target.title} is not shown: something else was opened", "warn", hint
            )
            return
        if made is None:
            self.tell(message.problem, "bad")
            return
        self.tell("")

        def done(key: str | None) -> None:
            if key is None:
                self.settle()
            elif self.session is not None:
                self.tell("writing", "faint")
                self._begin(self.generation, self.session, made, target, key)

        title = f"A new session of {target.title}"
        self.app.push_screen(
            ChoiceSheet(
                title, ways(made, target.title), told(made, message.wish), note=self.named(message.wish.entry)
            ),
            done,
        )

    @work(thread=True, group="write", exit_on_error=False)
    def _begin(self, run: int, session: Session, made: Fork, target: Agent, then: str) -> None:
        from leafward.branches import fork as forking

        try:
            if then in ("i", "r"):
                # Before anything is written: who tries again once the agent is there would have two.
                made.draft.resume.program(os.environ)
            forking.store(session, made.draft)
            if then in ("i", "r"):
                forking.import_now(made.draft, os.environ)
        except (LeafwardError, OSError) as error:
            self.post_message(Began(run, made, target, then, str(error)))
        else:
            self.post_message(Began(run, made, target, then))

    def on_began(self, message: Began) -> None:
        """Says that it is there; copies its command, opens it or goes on in it, as was asked."""
        made, then, draft = message.made, message.then, message.made.draft
        if message.problem:
            self.tell(f"refused: {message.problem}", "bad")
            return
        self.tell(f"began a session of {message.target.title}: {draft.path.name}", "leaf")
        if then in ("o", "r") and made.prompt is not None:
            self.shell.copy(made.prompt)
        if then == "o":
            self.shell.screens.session(draft.path, message.target.name)
        elif then == "r":
            self.run_in_place(draft.resume)
        else:
            # What has to be run next, by hand.
            waiting = draft.imported if then == "w" else None
            self.shell.copy((draft.resume if waiting is None else waiting.command).line())
