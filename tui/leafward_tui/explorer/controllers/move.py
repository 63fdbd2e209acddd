"""Moves of the leaf to the line of the cursor, in several ways, each with its price and its write."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.session.entries import Kind
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.summary_request import messages_left, summary_between
from leafward_tui.ui.words.price_words import PriceWords
from leafward_tui.ui.words.write_words import appending, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.context.price import Price
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.branch_summary import BranchSummary
    from leafward_tui.explorer.controllers.cursor_details import CursorDetails
    from leafward_tui.explorer.controllers.restore import FileRestore
    from leafward_tui.explorer.controllers.write import SessionWrite
    from leafward_tui.ui.sheets.choice_sheet import Choice
    from leafward_tui.ui.sheets.sheet import SheetLine

_EACH_FILE = "you see each file first"
_FILES_FIRST = "nothing is written before you choose the files"


class Move(ExplorerController):
    """The sheet of moves."""

    def __init__(
        self,
        means: ExplorerMeans,
        write: SessionWrite,
        summary: BranchSummary,
        details: CursorDetails,
        files: FileRestore,
    ) -> None:
        super().__init__(means)
        self._write = write
        self._summary = summary
        self._details = details
        self._files = files
        self.actions = {"move.here": self._ask}

    def _ask(self) -> None:
        """Asks for the way in which the leaf moves to the row of the cursor; unfolds a fold instead."""
        from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet

        exploration, line = self._state.exploration, self._view.tree.line
        if exploration is None or line is None:
            return
        if line.kind.is_fold:
            self._view.run_intent("fold.open")
            return
        if line.kind is LineKind.HIDDEN:
            keys = self._view.key_hints(("mode.leave", "clear filter"))
            self._view.tell(f"a filter hides {counted(line.rows, 'row')} here", "warn", keys)
            return
        if self._write.waits_for_summary() or self._write.is_read_only():
            return
        session, layout = exploration.session, exploration.layout
        target, prompt = exploration.target(line), layout.head[line.row]
        choices = self._moves(session, target)
        if session.columns.kind[prompt] == Kind.USER:
            choices += self._resends(session, prompt)
        if _reachable(session, target):
            choices.append(self._resuming(session, target))
        fork = partial(self._view.run_intent, "session.fork")
        effect, operation = "in this agent or another", "this session stays as it is"
        choices.append(Choice("n", "New session from here", effect, operation, act=fork))
        about = partial(self._about, session, target)
        sheet = ChoiceSheet("Move", choices, about(), note=named(target), left=self._details.settle)
        self._details.propose(target, lambda: sheet.show_about(about()))
        self._view.open_sheet(sheet)

    def _about(self, session: Session, target: int) -> list[SheetLine]:
        """The place of an agent that does not follow moves; and the move's price in words, nothing while that is computed."""
        from leafward_tui.ui.sheets.sheet import SheetLine

        lines = [] if session.is_native else [SheetLine(f"only Leafward shows it: {_stays(session)}")]
        known = self._details.price_of(target)
        return lines if known is None else [*lines, *self._price_lines(known)]

    def _price_lines(self, known: Price) -> list[SheetLine]:
        from leafward_tui.ui.sheets.sheet import SheetLine

        price = PriceWords.of(known, self._services.glyphs)
        sign = self._services.glyphs.malformed
        warnings = [SheetLine(f"{sign} {warning}", "warn") for warning in price.warnings]
        return [SheetLine("; ".join(price.parts)), *warnings]

    def _move(self, to: int, done: str, then: Callable[[], object] | None = None) -> None:
        from leafward.session.journal.session_operations import move

        self._write.start(done, lambda session, writing: move(session, to, writing), then)

    def _moves(self, session: Session, target: int) -> list[Choice]:
        """Ways to move to an entry; where the leaf is there, its files can still be restored."""
        from leafward_tui.ui.sheets.choice_sheet import Choice

        here, moved = session.place, f"moved to {named(target)}"
        refused = "the leaf is here" if target == here else ""
        effect = (
            f"the next prompt follows {named(target)}" if _reachable(session, target) else _stays(session)
        )
        go = partial(self._move, target, moved)
        choices = [Choice("m", "Move the leaf here", effect, appending(session), refused, act=go)]
        left = messages_left(session, here, target)
        if left:
            request, operation = summary_between(session, here, target), appending(session, "a summary")
            effect, other = f"summarises {counted(left, 'message')}", "you say what to emphasise"
            start, focus = partial(self._summary.start, request), partial(self._summary.ask_focus, request)
            choices += [
                Choice("s", "Move with a summary", effect, operation, act=start),
                Choice("f", "Move with a focused summary", other, operation, act=focus),
            ]
        title = "Restore the files" if target == here else "Move and restore the files"
        restore = partial(self._files.ask, target, moved="" if target == here else moved)
        return [*choices, Choice("w", title, _EACH_FILE, _FILES_FIRST, act=restore)]

    def _resends(self, session: Session, prompt: int) -> list[Choice]:
        """Ways to move before a prompt, which goes to the clipboard."""
        from leafward.session.messages import prompt_text
        from leafward_tui.ui.sheets.choice_sheet import Choice

        before, here = session.tree.content_at(session.columns.parent[prompt]), session.place
        done = f"moved before {named(prompt)}; prompt copied to the clipboard"
        refused = "the leaf is there" if before == here else ""

        def copy() -> None:
            self._services.copy(prompt_text(session.body(prompt) or {}), "the prompt")

        def resend() -> None:
            copy()
            self._move(before, done)

        def resend_with_summary() -> None:
            copy()
            self._summary.start(summary_between(session, here, before))

        effect = "prompt copied to the clipboard"
        choices = [
            Choice("e", "Edit and resend this prompt", effect, appending(session), refused, act=resend)
        ]
        left = messages_left(session, here, before)
        if left and not refused:
            effect, operation = (
                f"summarises {counted(left, 'message')}, copies prompt",
                appending(session, "a summary"),
            )
            title = "Edit and resend, with a summary"
            choices.append(Choice("b", title, effect, operation, act=resend_with_summary))
        no_files = refused or ("" if before >= 0 else "no files are recorded before the first prompt")
        restore = partial(self._files.ask, before, moved=done, on_accept=copy)
        title = "Edit and resend, with the files"
        return [*choices, Choice("W", title, _EACH_FILE, _FILES_FIRST, no_files, act=restore)]

    def _resuming(self, session: Session, target: int) -> Choice:
        """The choice to go on in the agent at an entry: the leaf is there already, or moves there."""
        from leafward_tui.ui.sheets.choice_sheet import Choice

        effect, resume = "runs the agent's own command", partial(self._view.run_intent, "agent.resume")
        if target == session.place:
            return Choice("r", "Resume in the agent from here", effect, "nothing is appended", act=resume)
        move = partial(self._move, target, f"moved to {named(target)}", resume)
        return Choice("r", "Move here and resume in the agent", effect, appending(session), act=move)


def _stays(session: Session) -> str:
    """The place where an agent goes on that does not follow our moves."""
    return f"the agent itself stays at {named(session.tree.content_at(session.own_leaf))}"


def _reachable(session: Session, target: int) -> bool:
    """Whether the agent itself goes on at an entry once the leaf is there; elsewhere it takes a new session."""
    return session.is_native or target == session.tree.content_at(session.own_leaf)
