"""The verb `select`: the entries that a query matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted, short
from leafward.cli.output.entry_ids import shown_ids
from leafward.cli.output.entry_json import entry_facts
from leafward.cli.output.page import cells, emit_json, note, pad, page, say
from leafward.cli.queries import chosen_entries
from leafward.cli.selection import opened
from leafward.context.entry_metrics import EntryMetrics
from leafward.query.vocabulary import FIELDS, FUNCTIONS, TERMS, TEXT_TERMS
from leafward.session.entries import EntryIndex
from leafward.session.headlines.entry_headline import headline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.cli.output.page import Page
    from leafward.session.session import Session


def select(selector: str, query: str, as_json: bool) -> int:
    """`leafward select`."""
    with opened(selector) as session:
        found = [EntryIndex(index) for index in sorted(chosen_entries(session, query))]
        metrics = EntryMetrics(session)
        metrics.fill(session, found)
        if as_json:
            path = set(session.tree.path(session.leaf))
            emit_json(
                {
                    "query": query,
                    "entries": [
                        entry_facts(session, index, index in path, metrics.tokens[index], session.body(index))
                        for index in found
                    ],
                }
            )
            return 0
        say(_text(session, found, metrics, page()))
        if not found:
            note("no entry matches")
    return 0


def _text(session: Session, found: Sequence[EntryIndex], metrics: EntryMetrics, page: Page) -> Iterator[str]:
    names = shown_ids(session, found)
    wide = max(map(cells, names.values()), default=0)
    for index in found:
        size = short(metrics.tokens[index]) if metrics.tokens[index] else ""
        first_words = headline(session, index)
        word = page.fit(first_words.word, 10)
        facts = f"{pad(f'#{index}', 8)} {pad(names[index], wide)}  {pad(word, 11)}"
        facts += f" {pad(size, 6, right=True)}  "
        head = page.fit(first_words.text, max(20, page.width - cells(facts)))
        yield facts + head
    if found:
        yield page.style(counted(len(found), "entry", "entries"), "faint")


def functions(as_json: bool) -> int:
    """`leafward select --functions`."""
    if as_json:
        emit_json({"functions": FUNCTIONS, "fields": FIELDS, "terms": TERMS | TEXT_TERMS})
        return 0
    out = page()
    width = max(map(len, FUNCTIONS)) + 2

    def lines() -> Iterator[str]:
        for name, does in FUNCTIONS.items():
            yield f"{pad(name, width)}{does}"
        yield ""
        yield out.style("compared with < <= > >= = !=", "faint")
        for name, does in FIELDS.items():
            yield f"{pad(name, width)}{does}"
        yield ""
        yield out.style("terms, as in a search: tool:edit is tool(edit)", "faint")
        for name, does in (TERMS | TEXT_TERMS).items():
            yield f"{pad(name + ':', width)}{does}"

    say(lines())
    return 0
