"""Texts of an X-ray: words for a cell, for a fold, and about the row under the cursor.

Pure but for reading bodies.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from leafward.base.emphasis import without_emphasis
from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.compaction.alignment import Cell, Link, What, XRay
from leafward.compaction.summary_lines import bare
from leafward.context.projection import latest
from leafward.session.entries import Kind
from leafward.session.entry_headline import headline
from leafward.session.messages import edit_message, message_text, messages_of
from leafward.summaries.survival.report import SURVIVED, Status
from leafward.summaries.survival.text_match import FactMatch
from leafward_tui.ui.text.cells import count, exact
from leafward_tui.xray.model.arrangement import Piece, Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from leafward.session.session import Session
    from leafward.summaries.survival.report import Fate, Survival
    from leafward_tui.ui.appearance.glyphs import Glyphs

LIMIT = 400
_MOST_DECODED = 4 << 20
"""The most bytes of a line that is decoded while it is drawn; a longer one is described by its size."""

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

_ROLE_WORDS = {
    "system": "sys",
    "compactionSummary": "sum",
    "branchSummary": "sum",
    "custom": "ext",
    "bashExecution": "you",
    "user": "you",
}
_FILE_WORDS = {"read": "files read", "modified": "files modified"}
_HELD_INK = {FactMatch.VERBATIM: "leaf", FactMatch.PARAPHRASED: "warn", FactMatch.CONTRADICTED: "bad"}


@dataclass(frozen=True, slots=True)
class Caption:
    """The text of a cell: its kind in a word, the words, and the inks of both."""

    word: str
    text: str
    ink: str = "text"
    word_ink: str = "faint"
    note: str = ""
    """Quiet words at the right, before the number."""


@dataclass(frozen=True, slots=True)
class Fates:
    """The fates of the facts of a compaction, by the last entry that states each in the strongest voice."""

    by_entry: dict[int, tuple[Fate, ...]] = field(default_factory=dict)
    lost: tuple[Fate, ...] = ()
    """The lost facts, the heaviest first."""
    unreadable: bool = False
    """Whether the summary is encrypted: facts called lost may stand in it."""

    @classmethod
    def of(cls, survival: Survival) -> Fates:
        """The fates of a report."""
        by_entry: dict[int, list[Fate]] = {}
        for fate in survival.fates:
            by_entry.setdefault(fate.fact.entry, []).append(fate)
        lost = sorted(
            (fate for fate in survival.fates if fate.status is Status.LOST),
            key=lambda fate: (-fate.fact.weight, fate.fact.entry, fate.fact.key),
        )
        return cls(
            {entry: tuple(fates) for entry, fates in by_entry.items()}, tuple(lost), survival.unreadable
        )

    def at(self, entries: Iterable[int]) -> list[Fate]:
        """The fates of the facts whose source is one of some entries."""
        return [fate for entry in dict.fromkeys(entries) for fate in self.by_entry.get(entry, ())]

    def lost_at(self, entries: Iterable[int]) -> list[Fate]:
        """The lost facts of some entries, the heaviest first."""
        lost = [fate for fate in self.at(entries) if fate.status is Status.LOST]
        return sorted(lost, key=lambda fate: (-fate.fact.weight, fate.fact.key))


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
            name = _FILE_WORDS.get(cell.text, "files")
            return Caption("", f"{sign} {name}", "memory", note=counted(cell.below, "path"))
        title = safe_line(cell.text, LIMIT) or "injected"
        note = counted(cell.below, "line") if cell.below else ""
        return Caption("inj", f"{sign} {title}" if cell.below else title, "text", "ghost", note)

    def cell(self, cell: Cell, link: Link) -> Caption:
        """The text of a single cell."""
        match cell.what:
            case What.MESSAGE:
                return self._message(cell, link)
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
                return Caption("", f"not in file: {cell.text or 'system prompt, tools'}", "faint")
            case What.ERROR:
                return Caption("", "estimation error", "faint")
            case _:
                note = self._earlier.get((cell.section, cell.text), "")
                return Caption("", safe_line(without_emphasis(cell.text), LIMIT), "text", note=note)

    def _message(self, cell: Cell, link: Link) -> Caption:
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
        following = cell.entry + 1
        end = columns.start[following] if following < len(columns) else session.scan.end
        if end - columns.start[cell.entry] > _MOST_DECODED:
            return Caption(_ROLE_WORDS.get(cell.role, "long"), "a very long line", "sub", note=note)
        first_words = headline(session, cell.entry)
        word = _ROLE_WORDS.get(cell.role, first_words.word)
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

    # --- the foot -----------------------------------------------------------------------------------------------------

    def about(
        self, piece: Piece | None, side: Side, link: Link | None, fates: Fates | None
    ) -> list[list[tuple[str, str]]]:
        """The text of the foot about the line under the cursor: two lines of texts with their inks."""
        if piece is None or link is None:
            return [[], []]
        cell = piece.cell
        if piece.folded:
            return self._about_fold(piece, side, link, fates)
        if side is Side.AFTER and cell.line >= 0:
            return self._about_line(piece, link)
        if cell.what in (What.REST, What.ERROR):
            return _about_rest(cell, files=self.xray.puts_files_in)
        if cell.what is What.EXPECTED:
            return [
                [("summary  ", "faint"), ("not written yet", "text")],
                [(f"estimated at {exact(cell.tokens)} tokens", "faint")],
            ]
        if cell.what is What.MESSAGE:
            return self._about_message(piece, side, link, fates)
        caption = self.piece(piece, link)
        return [[(_name(caption.word), "faint"), (caption.text, "text")], [(_became(link, side), "faint")]]

    def _about_line(self, piece: Piece, link: Link) -> list[list[tuple[str, str]]]:
        cell = piece.cell
        text = safe_line(without_emphasis(cell.text), LIMIT)
        if cell.what in (What.FILES, What.SECTION, What.HEADING):
            caption = self.piece(piece, link)
            where = "of what was injected" if link is Link.INJECTED else "of the summary"
            more = f", {caption.note}" if caption.note else ""
            return [
                [
                    (_name("part"), "faint"),
                    (text if cell.what is not What.FILES else _FILE_WORDS.get(text, text), "text"),
                ],
                [(f"{where}{more}, {exact(piece.tokens)} tokens", "faint")],
            ]
        first = [(_name("source"), "faint"), (text, "text")]
        if link is Link.INJECTED or cell.what is What.FILE:
            why = (
                "injected beside the summary"
                if link is Link.INJECTED
                else "from the calls of what was summarised"
            )
            return [first, [(why, "faint")]]
        row = piece.rows[0]
        if not self.xray.origins.known(cell.line):
            return [first, [("looking for where it comes from", "nothing")]]
        sources = self.xray.sources(row)
        if not sources:
            return [first, [("no source found", "warn"), (" in the summarised messages", "faint")]]
        best = sources[0]
        word = _ROLE_WORDS.get(best.role) or (
            headline(self.session, best.entry).word if best.entry >= 0 else ""
        )
        second = [("from ", "faint"), (f"#{best.entry:,}", "warn"), (f" {word}   ", "faint")]
        quote = safe_line(bare(best.quote) or best.quote, LIMIT)
        if quote:
            second.append((f"{self.glyphs.quote_open}{quote}{self.glyphs.quote_close}", "sub"))
        second.append(("   ", "faint"))
        second.append((best.held.value, _HELD_INK.get(best.held, "sub")))
        if best.recorded:
            second.append((", recorded", "faint"))
        if len(sources) > 1:
            others = " ".join(f"#{source.entry:,}" for source in sources[1:4])
            second.append((f"   also {others}", "faint"))
        return [first, second]

    def _about_message(
        self, piece: Piece, side: Side, link: Link, fates: Fates | None
    ) -> list[list[tuple[str, str]]]:
        cell = piece.cell
        caption = self._message(cell, Link.KEPT)
        first = [(_name(f"#{cell.entry:,}"), "faint"), (f"{caption.word}  ", "faint"), (caption.text, "text")]
        became = _became(link, side)
        if self.xray.of_edits and link is Link.CUT:
            became = "left out by a context edit"
        elif self.xray.of_edits and (cut := sum(self.xray.rows[row].cut for row in piece.rows)):
            became = f"replaced by a context edit, which cuts {exact(cut)} tokens of it"
        second: list[tuple[str, str]] = [(became, "faint")]
        # The fate says the same as the note beside it.
        if caption.note and became == _became(link, side):
            second.append((f"   {caption.note}", "warn"))
        second += self._fates(piece, fates)
        return [first, second]

    def _about_fold(
        self, piece: Piece, side: Side, link: Link, fates: Fates | None
    ) -> list[list[tuple[str, str]]]:
        cells = [self._of(row, side) for row in piece.rows]
        entries = [cell.entry for cell in cells if cell is not None]
        caption = self.piece(piece, link)
        text = caption.text.removeprefix(f"{self.glyphs.folded} ")
        span = f"#{entries[0]:,} {self.glyphs.dash} #{entries[-1]:,}" if entries else ""
        first = [
            (_name("folded"), "faint"),
            (text, "text"),
            (f"   {span}   {exact(piece.tokens)} tokens", "faint"),
        ]
        return [first, [(_became(link, side), "faint"), *self._fates(piece, fates)]]

    def _of(self, row: int, side: Side) -> Cell | None:
        found = self.xray.rows[row]
        return found.before if side is Side.BEFORE else found.after

    def _fates(self, piece: Piece, fates: Fates | None) -> list[tuple[str, str]]:
        if fates is None:
            return []
        cells = (self._of(row, Side.BEFORE) for row in piece.rows)
        found = fates.at(cell.entry for cell in cells if cell is not None)
        if not found:
            return []
        lost = sum(1 for fate in found if fate.status is Status.LOST)
        alive = sum(1 for fate in found if fate.status in SURVIVED)
        words: list[tuple[str, str]] = [(f"   facts: {alive} of {len(found):,} survive", "sub")]
        if lost:
            gone = ("not seen: the summary is encrypted", "sub") if fates.unreadable else ("lost", "warn")
            words.append((f"   {lost} {gone[0]}", gone[1]))
        return words

    def size(self, number: int) -> str:
        """A size in a column."""
        return count(number, zero=self.glyphs.zero)


def _about_rest(cell: Cell, *, files: bool) -> list[list[tuple[str, str]]]:
    """The text about tokens that are not in the file, or about the estimation error.

    `files` where the agent sent files again that it did not store.
    """
    again = ", files added again" if files else ""
    name, why = (
        "not in file",
        f"system prompt, tools{again}: measured again on the first request after each compaction",
    )
    if cell.what is What.ERROR:
        more = "more" if cell.tokens > 0 else "less"
        name, why = (
            "estimation error",
            f"the provider counted {more} than estimated for the file's contents",
        )
    return [[(f"{name}  ", "faint"), (f"{exact(cell.tokens)} tokens", "text")], [(why, "faint")]]


def _name(word: str) -> str:
    return f"{word:<8}"


def _became(link: Link, side: Side) -> str:
    """The fate of an entry, in a few words."""
    if side is Side.AFTER and link is Link.INJECTED:
        return "was not in the context before"
    return {
        Link.SYSTEM: "stays as it is",
        Link.KEPT: "stays as it is",
        Link.REPLACED: "summarised",
        Link.PREFIX: "summarised apart: the beginning of a turn that the cut splits",
        Link.INJECTED: "injected",
        Link.CUT: "dropped: left out, and not summarised",
        Link.REST: "",
        Link.ERROR: "",
    }[link]
