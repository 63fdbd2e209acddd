"""The tab Context of two branches, as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward_tui.compare.model.files import HUES
from leafward_tui.ui.panes.pane_lines import Block, LazyLines, SpanLine, blanks, spread
from leafward_tui.ui.text.cells import count, exact, fit, right
from leafward_tui.ui.text.spans import Span
from leafward_tui.ui.words.message_words import message_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.branches.diff.contexts import ContextDifference
    from leafward.context.model_context import Ledger
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session
    from leafward_tui.compare.model.compared_sides import Overall
    from leafward_tui.ui.appearance.glyphs import Glyphs

_WORDS = {"not_in_file": "not in file", "error": "estimation error"}
_SHORT_ERROR = "est. error"
"""The head of the column of estimation errors where the whole one has no room."""


class MessageRow(NamedTuple):
    """A message of one or both contexts, as a row."""

    letter: str
    """`A`, `B`, or empty for both."""
    word: str
    """Its kind as in the tree; of a result, the tool."""
    tokens: int
    text: str
    entry: EntryIndex


def spoken(session: Session, contexts: ContextDifference, stop: Callable[[], bool]) -> list[MessageRow]:
    """The messages of both contexts in words. Decodes each once."""
    found = []
    for row in contexts.rows:
        if stop():
            break
        one = row.a or row.b
        if one is None:
            continue
        letter = "" if row.same else "A" if row.a is not None else "B"
        word, text = message_words(session, one)
        found.append(MessageRow(letter, word, one.tokens, text, one.entry))
    return found


_WORD, _LONG_WORD = 9, 13
"""Cells of a message's word, and where there is room for the names of most tools."""
_WIDE = 110


def context_page(
    overall: Overall, messages: Sequence[MessageRow] | None, width: int, glyphs: Glyphs
) -> Block | LazyLines:
    """Ledgers of both, the reason why no more is shared, and the messages in their order; None: they are still read."""
    contexts = overall.contexts
    head = [
        *_prefix_lines(contexts, width, glyphs),
        SpanLine(),
        *_ledger_lines(contexts, width, glyphs),
        SpanLine(),
    ]
    if messages is None:
        return Block([*head, SpanLine((Span("reading the messages", "nothing"),))])

    def line(y: int) -> SpanLine:
        at = y - len(head)
        return head[y] if at < 0 else _message_line(at, messages[at], width, glyphs)

    places = {f"message:{number}": len(head) + number for number in range(len(messages))}
    return LazyLines(len(head) + len(messages), line, places)


def _prefix_lines(contexts: ContextDifference, width: int, glyphs: Glyphs) -> list[SpanLine]:
    """The prefix that both share, and why it ends there."""
    shared = f"{counted(contexts.prefix, 'message')}  {count(contexts.prefix_tokens, zero='0')} tokens"
    use = (Span("reusable from the prompt cache", "faint"),) if width >= 90 and contexts.same_model else ()
    return [
        spread((Span("Shared prefix", "strong"), Span(f"   {shared}", "sub")), use, width),
        *(
            SpanLine((Span(f"  {fit(why, width - 2, ellipsis=glyphs.ellipsis)}", "sub"),))
            for why in contexts.why
        ),
    ]


def _ledger_lines(contexts: ContextDifference, width: int, glyphs: Glyphs) -> Iterator[SpanLine]:
    """A head, and the ledgers of A and B below it."""
    a, b = contexts.ledgers
    unsent = ("unsent",) if a.unsent or b.unsent else ()
    names = ("system", "summary", "kept", "after", "not_in_file", "error", *unsent, "total")
    columns = _columns((a, b), names, width - 3)
    yield SpanLine((blanks(3), *(Span(right(title, cell), "faint") for title, cell in columns)))
    for letter, ledger in (("A", a), ("B", b)):
        spans = [
            Span(
                right(_figure(ledger, name).replace("-", glyphs.minus) or glyphs.zero, cell),
                "strong" if name == "total" else "text" if getattr(ledger, name) else "edge",
            )
            for name, (_, cell) in zip(names, columns, strict=True)
        ]
        yield SpanLine((Span(f"{letter}  ", f"strong_{HUES[letter]}"), *spans))


def _figure(ledger: Ledger, name: str) -> str:
    """A part of a ledger, or its total with `~` where no provider counted it; empty for zero."""
    amount: int = getattr(ledger, name)
    sign = "~" if name == "total" and not ledger.recorded else ""
    return f"{sign}{exact(amount)}" if amount else ""


def _columns(ledgers: tuple[Ledger, Ledger], names: Sequence[str], width: int) -> list[tuple[str, int]]:
    """Title and cells of each column of the ledgers, within `width` cells.

    Two cells lie between columns; where that is too wide, the error has a shorter title, then one cell lies there.
    """
    compacted = any(one.summary or one.kept for one in ledgers)
    titles = ["messages" if name == "after" and not compacted else _WORDS.get(name, name) for name in names]
    cells = [max(9, cell_len(title) + 2) for title in titles]
    if sum(cells) > width:
        titles[names.index("error")] = _SHORT_ERROR
        cells = [max(9, cell_len(title) + 2) for title in titles]
    if sum(cells) > width:
        figures = [max(len(_figure(one, name)) for one in ledgers) for name in names]
        cells = [max(cell_len(title), figure) + 1 for title, figure in zip(titles, figures, strict=True)]
    if (spare := width - sum(cells)) > 0:
        cells = [max(one, min(13, one + spare // len(cells))) for one in cells]
    return list(zip(titles, cells, strict=True))


def _message_line(number: int, one: MessageRow, width: int, glyphs: Glyphs) -> SpanLine:
    kind = _LONG_WORD if width >= _WIDE else _WORD
    sign = Span(f"{one.letter or glyphs.same}  ", f"strong_{HUES[one.letter]}" if one.letter else "faint")
    word = Span(f"{fit(one.word, kind, pad=True, ellipsis=glyphs.ellipsis)} ", "faint")
    text = fit(one.text, max(4, width - 13 - kind), pad=True, ellipsis=glyphs.ellipsis)
    spans = (
        sign,
        word,
        Span(text, "text" if one.letter else "sub"),
        Span(right(count(one.tokens), 8), "sub"),
    )
    return SpanLine(spans, f"message:{number}", one.entry)
