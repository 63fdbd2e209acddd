"""The foot of an X-ray: what the line under the cursor is, where it comes from, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.emphasis import without_emphasis
from leafward.base.safe_text import safe_line
from leafward.compaction.stored_summary.summary_lines import bare
from leafward.compaction.xray.alignment import Cell, Link, What
from leafward.session.headlines.entry_headline import headline
from leafward.summaries.fates.report import SURVIVED, Status, is_encrypted
from leafward.summaries.survival.text_match import FactMatch
from leafward_tui.ui.text.cells import exact
from leafward_tui.xray.model.arrangement import Piece, Side
from leafward_tui.xray.model.captions import FILE_WORDS, LIMIT, ROLE_WORDS

if TYPE_CHECKING:
    from leafward.compaction.xray.alignment import XRay
    from leafward_tui.xray.model.captions import Teller
    from leafward_tui.xray.model.fates import Fates

_HELD_INK = {FactMatch.VERBATIM: "leaf", FactMatch.PARAPHRASED: "warn", FactMatch.CONTRADICTED: "bad"}


def about(
    teller: Teller, piece: Piece | None, side: Side, link: Link | None, fates: Fates | None
) -> list[list[tuple[str, str]]]:
    """The text of the foot about the line under the cursor: two lines of texts with their inks."""
    if piece is None or link is None:
        return [[], []]
    cell = piece.cell
    if piece.folded:
        return _about_fold(teller, piece, side, link, fates)
    if side is Side.AFTER and cell.line >= 0:
        return _about_line(teller, piece, link)
    if cell.what in (What.REST, What.ERROR):
        return _about_rest(cell, teller.xray)
    if cell.what is What.EXPECTED:
        return [
            [("summary  ", "faint"), ("not written yet", "text")],
            [(f"estimated at {exact(cell.tokens)} tokens", "faint")],
        ]
    if cell.what is What.MESSAGE:
        return _about_message(teller, piece, side, link, fates)
    caption = teller.piece(piece, link)
    return [[(_name(caption.word), "faint"), (caption.text, "text")], [(_became(link, side), "faint")]]


def _about_line(teller: Teller, piece: Piece, link: Link) -> list[list[tuple[str, str]]]:
    cell = piece.cell
    text = safe_line(without_emphasis(cell.text), LIMIT)
    if cell.what in (What.FILES, What.SECTION, What.HEADING):
        caption = teller.piece(piece, link)
        where = "of what was injected" if link is Link.INJECTED else "of the summary"
        more = f", {caption.note}" if caption.note else ""
        return [
            [
                (_name("part"), "faint"),
                (text if cell.what is not What.FILES else FILE_WORDS.get(text, text), "text"),
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
    if not teller.xray.origins.known(cell.line):
        return [first, [("looking for where it comes from", "nothing")]]
    sources = teller.xray.sources(row)
    if not sources:
        # A draft has no entry: there is a text of it, whoever wrote it.
        if teller.xray.compaction >= 0 and is_encrypted(teller.session, teller.xray.compaction):
            return [first, [("only the provider can tell what is in it", "faint")]]
        return [first, [("no source found", "warn"), (" in the summarised messages", "faint")]]
    best = sources[0]
    word = ROLE_WORDS.get(best.role) or (headline(teller.session, best.entry).word if best.entry >= 0 else "")
    second = [("from ", "faint"), (f"#{best.entry:,}", "warn"), (f" {word}   ", "faint")]
    quote = safe_line(bare(best.quote) or best.quote, LIMIT)
    if quote:
        second.append((f"{teller.glyphs.quote_open}{quote}{teller.glyphs.quote_close}", "sub"))
    second.append(("   ", "faint"))
    second.append((best.held.value, _HELD_INK.get(best.held, "sub")))
    if best.recorded:
        second.append((", recorded", "faint"))
    if len(sources) > 1:
        others = " ".join(f"#{source.entry:,}" for source in sources[1:4])
        second.append((f"   also {others}", "faint"))
    return [first, second]


def _about_message(
    teller: Teller, piece: Piece, side: Side, link: Link, fates: Fates | None
) -> list[list[tuple[str, str]]]:
    cell = piece.cell
    caption = teller.message(cell, Link.KEPT)
    first = [(_name(f"#{cell.entry:,}"), "faint"), (f"{caption.word}  ", "faint"), (caption.text, "text")]
    became = _became(link, side)
    if teller.xray.of_edits and link is Link.CUT:
        became = "left out by a context edit"
    elif teller.xray.of_edits and (cut := sum(teller.xray.rows[row].cut for row in piece.rows)):
        became = f"replaced by a context edit, which cuts {exact(cut)} tokens of it"
    second: list[tuple[str, str]] = [(became, "faint")]
    # The fate says the same as the note beside it.
    if caption.note and became == _became(link, side):
        second.append((f"   {caption.note}", "warn"))
    second += _fates(teller, piece, fates)
    return [first, second]


def _about_fold(
    teller: Teller, piece: Piece, side: Side, link: Link, fates: Fates | None
) -> list[list[tuple[str, str]]]:
    cells = [_of(teller, row, side) for row in piece.rows]
    entries = [cell.entry for cell in cells if cell is not None]
    caption = teller.piece(piece, link)
    text = caption.text.removeprefix(f"{teller.glyphs.folded} ")
    span = f"#{entries[0]:,} {teller.glyphs.dash} #{entries[-1]:,}" if entries else ""
    first = [
        (_name("folded"), "faint"),
        (text, "text"),
        (f"   {span}   {exact(piece.tokens)} tokens", "faint"),
    ]
    return [first, [(_became(link, side), "faint"), *_fates(teller, piece, fates)]]


def _of(teller: Teller, row: int, side: Side) -> Cell | None:
    found = teller.xray.rows[row]
    return found.before if side is Side.BEFORE else found.after


def _fates(teller: Teller, piece: Piece, fates: Fates | None) -> list[tuple[str, str]]:
    if fates is None:
        return []
    cells = (_of(teller, row, Side.BEFORE) for row in piece.rows)
    found = fates.at(cell.entry for cell in cells if cell is not None)
    if not found:
        return []
    lost = sum(1 for fate in found if fate.status is Status.LOST)
    alive = sum(1 for fate in found if fate.status in SURVIVED)
    words: list[tuple[str, str]] = [(f"   facts: {alive:,} of {len(found):,} survive", "sub")]
    if lost:
        gone = ("may be lost: the summary is encrypted", "sub") if fates.unreadable else ("lost", "warn")
        words.append((f"   {lost:,} {gone[0]}", gone[1]))
    return words


def _about_rest(cell: Cell, xray: XRay) -> list[list[tuple[str, str]]]:
    """The text about tokens that are not in the file, or about the estimation error."""
    name, why = "not in file", "system prompt, tools: from the first request, the same on both sides"
    share = next(share for share in xray.ledger if share.link is Link.REST)
    if xray.recorded and share.before != share.after:
        again = ", files added again" if xray.puts_files_in else ""
        why = f"system prompt, tools{again}: measured again on the first request after the compaction"
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
