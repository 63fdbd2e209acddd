"""What the model reads of a row: left out, shortened or replaced, with what that frees said before it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from leafward.base.errors import LeafwardError
from leafward_tui.explorer.choosing import Choosing
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.ui.cells import count, counted
from leafward_tui.ui.write_target import book_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.branches.transfer import EditDraft
    from leafward.session.entries import EntryIndex
    from leafward.session.journal import Write, Writing
    from leafward.session.session import Session

KEEP = 200
"""Tokens of each entry that the shorter form keeps, unless another number is given."""


@dataclass
class EditsDrafted(Message):
    """What edits of a row would free: left out, then shortened; in place of a draft why it is refused."""

    run: int
    targets: tuple[EntryIndex, ...]
    omitted: EditDraft | str
    short: EditDraft | str


class Editing(Choosing):
    """The sheet of context edits."""

    def action_context_edit(self) -> None:
        """Works out what leaving out and shortening the row of the cursor would free, then asks."""
        exploration, line, session = self.exploration, self.graph.line, self.session
        if exploration is None or session is None or line is None or line.kind is not LineKind.ROW:
            self.tell("" if self.bare else "go to one row: what is folded here is several", "warn")
            return
        if self.refuse_to_write() or self.refuse_while_summing():
            return
        entries = [at for span in exploration.layout.entries_of(line.row) for at in span]
        self._draft_edits(self.generation, session, entries)

    @work(thread=True, exclusive=True, group="edits", exit_on_error=False)
    def _draft_edits(self, run: int, session: Session, entries: Sequence[int]) -> None:
        from leafward.branches.transfer.context_edits import EDITABLE, ContextEdit, draft_edits
        from leafward.session.entries import EntryIndex

        kinds = session.columns.kind
        targets = tuple(EntryIndex(at) for at in entries if kinds[at] in EDITABLE)

        def drafted(keep: int | None) -> EditDraft | str:
            if not targets:
                return "the model reads nothing here that could be edited"
            try:
                return draft_edits(session, [ContextEdit(one, None, keep) for one in targets])
            except (LeafwardError, OSError) as error:
                return str(error)

        found = drafted(None), drafted(KEEP)
        if not get_current_worker().is_cancelled:
            self.post_message(EditsDrafted(run, targets, *found))

    def on_edits_drafted(self, message: EditsDrafted) -> None:
        """Asks what is to become of it, each with what it frees."""
        from leafward_tui.ui.sheet import Choice, ChoiceSheet

        if message.run != self.generation or self.app.screen is not self:
            return
        session = self.session
        if session is None:
            return
        if isinstance(message.omitted, str) and isinstance(message.short, str):
            self.tell(message.short, "warn")
            return
        targets = message.targets
        lines = (
            f"append {counted(len(targets), 'line')} to {book_words(session)}; the entries stay as they are"
        )
        text_refused = "" if len(targets) == 1 else "for one entry only: show entries with v"
        choices = [
            Choice("o", "Leave it out", *_effect(message.omitted, lines)),
            Choice("s", f"Shorten each to about {KEEP} tokens", *_effect(message.short, lines)),
            Choice("n", "Shorten to another size", "asks how many tokens each may have", lines),
            Choice("t", "Let the model read another text", "asks for it", lines, text_refused),
        ]

        def done(key: str | None) -> None:
            if key == "o":
                self._apply_edits(targets, None, None)
            elif key == "s":
                self._apply_edits(targets, None, KEEP)
            elif key == "n":
                self._ask_size(targets)
            elif key == "t":
                self._ask_text(targets)

        note = counted(len(targets), "entry", "entries")
        self.app.push_screen(ChoiceSheet("Edit for the model", choices, note=note), done)

    def _ask_size(self, targets: tuple[EntryIndex, ...]) -> None:
        from leafward_tui.ui.sheet import TextSheet

        def judged(text: str) -> str:
            return (
                f"keeps about {int(text):,} tokens of each"
                if text.isdecimal() and int(text)
                else "a number of tokens"
            )

        def done(text: str | None) -> None:
            if text is not None and text.isdecimal() and int(text):
                self._apply_edits(targets, None, int(text))
            elif text is not None:
                self.tell("not edited: that is no number of tokens", "warn")

        self.app.push_screen(
            TextSheet("Tokens to keep of each entry", str(KEEP), commit="shorten", operation_of=judged), done
        )

    def _ask_text(self, targets: tuple[EntryIndex, ...]) -> None:
        from leafward_tui.ui.sheet import TextSheet

        def done(text: str | None) -> None:
            if text:
                self._apply_edits(targets, text, None)

        self.app.push_screen(
            TextSheet(
                "What the model is to read instead",
                placeholder="calls keep their arguments",
                commit="replace",
            ),
            done,
        )

    def _apply_edits(self, targets: tuple[EntryIndex, ...], text: str | None, keep: int | None) -> None:
        from leafward.branches.transfer.context_edits import ContextEdit, apply_edits, draft_edits

        edits = [ContextEdit(one, text, keep) for one in targets]

        def change(session: Session, writing: Writing) -> Write:
            return apply_edits(session, draft_edits(session, edits), writing)

        what = "replaced" if text is not None else "shortened" if keep is not None else "left out"
        self.start_write(f"{counted(len(targets), 'entry', 'entries')} {what} for the model", change)


def _effect(draft: EditDraft | str, operation: str) -> tuple[str, str, str]:
    """Effect, operation and refusal of a choice."""
    if isinstance(draft, str):
        return "", operation, draft
    return (
        f"frees {count(draft.saved, zero='0')} tokens: {count(draft.tokens_estimated)} to {count(draft.tokens_after)}",
        operation,
        "",
    )
