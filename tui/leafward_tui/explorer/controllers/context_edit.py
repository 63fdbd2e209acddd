"""Context edits of a row: left out, shortened or replaced; the freed tokens are shown before the write."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import LeafwardError
from leafward.base.figures import counted
from leafward.session.entries import EntryIndex, Kind
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans, single_row
from leafward_tui.ui.text.cells import count
from leafward_tui.ui.words.write_words import book_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.branches.transfer.context_edits import EditDraft
    from leafward.session.journal.write import Write, Writing
    from leafward.session.session import Session
    from leafward_tui.explorer.controllers.write import SessionWrite
    from leafward_tui.ui.jobs import Job

KEEP = 200
"""Tokens of each entry that the shorter form keeps, unless another number is given."""


class ContextEdits(ExplorerController):
    """The sheet of context edits."""

    def __init__(self, means: ExplorerMeans, write: SessionWrite) -> None:
        super().__init__(means)
        self._write = write
        self.actions = {"context.edit": self._draft}

    def _draft(self) -> None:
        """Works out the tokens freed by leaving out or shortening the row of the cursor, then asks."""
        shown = single_row(self._state, self._view)
        if shown is None:
            return
        exploration, line = shown
        if self._write.is_read_only() or self._write.waits_for_summary():
            return
        entries = [at for span in exploration.layout.entries_of(line.row) for at in span]
        self._jobs.latest(
            "edits",
            partial(edit_drafts, exploration.session, entries, KEEP),
            partial(self._ask, exploration.session),
            self._view.fail,
        )

    def _ask(self, session: Session, drafts: EditDrafts) -> None:
        """Asks for the kind of edit; each choice shows the tokens that it frees."""
        from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet
        from leafward_tui.ui.sheets.sheet import SheetLine

        if not self._view.on_top:
            return
        if isinstance(drafts.omitted, str) and isinstance(drafts.short, str):
            self._view.tell(drafts.omitted, "warn")
            return
        targets = drafts.targets
        lines = counted(len(targets), "line")
        operation = f"append {lines} to {book_words(session)}"
        arrow = self._services.glyphs.arrow
        one_line = f"append 1 line to {book_words(session)}"
        text_refused, key = "", self._services.keymap.label("density.next")
        if len(drafts.replaced) != 1:
            text_refused = "for one entry only" + (f": show entries with {key}" if key else "")
        about = "the entries stay as they are; the model reads them as you choose"
        if not session.is_native:
            about = "only in Leafward: the agent itself still reads the entries as they are"
        lines_about = [SheetLine(about)]
        if sizes := size_note(drafts.omitted) or size_note(drafts.short):
            lines_about.append(SheetLine(sizes))
        omitted = effect_of(drafts.omitted, operation, arrow)
        short = effect_of(drafts.short, operation, arrow)
        leave_out, shorten = (
            partial(self._apply, targets, None, None),
            partial(self._apply, targets, None, KEEP),
        )
        ask_size, ask_text = partial(self._ask_size, targets), partial(self._ask_text, drafts.replaced)
        another, sizes = f"Let the model read another {drafts.text_of}", "asks how many tokens each may have"
        choices = [
            Choice("o", "Leave it out", *omitted, act=leave_out),
            Choice("s", f"Shorten each to about {KEEP} tokens", *short, act=shorten),
            Choice("n", "Shorten to another size", sizes, operation, act=ask_size),
            Choice("t", another, "asks for it", one_line, text_refused, act=ask_text),
        ]
        sheet = ChoiceSheet(
            "Edit context", choices, lines_about, note=counted(len(targets), "entry", "entries")
        )
        self._view.open_sheet(sheet)

    def _ask_size(self, targets: tuple[EntryIndex, ...]) -> None:
        from leafward_tui.ui.sheets.sheet import TextSheet

        def meaning(text: str) -> str:
            tokens = typed_tokens(text)
            return f"keeps about {tokens:,} tokens of each" if tokens else "a number of tokens"

        def done(text: str | None) -> None:
            if text is None:
                return
            if tokens := typed_tokens(text):
                self._apply(targets, None, tokens)
            else:
                self._view.tell("not edited: that is not a number of tokens", "warn")

        title = "Tokens to keep of each entry"
        self._view.open_sheet(
            TextSheet(title, str(KEEP), commit="shorten", operation_of=meaning, survives_change=True), done
        )

    def _ask_text(self, targets: tuple[EntryIndex, ...]) -> None:
        from leafward_tui.ui.sheets.sheet import TextSheet

        def done(text: str | None) -> None:
            if text:
                self._apply(targets, text, None)

        title, hint = "Text that the model reads instead", "calls keep their arguments"
        self._view.open_sheet(
            TextSheet(title, placeholder=hint, commit="replace", survives_change=True), done
        )

    def _apply(self, targets: tuple[EntryIndex, ...], text: str | None, keep: int | None) -> None:
        self._write.start_typed(targets, partial(self._edit, text, keep))

    def _edit(self, text: str | None, keep: int | None, targets: Sequence[int]) -> None:
        from leafward.branches.transfer.context_edits import ContextEdit, apply_edits, draft_edits

        edits = [ContextEdit(EntryIndex(one), text, keep) for one in targets]

        def change(session: Session, writing: Writing) -> Write:
            return apply_edits(session, draft_edits(session, edits), writing)

        what = "replaced" if text is not None else "shortened" if keep is not None else "left out"
        self._write.start(f"{counted(len(targets), 'entry', 'entries')} {what} in the context", change)


def typed_tokens(text: str) -> int:
    """The number of tokens that was typed; 0 for any other text, and for more digits than a context has."""
    found = re.fullmatch(r"\s*(\d{1,12})\s*", text)
    return int(found[1]) if found else 0


def effect_of(draft: EditDraft | str, operation: str, arrow: str) -> tuple[str, str, str]:
    """Effect, operation and refusal of a choice."""
    if isinstance(draft, str):
        return "", operation, draft
    saved = count(draft.saved, zero="0")
    before, after = count(draft.tokens_before), count(draft.tokens_after)
    if before == after and draft.saved:
        # Rounded alike: the freed tokens would not show.
        before, after = f"{draft.tokens_before:,}", f"{draft.tokens_after:,}"
    sizes = f"{before} {arrow} ~{after}"
    return f"frees ~{saved} tokens: {sizes}", operation, ""


def size_note(draft: EditDraft | str) -> str:
    """The reason why an edit frees another number of tokens than its row has, where the two are far apart; else empty."""
    if isinstance(draft, str) or not draft.counted:
        return ""
    return f"the provider counted {draft.counted} than the ~{count(draft.cut)} tokens estimated for the text"


class EditDrafts(NamedTuple):
    """Drafts of the edits of a row: left out, then shortened; a refused one is the reason as text."""

    targets: tuple[EntryIndex, ...]
    omitted: EditDraft | str
    short: EditDraft | str
    replaced: tuple[EntryIndex, ...]
    """Entries that another text may replace: the entry of the row, or the result of a call and its result."""

    @property
    def text_of(self) -> str:
        """The name of the part that another text replaces."""
        return "text" if self.replaced == self.targets else "result"


def edit_drafts(session: Session, entries: Sequence[int], keep: int, _job: Job) -> EditDrafts:
    """Drafts that leave out the entries of a row, and that shorten each to `keep` tokens."""
    from leafward.branches.transfer.context_edits import EDITABLE, ContextEdit, absence, draft_edits
    from leafward.context.model_context import context_at

    kinds = session.columns.kind
    targets = tuple(EntryIndex(at) for at in entries if kinds[at] in EDITABLE)

    context = context_at(session, session.leaf)
    seen = {message.entry for message in context.messages}

    def draft(tokens: int | None) -> EditDraft | str:
        if not targets:
            return "this row has no prompt, reply, result or added text that could be edited"
        if not seen.intersection(targets):
            return f"the model does not read this row: {absence(session, context, targets[-1])}"
        try:
            return draft_edits(session, [ContextEdit(one, None, tokens) for one in targets])
        except (LeafwardError, OSError) as error:
            return str(error)

    results = tuple(at for at in targets if kinds[at] == Kind.TOOL_RESULT)
    replaced = results if len(targets) == 2 and len(results) == 1 else targets
    return EditDrafts(targets, draft(None), draft(keep), replaced)
