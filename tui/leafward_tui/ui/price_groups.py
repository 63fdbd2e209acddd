"""The price of a move as groups on a line: as much as fits of what is left, entered, sent again and changed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.base.safe_text import safe_line
from leafward_tui.ui.cells import cell_len, count, counted, fit, money
from leafward_tui.ui.glyphs import UNICODE

if TYPE_CHECKING:
    from leafward.context.price import Price
    from leafward_tui.ui.glyphs import Glyphs

__all__ = ["NARROW", "VALUES_FROM", "Piece", "Quote", "length", "quote_lines"]

Piece = tuple[str, str]
"""A text and the name of its ink."""

VALUES_FROM = 14
"""The cell that values begin at where there is room."""
NARROW = 100
NARROWEST = 80
"""Below: drops, adds and context only."""


# Named tuples: making a frozen dataclass takes eight times as long, and the first frame waits for it.


class Quote(NamedTuple):
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
    signs: tuple[str, str] = ("", "")
    """`~` in front of `before` and `after` where no provider counted them."""
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
            (price.before.sign, price.after.sign),
        )


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


def quote_lines(quote: Quote, width: int, height: int, glyphs: Glyphs) -> list[list[Piece]]:
    """The price, and below it the first surprise where there is a row for one."""
    forms = _WIDE_FORMS if width >= NARROW else _NARROW_FORMS if width >= NARROWEST else _NARROWEST_FORMS
    warned = bool(quote.surprises) and height < 2
    # Where it is narrow, the free cell at the edge is given up before a group is.
    fitting = (form for form in forms if _least(quote, form, glyphs) <= width - form.verb)
    first = _quote_line(quote, next(fitting, forms[-1]), width, glyphs, warned=warned)
    if height < 2 or not quote.surprises:
        return [first]
    start = VALUES_FROM if width >= NARROW else cell_len(quote.short_verb) + 3
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
    return max(VALUES_FROM, cell_len(quote.verb) + 4) if form.verb else cell_len(quote.short_verb) + 3


def _least(quote: Quote, form: _Form, glyphs: Glyphs) -> int:
    """The cells of a form with the smallest gaps, those kept for numbers to come included."""
    groups = _groups(quote, form, glyphs)
    cells = sum(max(cells, length(group)) for group, cells in groups)
    return _values_from(quote, form) + cells + form.gap * (len(groups) - 1)


def _quote_line(quote: Quote, form: _Form, width: int, glyphs: Glyphs, *, warned: bool) -> list[Piece]:
    verb = quote.verb if form.verb else quote.short_verb
    # The sign takes a cell of the gap behind the verb, so that the values keep their places.
    sign = f"{glyphs.malformed} " if warned else " "
    line: list[Piece] = [(sign, "strong_warn"), (verb, "strong_ghost")]
    line.append((" " * (_values_from(quote, form) - len(sign) - cell_len(verb)), "blank"))
    groups = _groups(quote, form, glyphs)
    spare = (width - 1 - _least(quote, form, glyphs)) // (len(groups) - 1)
    gap = form.gap + max(0, min(spare, 2)) if form.verb else form.gap
    for number, (group, cells) in enumerate(groups):
        line += group
        if number < len(groups) - 1:
            line.append((" " * (max(0, cells - length(group)) + gap), "blank"))
    return line


def length(pieces: list[Piece]) -> int:
    """Cells that some pieces take."""
    return sum(cell_len(text) for text, _ in pieces)


def _groups(quote: Quote, form: _Form, glyphs: Glyphs) -> list[tuple[list[Piece], int]]:
    """The groups of a form, each with the cells that it has at least."""
    groups = [
        _side("drops", "warn", quote.left, quote.left_tokens, form, glyphs),
        _side("adds", "ghost", quote.entered, quote.entered_tokens, form, glyphs),
    ]
    if form.context:
        before, after = (
            f"{sign}{_tokens(size, glyphs)}"
            for sign, size in zip(quote.signs, (quote.before, quote.after), strict=True)
        )
        before = f"{before:5}"
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
    label: str, hue: str, entries: int, tokens: int | None, form: _Form, glyphs: Glyphs
) -> tuple[list[Piece], int]:
    """`drops 79 entries (7.3k)`."""
    pieces: list[Piece] = [(f"{label} ", hue if entries else "faint")]
    cells = len(label) + 1
    if not entries:
        pieces.append((glyphs.zero, "edge"))
    else:
        pieces.append((counted(entries, "entry", "entries") if form.entries else f"{entries:,}", "text"))
    cells += 10 if form.entries else 3
    if form.tokens:
        cells += 3 + 5
        if entries and tokens is not None:
            pieces.append((f" ({_tokens(tokens, glyphs)})", "sub"))
    return pieces, cells


def _files(quote: Quote, form: _Form, glyphs: Glyphs) -> tuple[list[Piece], int]:
    """`files −1 +2  5 change`."""
    pieces: list[Piece] = [("files ", "faint")]
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
