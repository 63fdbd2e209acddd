"""The left pane: the fate of each turn, the cut as a row of its own, and the next places below it."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward.compaction.measure.measure import ContentKind
from leafward.compaction.strategies.cut_rules import LEGAL, RULE_TEXT, SHORT_RULE_TEXT, CutRule, first_said
from leafward.session.entries import PROMPTS, EntryIndex, Kind
from leafward_tui.lab.model.turns import CutRow, CutRows, Fate, RowKind
from leafward_tui.ui.panes.pane_lines import Block, SpanLine, blanks, spread
from leafward_tui.ui.text.cells import count, fit, right, wrap
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.compaction.plan.plan import Plan
    from leafward.session.headlines.entry_headline import Headline
    from leafward_tui.lab.model.turns import PathTurns
    from leafward_tui.ui.appearance.glyphs import Glyphs

INK = {Fate.SUMMARISED: "memory", Fate.PREFIX: "warn", Fate.KEPT: "leaf"}
_TOK = 8
_GUTTER = 6
"""Cells of letter, rail, arm and their gaps."""
_LEAST_WORDS = 12
"""Cells that words keep before a chip stands beside them."""
_WIDE = 41
"""Cells with room for whole sentences of a neighbouring cut."""
_NODE_OF_KIND = {Kind.BRANCH_SUMMARY: "branch_summary", Kind.COMPACTION: "compaction"}


class CutLines:
    """The rows as lines of `width` cells, made when they are drawn.

    `words` gives an entry's headline, or None while it is not known; the row keeps its place and gets its words later. `keys` move
    the cut, in words.
    """

    def __init__(
        self,
        rows: CutRows,
        kinds: bytes | bytearray,
        words: Callable[[int], Headline | None],
        width: int,
        glyphs: Glyphs,
        keys: str = "",
    ) -> None:
        self.rows = rows
        self.kinds = kinds
        self.words = words
        self.width = width
        self.glyphs = glyphs
        self.keys = keys
        self.pruned = sorted(short.position for short in rows.plan.pruned)
        self.quoted: list[int] = []
        """Positions that are kept word for word although their turn is summarised."""
        if not rows.plan.settings.rules.keeps_tail:
            quoted = set(rows.plan.kept)
            entries = rows.turns.sizes.entries
            self.quoted = [at for at in rows.turns.sizes.starts if entries[at] in quoted]

        sizes = rows.turns.sizes
        targets = {edit.target for made in sizes.edits.values() for edit in made}
        self.edited = [at for at, entry in enumerate(sizes.entries) if entry in targets] if targets else []
        """Positions replaced by context edits: their sizes are not those of the tree."""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, y: int) -> SpanLine:
        row = self.rows.row(y)
        if row.kind is RowKind.CUT:
            return self._cut()
        if row.kind is RowKind.BRANCH:
            return self._branch(row)
        if row.kind is RowKind.CARRIED:
            return self._carried()
        return self._turn(row)

    def find(self, key: str) -> int:
        """The line with a key: `cut`, or `at:` and a position."""
        if key == "cut":
            return self.rows.cut_y
        area, _, place = key.partition(":")
        return self.rows.y_of(int(place)) if area == "at" and place.isdecimal() else -1

    def entries(self, shown: range) -> list[int]:
        """The entries whose headlines are on some lines."""
        found = []
        for y in shown:
            if 0 <= y < len(self):
                row = self.rows.row(y)
                if row.kind in (RowKind.TURN, RowKind.MESSAGE):
                    found.append(self._head(row))
                elif row.kind is RowKind.BRANCH:
                    found.append(row.entry)
        return found

    def _head(self, row: CutRow) -> int:
        sizes = self.rows.turns.sizes
        lead = first_said(sizes, row.first)
        return sizes.entries[lead if lead < row.stop else row.first]

    def _line(
        self,
        letter: str,
        node: str,
        ink: str,
        words: Sequence[Span],
        tokens: str,
        key: str = "",
        entry: int = -1,
        arm: str = "  ",
        chip: Span | None = None,
    ) -> SpanLine:
        room = self.width - _GUTTER - _TOK
        if chip is not None and room - cell_len(chip.text) - 2 < _LEAST_WORDS:
            chip = None
        room -= cell_len(chip.text) + 2 if chip is not None else 0
        fitted: list[Span] = []
        for span in words:
            if room <= 0:
                break
            text = fit(span.text, room, ellipsis=self.glyphs.ellipsis)
            fitted.append(span._replace(text=text))
            room -= cell_len(text)
        number = right(tokens, _TOK)
        quiet = "edge" if tokens == self.glyphs.zero else "faint"
        return SpanLine(
            (
                Span(letter, ink),
                blanks(1),
                Span(node, ink),
                Span(arm, "faint"),
                blanks(1),
                *fitted,
                blanks(room),
                *((blanks(2), chip) if chip is not None else ()),
                Span(number, quiet),
            ),
            key,
            entry,
        )

    def _turn(self, row: CutRow) -> SpanLine:
        rows, glyphs = self.rows, self.glyphs
        fate = rows.fate(row)
        size = rows.turns.tokens(row.first, row.stop, rows.plan.shown)
        key, tokens = f"at:{row.first}", count(size, zero=glyphs.zero)
        ink = INK[fate]
        if row.kind in (RowKind.TURNS, RowKind.MESSAGES):
            name = "turn" if row.kind is RowKind.TURNS else "message"
            folded = [Span(f"{glyphs.folded} {counted(row.count, name)}", "sub")]
            node = glyphs.run if row.kind is RowKind.TURNS else glyphs.rail
            return self._line(fate.value, node, ink, folded, tokens, key, chip=self._chip(row))
        entry = self._head(row)
        kind = self.kinds[entry]
        words, chip = self._words(entry), self._chip(row)
        return self._line(fate.value, self._node(row, kind), ink, words, tokens, key, entry, chip=chip)

    def _node(self, row: CutRow, kind: int) -> str:
        glyphs = self.glyphs
        plan, context = self.rows.plan, self.rows.turns.sizes.context
        session = context.session
        at_leaf = session.tree.content_at(context.at) == session.place
        holds_end = at_leaf and row.stop == len(plan.sizes)
        if holds_end and (
            row.kind is RowKind.TURN or self.rows.turns.sizes.parts[row.first] != ContentKind.USER
        ):
            return glyphs.leaf
        named = _NODE_OF_KIND.get(Kind(kind))
        if named is not None:
            return str(getattr(glyphs, named))
        if kind in PROMPTS:
            return glyphs.prompt
        # As in the tree, where the sign of a prompt off the path has this meaning only.
        return glyphs.rail

    def _words(self, entry: int) -> list[Span]:
        first_words = self.words(entry)
        if first_words is None:
            return []
        kind = self.kinds[entry]
        own = kind in PROMPTS
        if kind == Kind.BRANCH_SUMMARY:
            return [Span(first_words.text, "memory")]
        if kind == Kind.TOOL_RESULT:
            return [Span("its result  ", "faint"), Span(first_words.text, "faint")]
        plain = (own and kind != Kind.BASH) or first_words.word == "ai"
        text = first_words.text if plain else f"{first_words.word} {first_words.text}"
        return [Span(text, "text" if own else "sub")]

    def _chip(self, row: CutRow) -> Span | None:
        """A chip for a special fate of a row's messages: pruned results, prompts kept word for word, or context edits."""
        if self.pruned:
            start, stop = (bisect_left(self.pruned, at) for at in (row.first, row.stop))
            if stop > start:
                return Span(f"{stop - start} pruned", "warn")
        if self.quoted:
            start, stop = (bisect_left(self.quoted, at) for at in (row.first, row.stop))
            if stop > start:
                folded = row.kind in (RowKind.TURNS, RowKind.MESSAGES)
                number = counted(stop - start, "prompt") if folded else "prompt"
                return Span(f"{number} kept", "leaf")
        at = bisect_left(self.edited, row.first)
        if at < len(self.edited) and self.edited[at] < row.stop:
            return Span(f"{self.glyphs.edited} edited", "warn")
        return None

    def _carried(self) -> SpanLine:
        size = self.rows.plan.tokens.previous_summary
        stays = self.rows.plan.nothing
        fate = Fate.KEPT if stays else Fate.SUMMARISED
        words = [Span("earlier summary", "memory")]
        remark = "   stays" if stays else "   goes into the new one"
        if cell_len(words[0].text + remark) <= self.width - _GUTTER - _TOK:
            words.append(Span(remark, "faint"))
        node = self.glyphs.compaction
        return self._line(fate.value, node, INK[fate], words, count(size, zero=self.glyphs.zero), "carried")

    def _branch(self, row: CutRow) -> SpanLine:
        glyphs = self.glyphs
        first_words = self.words(row.entry)
        words = [Span(first_words.text if first_words is not None else "", "faint")]
        session = self.rows.turns.sizes.context.session
        if session.tree.is_ancestor(row.entry, session.place):
            words.insert(0, Span("the path goes on   ", "sub"))
            return self._line(" ", glyphs.rail, "faint", words, glyphs.zero, f"branch:{row.entry}", row.entry)
        arm = glyphs.arm + glyphs.folded
        return self._line(" ", glyphs.branch, "faint", words, glyphs.zero, f"branch:{row.entry}", arm=arm)

    def _cut(self) -> SpanLine:
        plan, glyphs = self.rows.plan, self.glyphs
        hue = "warn" if plan.split_turn else "leaf"
        caption = cut_words(plan, self.rows, self.width - len(" cut") - 1)
        keys = f" {self.keys} " if self.keys else " "
        if len(" cut") + cell_len(caption) + cell_len(keys) > self.width:
            keys = " "
        caption = fit(caption, max(0, self.width - len(" cut") - len(keys)), ellipsis=glyphs.ellipsis)
        room = self.width - len(" cut") - cell_len(caption) - len(keys)
        left = min(6, max(0, room) // 2)
        ground = f"{hue}_tint"
        spans = (
            Span(glyphs.cut_line * left, hue, ground),
            Span(" cut", f"strong_{hue}", ground),
            Span(caption, "text", ground),
            Span((" " + glyphs.cut_line * (room - left - 1))[: max(0, room - left)], hue, ground),
            Span(keys, "strong", ground),
        )
        return SpanLine(spans, "cut", int(plan.first_kept), ground)


def cut_words(plan: Plan, rows: CutRows, room: int) -> str:
    """The effect of the cut in a few words; where they do not fit, the rows themselves show a split turn."""
    kept = count(plan.tokens.kept, zero="nothing")
    if plan.first_kept < 0:
        if plan.kept:
            # Their tokens stand in the ledger: by the appended text, which the plan only estimates.
            return f" keeps {counted(len(plan.kept), 'prompt')} only"
        return " keeps nothing as it is"
    less = _less(plan, kept)
    split = f", splits turn {rows.turns.number_of(rows.cut):,}" if plan.split_turn else ", no split turn"
    forms = (f" keeps {kept}{less}{split}", f" keeps {kept}{less}") if less else ()
    return next((words for words in forms if cell_len(words) <= room), f" keeps {kept}{split}")


def _less(plan: Plan, kept: str) -> str:
    """The reason why a cut keeps less than was asked for; empty where it does not, or where the user chose the cut."""
    budget = plan.settings.budget
    asked = count(budget, zero="0")
    less = plan.settings.cut is None and plan.tokens.kept < budget and kept != asked
    return f" of {asked}: nearest cut" if less else ""


def legend(width: int) -> list[SpanLine]:
    """The meanings of the letters, on as many lines as needed."""
    lines: list[list[Span]] = [[]]
    for fate, words in (
        (Fate.SUMMARISED, "summarised"),
        (Fate.KEPT, "kept as is"),
        (Fate.PREFIX, "beginning of the split turn"),
    ):
        meaning = [Span(fate.value, INK[fate]), Span(f" {words}", "sub")]
        taken = sum(cell_len(span.text) for span in (*lines[-1], *meaning))
        if lines[-1] and taken + 2 > width:
            lines.append([])
        lines[-1] += [*((blanks(2),) if lines[-1] else ()), *meaning]
    return [SpanLine(tuple(line)) for line in lines]


def neighbours(
    turns: PathTurns, plan: Plan, cut: int, width: int, glyphs: Glyphs, most: int
) -> list[SpanLine]:
    """The places right below the cut with the rules that forbid them, up to the next legal one."""
    sizes = turns.sizes
    if plan.nothing:
        return []
    if not plan.settings.rules.keeps_tail or plan.first_kept < 0:
        reason = wrap(RULE_TEXT[CutRule.NO_TAIL], width, lines=most, ellipsis=glyphs.ellipsis)
        return [SpanLine((Span(part, "faint"),)) for part in reason]
    here = first_said(sizes, cut)
    below = turns.cut_beside(cut, 1)
    stop = below if below >= 0 else len(sizes)
    refused = [at for at in turns.messages(here + 1, stop) if CutRule(turns.rules[at]) not in LEGAL]
    lines = [
        _neighbour(sizes.entries[at], at, CutRule(turns.rules[at]), "", width, glyphs)
        for at in refused[: max(0, most - 1)]
    ]
    if below >= 0:
        kept = count(turns.kept_by(below, plan.shown), zero="0")
        rule = CutRule(turns.rules[below])
        split = rule in (CutRule.MID_TURN, CutRule.QUIET_BEFORE_REPLY)
        if width >= _WIDE:
            splits = "splits a turn" if split else "no split turn"
        else:
            splits = "splits turn" if split else "no split"
        lines.append(_neighbour(sizes.entries[below], below, rule, f"keeps {kept}, {splits}", width, glyphs))
    elif not refused:
        lines.append(SpanLine((Span("nothing is below it", "faint"),)))
    return lines


def _neighbour(entry: int, at: int, rule: CutRule, words: str, width: int, glyphs: Glyphs) -> SpanLine:
    legal = rule in LEGAL
    ink = "leaf" if legal else "faint"
    reason = words or SHORT_RULE_TEXT[rule]
    name = fit(f"#{entry:,}", 8, pad=True)
    verdict = "" if legal else "no cut"
    room = width - cell_len(name) - len(verdict) - 2
    left = [Span(name, "sub"), Span(fit(reason, room, ellipsis=glyphs.ellipsis), ink)]
    return spread(left, [Span(verdict, ink)], width, f"cut:{at}", int(EntryIndex(entry)))


def why_lines(turns: PathTurns, rows: CutRows, width: int, height: int, glyphs: Glyphs) -> Block:
    """The lines below the rows: the legend, and the neighbouring cuts."""
    if height <= 0:
        return Block()
    gap = [SpanLine()] if height >= 6 else []
    lines = [*gap, *legend(width), *gap]
    found = neighbours(turns, rows.plan, rows.cut, width, glyphs, height - len(lines) - 1)
    if found:
        lines.append(SpanLine((Span("Next cut below", "strong"),)))
    elif rows.plan.nothing:
        why = next((one.text for one in rows.plan.diagnostics), rows.plan.why)
        found = [SpanLine((Span(text, "sub"),)) for text in wrap(why, width, ellipsis=glyphs.ellipsis)]
    return Block([*lines, *found][:height])
