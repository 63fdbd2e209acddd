"""The verb `ls`: all sessions, or those in the folders and files named."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from leafward.agents.registry import unknown_roots
from leafward.base import config as settings
from leafward.base.figures import counted, money, short
from leafward.base.safe_text import safe, safe_line
from leafward.base.shown_path import project_name
from leafward.base.times import iso_time
from leafward.catalogue.lineage import parents, with_parents
from leafward.catalogue.listing import Catalogue
from leafward.catalogue.lookup import typed_ids
from leafward.catalogue.namesakes import Namesake, told_apart
from leafward.catalogue.retention import leaves_in
from leafward.catalogue.usage.shared_history import counted_once
from leafward.catalogue.usage.totals import sum_of, totals
from leafward.cli.options.catalogue_options import ListOptions
from leafward.cli.output.page import Page, cells, emit_json, local_time, note, page, say, table
from leafward.cli.output.progress_line import ProgressLine
from leafward.cli.output.totals import totals_text
from leafward.cli.queries import session_query
from leafward.cli.selection import narrowing, sessions_at
from leafward.cli.settings import remarks_on, say_excluded
from leafward.query.search.cards import CardShelf
from leafward.session.columns import MIDWAY
from leafward.session.entries import INFERRED, SUBAGENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from leafward.catalogue.cards.card import Card, DayUsage

_NAMESAKE, _APART, _LEAST_TITLE, _ORIGIN, _LEAST_PROJECT = 16, 48, 12, 40, 7
"""Cells: of a shared title, of the facts that distinguish it, of the shortest title, of a parent's title, and of the shortest name
of a project."""
_RELATIONS = {INFERRED: "copy", SUBAGENT: "sub-agent"}
"""Relations to a parent as the list on the screen has them."""


def ls(paths: Sequence[str], options: ListOptions, as_json: bool) -> int:
    """`leafward ls`: sessions, or sums of their tokens and costs."""
    places = [sessions_at(path) for path in paths]
    config, problems = settings.load()
    parsed = session_query(options.query) if options.query is not None else None
    fits = narrowing(options)
    catalogue = Catalogue(config, places)
    with ProgressLine() as line:
        catalogue.refresh(publish=line.show_reading)
    cards = catalogue.cards()
    found = parents(cards)
    spent_once = counted_once(cards, found, catalogue.spent)
    cards = every = with_parents(cards, found)
    remarks = _remarks((*remarks_on(problems), *unknown_roots(config)), catalogue)
    if parsed is not None:
        remarks += [{"code": "query", "text": str(problem)} for problem in parsed.problems]
        cards = CardShelf(cards, catalogue.files()).select(parsed)
    cards = sorted(filter(fits, cards), key=lambda card: (-card.when, card.path))
    sums = totals(cards, spent_once)
    if options.add_up and options.by == "compaction":
        # Imported only here, as nothing else in this verb reads sessions whole.
        from leafward.cli.aftermath_totals import say_aftermath

        return say_aftermath(cards, remarks, as_json)
    kept = catalogue.kept_paths()
    if as_json:
        emit_json(
            {
                "sessions": [
                    _session_json(card, spent_once.get(card.path, ()), catalogue, kept) for card in cards
                ],
                "totals": sums.as_json(),
                "excluded": catalogue.excluded,
                "diagnostics": remarks,
            }
        )
        return 0
    for remark in remarks:
        note(remark["text"])
    if options.add_up:
        say(totals_text(sums, options.by, page()))
        say_excluded(catalogue.excluded)
        return 0
    filtered = options != ListOptions()
    leaving = {card.path: left for card in cards if (left := catalogue.expires(card)) is not None}
    costs = {path: sum_of(spent).known_cost for path, spent in spent_once.items()}
    ids = typed_ids(every, config, places)
    apart = told_apart(
        cards, catalogue.details, lambda path: money(cost) if (cost := costs.get(path)) else ""
    )
    say(_text(cards, page(), places, catalogue.searched, leaving, kept, apart, ids, filtered=filtered))
    say_excluded(catalogue.excluded)
    return 0


def _remarks(on_config: Iterable[str], catalogue: Catalogue) -> list[dict[str, str]]:
    """Remarks on the configuration, on folders that cannot be read, and on files that are not read yet."""
    remarks = [{"code": "config", "text": text} for text in on_config]
    remarks += [
        {"code": "unreadable-folder", "text": f"{one.path}: {one.reason}"} for one in catalogue.trouble
    ]
    remarks += [
        {"code": "left-for-later", "text": f"{path}: too large to read in time; only a quick look is shown"}
        for path in catalogue.left
    ]
    return remarks


def _session_json(
    card: Card, spent: Sequence[DayUsage], catalogue: Catalogue, kept: frozenset[str]
) -> dict[str, object]:
    one = sum_of(spent)
    return {
        **card.as_json(),
        "spent": one.tokens,
        "cost": one.known_cost,
        "kept": card.path in kept,
        "expires": iso_time(catalogue.expires(card)),
    }


def _text(
    cards: Sequence[Card],
    page: Page,
    places: Sequence[Path],
    searched: Sequence[str],
    leaving: Mapping[str, int],
    kept: frozenset[str],
    apart: Mapping[str, Namesake],
    ids: Mapping[str, str],
    *,
    filtered: bool,
) -> Iterator[str]:
    if not cards:
        where = ", ".join(safe_line(folder) for folder in searched) or "any store"
        yield f"no session {'matches' if filtered else 'found'} in {where}" + (
            "" if filtered or places else "; `leafward demo` shows one"
        )
        return
    known = {card.path: card for card in cards}
    ends = [_marks(card, known, page, _stays(card, leaving, kept)) for card in cards]
    facts = [
        (
            safe_line(ids[card.id], 36),
            safe_line(card.agent),
            local_time(card.when),
            project_name(card.project),
            _count(card.messages, page),
            _count(card.branches, page),
            _count(card.compactions, page),
        )
        for card in cards
    ]
    head = ("id", "agent", "when", "project", "msg", "br", "cmp")
    # The marks of a session stay, and its title is shortened.
    least = max(_LEAST_TITLE, *(cells(short) + _LEAST_TITLE // 3 for short, _ in ends))
    facts = _fitting(head, facts, page, page.width - least)
    room = max(least, page.width - _beside(head, facts))
    titles = [
        _title(card, apart.get(card.path), page, room, *marks)
        for card, marks in zip(cards, ends, strict=True)
    ]
    rows = [(*row[:4], title, *row[4:]) for row, title in zip(facts, titles, strict=True)]
    yield from table((*head[:4], "title", *head[4:]), rows, page, grow=4, least=least, right="msg br cmp")
    yield page.style(counted(len(cards), "session"), "faint")


_Facts = tuple[str, str, str, str, str, str, str]


def _beside(head: Sequence[str], facts: Sequence[_Facts]) -> int:
    """The cells of the columns beside the title."""
    return sum(max(map(cells, column)) + 2 for column in zip(head, *facts, strict=True))


def _fitting(head: Sequence[str], facts: list[_Facts], page: Page, room: int) -> list[_Facts]:
    """The facts in so many cells: in a narrow terminal days without the time, then shorter names of projects."""
    if _beside(head, facts) > room:
        facts = [(*row[:2], row[2].partition(" ")[0], *row[3:]) for row in facts]
    over = _beside(head, facts) - room
    if over > 0:
        width = max(_LEAST_PROJECT, max(cells(row[3]) for row in facts) - over)
        facts = [(*row[:3], page.fit(row[3], width), *row[4:]) for row in facts]
    return facts


def _title(card: Card, namesake: Namesake | None, page: Page, room: int, short: str, whole: str) -> str:
    """The title of a session and its marks in so many cells; if others share the title, also the facts that distinguish it."""
    marks = whole if cells(card.title) + cells(whole) <= room else short
    room -= cells(marks)
    words = ""
    if namesake is not None:
        left = room - min(cells(card.title), _NAMESAKE) - 2
        words = safe(namesake.words(max(0, min(_APART, left)), cells, page.fit))
    if words:
        return f"{page.fit(card.title, room - cells(words) - 2)}  {words}{marks}"
    return page.fit(card.title, room) + marks


def _marks(card: Card, known: dict[str, Card], page: Page, stays: str) -> tuple[str, str]:
    """The marks after a session's title: a short form, and one with the title of its parent."""
    before = ""
    if card.problem is not None:
        before = f"  ! {safe_line(card.problem, 80)}"
    elif card.damage:
        before = f"  ! {card.damage:,} damaged"
    relation = f"  {_RELATIONS.get(card.relation, card.relation)}" if card.relation is not None else ""
    after = ("  archived" if card.archived else "") + ("  no task" if card.warm_up else "") + stays
    parent = known.get(card.parent or "") if relation else None
    of = f" of {page.fit(parent.title, _ORIGIN)}" if parent is not None else ""
    midway = f"  {MIDWAY}" if card.midway else ""
    return f"{before}{relation}{after}", f"{before}{relation}{of}{after}{midway}"


def _stays(card: Card, leaving: Mapping[str, int], kept: frozenset[str]) -> str:
    """Mark for a kept session, or for one that its agent will soon delete."""
    if card.path in kept:
        return "  kept"
    left = leaving.get(card.path)
    words = leaves_in(left, time.time_ns() // 1_000_000) if left is not None else ""
    return f"  {words}" if words else ""


def _count(number: int | None, page: Page) -> str:
    if number is None:
        return "?"
    return short(number) if number else ("·" if page.unicode else ".")
