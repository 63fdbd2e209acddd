"""One row of the list of sessions, and the columns it shares with the head."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.base.shown_path import project_name, split_path
from leafward.catalogue.lineage import Sort
from leafward.catalogue.namesakes import LEAST_PROMPT
from leafward.catalogue.retention import leaves_in
from leafward.query.search.cards import matches
from leafward.session.columns import MIDWAY
from leafward.session.entries import INFERRED
from leafward_tui.catalogue.model.listing import Grouping, LineKind, Listing, ListLine
from leafward_tui.ui.text.cells import age, byte_size, count, exact, fit, money, right
from leafward_tui.ui.text.hits import marked
from leafward_tui.ui.text.paths import fit_project

if TYPE_CHECKING:
    from rich.style import Style

    from leafward.catalogue.cards.card import Card
    from leafward.catalogue.namesakes import Namesake
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.appearance.theme import Ground, Styles

LIVE_SECONDS = 120
"""Seconds since its last entry within which a session counts as being written."""
_CLOCKS_DIFFER = 3600
"""Seconds that another clock may be ahead."""

TEXT_AT = 5
"""Cells before the text: cursor, fold sign, live sign."""

_LEAST_TEXT = 40
_LEAST_NAME = 12
"""Cells that the name of a group keeps beside words and sums."""
_LEAST_TITLE = 12
"""Cells of a title that has to leave room."""
_GAP = 3
"""Cells between a title and the text that distinguishes it."""


@dataclass(frozen=True, slots=True)
class SessionColumns:
    """The columns that fit, from left to right, each with its width and the gap before it."""

    text: int
    shown: tuple[tuple[str, int, int], ...]
    """Name, width, gap."""

    @classmethod
    def of(cls, width: int, *, agents: bool, sort: Sort = Sort.WHEN) -> SessionColumns:
        """The columns of a list of `width` cells without its scrollbar; `agents` where there are several agents.

        The text keeps 40 cells as long as a column can go; the least telling column goes first. Sorted by size, the
        column of the file's size replaces that of the context.
        """
        last = "size" if sort is Sort.SIZE else "context"
        columns = [("agent", 8, 2)] if agents else []
        columns += [
            ("turns", 6, 1),
            ("branches", 8, 1),
            ("compactions", 11, 1),
            (last, 7, 1),
            ("when", 4, 2),
        ]
        room = width - TEXT_AT
        for going in ("compactions", "branches", "agent", "turns", last):
            if room - sum(size + gap for _, size, gap in columns) >= _LEAST_TEXT:
                break
            columns = [column for column in columns if column[0] != going]
        return cls(max(0, room - sum(size + gap for _, size, gap in columns)), tuple(columns))


class _Beside(NamedTuple):
    """The texts beside the name of a group, up to its age."""

    name: int
    """Cells of the name."""
    room: int
    """Cells of the sums, which are right-aligned."""
    words: str
    sums: str


@dataclass(frozen=True, slots=True)
class RowPainter:
    """Makes the lines of one listing at one width."""

    listing: Listing
    styles: Styles
    glyphs: Glyphs
    width: int
    now: float
    """The present in seconds since 1970, from which ages count."""
    columns: SessionColumns

    def strip(self, line: ListLine, *, selected: bool) -> Strip:
        """The line, exactly as wide as the list."""
        styles, glyphs, width = self.styles, self.glyphs, self.width
        ground = styles.sel if selected else styles.bg
        lead = Segment(glyphs.cursor if selected else " ", ground.leaf)
        if line.kind is LineKind.GROUP:
            pieces = self._group(line, ground)
        elif line.kind is LineKind.SESSION and line.card is not None:
            pieces = self._session(line, line.card, ground, selected=selected)
        elif line.kind is LineKind.HIDDEN:
            pieces = _hidden(line, ground)
        else:
            pieces = []
        return Strip([lead, *pieces]).adjust_cell_length(width, ground.blank)

    def _group(self, line: ListLine, ground: Ground) -> list[Segment]:
        glyphs = self.glyphs
        # Sessions that a filter leaves out are not in the sums; sessions hidden without one are: each has its own word.
        some, word = (line.found, " match") if line.found != line.total else (line.shown, " shown")
        partly = some != line.total
        shown = f"{exact(some)} of {exact(line.total)}" if partly else exact(line.total)
        if self.listing.view.grouping is Grouping.FOREST:
            # The name of the group would make them families.
            shown += " session" if shown == "1" else " sessions"
        beside = self._beside(line, shown)
        if partly and self.listing.view.grouping is not Grouping.FOREST:
            longer = self._beside(line, shown + word)
            fits = longer.words == beside.words and bool(longer.sums) == bool(beside.sums)
            # Without room for both, the word says more than the number of all.
            shown = shown + word if fits else exact(some) + word
            beside = longer if fits else self._beside(line, shown)
        folder, name = self._group_name(line.group, beside.name)
        columns = self.columns
        pieces = [
            Segment(f"{glyphs.folded if line.folded else glyphs.unfolded} ", ground.faint),
            Segment(folder, ground.faint),
            Segment(name, ground.strong),
            Segment(f"   {shown}", ground.faint),
            Segment(beside.words, ground.warn),
            Segment(right(beside.sums, beside.room), ground.faint),
        ]
        age = SessionColumns(columns.text, tuple(one for one in columns.shown if one[0] == "when"))
        return pieces + _cells(age, {"when": (self._age(line.modified), ground.faint)}, ground)

    def _beside(self, line: ListLine, shown: str) -> _Beside:
        """The texts beside the name and the numbers of a group, with as much of its sums as fits.

        A group has no values in the columns before its age: its usage and cost stand there. A long name gives up its
        middle for words.
        """
        columns = self.columns
        counts = sum(size + gap for name, size, gap in columns.shown if name != "when")
        most = columns.text + 2 - cell_len(shown) - 3
        named = sum(map(cell_len, self._group_name(line.group, most)))
        room = most + counts
        if not line.words:
            return _Beside(most, room - named, "", self._sums(line, room - named - 3))
        words = f"   {line.words}"
        forms = self._forms(line)
        least = min(named, _LEAST_NAME)
        for name, sums in (*((named, sums) for sums in forms), *((least, sums) for sums in (*forms, ""))):
            left = min(most, room - cell_len(words) - (3 + cell_len(sums) if sums else 0))
            if left >= name:
                named = sum(map(cell_len, self._group_name(line.group, left)))
                return _Beside(left, room - named - cell_len(words), words, sums)
        # A sum without the words would look like that of an existing folder.
        return _Beside(most, room - named, "", "")

    def _group_name(self, group: str, room: int) -> tuple[str, str]:
        """The folder before the name, and the name."""
        grouping = self.listing.view.grouping
        if grouping is Grouping.PROJECT:
            return split_path(fit_project(group, room, self.glyphs.gap) if group else fit("no project", room))
        text = day_words(group, self.now) if grouping is Grouping.DAY else safe_line(group)
        return "", fit(text, room, ellipsis=self.glyphs.ellipsis)

    def _sums(self, line: ListLine, room: int) -> str:
        """Usage and cost of a group, as much as fits; a cost that some sessions do not record ends in `+`."""
        return next((text for text in self._forms(line) if cell_len(text) <= room), "")

    def _forms(self, line: ListLine) -> tuple[str, ...]:
        """The sum that orders the groups; else usage and cost, whole and short, one empty form where there are none."""
        used = line.used
        price = f"{money(used.cost)}{'+' if used.unpriced else ''}" if used.priced else ""
        if line.ordered_by:
            # Beside another figure they would look unsorted. It covers the rows, the cost archived sessions too.
            return (line.ordered_by,)
        size = f"{count(used.tokens)} tokens" if used.tokens else ""
        return "  ".join(part for part in (size, price) if part), price or size

    def _session(self, line: ListLine, card: Card, ground: Ground, *, selected: bool) -> list[Segment]:
        columns, glyphs = self.columns, self.glyphs
        live = is_live(card, self.listing.stock.status.written.get(card.path, 0), self.now)
        pieces = [
            Segment("  ", ground.blank),
            Segment(f"{glyphs.recent if live else ' '} ", ground.leaf),
        ]
        if card.problem is not None:
            return pieces + self._problem(card, ground)
        nest = _nest(line.nest, glyphs, inferred=line.relation == INFERRED)
        found = matches(card, self.listing.query) if self.listing.query.words else None
        chips, hue = self._chips(line, card)
        chip = f"  {chips}" if chips else ""
        room = max(4, columns.text - cell_len(nest) - cell_len(chip))
        title = card.title
        spans = found.spans.get("title", ()) if found is not None else ()
        if card.relation == "subagent":
            title, spans = f"sub-agent: {title}", tuple((start + 11, end + 11) for start, end in spans)
        style = ground.faint if card.archived or card.warm_up else ground.sub if line.nest else ground.text
        base = ground.strong if selected else style
        mark = ground.strong_hit if selected else ground.hit
        apart, room = namesake_words(line.apart, title, room, glyphs.ellipsis)
        text = fit(title, room, pad=True, ellipsis=glyphs.ellipsis)
        pieces.append(Segment(nest, ground.faint))
        pieces += marked(text, title, spans, base, mark)
        if apart:
            pieces.append(Segment(apart, ground.faint))
        if chip:
            pieces.append(Segment(chip, ground.warn if hue else ground.faint))
        zero = ground.edge

        def number(value: int | None) -> tuple[str, Style]:
            return count(value, zero=glyphs.zero), zero if value == 0 else ground.sub

        context, ink = number(card.tokens)
        sign = "~" if card.estimated and card.tokens else ""
        cells = {
            "agent": (fit(card.agent, 8, pad=True), ground.faint),
            "turns": number(card.turns),
            "branches": number(card.branches),
            "compactions": number(card.compactions),
            "context": (f"{sign}{context}", ink),
            "size": (byte_size(card.size), ground.sub),
            "when": (self._age(card.when), ground.text if selected else ground.faint),
        }
        return pieces + _cells(columns, cells, ground)

    def _problem(self, card: Card, ground: Ground) -> list[Segment]:
        """A file that is no session: sign, name and reason over the columns, its age at the end."""
        columns, glyphs = self.columns, self.glyphs
        tail = [column for column in columns.shown if column[0] == "when"]
        room = columns.text + sum(size + gap for name, size, gap in columns.shown if name != "when")
        name = fit(card.title, min(40, room // 2), ellipsis=glyphs.ellipsis)
        reason = fit(card.problem or "", max(0, room - cell_len(name) - 5), ellipsis=glyphs.ellipsis)
        used = 2 + cell_len(name) + 3 + cell_len(reason)
        return [
            Segment(f"{glyphs.malformed} ", ground.bad),
            Segment(name, ground.sub),
            Segment(f"   {reason}", ground.faint),
            Segment(" " * max(0, room - used), ground.blank),
            *_cells(SessionColumns(0, tuple(tail)), {"when": (self._age(card.when), ground.faint)}, ground),
        ]

    def _chips(self, line: ListLine, card: Card) -> tuple[str, bool]:
        """The remark beside a title, and whether it needs attention."""
        status = self.listing.stock.status
        # Sessions that the next key hides again must be marked, whatever other remark there is.
        archived = "archived  " if card.archived else ""
        if card.damage:
            return f"{archived}! {card.damage:,} damaged", True
        left = status.expires.get(card.path)
        if left is not None and card.path not in status.kept:
            words = leaves_in(left, int(self.now * 1000))
            if words:
                return archived + words, True
        files = self.listing.files_found(card.path)
        if files:
            return fit(split_path(files[0])[1], 18, ellipsis=self.glyphs.ellipsis), False
        words = ", ".join(
            word
            for word, holds in (
                ("archived", card.archived),
                (MIDWAY, card.midway and cell_len(card.title) + len(MIDWAY) + 2 <= self.columns.text),
                ("no task", card.warm_up),
                ("kept", card.path in status.kept),
                ("copy", line.relation == INFERRED),
            )
            if holds
        )
        if not words and line.elsewhere:
            most = max(18, self.columns.text // 2)
            return fit(project_name(line.elsewhere, most), most, ellipsis=self.glyphs.ellipsis), False
        return words, False

    def _seconds(self, milliseconds: int) -> float:
        return self.now - milliseconds / 1000

    def _age(self, milliseconds: int) -> str:
        return age(self._seconds(milliseconds))


def namesake_words(apart: Namesake | None, title: str, room: int, ellipsis: str) -> tuple[str, int]:
    """The words beside a title that distinguish it from others like it, and the cells left for the title.

    A long title keeps half of the cells. The last prompt gets the cells that it needs to be of use, where that leaves
    some for the title.
    """
    if apart is None:
        return "", room
    least = min(LEAST_PROMPT + _GAP, room - _LEAST_TITLE)
    most = max(room - cell_len(title), room // 2, least) - _GAP
    words = apart.words(most, cell_len, partial(fit, ellipsis=ellipsis))
    if not words:
        return "", room
    own = min(cell_len(title), room - _GAP - cell_len(words))
    return " " * _GAP + fit(words, room - _GAP - own, pad=True), own


def is_live(card: Card, written: int, now: float) -> bool:
    """Whether any process is writing to a session: `written` in milliseconds, `now` in seconds since 1970.

    A time in the future may be that of a clock which is a little ahead; one of another year is a mistake in the file.
    """
    gone = (now - moment / 1000 for moment in (card.when, written))
    return card.problem is None and any(-_CLOCKS_DIFFER < seconds < LIVE_SECONDS for seconds in gone)


def day_words(day: str, now: float) -> str:
    """A day in words: `today`, `yesterday`, `Monday 2 March`, with the year where it is another."""
    if not day:
        return "no day"
    when = date.fromisoformat(day)
    today = datetime.fromtimestamp(now, UTC).astimezone().date()
    days = (today - when).days
    if 0 <= days <= 1:
        return "yesterday" if days else "today"
    year = f" {when.year}" if when.year != today.year else ""
    return f"{when:%A} {when.day} {when:%B}{year}"


def _nest(levels: tuple[bool, ...], glyphs: Glyphs, *, inferred: bool) -> str:
    """The sign of a fork: a line for every level above that goes on, then its own branch, broken where it is inferred."""
    if not levels:
        return ""
    above = "".join(f"{glyphs.nest_side}  " if follows else "   " for follows in levels[:-1][-4:])
    return f"{above}{glyphs.nest if levels[-1] else glyphs.nest_last}{glyphs.nest_inferred if inferred else glyphs.nest_arm} "


def _cells(columns: SessionColumns, cells: dict[str, tuple[str, Style]], ground: Ground) -> list[Segment]:
    pieces = []
    for name, size, gap in columns.shown:
        text, style = cells.get(name, ("", ground.blank))
        pieces += [Segment(" " * gap, ground.blank), Segment(right(text, size), style)]
    return pieces


def _hidden(line: ListLine, ground: Ground) -> list[Segment]:
    where = f" in {counted(line.total, 'other project')}" if line.total else ""
    return [Segment(f"  {counted(line.shown, 'session')}{where} {line.words}", ground.nothing)]
