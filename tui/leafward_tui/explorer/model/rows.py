"""A line of the tree as a strip: gutter, text, chips and number columns, fitted to a width. Pure but for reading bodies."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.context.estimate_sign import estimate_sign
from leafward.session.columns import MIDWAY
from leafward.session.entries import NO_ENTRY, PROMPTS, Damage, Kind
from leafward.session.headlines.entry_headline import LIMIT, Headline, headline
from leafward.session.tree.density import Density
from leafward_tui.explorer.model.folds import LineKind, ShownLine
from leafward_tui.explorer.model.ghost import PathMembership
from leafward_tui.explorer.model.gutter import GutterMaker
from leafward_tui.explorer.model.line_counts import fold_words, line_tokens, rows_words
from leafward_tui.explorer.model.title import origin_of
from leafward_tui.ui.text.cells import count, fit, right
from leafward_tui.ui.text.hits import lit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.style import Style

    from leafward.context.entry_metrics import EntryMetrics, Tally
    from leafward_tui.explorer.model.exploration import Exploration
    from leafward_tui.explorer.model.row_columns import RowColumns, RowState
    from leafward_tui.explorer.model.row_texts import RowTexts
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.appearance.theme import Ground, Styles

_COMPACTION = "compaction"
LOST_WIDTH = 18
"""Cells at the right of a compaction for its lost facts, gap included."""

WORD_WIDTH = 13
"""Cells of the kind column in the entries density, gap included: as many as `exec_command` of Codex takes."""


class RowPainter:
    """Draws the lines of a tree; headlines are kept, everything else is made again."""

    def __init__(
        self,
        exploration: Exploration,
        metrics: EntryMetrics,
        texts: RowTexts,
        styles: Styles,
        glyphs: Glyphs,
        *,
        sub_agents: Sequence[int] = (),
        own_from: int = NO_ENTRY,
    ) -> None:
        self.session = session = exploration.session
        self.lines = exploration.lines
        self.layout = self.lines.layout
        self.metrics = metrics
        self.styles = styles
        self.glyphs = glyphs
        self.notes, self.lost, self.repeated = texts.notes, texts.lost, texts.repeated
        self.edited = exploration.findings.edited
        """Entries that context edits change for the model, ascending."""
        self.archived = exploration.findings.archived
        """First entries of archived branches; an opened one is marked as archived."""
        self.sub_agents = sub_agents
        """Results of calls that made sub-agents whose sessions exist, ascending."""
        self.own_from = own_from
        """The first own entry of a fork; -1 in other sessions."""
        self.labels_by_row: dict[int, list[str]] = {}
        for entry, label in session.labels.items():
            row = self.layout.row_of(entry)
            self.labels_by_row.setdefault(row, []).append(safe_line(label, LIMIT))
        self.own_place = session.tree.content_at(session.own_leaf) if session.what_if else NO_ENTRY
        """The place where the agent itself goes on, where the leaf is a preview; -1 elsewhere."""
        self._exploration = exploration
        self._headlines: dict[int, Headline] = {}
        self._gutter: GutterMaker | None = None

    @property
    def is_outdated(self) -> bool:
        """Whether the session's file was rewritten and read again meanwhile, so that its entries are others."""
        return self._exploration.is_outdated

    def headline(self, entry: int) -> Headline:
        """The headline of an entry, read once."""
        found = self._headlines.get(entry)
        if found is None:
            if len(self._headlines) > _KEPT_HEADLINES:
                self._headlines.clear()
            found = self._headlines[entry] = headline(self.session, entry)
        return found

    def gutters(self, state: RowState, lanes: int) -> GutterMaker:
        """The maker of gutters for a state; kept while the proposed move stays the same."""
        maker = self._gutter
        if maker is None or maker.ghost is not state.ghost or maker.lanes != lanes:
            maker = self._gutter = GutterMaker(self.session, self.layout, self.glyphs, state.ghost, lanes)
        return maker

    def paint(self, y: int, columns: RowColumns, state: RowState, second: bool = False) -> list[Segment]:
        """The segments of one line; with `second`, of the second line of a comfortable row."""
        line = self.lines.line(y)
        selected = y == state.cursor
        ground = self.styles.sel if selected else self.styles.bg
        gutter = self.gutters(state, columns.lanes).make(line)
        cursor = self.glyphs.cursor if selected else " "
        ink = ground.leaf if state.focused else ground.faint
        segments = [Segment(cursor, ink)]
        if second:
            segments.append(Segment("  ", ground.blank))
            segments += self._second_line(line, columns, state, gutter.standing, ground)
            return segments
        verdict, verdict_ink = gutter.verdict
        if line.kind is LineKind.ROW and (touch := state.touches.get(line.row)) is not None:
            verdict, verdict_ink = touch.sign, touch.ink
        signs = [Segment(verdict, getattr(ground, verdict_ink)), Segment(" ", ground.blank)]
        # The sign of a hit that a move drops stands in the gap, beside the sign of the move.
        beside = bool(verdict.strip())
        if line.row == state.mark and line.kind is LineKind.ROW:
            signs[beside] = Segment("'", ground.ghost)
        elif line.kind is LineKind.ROW and line.row in state.hits:
            signs[beside] = Segment(self.glyphs.crumb, ground.warn)
        segments += signs
        segments += [Segment(sign, getattr(ground, sign_ink)) for sign, sign_ink in gutter.lanes]
        segments.append(Segment(" ", ground.blank))
        if line.kind in (LineKind.HIDDEN, LineKind.ARCHIVED):
            words = f"{line.rows:,} hidden"
            if line.kind is LineKind.ARCHIVED:
                words = f"{rows_words(self.layout, line)} archived"
            text = fit(words, columns.text, pad=True, ellipsis=self.glyphs.ellipsis)
            segments.append(Segment(text, ground.nothing))
            segments.append(Segment(" " * (columns.width - columns.text_at - columns.text), ground.blank))
            return segments
        alone = self._compaction_alone(line)
        if alone and columns.numbers:
            # No calls and no edits: the lost facts stand in place of the numbers.
            numbers = sum(cells for _, cells in columns.numbers)
            columns = columns._replace(text=columns.text + numbers - LOST_WIDTH)
        elif self._only_speaks(line):
            columns = columns.without_outcome()
        segments += self._words(line, columns, state, gutter.standing, selected, ground, state.jumps.get(y))
        if alone and columns.numbers:
            segments.append(
                Segment(right(self._lost_or_repeated(line, columns.text - 2), LOST_WIDTH), ground.warn)
            )
        else:
            segments += self._numbers(line, columns, ground)
        segments.append(Segment(" ", ground.blank))
        return segments

    def _only_speaks(self, line: ShownLine) -> bool:
        """Whether a line is a prompt or reply entry without an outcome to show."""
        if line.kind is not LineKind.ROW or self.layout.density is not Density.ENTRIES:
            return False
        entry = self.layout.head[line.row]
        if self.notes.get(entry) or self.layout.tree.kind[entry] == Kind.COMPACTION:
            return False
        return self.headline(entry).word in _SPOKEN_WORDS

    def _compaction_alone(self, line: ShownLine) -> bool:
        """Whether a line, where a row is a turn, is a compaction with no message in the same row."""
        if line.kind is not LineKind.ROW or self.layout.density is Density.ENTRIES:
            return False
        kinds = self.layout.tree.kind
        if kinds[self.layout.head[line.row]] != Kind.COMPACTION:
            return False
        return not any(
            kinds.find(Kind.ASSISTANT, span.start, span.stop) >= 0
            for span in self.layout.entries_of(line.row)
        )

    def _lost(self, line: ShownLine, *, brief: bool = False) -> str:
        """The facts that the compaction of a line lost, or why they cannot be counted; empty for none, or not known yet."""
        lost = self.lost.get(self.layout.head[line.row], 0)
        if lost is None:
            return "encrypted" if brief else "summary encrypted"
        return f"{lost:,} lost" if lost and brief else f"{counted(lost, 'fact')} lost" if lost else ""

    def _lost_or_repeated(self, line: ShownLine, room: int) -> str:
        """The facts that the compaction of a line lost, and the work that was repeated where its text of `room` cells does not say so."""
        lost, (number, _) = self._lost(line), self.repeated.get(self.layout.head[line.row], (0, 0))
        note = self.notes.get(self.layout.head[line.row], "")
        if not number or self._repeats(line, self._sizes(note, room - len(_COMPACTION)), room):
            return lost
        both = f"{self._lost(line, brief=True)}, {number:,} again" if lost else counted(number, "repeat")
        return both if cell_len(both) < LOST_WIDTH else lost

    def _sizes(self, note: str, room: int) -> str:
        """The sizes of a compaction in whole numbers: first the gap goes, then words, then the size before.

        That it made the context larger stays.
        """
        sizes, _, remark = note.partition(", ")
        larger = f", {remark.partition(' ')[0]}" if remark else ""
        after = sizes.rpartition(f"{self.glyphs.arrow} ")[2]
        short = f" {self.glyphs.arrow} {after}{larger}"
        forms = (f"   {note}", f" {note}", f" {sizes}{larger}", short) if note else ("",)
        return next((one for one in forms if cell_len(one) <= room), "")

    def _repeats(self, line: ShownLine, sizes: str, room: int) -> str:
        """The repeats beside the sizes of a compaction; all of it or nothing: it matters least here."""
        taken = cell_len(f"{_COMPACTION}{sizes}")
        return next((one for one in self._again(line) if taken + cell_len(one) <= room), "")

    def _again(self, line: ShownLine) -> tuple[str, ...]:
        """The repeats soon after the compaction of a line, the longest text first; empty for none, or not known yet."""
        number, tokens = self.repeated.get(self.layout.head[line.row], (0, 0))
        words = f"   {counted(number, 'repeat')}, {count(tokens)}"
        return (f"{words} tokens", words) if number else ()

    def _second_line(
        self, line: ShownLine, columns: RowColumns, state: RowState, stands: PathMembership, ground: Ground
    ) -> list[Segment]:
        lanes = self.gutters(state, columns.lanes).below(line, stands)
        head = self.layout.head[line.row]
        has_note = line.kind is LineKind.ROW and self.layout.tree.kind[head] != Kind.COMPACTION
        note = self.notes.get(head, "") if has_note else ""
        room = columns.width - columns.text_at - 1
        return [
            *(Segment(sign, getattr(ground, ink)) for sign, ink in lanes),
            Segment(" ", ground.blank),
            Segment(fit(note, room, pad=True, ellipsis=self.glyphs.ellipsis), ground.faint),
            Segment(" ", ground.blank),
        ]

    def _words(
        self,
        line: ShownLine,
        columns: RowColumns,
        state: RowState,
        stands: PathMembership,
        selected: bool,
        ground: Ground,
        jump: str | None,
    ) -> list[Segment]:
        """Text and chips, exactly `columns.text` cells."""
        chips = self._chips(line, state, ground, columns.text)
        chips_width = sum(cell_len(text) for text, _ in chips)
        room = columns.text - (chips_width + 2 if chips else 2)
        segments: list[Segment] = []
        if jump is not None:
            segments.append(Segment(f" {jump} ", self.styles.ghost_tint.strong_ghost))
            segments.append(Segment(" ", ground.blank))
            room -= len(jump) + 3
        segments += self._text(line, room, state, stands, selected, ground)
        segments.append(Segment("  ", ground.blank))
        segments += [Segment(text, style) for text, style in chips]
        return segments

    def _text(
        self,
        line: ShownLine,
        room: int,
        state: RowState,
        stands: PathMembership,
        selected: bool,
        ground: Ground,
    ) -> list[Segment]:
        if room <= 0:
            return []
        if (parts := self._parts(line, room, ground)) is not None:
            return _pieces(parts, room, ground, self.glyphs)
        entry = self.layout.head[line.row]
        words, kind = self.headline(entry), self.layout.tree.kind[entry]
        segments: list[Segment] = []
        # The effect of a context edit begins its own text, as the name of a compaction or a summary does.
        if self.layout.density is Density.ENTRIES and kind != Kind.CONTEXT_EDIT:
            named = "you" if kind == Kind.BASH else words.word
            word = fit(named, WORD_WIDTH - 1, pad=True, ellipsis=self.glyphs.ellipsis)
            segments.append(Segment(word + " ", ground.faint if kind != Kind.USER else ground.sub))
            room -= WORD_WIDTH
        before = self._lead(entry, words.word)
        text = before + words.within(room - cell_len(before), cell_len, self.glyphs.gap)
        style = self._style(kind, stands, selected, ground)
        fitted = fit(text, max(0, room), pad=True, ellipsis=self.glyphs.ellipsis)
        if state.query and line.row in state.hits:
            segments += lit(fitted, state.query, style, ground.strong_hit if selected else ground.hit)
        else:
            segments.append(Segment(fitted, style))
        return segments

    def _parts(self, line: ShownLine, room: int, ground: Ground) -> list[tuple[str, Style]] | None:
        """The text of folded rows, a compaction, a summary or a broken line, in parts; None for another row."""
        if line.kind is LineKind.FOLDED_RUN:
            spans = self.layout.entries_between(line.row, line.rows)
            entries = counted(self.session.columns.entries_in(spans), "entry", "entries")
            if self.layout.density is Density.ENTRIES:
                return [(f"{self.glyphs.folded} {entries}", ground.sub)]
            turns = fold_words(self.layout, line)
            return [(f"{self.glyphs.folded} {turns}", ground.sub), (f"   {entries}", ground.faint)]
        entry = self.layout.head[line.row]
        kind = self.layout.tree.kind[entry]
        if kind == Kind.COMPACTION:
            sizes = self._sizes(self.notes.get(entry, ""), room - len(_COMPACTION))
            again = self._repeats(line, sizes, room)
            return [(_COMPACTION, ground.memory), (sizes, ground.sub), (again, ground.faint)]
        if kind == Kind.BRANCH_SUMMARY:
            name, _, rest = self.headline(entry).text.partition("   ")
            return [(name, ground.memory), (f"   {rest}", ground.sub)]
        if kind in (Kind.MALFORMED, Kind.HEADER):
            name, _, rest = self.headline(entry).text.partition("  ")
            return [(name, ground.bad), (f"  {rest}", ground.sub)]
        return None

    def _lead(self, entry: int, word: str) -> str:
        """The beginning of an entry's row ahead of its text: damage, a sign of its kind, or its word."""
        kind = self.layout.tree.kind[entry]
        columns = self.session.columns
        damage = columns.damage.get(entry)
        lead = ""
        if columns.is_midway(entry):
            lead = f"{MIDWAY}   "
        elif damage not in (None, Damage.UNTERMINATED):
            # The node of an orphan is that sign.
            sign = "" if damage is Damage.ORPHAN else f"{self.glyphs.malformed} "
            lead = f"{sign}{columns.damage_text(entry)}   "
        if kind == Kind.BASH:
            return f"{lead}! "
        if kind == Kind.CONTEXT_EDIT:
            return f"{lead}context edit "
        if word not in _PLAIN_WORDS and self.layout.density is not Density.ENTRIES:
            return f"{lead}{word}  "
        return lead

    def _style(self, kind: int, stands: PathMembership, selected: bool, ground: Ground) -> Style:
        if selected:
            return ground.strong
        own = kind in PROMPTS
        if stands in (PathMembership.ON, PathMembership.ENTERED):
            return ground.text if own else ground.sub
        return ground.sub if own else ground.faint

    def _chips(self, line: ShownLine, state: RowState, ground: Ground, room: int) -> list[tuple[str, Style]]:
        """The chips of a line, with `room` cells for them and its text: labels go before the text does."""
        chips: list[tuple[str, Style]] = []
        if line.kind is LineKind.ROW:
            if (touch := state.touches.get(line.row)) is not None:
                words = fit(touch.words, _TOUCH_WIDTH, ellipsis=self.glyphs.ellipsis)
                chips.append((words, getattr(ground, touch.ink)))
            labels, before = self.labels_by_row.get(line.row, ()), len(chips)
            entries = self.layout.entries_of(line.row)
            if self.edited and any(map(self._holds_edited, entries)):
                chips.append((f"{self.glyphs.edited} edited", ground.warn))
            if made := sum(map(self._made_in, entries)) if self.sub_agents else 0:
                chips.append(("sub-agent" if made == 1 else f"{made:,} sub-agents", ground.memory))
            if self.layout.head[line.row] in self.archived:
                chips.append(("archived", ground.faint))
            if any(self.own_from in span for span in entries):
                words = "fork begins" if origin_of(self.session) == "fork" else "own from here"
                chips.append((words, ground.memory))
            if any(self.layout.leaf in span for span in entries):
                leaf = " preview leaf " if self.session.what_if else " leaf "
                chips.append((leaf, self.styles.leaf_tint.leaf))
            elif state.ghost is not None and any(state.ghost.target in span for span in entries):
                chips.append((" would be leaf ", self.styles.ghost_tint.ghost))
            if any(self.own_place in span for span in entries):
                chips.append((" agent's leaf ", self.styles.ghost_tint.ghost))
            head_kind = self.layout.tree.kind[self.layout.head[line.row]]
            turns = self.layout.density is not Density.ENTRIES
            if head_kind == Kind.COMPACTION and turns and not self._compaction_alone(line):
                lost = self._lost_or_repeated(line, room - LOST_WIDTH - 1)
                chips.append((right(lost, LOST_WIDTH - 1), ground.warn))
            taken = sum(cell_len(text) + 1 for text, _ in chips)
            chips[before:before] = [(text, ground.sub) for text in self._labels(labels, room - taken)]
        elif line.kind is LineKind.FOLDED_BRANCH:
            chips.append((rows_words(self.layout, line), ground.faint))
        spaced: list[tuple[str, Style]] = []
        for at, chip in enumerate(chips):
            if at:
                spaced.append((" ", ground.blank))
            spaced.append(chip)
        return spaced

    def _labels(self, labels: Sequence[str], room: int) -> list[str]:
        """Labels as chips, as many as leave the text of `room` cells its first words; the others as their number."""
        chips = [f"[{fit(label, _LABEL_WIDTH, ellipsis=self.glyphs.ellipsis)}]" for label in labels]
        for hidden in range(len(chips)):
            shown = [*chips[: len(chips) - hidden], *([f"+{hidden}"] if hidden else ())]
            if sum(cell_len(text) + 1 for text in shown) + _FIRST_WORDS < room:
                return shown
        return [counted(len(chips), "label")] if chips else []

    def _made_in(self, span: range) -> int:
        return bisect_left(self.sub_agents, span.stop) - bisect_left(self.sub_agents, span.start)

    def _holds_edited(self, span: range) -> bool:
        at = bisect_left(self.edited, span.start)
        return at < len(self.edited) and self.edited[at] in span

    def _spans(self, line: ShownLine) -> list[range]:
        """The entries whose numbers a line sums: for a folded branch also the branches that leave it."""
        if line.kind is LineKind.FOLDED_BRANCH:
            tree = self.layout.tree
            run = tree.run_of(self.layout.head[line.row])
            return tree.subtree_spans(run)
        return self.layout.entries_between(line.row, line.rows)

    def _numbers(self, line: ShownLine, columns: RowColumns, ground: Ground) -> list[Segment]:
        if not columns.numbers:
            return []
        spans = self._spans(line)
        tally = self.metrics.sum(spans)
        segments = []
        # A failure has its own place in the gap before the first column, whichever column that is.
        if tally.failed and line.kind is LineKind.ROW:
            segments = [Segment(" ", ground.blank), Segment(self.glyphs.error, ground.bad)]
        for name, full in columns.numbers:
            width = full - 2 if len(segments) == 2 and name == columns.numbers[0][0] else full
            if name == "outcome":
                segments.append(self._outcome(line, width, tally, ground))
                continue
            if not tally.complete and not getattr(tally, _FIELD[name]):
                segments.append(Segment(" " * width, ground.blank))
                continue
            amount = getattr(tally, _FIELD[name])
            amount = line_tokens(self.metrics, self.layout, line, amount) if name == "tokens" else amount
            number = count(amount, zero=self.glyphs.zero)
            if name == "tokens" and line.kind is LineKind.ROW:
                number = estimate_sign(self.metrics.reported, self.layout.tree.kind, spans, amount) + number
            style = ground.edge if number == self.glyphs.zero else ground.sub
            segments.append(Segment(right(number, width, ellipsis=self.glyphs.ellipsis), style))
        return segments

    def _outcome(self, line: ShownLine, width: int, tally: Tally, ground: Ground) -> Segment:
        """The outcome of an entry: an error, lines changed, or a word of the notes."""
        note = self.notes.get(self.layout.head[line.row], "") if line.kind is LineKind.ROW else ""
        kind = self.layout.tree.kind[self.layout.head[line.row]]
        if kind == Kind.COMPACTION:
            # Without its noun: the column has no room for it.
            note = self._lost(line, brief=True) if line.kind is LineKind.ROW else ""
            return Segment(right(note, width, ellipsis=self.glyphs.ellipsis), ground.warn)
        style = ground.bad if tally.failed and line.kind is LineKind.ROW else ground.faint
        return Segment(right(note, width, ellipsis=self.glyphs.ellipsis), style)


_FIELD = {"edits": "edits", "calls": "calls", "tokens": "tokens"}
_PLAIN_WORDS = frozenset({"you", "ai"})
"""Kinds whose text needs no word before it where a row is a turn."""
_SPOKEN_WORDS = _PLAIN_WORDS | {"sys"}
"""Kinds without an outcome besides their text, where a row is an entry."""
_KEPT_HEADLINES = 20_000
_LABEL_WIDTH = 18
_FIRST_WORDS = 8
"""Cells of text that labels leave."""
_TOUCH_WIDTH = 24
"""Cells for the operations of a row on a file."""


def _pieces(parts: Iterable[tuple[str, Style]], room: int, ground: Ground, glyphs: Glyphs) -> list[Segment]:
    """Several texts one after the other, cut and padded to `room` cells together."""
    segments = []
    for text, style in parts:
        fitted = fit(text, room, ellipsis=glyphs.ellipsis)
        segments.append(Segment(fitted, style))
        room -= cell_len(fitted)
        if room <= 0:
            return segments
    segments.append(Segment(" " * room, ground.blank))
    return segments
