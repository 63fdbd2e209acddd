"""The price line: what a proposed move would leave, enter and cost; else facts of the row, or what just happened.

Groups keep their places while the cursor moves and while numbers come in: each has the cells that its usual values need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from leafward.safe_text import safe_line
from leafward_tui.cells import cell_len, count, counted, fit, money, wrap
from leafward_tui.glyphs import UNICODE
from leafward_tui.messages import IntentPressed
from leafward_tui.shell import shell_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from leafward.price import Price
    from leafward_tui.glyphs import Glyphs
    from leafward_tui.theme import Ground

__all__ = ["Facts", "KeyHint", "Note", "PriceLine", "Quote", "price_lines"]

# Most values below are named tuples: making a frozen dataclass takes eight times as long, and the first frame waits for it.

_Piece = tuple[str, str]
"""A text and the name of its ink."""

_VALUES_FROM = 14
"""The cell that values begin at where there is room."""
_NARROW = 100
_NARROWEST = 80
"""Below: leave, enter and context only."""


@dataclass(frozen=True, slots=True)
class Quote:
    """The price of a move as far as it is known. What is None is still being worked out."""

    left: int
    """Entries, bookkeeping not counted."""
    entered: int
    left_tokens: int | None = None
    entered_tokens: int | None = None
    before: int | None = None
    """The context now, in tokens."""
    after: int | None = None
    cached: int | None = None
    again: int | None = None
    cost: float | None = None
    """US dollars for what is sent again. Stays None where no rate is known."""
    files_left: int | None = None
    files_entered: int | None = None
    files_changed: int | None = None
    surprises: tuple[str, ...] = ()
    verb: str = "Move here"
    short_verb: str = "Move"

    @classmethod
    def of(cls, price: Price) -> Quote:
        """All of a price."""
        return cls(
            price.left.entries,
            price.entered.entries,
            price.left.tokens,
            price.entered.tokens,
            price.before.total,
            price.after.total,
            price.cached,
            price.sent_again,
            price.cost_again,
            len(price.files_left),
            len(price.files_entered),
            len(price.files_changed),
            tuple(text for _, text in price.surprises),
        )


class Facts(NamedTuple):
    """Where no move is proposed: a name, then labels with their values, the most telling first."""

    name: str
    pairs: tuple[tuple[str, str], ...] = ()


class KeyHint(NamedTuple):
    """A key that helps, and what it does."""

    intent_id: str
    key: str
    words: str


class Note(NamedTuple):
    """One sentence instead of all else: what happened, why a write was refused, how many hits there are."""

    text: str
    tone: str = ""
    """`leaf` for done, `warn`, `bad`; empty for a plain status."""
    keys: tuple[KeyHint, ...] = ()
    beneath: str = ""
    """One quiet line below the sentence, where there is room for one."""


def price_lines(
    value: Quote | Facts | None, note: Note | None, width: int, height: int, glyphs: Glyphs
) -> list[list[_Piece]]:
    """The lines to show, each exactly `width` cells. A note stands in front of everything."""
    if width <= 2 or height <= 0:
        return [[(" " * max(0, width), "blank")] for _ in range(height)]
    if note is not None:
        lines = _note_lines(note, width, height, glyphs)
    elif isinstance(value, Quote):
        lines = _quote_lines(value, width, height, glyphs)
    elif isinstance(value, Facts):
        lines = [_facts_line(value, width, glyphs)]
    else:
        lines = []
    lines = [_exactly(line, width, glyphs) for line in lines[:height]]
    return lines + [[(" " * width, "blank")] for _ in range(height - len(lines))]


# --- a move -----------------------------------------------------------------------------------------------------------


class _Form(NamedTuple):
    """How much is said: `price_lines` takes the first form that fits."""

    entries: bool = True
    """The word."""
    tokens: bool = True
    changed: bool = True
    cost: bool = True
    files: bool = True
    cached: bool = True
    again: bool = True
    context: bool = False
    verb: bool = True
    """The long one."""
    gap: int = 3


_FULL = _Form()
_BRIEF = _Form(entries=False, tokens=False, changed=False, verb=False, gap=2)
_LEAST = _BRIEF._replace(cost=False, files=False, cached=False, again=False, context=True)
_WIDE_FORMS = (
    _FULL,
    _FULL._replace(entries=False),
    _FULL._replace(entries=False, tokens=False),
    _FULL._replace(entries=False, tokens=False, changed=False),
    _BRIEF,
    _BRIEF._replace(files=False),
    _LEAST,
    _LEAST._replace(context=False),
)
_NARROW_FORMS = _WIDE_FORMS[4:]
_NARROWEST_FORMS = _WIDE_FORMS[6:]


def _quote_lines(quote: Quote, width: int, height: int, glyphs: Glyphs) -> list[list[_Piece]]:
    forms = _WIDE_FORMS if width >= _NARROW else _NARROW_FORMS if width >= _NARROWEST else _NARROWEST_FORMS
    warned = bool(quote.surprises) and height < 2
    # Where it is narrow, the free cell at the edge is given up before a group is.
    fitting = (form for form in forms if _least(quote, form, glyphs) <= width - form.verb)
    first = _quote_line(quote, next(fitting, forms[-1]), width, glyphs, warned=warned)
    if height < 2 or not quote.surprises:
        return [first]
    start = _VALUES_FROM if width >= _NARROW else cell_len(quote.short_verb) + 3
    behind = len(quote.surprises) - 1
    more = f"   {behind} more" if behind else ""
    room = width - start - 1 - len(more)
    text = fit(
        safe_line(quote.surprises[0]).replace(UNICODE.arrow, glyphs.arrow), room, ellipsis=glyphs.ellipsis
    )
    return [
        first,
        [
            (" ", "blank"),
            (glyphs.malformed, "strong_warn"),
            (" " * (start - 2), "blank"),
            (text, "warn"),
            (more, "sub"),
        ],
    ]


def _values_from(quote: Quote, form: _Form) -> int:
    """The cell that the first group begins at."""
    return max(_VALUES_FROM, cell_len(quote.verb) + 4) if form.verb else cell_len(quote.short_verb) + 3


def _least(quote: Quote, form: _Form, glyphs: Glyphs) -> int:
    """The cells of a form with the smallest gaps, those kept for numbers to come included."""
    groups = _groups(quote, form, glyphs)
    cells = sum(max(cells, _length(group)) for group, cells in groups)
    return _values_from(quote, form) + cells + form.gap * (len(groups) - 1)


def _quote_line(quote: Quote, form: _Form, width: int, glyphs: Glyphs, *, warned: bool) -> list[_Piece]:
    verb = quote.verb if form.verb else quote.short_verb
    # The sign takes a cell of the gap behind the verb, so that the values keep their places.
    sign = f"{glyphs.malformed} " if warned else " "
    line: list[_Piece] = [(sign, "strong_warn"), (verb, "strong_ghost")]
    line.append((" " * (_values_from(quote, form) - len(sign) - cell_len(verb)), "blank"))
    groups = _groups(quote, form, glyphs)
    spare = (width - 1 - _least(quote, form, glyphs)) // (len(groups) - 1)
    gap = form.gap + max(0, min(spare, 2)) if form.verb else form.gap
    for number, (group, cells) in enumerate(groups):
        line += group
        if number < len(groups) - 1:
            line.append((" " * (max(0, cells - _length(group)) + gap), "blank"))
    return line


def _length(pieces: list[_Piece]) -> int:
    return sum(cell_len(text) for text, _ in pieces)


def _groups(quote: Quote, form: _Form, glyphs: Glyphs) -> list[tuple[list[_Piece], int]]:
    """The groups of a form, each with the cells that it has at least."""
    groups = [
        _side("leave", glyphs.left, "warn", quote.left, quote.left_tokens, form, glyphs),
        _side("enter", glyphs.entered, "ghost", quote.entered, quote.entered_tokens, form, glyphs),
    ]
    if form.context:
        before, after = f"{_tokens(quote.before, glyphs):5}", _tokens(quote.after, glyphs)
        pieces = [("context ", "faint"), (before, "sub"), (f" {glyphs.arrow} ", "faint"), (after, "strong")]
        groups.append((pieces, 8 + 5 + 3 + 6))
    if form.cached:
        groups.append(
            ([("cached ", "faint"), (_tokens(quote.cached, glyphs), "text")], 7 + (5 if form.verb else 4))
        )
    if form.again:
        pieces = [("sent again ", "faint"), (_tokens(quote.again, glyphs), "text")]
        cells = 11 + 5
        if form.cost:
            gap = "  " if form.verb else " "
            cells += len(gap) + 7
            if quote.cost is not None and quote.again:
                price = money(quote.cost, zero=glyphs.zero)
                pieces += [(f"{gap}{glyphs.about} ", "faint"), (price, "sub")]
        groups.append((pieces, cells))
    if form.files:
        groups.append(_files(quote, form, glyphs))
    return groups


def _side(
    label: str, sign: str, hue: str, entries: int, tokens: int | None, form: _Form, glyphs: Glyphs
) -> tuple[list[_Piece], int]:
    """`leave − 79 entries  7.3k`."""
    pieces: list[_Piece] = [(f"{label} ", "faint")]
    cells = len(label) + 1
    if not entries:
        pieces.append((glyphs.zero, "edge"))
    elif form.entries:
        pieces += [(f"{sign} ", hue), (counted(entries, "entry", "entries"), "text")]
    else:
        pieces += [(sign, hue), (f"{entries:,}", "text")]
    cells += 12 if form.entries else 3
    if form.tokens:
        cells += 2 + 5
        if entries and tokens is not None:
            pieces.append((f"  {_tokens(tokens, glyphs)}", "sub"))
    return pieces, cells


def _files(quote: Quote, form: _Form, glyphs: Glyphs) -> tuple[list[_Piece], int]:
    """`files −1 +2  5 change`."""
    pieces: list[_Piece] = [("files ", "faint")]
    cells = 6 + 5 + (2 + 8 if form.changed else 0)
    left, entered, changed = quote.files_left, quote.files_entered, quote.files_changed
    if left is None or entered is None or changed is None:
        return pieces, cells
    words = [f"{glyphs.minus}{left}"] * bool(left) + [f"+{entered}"] * bool(entered)
    if words:
        pieces.append((" ".join(words), "text"))
    if form.changed and changed:
        pieces.append((("  " if words else "") + f"{changed} change", "sub"))
    elif not words:
        pieces.append((f"{changed} change", "sub") if changed else (glyphs.zero, "edge"))
    return pieces, cells


def _tokens(number: int | None, glyphs: Glyphs) -> str:
    return count(number, zero=glyphs.zero) or " " * 4


# --- no move ----------------------------------------------------------------------------------------------------------


def _facts_line(facts: Facts, width: int, glyphs: Glyphs) -> list[_Piece]:
    """`Turn 51   entries 38   calls 18`; pairs that do not fit go from the right."""
    gap = 5 if width >= 120 else 3 if width >= _NARROW else 2
    name = fit(safe_line(facts.name), max(1, width // 2), ellipsis=glyphs.ellipsis)
    line: list[_Piece] = [(" ", "blank"), (name, "strong")]
    used = 1 + cell_len(name)
    lead = max(_VALUES_FROM - used, 3) if width >= _NARROW else gap
    for label, value in facts.pairs:
        label, value = safe_line(label), safe_line(value)
        taken = lead + cell_len(label) + bool(label) + cell_len(value)
        if used + taken > width - 1:
            break
        line += [(" " * lead, "blank"), (f"{label} " if label else "", "faint"), (value, "sub")]
        used += taken
        lead = gap
    return line


def _note_lines(note: Note, width: int, height: int, glyphs: Glyphs) -> list[list[_Piece]]:
    """A note on as few lines as it needs, its keys behind it."""
    sign = {"warn": glyphs.malformed, "bad": glyphs.malformed, "leaf": glyphs.ok}.get(note.tone, "")
    lead: list[_Piece] = [(" ", "blank")]
    if sign:
        lead += [(sign, f"strong_{note.tone}"), (" ", "blank")]
    start = 1 + 2 * bool(sign)
    keys: list[_Piece] = []
    for key in note.keys:
        keys += [("   ", "blank"), (key.key, "strong"), (f" {key.words}", "faint")]
    taken = _length(keys)
    text = safe_line(note.text)
    room = max(1, width - start - 1)
    if cell_len(text) + taken <= room or height < 2 or note.beneath:
        first = [*lead, (fit(text, max(1, room - taken), ellipsis=glyphs.ellipsis), "text"), *keys]
        return [first, [(" " * start, "blank"), (fit(safe_line(note.beneath), room), "faint")]]
    broken = wrap(text, room, lines=height, ellipsis=glyphs.ellipsis)
    broken[-1] = fit(broken[-1], max(1, room - taken), ellipsis=glyphs.ellipsis)
    lines: list[list[_Piece]] = [[(" " * start, "blank"), (part, "text")] for part in broken]
    lines[0][0:1] = lead
    lines[-1] += keys
    return lines


def _exactly(pieces: list[_Piece], width: int, glyphs: Glyphs) -> list[_Piece]:
    """Pieces cut or padded to a line."""
    found: list[_Piece] = []
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


class PriceLine(Widget):
    """One or two lines at the foot of the explorer. A key of a note can be clicked."""

    DEFAULT_CSS = "PriceLine { height: 2; width: 1fr; background: $lw-bg; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # Textual's own name
        super().__init__(id=id)
        self._value: Quote | Facts | None = None
        self._note: Note | None = None

    @property
    def value(self) -> Quote | Facts | None:
        """What stands here when there is no note."""
        return self._value

    def show(self, value: Quote | Facts | None) -> None:
        """Sets the price of a move, or facts of a row."""
        if value != self._value:
            self._value = value
            self.refresh()

    def note(self, text: str | None, tone: str = "", keys: Sequence[KeyHint] = (), beneath: str = "") -> None:
        """Says something instead, until it is called with None."""
        note = Note(text, tone, tuple(keys), beneath) if text is not None else None
        if note != self._note:
            self._note = note
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One of the lines."""
        shell = shell_of(self)
        ground = shell.styles_now.bg
        width, height = self.size
        lines = price_lines(self._value, self._note, width, height, shell.glyphs)
        if y >= len(lines):
            return Strip.blank(width, ground.blank)
        return Strip(_segments(lines[y], ground)).adjust_cell_length(width, ground.blank)

    def on_click(self, event: events.Click) -> None:
        """Runs the key of a note that was clicked."""
        if self._note is None:
            return
        lines = price_lines(None, self._note, self.size.width, self.size.height, shell_of(self).glyphs)
        keys = iter(self._note.keys)
        x = 0
        for text, ink in lines[event.y] if event.y < len(lines) else ():
            key = next(keys, None) if ink == "strong" else None
            if key is not None and x <= event.x < x + cell_len(f"{key.key} {key.words}"):
                self.post_message(IntentPressed(key.intent_id))
            x += cell_len(text)


def _segments(pieces: list[_Piece], ground: Ground) -> list[Segment]:
    return [Segment(text, getattr(ground, ink)) for text, ink in pieces]
