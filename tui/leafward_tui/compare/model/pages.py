"""The tabs Context and Outcome of two branches, as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward_tui.compare.model.captions import last_words
from leafward_tui.compare.model.files import HUES
from leafward_tui.ui.panes.page import Span
from leafward_tui.ui.panes.pane_lines import Block, LabLine, blanks, spread
from leafward_tui.ui.text.cells import count, exact, fit, money, right, wrap
from leafward_tui.ui.words.message_words import message_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.branches.diff.contexts import ContextDifference
    from leafward.branches.diff.sides import Side
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session
    from leafward_tui.compare.model.captions import CarriedSummary, Overall
    from leafward_tui.ui.appearance.glyphs import Glyphs

_WORDS = {"not_in_file": "not in file", "error": "estimation error"}
_SHORT_ERROR = "est. error"
"""The head of the column of estimation errors where the whole one has no room."""


# --- the tab Context --------------------------------------------------------------------------------------------------


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
) -> Block:
    """Ledgers of both, the reason why no more is shared, and the messages in their order."""
    contexts = overall.contexts
    lines = [
        spread(
            (
                Span("Shared prefix", "strong"),
                Span(
                    f"   {counted(contexts.prefix, 'message')}  {count(contexts.prefix_tokens, zero='0')} tokens",
                    "sub",
                ),
            ),
            (Span("reusable from the prompt cache", "faint"),) if width >= 90 and contexts.same_model else (),
            width,
        )
    ]
    lines += [
        LabLine((Span(f"  {fit(why, width - 2, ellipsis=glyphs.ellipsis)}", "sub"),)) for why in contexts.why
    ]
    a, b = contexts.ledgers
    unsent = ("unsent",) if a.unsent or b.unsent else ()
    names = ("system", "summary", "kept", "after", "not_in_file", "error", *unsent, "total")
    compacted = any(one.summary or one.kept for one in (a, b))
    titles = ["messages" if name == "after" and not compacted else _WORDS.get(name, name) for name in names]
    # Two cells lie between columns; where that is too wide, the error has a shorter title, then one cell lies there.
    cells = [max(9, cell_len(title) + 2) for title in titles]
    if sum(cells) > width - 3:
        titles[names.index("error")] = _SHORT_ERROR
        cells = [max(9, cell_len(title) + 2) for title in titles]
    if sum(cells) > width - 3:
        figures = [max(len(exact(getattr(one, name))) for one in (a, b)) for name in names]
        cells = [max(cell_len(title), figure) + 1 for title, figure in zip(titles, figures, strict=True)]
    if (spare := width - 3 - sum(cells)) > 0:
        cells = [max(one, min(13, one + spare // len(cells))) for one in cells]
    lines += [
        LabLine(),
        LabLine(
            (
                blanks(3),
                *(Span(right(title, cell), "faint") for title, cell in zip(titles, cells, strict=True)),
            )
        ),
    ]
    for letter, ledger in (("A", a), ("B", b)):
        amounts = [getattr(ledger, name) for name in names]
        spans = [
            Span(
                right(exact(amount).replace("-", glyphs.minus) if amount else glyphs.zero, cell),
                "strong" if name == "total" else "text" if amount else "edge",
            )
            for name, amount, cell in zip(names, amounts, cells, strict=True)
        ]
        lines.append(LabLine((Span(f"{letter}  ", f"strong_{HUES[letter]}"), *spans)))
    lines.append(LabLine())
    if messages is None:
        lines.append(LabLine((Span("reading the messages", "nothing"),)))
        return Block(lines)
    kind = _LONG_WORD if width >= _WIDE else _WORD
    for number, one in enumerate(messages):
        ink = f"strong_{HUES[one.letter]}" if one.letter else "faint"
        sign = one.letter or glyphs.same
        word = fit(one.word, kind, pad=True, ellipsis=glyphs.ellipsis)
        tokens = right(count(one.tokens), 8)
        text = fit(one.text, max(4, width - 13 - kind), pad=True, ellipsis=glyphs.ellipsis)
        lines.append(
            LabLine(
                (
                    Span(f"{sign}  ", ink),
                    Span(f"{word} ", "faint"),
                    Span(text, "sub" if not one.letter else "text"),
                    Span(tokens, "sub"),
                ),
                f"message:{number}",
                one.entry,
            )
        )
    return Block(lines)


# --- the tab Outcome --------------------------------------------------------------------------------------------------


def outcome_page(
    overall: Overall, width: int, glyphs: Glyphs, carried: Sequence[CarriedSummary] = ()
) -> Block:
    """Outcomes of both, one row for each figure, without judging the better one; below them all carried summaries."""
    sides = overall.sides
    both = (sides.a, sides.b)
    name = 24
    cells = max(14, min(34, (width - name) // 2))
    lines = [
        LabLine(
            (
                blanks(name),
                *(Span(right(letter, cells), f"strong_{HUES[letter]}") for letter in "AB"),
            )
        )
    ]
    for title, left, other in figures(both, glyphs):
        inks = [
            "edge" if figure == glyphs.zero else "bad" if figure.startswith(glyphs.error) else "text"
            for figure in (left, other)
        ]
        lines.append(
            LabLine(
                (
                    Span(fit(title, name, pad=True), "faint"),
                    Span(right(left, cells), inks[0]),
                    Span(right(other, cells), inks[1]),
                ),
                f"figure:{title}",
            )
        )
    for letter, side in (("A", sides.a), ("B", sides.b)):
        lines += [
            LabLine(),
            LabLine((Span(f"{letter}  ", f"strong_{HUES[letter]}"), Span("ends with", "faint"))),
        ]
        words = last_words(side, 2_000)
        for text in wrap(words, width - 3, lines=4, ellipsis=glyphs.ellipsis):
            lines.append(LabLine((blanks(3), Span(text, "text")), f"last:{letter}", side.outcomes.last_reply))
    for one in carried:
        other = "A" if one.holder == "B" else "B"
        lines += [
            LabLine(),
            LabLine((Span(f"{one.holder}  ", f"strong_{HUES[one.holder]}"), Span("carries", "faint"))),
        ]
        words = f"summary of {other}, {counted(one.stands_for, 'entry', 'entries')}"
        rows = [(glyphs.branch_summary, "memory", words)]
        room = width - 3 - cell_len(_LACKING)
        rows += [
            (glyphs.error, "bad", fit(fact, room, ellipsis=glyphs.ellipsis) + _LACKING)
            for fact in one.missing
        ]
        lines += [
            LabLine(
                (Span(f"{sign}  ", ink), Span(fit(text, width - 3, ellipsis=glyphs.ellipsis), "text")),
                f"carried:{one.entry}:{number}",
                one.entry,
            )
            for number, (sign, ink, text) in enumerate(rows)
        ]
    return Block(lines)


_LACKING = " is not in it"


def figures(both: tuple[Side, Side], glyphs: Glyphs) -> list[tuple[str, str, str]]:
    """A title, and the values of A and of B."""
    a, b = both
    checks = [one.check for side in both for one in side.outcomes.checks]
    rows = []
    for check in dict.fromkeys(checks):
        results = []
        for side in both:
            one = next((one for one in side.outcomes.checks if one.check is check), None)
            sign = glyphs.ok if one is not None and one.ok else glyphs.error
            results.append(
                "not run"
                if one is None
                else f"{sign} {'ok' if one.ok else 'failed'}, {counted(one.runs, 'run')}"
                + (f", {one.failed:,} failed" if one.failed and one.runs > 1 else "")
            )
        rows.append((check.value, *results))

    def numbers(title: str, take: Callable[[Side], int | None]) -> tuple[str, str, str]:
        results = [take(side) for side in both]
        return title, *(
            glyphs.zero if one == 0 else "not known" if one is None else exact(one) for one in results
        )  # type: ignore[return-value]  # two of them

    stopped = any(side.outcomes.aborted for side in both)
    rows += [
        numbers("commands", lambda side: side.outcomes.commands),
        numbers("failed commands", lambda side: side.outcomes.failed_commands),
        numbers("errors", lambda side: side.outcomes.errors),
        numbers("tool calls", lambda side: side.outcomes.calls),
        numbers("replies", lambda side: side.outcomes.replies),
        numbers("turns", lambda side: side.turns),
        numbers("changes of files", lambda side: side.edits),
        numbers("entries", lambda side: len(side.entries)),
        *([numbers("aborted", lambda side: side.outcomes.aborted)] if stopped else []),
        numbers("tokens of all requests", lambda side: side.outcomes.usage.total),
        numbers("output tokens", lambda side: side.outcomes.usage.output),
    ]
    costs = [
        money(side.outcomes.usage.cost, zero="$0") if side.outcomes.costs_known else "not in file"
        for side in (a, b)
    ]
    spans = [lasted(side.outcomes.seconds) if side.spoken else glyphs.zero for side in (a, b)]
    return [*rows, ("cost", costs[0], costs[1]), ("duration", spans[0], spans[1])]  # type: ignore[list-item]  # each is three texts


def lasted(seconds: float | None) -> str:
    """A span of time in words."""
    if seconds is None:
        return "not known"
    minutes = seconds / 60
    if seconds < 120:
        return f"{seconds:.0f} s"
    if minutes < 120:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.1f} h" if minutes < 48 * 60 else f"{minutes / 1440:.1f} days"
