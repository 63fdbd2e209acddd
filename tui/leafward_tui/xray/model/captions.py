"""Texts of an X-ray: words for a cell, for a fold, and about the row under the cursor.

Pure but for reading bodies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from leafward.base.emphasis import without_emphasis
from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.compaction.xray.alignment import Cell, Link, What, XRay
from leafward.context.projection import latest
from leafward.session.entries import Kind
from leafward.session.headlines.entry_headline import headline
from leafward.session.messages import edit_message, message_text, messages_of
from leafward_tui.ui.text.cells import count
from leafward_tui.ui.words.message_words import MOST_DECODED, line_bytes
from leafward_tui.xray.model.arrangement import Piece, Side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward.session.session import Session
    from leafward_tui.ui.appearance.glyphs import Glyphs

LIMIT = 400

LINK_WORD = {
    Link.SYSTEM: "system",
    Link.KEPT: "kept",
    Link.REPLACED: "summarised",
    Link.PREFIX: "split turn",
    Link.INJECTED: "injected",
    Link.CUT: "dropped",
    Link.REST: "not in file",
    Link.ERROR: "estimation error",
}
LINK_INK = {
    Link.SYSTEM: "sub",
    Link.KEPT: "leaf",
    Link.REPLACED: "memory",
    Link.PREFIX: "warn",
    Link.INJECTED: "ghost",
    Link.CUT: "bad",
    Link.REST: "faint",
    Link.ERROR: "faint",
}

ROLE_WORDS = {
    "system": "sys",
    "compactionSummary": "sum",
    "branchSummary": "sum",
    "custom": "ext",
    "bashExecution": "you",
    "user": "you",
}
FILE_WORDS = {"read": "files read", "modified": "files modified"}


@dataclass(frozen=True, slots=True)
class Caption:
    """The text of a cell: its kind in a word, the words, and the inks of both."""

    word: str
    text: str
    ink: str = "text"
    word_ink: str = "faint"
    note: str = ""
    """Quiet words at the right, before the number."""


_PLANNED = {Side.BEFORE: "what the model sees now", Side.AFTER: "what it would see"}


def side_words(session: Session, xray: XRay, side: Side) -> str:
    """The name of a side: with `now` only where nothing was said since the compaction."""
    if xray.compaction < 0:
        return _PLANNED[side]
    if side is Side.BEFORE:
        return "what the model saw"
    last = latest(session, session.leaf, frozenset({Kind.COMPACTION, Kind.CONTEXT_EDIT}))
    if last == xray.compaction and session.place == session.tree.content_at(last):
        return "what the model sees now"
    return f"right after {'these edits' if xray.of_edits else 'this compaction'}"


class Teller:
    """Words for the cells of one X-ray; each message is read once."""

    def __init__(
        self, xray: XRay, glyphs: Glyphs, earlier: Mapping[tuple[str, str], str] = MappingProxyType({})
    ) -> None:
        """`earlier` has the notes of `earlier_lines`."""
        self.xray = xray
        self.session: Session = xray.session
        self.glyphs = glyphs
        self._captions: dict[tuple[int, int], Caption] = {}
        self._earlier = earlier
        self._freed = {one.entry: one.freed for one in xray.origins.messages.edits}
        """Tokens that edits free of those that were there before."""
        for row in xray.rows if xray.of_edits else ():
            if row.before is not None and row.after is not None and row.before.edited != row.after.edited:
                self._freed[row.after.entry] = row.before.tokens - row.after.tokens

    def piece(self, piece: Piece, link: Link) -> Caption:
        """The text of one side of a line."""
        cell = piece.cell
        if piece.folded:
            messages = counted(len(piece.rows), "message")
            text = f"{counted(piece.turns, 'turn')}, {messages}" if piece.turns else messages
            word = "" if piece.turns else "ai"
            return Caption(word, f"{self.glyphs.folded} {text}", "faint")
        if cell.what in (What.FILES, What.SECTION):
            return self._head(piece)
        return self.cell(cell, link)

    def _head(self, piece: Piece) -> Caption:
        cell = piece.cell
        sign = self.glyphs.unfolded if piece.opened else self.glyphs.folded
        if cell.what is What.FILES:
            name = FILE_WORDS.get(cell.text, "files")
            return Caption("", f"{sign} {name}", "memory", note=counted(cell.below, "path"))
        title = safe_line(cell.text, LIMIT) or "injected"
        note = counted(cell.below, "line") if cell.below else ""
        return Caption("inj", f"{sign} {title}" if cell.below else title, "text", "ghost", note)

    def cell(self, cell: Cell, link: Link) -> Caption:
        """The text of a single cell."""
        match cell.what:
            case What.MESSAGE:
                return self.message(cell, link)
            case What.SYSTEM:
                return Caption("sys", "system prompt", "sub")
            case What.TOOLS:
                return Caption("sys", f"tools, {cell.below} of them", "sub")
            case What.HEADING:
                return Caption(
                    "",
                    safe_line(cell.text, LIMIT),
                    "strong_memory" if link is not Link.PREFIX else "strong_warn",
                )
            case What.FILE:
                return Caption("", f"  {safe_line(cell.text, LIMIT)}", "sub")
            case What.ADDED:
                under = "  " if cell.section else ""
                return Caption("", f"{under}{safe_line(cell.text, LIMIT)}", "sub")
            case What.QUOTED:
                return Caption("you", safe_line(cell.text, LIMIT) or "(empty)", "text", note="word for word")
            case What.EXPECTED:
                return Caption("sum", "a summary, not written yet", "nothing", "memory")
            case What.REST:
                return Caption("", f"not in file: {cell.text}", "faint")
            case What.ERROR:
                return Caption("", "estimation error", "faint")
            case _:
                note = self._earlier.get((cell.section, cell.text), "")
                return Caption("", safe_line(without_emphasis(cell.text), LIMIT), "text", note=note)

    def message(self, cell: Cell, link: Link) -> Caption:
        """The text of a message."""
        found = self._captions.get((cell.entry, cell.edited))
        if found is None:
            found = self._captions[cell.entry, cell.edited] = self._read(cell)
        if link is Link.CUT and self.xray.of_edits:
            return replace(found, note="left out")
        if link is Link.INJECTED and cell.what is What.MESSAGE:
            return Caption("inj", found.text, found.ink, "ghost", "back again")
        return found

    def _read(self, cell: Cell) -> Caption:
        session = self.session
        freed = self._freed.get(cell.entry, 0)
        edited = f"edited, {count(freed)} cut" if freed > 0 else "edited"
        note = "not sent" if not cell.sent else edited if cell.edited >= 0 else ""
        if cell.role == "compactionSummary":
            return Caption("sum", "summary of an earlier compaction", "memory", "memory")
        columns = session.columns
        if line_bytes(session, cell.entry) > MOST_DECODED:
            return Caption(ROLE_WORDS.get(cell.role, "long"), "a very long line", "sub", note=note)
        first_words = headline(session, cell.entry)
        word = ROLE_WORDS.get(cell.role, first_words.word)
        if columns.kind[cell.entry] == Kind.INJECTED:
            word = first_words.word
        text = f"! {first_words.text}" if cell.role == "bashExecution" else first_words.text
        if cell.role == "assistant" and word != "ai":
            # A reply that only calls: its results have the same words.
            word, text = "ai", f"calls {word}  {text}"
        if cell.edited >= 0:
            text = safe_line(self._edited(cell), LIMIT) or text
        ink = "text" if cell.role in ("user", "bashExecution") else "memory" if word == "sum" else "sub"
        if cell.role == "branchSummary":
            text = " ".join(text.split())
        return Caption(word, text, ink, "memory" if word == "sum" else "faint", note)

    def _edited(self, cell: Cell) -> str:
        """The rest of a message after its context edit."""
        session = self.session
        edit = session.body(cell.edited) or {}
        kind = Kind(session.columns.kind[cell.entry])
        messages = messages_of(session.body(cell.entry) or {}, kind)
        left = (edit_message(message, edit.get("replacement")) for message in messages)
        return "\n".join(message_text(message) for message in left if message is not None)

    def size(self, number: int) -> str:
        """A size in a column."""
        return count(number, zero=self.glyphs.zero).replace("-", self.glyphs.minus)
