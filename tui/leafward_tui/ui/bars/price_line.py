"""The line at the foot of the explorer: facts of the row, quietly the price of a move there; or the last outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment

from leafward.base.safe_text import safe_line
from leafward_tui.ui.messages import IntentPressed
from leafward_tui.ui.panes.painted import Painted
from leafward_tui.ui.services import services_of
from leafward_tui.ui.text.cells import fit, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.appearance.theme import Ground
    from leafward_tui.ui.words.price_words import PriceWords

Piece = tuple[str, str]
"""A text and the name of its ink."""
VALUES_FROM = 14
"""The cell that values begin at where there is room."""
NARROW = 100
_MOVE = "Move here"

# Most values below are named tuples: making a frozen dataclass takes eight times as long, and the first frame waits for it.


class Facts(NamedTuple):
    """The facts of a row: its name, then labels with their values, the most telling first."""

    name: str
    pairs: tuple[tuple[str, str], ...] = ()


class KeyHint(NamedTuple):
    """A key that helps, with its effect."""

    intent_id: str
    key: str
    words: str


class BarNote(NamedTuple):
    """One sentence instead of all else, such as an outcome, why a write was refused, or a number of hits."""

    text: str
    tone: str = ""
    """`leaf` for done, `warn`, `bad`; empty for a plain status."""
    keys: tuple[KeyHint, ...] = ()
    beneath: str = ""
    """One quiet line below the sentence, where there is room for one."""
    tail: str = ""
    """The end of the sentence, shown only where there is room for all of it: half a command is of no use."""


def price_lines(
    facts: Facts | None,
    price: PriceWords | None,
    note: BarNote | None,
    width: int,
    height: int,
    glyphs: Glyphs,
) -> list[list[Piece]]:
    """The lines to show, each exactly `width` cells. A note replaces everything else.

    The price stands below the facts; where it has warnings, they all stand there, and the price in brief beside the
    facts.
    """
    if width <= 2 or height <= 0:
        return [[(" " * max(0, width), "blank")] for _ in range(height)]
    lines: list[list[Piece]] = []
    if note is not None:
        lines = _note_lines(note, width, height, glyphs)
    elif facts is not None:
        brief = price if height < 2 or (price and price.warnings) else None
        lines = [_facts_line(facts, brief, width, glyphs, alone=height < 2)]
        if price is not None:
            lines.append(
                _warnings_line(price, width, glyphs) if price.warnings else _price_line(price, width)
            )
    lines = [_exactly(line, width, glyphs) for line in lines[:height]]
    return lines + [[(" " * width, "blank")] for _ in range(height - len(lines))]


# --- a row ------------------------------------------------------------------------------------------------------------


def _facts_line(
    facts: Facts, price: PriceWords | None, width: int, glyphs: Glyphs, *, alone: bool
) -> list[Piece]:
    """`Turn 51   entries 38   calls 18`; pairs that do not fit go from the right. A price stands at the right in brief.

    Pairs make room for the price. Where no line follows, its warnings stand in it: their sign alone says nothing.
    """
    gap = 5 if width >= 120 else 3 if width >= NARROW else 2
    name = fit(safe_line(facts.name), max(1, width // 2), ellipsis=glyphs.ellipsis)
    line: list[Piece] = [(" ", "blank"), (name, "strong")]
    used = 1 + cell_len(name)
    lead = max(VALUES_FROM - used, 3) if width >= NARROW else gap
    sign: list[Piece] = [(f"{glyphs.malformed} ", "strong_warn")] if price and price.warnings else []
    drops = price.brief if price is not None else ""
    if price is not None and alone:
        drops = fit(
            "; ".join((drops, *price.brief_warnings)),
            width - used - gap - length(sign) - 1,
            ellipsis=glyphs.ellipsis,
        )
    kept_free = gap + length(sign) + cell_len(f"move {drops}") if price is not None else 0
    for label, value in facts.pairs:
        label, value = safe_line(label), safe_line(value)
        taken = lead + cell_len(label) + bool(label) + cell_len(value)
        if used + taken > width - 1 - kept_free:
            break
        line += [(" " * lead, "blank"), (f"{label} " if label else "", "faint"), (value, "sub")]
        used += taken
        lead = gap
    if price is None:
        return line
    for words in (f"move here {drops}", f"move {drops}", drops):
        room = width - used - length(sign) - cell_len(words) - 1
        if room >= gap:
            return [*line, (" " * room, "blank"), *sign, (words, "faint")]
    return line


def _price_line(price: PriceWords, width: int) -> list[Piece]:
    """`Move here   drops 79 entries (7.3k tokens)   96.1k at full price`, as many parts as fit."""
    used = VALUES_FROM if width >= NARROW else len(_MOVE) + 4
    line: list[Piece] = [(f" {_MOVE}".ljust(used), "faint"), (price.parts[0], "faint")]
    used += cell_len(price.parts[0])
    for part in price.parts[1:]:
        used += 3 + cell_len(part)
        if used > width - 1:
            break
        line += [("   ", "blank"), (part, "faint")]
    return line


def _warnings_line(price: PriceWords, width: int, glyphs: Glyphs) -> list[Piece]:
    """The warnings, one after the other; where they are too long together, the last ones in few words."""
    line: list[Piece] = [(" ", "blank"), (glyphs.malformed, "strong_warn"), (" ", "blank")]
    texts, room = list(price.warnings), width - length(line) - 1
    for at in reversed(range(len(texts))):
        if cell_len("; ".join(texts)) > room:
            texts[at] = price.brief_warnings[at]
    return [*line, (fit("; ".join(texts), room, ellipsis=glyphs.ellipsis), "warn")]


def length(pieces: list[Piece]) -> int:
    """Cells that some pieces take."""
    return sum(cell_len(text) for text, _ in pieces)


def _note_lines(note: BarNote, width: int, height: int, glyphs: Glyphs) -> list[list[Piece]]:
    """A note on as few lines as it needs, its keys behind it."""
    sign = {"warn": glyphs.malformed, "bad": glyphs.malformed, "leaf": glyphs.ok}.get(note.tone, "")
    lead: list[Piece] = [(" ", "blank")]
    if sign:
        lead += [(sign, f"strong_{note.tone}"), (" ", "blank")]
    start = 1 + 2 * bool(sign)
    keys: list[Piece] = []
    for key in note.keys:
        keys += [("   ", "blank"), (key.key, "strong"), (f" {key.words}", "faint")]
    taken = length(keys)
    text = safe_line(note.text)
    room = max(1, width - start - 1)
    if _holds(whole := safe_line(note.text + note.tail), taken, room, height):
        text = whole
    if cell_len(text) + taken <= room or height < 2 or note.beneath:
        first = [*lead, (fit(text, max(1, room - taken), ellipsis=glyphs.ellipsis), "text"), *keys]
        beneath = fit(safe_line(note.beneath), room, ellipsis=glyphs.ellipsis)
        return [first, [(" " * start, "blank"), (beneath, "faint")]]
    broken = wrap(text, room, lines=height, ellipsis=glyphs.ellipsis)
    broken[-1] = fit(broken[-1], max(1, room - taken), ellipsis=glyphs.ellipsis)
    lines: list[list[Piece]] = [[(" " * start, "blank"), (part, "text")] for part in broken]
    lines[0][0:1] = lead
    lines[-1] += keys
    return lines


def _holds(text: str, keys: int, room: int, height: int) -> bool:
    """Whether a text and the cells of its keys fit into `height` lines of `room` cells."""
    lines = wrap(text, room)
    return len(lines) <= height and cell_len(lines[-1]) + keys <= room


def _exactly(pieces: list[Piece], width: int, glyphs: Glyphs) -> list[Piece]:
    """Pieces cut or padded to a line."""
    found: list[Piece] = []
    for text, ink in pieces:
        if not text:
            continue
        size = cell_len(text)
        if size > width:
            text = fit(text, width, ellipsis=glyphs.ellipsis)
            size = cell_len(text)
        if text:
            found.append((text, ink))
        width -= size
        if width <= 0:
            return found
    return [*found, (" " * width, "blank")]


class PriceLine(Painted):
    """One or two lines at the foot of the explorer. A key of a note can be clicked."""

    DEFAULT_CSS = "PriceLine { height: 2; width: 1fr; background: $lw-bg; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._facts: Facts | None = None
        self._price: PriceWords | None = None
        self._note: BarNote | None = None

    def show(self, facts: Facts | None, price: PriceWords | None = None) -> None:
        """Sets the facts of a row, and the price of a move there."""
        if (facts, price) != (self._facts, self._price):
            self._facts, self._price = facts, price
            self.refresh()

    def note(
        self,
        text: str,
        tone: str = "",
        keys: Sequence[KeyHint] = (),
        beneath: str = "",
        tail: str = "",
    ) -> None:
        """Shows a note instead of the facts and the price; an empty text ends it. Intents without a key are left out."""
        offers = tuple(key for key in keys if key.key)
        note = BarNote(text, tone, offers, beneath, tail) if text else None
        if note != self._note:
            self._note = note
            self.refresh()

    def pieces(self, y: int, width: int, ground: Ground) -> list[Segment]:
        """One of the lines."""
        glyphs = services_of(self).glyphs
        lines = price_lines(self._facts, self._price, self._note, width, self.size.height, glyphs)
        return _segments(lines[y], ground) if y < len(lines) else []

    def on_click(self, event: events.Click) -> None:
        """Runs the key of a note that was clicked."""
        if self._note is None:
            return
        width, height = self.size
        lines = price_lines(None, None, self._note, width, height, services_of(self).glyphs)
        keys = iter(self._note.keys)
        x = 0
        for text, ink in lines[event.y] if event.y < len(lines) else ():
            key = next(keys, None) if ink == "strong" else None
            if key is not None and x <= event.x < x + cell_len(f"{key.key} {key.words}"):
                self.post_message(IntentPressed(key.intent_id))
            x += cell_len(text)


def _segments(pieces: list[Piece], ground: Ground) -> list[Segment]:
    return [Segment(text, getattr(ground, ink)) for text, ink in pieces]
