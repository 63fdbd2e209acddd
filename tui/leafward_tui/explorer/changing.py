"""Changing the session: moves of the leaf, labels, name, archive, undo and redo. Every write is one appended line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work

from leafward.base.errors import LeafwardError
from leafward.session.entries import NO_ENTRY, EntryIndex, Kind
from leafward_tui.explorer.finding import Finding
from leafward_tui.explorer.model.branch_summary import Wanted
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.ghost import Ghost
from leafward_tui.explorer.results import Wrote
from leafward_tui.ui.cells import count, counted
from leafward_tui.ui.write_target import book_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.branch import BranchDraft
    from leafward.session.journal import Write, Writing
    from leafward.session.session import Session
    from leafward_tui.ui.sheet import Choice

    Change = Callable[[Session, Writing], Write]
    """Appends something to a session, at the time that is given with it."""


class Changing(Finding):
    """Actions that append to the session file."""

    @work(thread=True, group="write", exit_on_error=False)
    def write(self, session: Session, done: str, change: Change, then: str = "") -> None:
        """Runs a change in a worker; `done` says what was done, `then` names what follows it (`resume`)."""
        from leafward.session.journal import Writing

        try:
            written = change(session, Writing(now=self.shell.clock))
        except (LeafwardError, OSError) as error:
            self.post_message(Wrote(self.generation, None, str(error), ""))
        else:
            self.post_message(Wrote(self.generation, written, done, then))

    def start_write(self, done: str, change: Change, then: str = "") -> None:
        """Starts a change unless one is under way."""
        session = self.session
        if session is None or self.refuse_while_summing() or self.refuse_to_write():
            return
        if not self.refuse_while_writing():
            self.writing = True
            self.write(session, done, change, then)

    @property
    def refusal(self) -> str:
        """Why nothing can be written to the session, by its own statement; empty where it can."""
        return (self.session.read_only or "") if self.session is not None else ""

    def refuse_to_write(self) -> bool:
        """Whether nothing can be written to the session; says why, before anything is asked."""
        if self.refusal:
            self.tell(f"read only: {self.refusal}", "bad")
        return bool(self.refusal)

    # --- moving the leaf ----------------------------------------------------------------------------------------------

    def action_move_here(self) -> None:
        """Asks how the leaf should move to the line of the cursor."""
        from leafward.session.journal import move
        from leafward.session.messages import prompt_text
        from leafward_tui.ui.sheet import Choice, ChoiceSheet, SheetLine

        exploration, line = self.exploration, self.graph.line
        session = self.session
        if exploration is None or session is None or line is None or line.kind is LineKind.HIDDEN:
            return
        if self.refuse_while_summing() or self.refuse_to_write():
            return
        target = exploration.target(line)
        prompt = exploration.layout.head[line.row]
        has_prompt = session.columns.kind[prompt] == Kind.USER and line.kind is LineKind.ROW
        before = session.tree.content_at(session.columns.parent[prompt]) if has_prompt else NO_ENTRY
        here = session.place
        self.graph.set_ghost(Ghost.of(exploration.layout, target))
        left = self.entries_left(here, target)
        choices = [
            Choice(
                "m",
                "Move the leaf here",
                f"the next prompt follows {self.named(target)}",
                self.appending(),
                refused="the leaf is here" if target == here else "",
            )
        ]
        if left:
            effect = self._left_words(left)
            choices += [
                Choice("s", "Move, with a summary of what is left", effect, self.appending("a summary")),
                Choice(
                    "f", "The same, with a focus", "you say what it dwells on", self.appending("a summary")
                ),
            ]
        if has_prompt:
            refused = "the leaf is there" if before == here else ""
            choices.append(
                Choice(
                    "e",
                    "Move before this prompt, to write it anew",
                    "its text goes to the clipboard",
                    self.appending(),
                    refused,
                )
            )
            if (left_before := self.entries_left(here, before)) and not refused:
                choices.append(
                    Choice(
                        "b",
                        "The same, with a summary of what is left",
                        f"{counted(left_before, 'entry', 'entries')}, its text is copied",
                        self.appending("a summary"),
                    )
                )
        choices.append(self._resuming(session, target))
        choices.append(
            Choice("n", "New session from here", "in this agent or another", "this session stays as it is")
        )
        about = [SheetLine(self._price_words())] if self.price is not None else []

        def done(key: str | None) -> None:
            if key in ("e", "b"):
                self.shell.copy(prompt_text(session.body(prompt) or {}))
            if key == "m":
                self.start_write(
                    f"moved to {self.named(target)}", lambda it, writing: move(it, target, writing)
                )
            elif key == "r" and target == here:
                self.action_agent_resume()
            elif key == "r":
                said = f"moved to {self.named(target)}"
                self.start_write(said, lambda it, writing: move(it, target, writing), "resume")
            elif key == "e":
                said = f"moved before {self.named(prompt)}, its text is copied"
                self.start_write(said, lambda it, writing: move(it, before, writing))
            elif key == "n":
                self.action_session_fork()
            elif key == "s":
                self.start_summary(self.wanted(here, target))
            elif key == "f":
                self.ask_focus(self.wanted(here, target))
            elif key == "b":
                self.start_summary(self.wanted(here, before))
            else:
                self.settle()

        self.app.push_screen(ChoiceSheet("Move", choices, about, note=self.named(target)), done)

    def _resuming(self, session: Session, target: int) -> Choice:
        """Going on in the agent at an entry: there already, by a move, or not at all, where the agent would go on elsewhere."""
        from leafward_tui.ui.sheet import Choice

        effect = "runs the agent's own command"
        reachable = session.book is session or target == session.tree.content_at(session.own_leaf)
        if target == session.place and reachable:
            return Choice("r", "Resume in the agent from here", effect, "nothing is appended")
        refused = "" if reachable else "a what-if only: fork instead"
        return Choice("r", "Move here and resume in the agent", effect, self.appending(), refused)

    def action_session_fork(self) -> None:
        """Asks for whom a new session should begin at the turn of the cursor."""
        raise NotImplementedError

    def action_agent_resume(self) -> None:
        """Runs the agent's own command on this session."""
        raise NotImplementedError

    def entries_left(self, start: int, to: int) -> int:
        """Entries of the conversation that a move from one entry to another leaves."""
        session = self.session
        if session is None:
            return 0
        tree = session.tree
        return tree.content_upto(start) - tree.content_upto(tree.common_ancestor(start, to))

    def wanted(self, start: int, to: int, *, preview: bool = False, carried: bool = True) -> Wanted:
        """A summary of the branch from one entry up to where its path and that of another part."""
        session = self.session
        below = (
            session.tree.below(session.tree.common_ancestor(start, to), start) if session is not None else []
        )
        first = below[0].start if below else -1
        return Wanted(start, to, self.entries_left(start, to), first, preview=preview, carried=carried)

    def appending(self, what: str = "") -> str:
        """What a write appends, in words."""
        session = self.session
        line = f"1 line, {what}," if what else "1 line"
        return f"append {line} to {book_words(session)}" if session is not None else ""

    def _left_words(self, entries: int) -> str:
        """What a summary would stand for, as far as it is known by now."""
        said = counted(entries, "entry", "entries")
        if self.price is not None and self.price.left.entries == entries:
            said += f", {count(self.price.left.told)} tokens"
            if self.price.files_left:
                said += f", {counted(len(self.price.files_left), 'file')}"
        return said

    def start_summary(
        self, wanted: Wanted, then: Callable[[BranchDraft | None], object] | None = None
    ) -> None:
        """Makes a summary as wanted, and hands it to `then`, if there is one."""
        raise NotImplementedError

    def ask_focus(self, wanted: Wanted) -> None:
        """Asks what the summary should dwell on, then makes it."""
        raise NotImplementedError

    def refuse_while_summing(self) -> bool:
        """Whether a summary is under way; says so."""
        raise NotImplementedError

    def named(self, entry: int) -> str:
        """An entry as it is named on the screen."""
        return f"#{entry}" if entry >= 0 else "the beginning"

    def _price_words(self) -> str:
        price = self.price
        if price is None:
            return ""
        again = f"{count(price.sent_again)} of it" if price.sent_again else "nothing"
        parts = [
            f"{verb} {counted(side.entries, 'entry', 'entries')}"
            for verb, side in (("leave", price.left), ("enter", price.entered))
            if side.entries
        ]
        context = (
            f"context {count(price.before.total)} becomes {count(price.after.total)}, {again} sent again"
        )
        return "; ".join(part for part in (", ".join(parts), context) if part)

    # --- undo ---------------------------------------------------------------------------------------------------------

    def action_operation_undo(self) -> None:
        """Takes the last operation back, by appending its inverse."""
        from leafward.session.journal import undo

        self.start_write("undone", lambda it, writing: undo(it, writing=writing))

    def action_operation_redo(self) -> None:
        """Does again what was undone last."""
        from leafward.session.journal import redo

        self.start_write("done again", redo)

    # --- bookmarks ----------------------------------------------------------------------------------------------------

    def action_label_edit(self) -> None:
        """Asks for the label of the entry under the cursor."""
        from leafward.session.journal import label
        from leafward_tui.ui.sheet import TextSheet

        session, exploration = self.session, self.exploration
        if session is None or exploration is None or self.graph.row < 0 or self.refuse_to_write():
            return
        spans = exploration.layout.entries_of(self.graph.row)
        labelled = [entry for entry in session.labels if any(entry in span for span in spans)]
        target = labelled[0] if labelled else exploration.layout.head[self.graph.row]
        before = session.labels.get(EntryIndex(target), "")

        def done(text: str | None) -> None:
            if text is None or text.strip() == before:
                return
            said = (
                f"labelled {self.named(target)}"
                if text.strip()
                else f"took the label off {self.named(target)}"
            )
            self.start_write(said, lambda it, writing: label(it, target, text.strip(), writing))

        sheet = TextSheet(
            "Label",
            before,
            note=self.named(target),
            placeholder="a word or two; empty takes it away",
            operation_of=lambda _text: self.appending(),
        )
        self.app.push_screen(sheet, done)

    def action_name_edit(self) -> None:
        """Asks for the session's name."""
        from leafward.session.journal import rename
        from leafward_tui.ui.sheet import TextSheet

        session = self.session
        if session is None or self.refuse_to_write():
            return
        before = session.name or ""

        def done(text: str | None) -> None:
            if text is not None and text.strip() != before:
                self.start_write(
                    "named" if text.strip() else "took the name away",
                    lambda it, writing: rename(it, text, writing),
                )

        sheet = TextSheet(
            "Name of this session",
            before,
            placeholder="empty takes it away",
            operation_of=lambda _text: self.appending(),
        )
        self.app.push_screen(sheet, done)

    def action_branch_archive(self) -> None:
        """Puts the branch under the cursor away, or brings it back; nothing of it is removed."""
        from leafward.session.journal import archive

        exploration, line = self.exploration, self.graph.line
        if exploration is None or line is None or self.refuse_to_write():
            return
        layout = exploration.layout
        branch = layout.branches[layout.branch_of(line.row)]
        first = branch.first_entry
        if layout.on_path(first):
            self.tell("the active path cannot be archived: move the leaf to another branch first", "warn")
            return
        archived = first in exploration.findings.archived
        turns = layout.branch_rows[layout.branch_of(line.row)] - branch.first_row
        said = f"{'brought back' if archived else 'archived'} the branch at {self.named(first)}, {counted(turns, 'row')}"
        exploration.opened.discard(first)
        self.start_write(said, lambda it, writing: archive(it, first, not archived, writing))
