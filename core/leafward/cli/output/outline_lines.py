"""Draws the rows of a session: id, lanes, text, marks, edits, calls and tokens of each as a line of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.figures import counted, short
from leafward.base.safe_text import safe_line
from leafward.cli.output.entry_ids import shown_ids
from leafward.cli.output.outline import OutlineRow, outline_rows
from leafward.cli.output.page import Page, cells, pad
from leafward.context.basis import Basis
from leafward.context.entry_metrics import FAILED, EntryMetrics
from leafward.context.estimate_sign import estimate_sign
from leafward.session.columns import MIDWAY
from leafward.session.entries import BOOKKEEPING, DAMAGED, PROMPTS, SUMMARIES, Damage, EntryIndex, Kind
from leafward.session.headlines.entry_headline import TASK, headline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.session import Session


_SPEAKING = PROMPTS | {Kind.SYSTEM, Kind.BRANCH_SUMMARY, Kind.MALFORMED}
"""Kinds whose text needs no word in front of it."""


_WORD_CELLS = 12
"""Cells of an entry's kind, which may be the name of a tool."""
_NUMBER_CELLS = 7
_TEXT_KEPT = 10
"""Cells of a row's text that its marks never take."""


_DAMAGE_MARK = {
    Damage.MALFORMED: "no JSON",
    Damage.NO_ID: "no id",
    Damage.DUPLICATE_ID: "id used twice",
    Damage.ORPHAN: "parent missing",
    Damage.CYCLE: "circular parents",
    Damage.EXTRA_HEADER: "second header",
    Damage.GLUED: "two records on a line",
    Damage.MISSING_BASE: "start missing",
    Damage.OVERSIZE: "line over 32 MB",
}
"""`DAMAGE_TEXT` in as few words as a row has room for; nothing of a last line that only lacks its newline."""
_MEASURED_COMPACTIONS = 64
"""Most compactions whose context is measured; in a file with more, rows show only the size that each replaced."""


def measure(session: Session) -> EntryMetrics:
    """Metrics of each entry. Lines that prove broken are first marked in the session."""
    while True:
        metrics = EntryMetrics(session)
        broken = metrics.fill(session, range(len(session)))
        kinds = session.columns.kind
        # The metrics decode all but these.
        books = [index for index, kind in enumerate(kinds) if kind in BOOKKEEPING]
        broken += [index for index, body in session.bodies(books) if body is None and kinds[index]]
        if not broken:
            return metrics
        session.discredit(broken)


def outline(
    session: Session,
    page: Page,
    *,
    every_entry: bool = False,
    hidden: frozenset[EntryIndex] = frozenset(),
    only: frozenset[int] | None = None,
) -> Iterator[str]:
    """The rows as lines of text: id, lanes, text, marks, the turn's end, edits, calls and tokens.

    With `only`, just the rows with one of these entries, and the rows where their branches leave and begin.
    """
    measures = measure(session)
    rows = outline_rows(session, every_entry=every_entry, hidden=hidden, only=only)
    on_path = bytearray(len(session))
    for run in session.tree.path_runs(session.leaf):
        on_path[run.start : run.stop] = b"\1" * (run.stop - run.start)
    names = shown_ids(session, (row.entry for row in rows))
    name_width = max(8, 0, *map(cells, names.values())) + 2
    heads: tuple[str, ...] = () if every_entry else ("end",)
    heads += ("edits", "calls", "tokens")
    fixed = name_width + _NUMBER_CELLS * len(heads)
    most = max(2, (page.width - fixed - 40) // 2)
    lanes = min(most, max((row.lane for row in rows), default=0) + 1)
    painter = _Painter(session, page, measures, on_path, 2 * lanes + 1, lanes, names, name_width)
    text_width = page.width - fixed - painter.graph_width
    painter.text_width = max(16, text_width)
    painter.compactions = session.columns.kind.count(Kind.COMPACTION)
    painter.place, painter.what_if = session.place, session.what_if
    painter.own = session.tree.content_at(session.own_leaf)
    yield page.style(
        pad("entry", name_width)
        + pad("", painter.graph_width)
        + pad("entries" if every_entry else "turns", painter.text_width)
        + "".join(pad(word, _NUMBER_CELLS, right=True) for word in heads),
        "faint",
    ).rstrip()
    for position, row in enumerate(rows):
        if position and session.columns.parent[row.entries[0]] < 0 and not painter.is_bad(row):
            yield ""  # another root
        yield painter.line(row, every_entry)


@dataclass(slots=True)
class _Painter:
    """Makes the line of a row on one page, with the widths that all lines share."""

    session: Session
    page: Page
    measures: EntryMetrics
    on_path: bytearray
    graph_width: int
    lanes: int
    names: dict[int, str]
    """The short id of each row's entry."""
    name_width: int
    text_width: int = 40
    compactions: int = 0
    place: int = -1
    what_if: bool = False
    own: int = -1
    """The entry at which the agent itself continues."""

    def line(self, row: OutlineRow, every_entry: bool) -> str:
        page = self.page
        active = bool(self.on_path[row.entry])
        kind = Kind(self.session.columns.kind[row.entry])
        graph = self._graph(row, kind, active)
        marks = self._marks(row)
        room = self.text_width - sum(cells(mark) + 2 for mark, _ in marks)
        text = page.fit(self._text(row, kind, every_entry, room), max(8, room))
        filling = " " * max(0, self.text_width - cells(text) - sum(cells(mark) + 2 for mark, _ in marks))
        chips = "".join(f"  {page.style(mark, style)}" for mark, style in marks)
        style = "memory" if kind in SUMMARIES else "bad" if kind in DAMAGED else "bold" if active else "faint"
        styled = text if style == "bold" and kind not in PROMPTS else page.style(text, style)
        *totals, tokens = (
            sum(column[entry] for entry in row.entries)
            for column in (self.measures.edits, self.measures.calls, self.measures.tokens)
        )
        dot = "·" if page.unicode else "."
        # What lies between them in the file may be on other branches.
        spans = [range(entry, entry + 1) for entry in row.entries]
        sign = estimate_sign(self.measures.reported, self.session.columns.kind, spans, tokens)
        sizes = [
            *(short(total) if total else dot for total in totals),
            f"{sign}{short(tokens)}" if tokens else dot,
        ]
        if not every_entry:
            sizes.insert(0, dot if row.hidden or row.folded else f"#{row.end}")
        numbers = "".join(pad(size, _NUMBER_CELLS, right=True) for size in sizes)
        name = pad(self.names[row.entry], self.name_width)
        return f"{page.style(name, 'faint')}{graph}{styled}{filling}{chips}{page.style(numbers, 'faint')}"

    def is_bad(self, row: OutlineRow) -> bool:
        """Whether a row is for a line that is no entry."""
        return self.session.columns.kind[row.entry] in DAMAGED

    def _graph(self, row: OutlineRow, kind: Kind, active: bool) -> str:
        signs = _SIGNS if self.page.unicode else _ASCII_SIGNS
        parts = []
        for lane, goes_on in enumerate(row.ongoing):
            heavy = lane == 0 and row.rooted
            if row.junction and lane == row.lane - 1:
                parts.append(signs["fork" if goes_on else "end"][not heavy] + signs["arm"])
            else:
                parts.append((signs["rail"][not heavy] if goes_on else " ") + " ")
        node = self._node(row, kind, active, signs)
        if len(parts) >= self.lanes:
            packed = len(parts) - self.lanes + 2
            parts = [pad(f"{min(packed, 99)}{signs['rail'][1]}", 2), *parts[packed:]]
        plain = "".join(parts) + node
        style = "leaf" if active else "faint"
        return self.page.style(plain, style) + " " * max(1, self.graph_width - cells(plain))

    def _node(self, row: OutlineRow, kind: Kind, active: bool, signs: dict[str, str]) -> str:
        if kind in DAMAGED:
            return "!"
        if row.hidden or row.folded:
            return signs["folded"]
        if self.place in row.entries:
            return signs["leaf"]
        if kind is Kind.CONTEXT_EDIT:
            return "≠" if self.page.unicode else "!"
        if kind is Kind.COMPACTION:
            return signs["compaction"]
        if kind is Kind.BRANCH_SUMMARY:
            return signs["branch_summary"]
        if kind in PROMPTS or row.junction:
            return signs["node"][not active]
        return signs["rail"][not active]

    def _marks(self, row: OutlineRow) -> list[tuple[str, str]]:
        session = self.session
        marks: list[tuple[str, str]] = []
        damaged: list[tuple[str, str]] = []
        for entry in row.entries:
            label = session.labels.get(EntryIndex(entry))
            if label is not None:
                marks.append((f"[{self.page.fit(safe_line(label, 64), 24)}]", "warn"))
            damage = session.columns.damage.get(entry)
            if session.columns.is_midway(entry):
                marks.append((MIDWAY, "warn"))
            elif damage in _DAMAGE_MARK and session.columns.kind[entry] != Kind.MALFORMED:
                damaged.append((f"! {_DAMAGE_MARK[damage]}", "bad"))
        marks += damaged
        errors = sum(bool(self.measures.flags[entry] & FAILED) for entry in row.entries)
        if errors:
            marks.append((f"{'×' if self.page.unicode else 'x'} {counted(errors, 'error')}", "bad"))
        changed = sum(session.columns.kind[entry] == Kind.CONTEXT_EDIT for entry in row.entries)
        if changed and list(row.entries) != [row.entry]:
            marks.append((f"{'≠' if self.page.unicode else '!'} {counted(changed, 'context edit')}", "warn"))
        if self.place in row.entries:
            marks.append(("preview leaf" if self.what_if else "leaf", "leaf"))
        elif self.what_if and self.own in row.entries:
            marks.append(("agent's leaf", "ghost"))
        return self._fitting(marks, damaged)

    def _fitting(self, marks: list[tuple[str, str]], first: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """The marks of a row that leave room for the text, those of `first` before all, and the number of the others."""
        left = self.text_width - _TEXT_KEPT
        kept: list[int] = []
        by_weight = sorted(range(len(marks)), key=lambda at: (marks[at] not in first, -at))
        for number, at in enumerate(by_weight):
            others = len(marks) - number - 1
            needed = cells(marks[at][0]) + 2
            if needed + (len(f"+{others}") + 2 if others else 0) > left:
                return [(f"+{others + 1}", "faint"), *(marks[one] for one in sorted(kept))]
            left -= needed
            kept.append(at)
        return marks

    def _text(self, row: OutlineRow, kind: Kind, every_entry: bool, room: int) -> str:
        if row.hidden:
            return f"archived  {counted(row.hidden, 'entry', 'entries')}  {headline(self.session, row.entry).text}"
        if row.folded:
            return f"{counted(row.folded, 'compaction')} more in a row"
        if kind is Kind.COMPACTION:
            return self._compaction(row.entry)
        first_words = headline(self.session, row.entry)
        if kind is Kind.BASH:
            # As on the screen: there, `$` marks a command of the agent.
            return f"! {first_words.text}"
        if kind is Kind.CONTEXT_EDIT and not every_entry:
            return f"context edit {first_words.within(room - len('context edit '), cells, self.page.gap)}"
        if every_entry:
            word = pad(self.page.fit(first_words.word, _WORD_CELLS), _WORD_CELLS) + " "
        else:
            word = "" if kind in _SPEAKING and first_words.word != TASK else f"{first_words.word}  "
        return word + first_words.within(room - cells(word), cells, self.page.gap)

    def _compaction(self, entry: EntryIndex) -> str:
        if self.compactions > _MEASURED_COMPACTIONS:
            noted = (self.session.body(entry) or {}).get("tokensBefore")
            was = short(int(noted)) if isinstance(noted, (int, float)) and 0 <= noted < 1e15 else "?"
            return f"compaction  of {was}"
        arrow = "→" if self.page.unicode else "->"
        basis = Basis.of(self.session)
        before, after = basis.change(entry)
        rest = " + not in file" if basis.lacks_prompt(entry) else ""
        larger = ", larger than before" if after.total > before.total > 0 else ""
        was = f"{before.sign}{short(before.total)}" if before.total else "?"
        return f"compaction  {was} {arrow} {after.sign}{short(after.total)}{rest}{larger}"


_SIGNS = {
    "leaf": "◎",
    "compaction": "◆",
    "branch_summary": "◇",
    "node": "●○",
    "rail": "┃│",
    "fork": "┠├",
    "end": "┖└",
    "arm": "─",
    "folded": "▸",
}


_ASCII_SIGNS = {
    "leaf": "@",
    "compaction": "#",
    "branch_summary": "%",
    "node": "*o",
    "rail": "|:",
    "fork": "++",
    "end": "++",
    "arm": "-",
    "folded": ">",
}
