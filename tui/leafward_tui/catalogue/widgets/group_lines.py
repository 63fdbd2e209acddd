"""The preview of a group of sessions, such as a project: its agents, its usage, its latest sessions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.catalogue.namesakes import told_apart
from leafward_tui.catalogue.model.listing import Grouping
from leafward_tui.catalogue.widgets.session_row import day_words, namesake_words
from leafward_tui.ui.text.cells import age, count, exact, fit, fit_path, money, right
from leafward_tui.ui.text.paths import fit_project, tilde
from leafward_tui.ui.text.times import moment_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.catalogue.cards.card import Card
    from leafward_tui.catalogue.model.listing import Listing, ListLine, Stock
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.appearance.theme import Ground
    from leafward_tui.ui.keys.key_overrides import Keymap
    from leafward_tui.ui.panes.side_pane import PaneLine

_MOST = 40
"""Sessions that are listed."""
_AGE = 4


def group_title(group: str, grouping: Grouping, width: int, now: float, gap: str) -> str:
    """The name of a group, in at most `width` cells where it is a folder. `now` in seconds since 1970."""
    if grouping is Grouping.PROJECT:
        return fit_project(group, width, gap) if group else fit("no project", width)
    return day_words(group, now) if grouping is Grouping.DAY else safe_line(group)


def section_head(title: str, fact: str, width: int, ground: Ground) -> PaneLine:
    """The head of a section of the preview, with a fact at its right edge."""
    return [
        Segment(title, ground.strong),
        Segment(right(fact, max(0, width - cell_len(title))), ground.faint),
    ]


def moved_lines(
    folder: str | None, width: int, keymap: Keymap, ground: Ground, glyphs: Glyphs
) -> Iterator[PaneLine]:
    """The present place of a project that is not found, where one is likely, and the key that copies its sessions there."""
    if folder is not None:
        key = keymap.label("project.relocate")
        lead, words = f"{key}  " if key else "", "copy its sessions to "
        room = width - cell_len(lead) - cell_len(words)
        yield [
            Segment(lead, ground.sub),
            Segment(words + fit_path(safe_line(tilde(folder)), room, gap=glyphs.gap), ground.faint),
        ]


def group_lines(
    line: ListLine,
    listing: Listing,
    width: int,
    now: float,
    ground: Ground,
    glyphs: Glyphs,
    keymap: Keymap,
) -> Iterator[PaneLine]:
    """The lines below the title. `now` in seconds since 1970."""
    cards = sorted(listing.groups.get(line.group, ()), key=lambda card: -card.when)
    agents = Counter(card.agent for card in cards)
    many = len(agents) > 1
    who = [
        f"{safe_line(agent)} {exact(number)}" if many else safe_line(agent)
        for agent, number in agents.most_common()
    ]
    for row in _rows_of(who, width):
        yield [Segment(fit(row, width, ellipsis=glyphs.ellipsis), ground.sub)]
    last = f"last {moment_at(line.modified)}" if line.modified else ""
    yield [Segment(fit(last, width, ellipsis=glyphs.ellipsis), ground.faint)]
    if line.words:
        yield [Segment(fit(line.words, width, ellipsis=glyphs.ellipsis), ground.warn)]
        yield from moved_lines(listing.stock.status.moved.get(line.group), width, keymap, ground, glyphs)
    used = line.used
    if used.tokens or used.priced:
        yield []
        yield section_head(
            "Total of the matches" if listing.query else "Total",
            f"{count(used.tokens)} tokens" if used.tokens else "",
            width,
            ground,
        )
        if used.priced:
            price = money(used.cost)
            more = _unpriced(used.unpriced, width - cell_len(price) - 2)
            yield [
                Segment(more, ground.faint),
                Segment(right(price, width - cell_len(more)), ground.sub),
            ]
    yield []
    yield from _sessions(line, cards, listing.stock, width, now, ground, glyphs)


def _rows_of(names: list[str], width: int) -> list[str]:
    """Names in the fewest rows that hold them whole; at least one row."""
    rows = names[:1] or [""]
    for name in names[1:]:
        beside = f"{rows[-1]}   {name}"
        if cell_len(beside) <= width:
            rows[-1] = beside
        else:
            rows.append(name)
    return rows


def _unpriced(sessions: int, room: int) -> str:
    """The number of sessions without a recorded cost, in the longest words that fit."""
    if not sessions:
        return ""
    most = f"{counted(sessions, 'session')} without a recorded cost"
    forms = (most, f"{sessions:,} without a recorded cost", f"{sessions:,} without a cost")
    return next((words for words in forms if cell_len(words) <= room), "")


def _sessions(
    line: ListLine,
    cards: Sequence[Card],
    stock: Stock,
    width: int,
    now: float,
    ground: Ground,
    glyphs: Glyphs,
) -> Iterator[PaneLine]:
    number = exact(len(cards))
    of_all = f"{number} of {exact(line.total)} shown" if line.total != len(cards) else number
    yield section_head("Sessions", of_all, width, ground)
    listed = cards[:_MOST]
    apart = told_apart(listed, stock.details, stock.cost_of)
    for card in listed:
        words, room = namesake_words(apart.get(card.path), card.title, width - _AGE - 2, glyphs.ellipsis)
        title = fit(card.title, room, pad=True, ellipsis=glyphs.ellipsis)
        when = right(age(now - card.when / 1000), _AGE)
        style = ground.faint if card.problem is not None else ground.text
        yield [Segment(title, style), Segment(f"{words}  {when}", ground.faint)]
    if len(cards) > _MOST:
        yield [Segment(f"{exact(len(cards) - _MOST)} more", ground.faint)]
