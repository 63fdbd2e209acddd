"""Moves of the leaf to the line of the cursor, in several ways, each with its price and its write."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.session.entries import NO_ENTRY, Kind
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.summary_request import messages_left, summary_between
from leafward_tui.ui.text.cells import counted
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
        from leafward.session.messages import prompt_text
        from leafward_tui.ui.sheets.choice_sheet import ChoiceSheet

        exploration, line = self._state.exploration, self._view.tree.line
        if exploration is None or line is None:
            return
        if line.kind.is_fold:
            self._view.run("fold.open")
            return
        if line.kind is LineKind.HIDDEN:
            keys = self._view.key_hints(("mode.leave", "clear filter"))
            self._view.tell(f"a filter hides {counted(line.rows, 'row')} here", "warn", keys)
            return
        if self._write.waits_for_summary() or self._write.is_read_only():
            return
        session = exploration.session
        target, prompt = exploration.target(line), exploration.layout.head[line.row]
        if session.columns.kind[prompt] != Kind.USER:
            prompt = NO_ENTRY
        before = session.tree.content_at(session.columns.parent[prompt]) if prompt >= 0 else NO_ENTRY
        here = session.place

        def done(key: str | None) -> None:
            if key in ("e", "b"):
                self._services.copy(prompt_text(session.body(prompt) or {}), "the prompt")
            if key == "m":
                self._move(target, f"moved to {named(target)}")
            elif key == "r" and target == here:
                self._view.run("agent.resume")
            elif key == "r":
                self._move(target, f"moved to {named(target)}", partial(self._view.run, "agent.resume"))
            elif key == "e":
                self._move(before, f"moved before {named(prompt)}; prompt copied to the clipboard")
            elif key == "w" and target == here:
                self._files.ask(target)
            elif key == "w":
                self._files.ask(target, moved=f"moved to {named(target)}")
            elif key == "W":
                words = f"moved before {named(prompt)}; prompt copied to the clipboard"
                copy = partial(self._services.copy, prompt_text(session.body(prompt) or {}))
                self._files.ask(before, moved=words, on_accept=copy)
            elif key == "n":
                self._view.run("session.fork")
            elif key == "s":
                self._summary.start(summary_between(session, here, target))
            elif key == "f":
                self._summary.ask_focus(summary_between(session, here, target))
            elif key == "b":
                self._summary.start(summary_between(session, here, before))
            else:
                self._details.settle()

        choices = self._choices(session, target, prompt, before)
        about = partial(self._about, session, target)
        sheet = ChoiceSheet("Move", choices, about(), note=named(target))
        self._details.propose(target, lambda: sheet.show_about(about()))
        self._view.ask(sheet, done)

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

    def _choices(self, session: Session, target: int, prompt: int, before: int) -> list[Choice]:
        """Ways to move to an entry and, where its row begins with a prompt, to the entry `before` that."""
        from leafward_tui.ui.sheets.choice_sheet import Choice

        here = session.place
        one_line, with_summary = appending(session), appending(session, "a summary")
        with_files = "nothing is written before you choose the files"
        refused = "the leaf is here" if target == here else ""
        follows = _reachable(session, target)
        effect = f"the next prompt follows {named(target)}" if follows else _stays(session)
        choices = [Choice("m", "Move the leaf here", effect, one_line, refused)]
        title = "Restore the files" if target == here else "Move and restore the files"
        files = Choice("w", title, "you see each file first", with_files)
        left = messages_left(session, here, target)
        if left:
            effect = f"summarises {counted(left, 'message')}"
            choices += [
                Choice("s", "Move with a summary", effect, with_summary),
                Choice("f", "Move with a focused summary", "you say what to emphasise", with_summary),
            ]
        choices.append(files)
        if prompt >= 0:
            refused = "the leaf is there" if before == here else ""
            title = "Edit and resend this prompt"
            choices.append(Choice("e", title, "prompt copied to the clipboard", one_line, refused))
            left_before = messages_left(session, here, before)
            if left_before and not refused:
                effect = f"summarises {counted(left_before, 'message')}, copies prompt"
                title = "Edit and resend, with a summary"
                choices.append(Choice("b", title, effect, with_summary))
            title = "Edit and resend, with the files"
            no_files = refused or ("" if before >= 0 else "no files are recorded before the first prompt")
            choices.append(Choice("W", title, "you see each file first", with_files, no_files))
        if follows:
            choices.append(_resuming(session, target))
        effect, operation = "in this agent or another", "this session stays as it is"
        return [*choices, Choice("n", "New session from here", effect, operation)]


def _stays(session: Session) -> str:
    """The place where an agent goes on that does not follow our moves."""
    return f"the agent itself stays at {named(session.tree.content_at(session.own_leaf))}"


def _reachable(session: Session, target: int) -> bool:
    """Whether the agent itself goes on at an entry once the leaf is there; elsewhere it takes a new session."""
    return session.is_native or target == session.tree.content_at(session.own_leaf)


def _resuming(session: Session, target: int) -> Choice:
    """The choice to go on in the agent at an entry: the leaf is there already, or moves there."""
    from leafward_tui.ui.sheets.choice_sheet import Choice

    effect = "runs the agent's own command"
    if target == session.place:
        return Choice("r", "Resume in the agent from here", effect, "nothing is appended")
    return Choice("r", "Move here and resume in the agent", effect, appending(session))
