"""Two summaries compared, as the lines of a screen: sections, pairs of lines, facts that only one of them has. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.compaction.stored_summary.summary_comparison import LineRelation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.compaction.stored_summary.summary_comparison import SummaryDiff
    from leafward.summaries.facts.values import Fact

LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class DifferenceLine:
    """One line: a head, a pair, or an empty one. Texts are safe."""

    before: str = ""
    after: str = ""
    mark: LineRelation | None = None
    """None for a head and for a folded run."""
    head: bool = False
    note: str = ""
    hidden: int = 0
    """Lines that are the same on both sides and folded here."""

    @property
    def empty(self) -> bool:
        """Whether it only parts two sections."""
        return not (self.before or self.after or self.head or self.hidden)

    @property
    def changes(self) -> bool:
        """Whether the summaries differ here."""
        return self.mark is not None and self.mark is not LineRelation.SAME


_NOTHING = frozenset({"", "(none)"})
"""Texts of an empty section; a section that is empty in one summary and missing in the other is no difference."""
IN_TIME = ("the earlier", "the later")


def diff_lines(
    diff: SummaryDiff, *, fold_same: bool, names: tuple[str, str] = IN_TIME
) -> list[DifferenceLine]:
    """The lines of a comparison; with `fold_same` a run of lines that are the same is one line.

    `names` are the names of the two summaries: "only in the earlier".
    """
    notes = {LineRelation.REMOVED: f"only in {names[0]}", LineRelation.ADDED: f"only in {names[1]}"}
    found: list[DifferenceLine] = []
    for section in diff.sections:
        if all({line.before, line.after} <= _NOTHING for line in section.lines):
            continue
        if found:
            found.append(DifferenceLine())
        title = safe_line(section.title, LIMIT) or "Before the first heading"
        found.append(DifferenceLine(title, title, head=True, note=notes.get(section.mark, "")))
        same = 0
        for line in section.lines:
            if line.mark is LineRelation.SAME and fold_same:
                same += 1
                continue
            if same:
                found.append(DifferenceLine(hidden=same))
                same = 0
            found.append(
                DifferenceLine(safe_line(line.before, LIMIT), safe_line(line.after, LIMIT), line.mark)
            )
        if same:
            found.append(DifferenceLine(hidden=same))
    for facts, mark in ((diff.only_before, LineRelation.REMOVED), (diff.only_after, LineRelation.ADDED)):
        name = names[mark is LineRelation.ADDED]
        found += _facts(facts, mark, f"{name} summary" if names is IN_TIME else name)
    return found


def _facts(facts: Sequence[Fact], mark: LineRelation, where: str) -> list[DifferenceLine]:
    title = f"Facts only in {where}"
    found = [DifferenceLine(), DifferenceLine(title, title, head=True, note=counted(len(facts), "fact"))]
    for fact in facts:
        text = f"{fact.kind.value}  {safe_line(fact.text, LIMIT)}"
        removed = mark is LineRelation.REMOVED
        found.append(DifferenceLine(text if removed else "", "" if removed else text, mark))
    return found
