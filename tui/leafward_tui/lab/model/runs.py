"""The runs made so far, for comparison: their settings, their summarisers, their results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.figures import percent
from leafward.compaction.exam.questions import Topic
from leafward.summaries.fates.report import SURVIVED, Status
from leafward_tui.ui.panes.pane_lines import Block, SpanLine
from leafward_tui.ui.survival_cache import PLURAL
from leafward_tui.ui.text.cells import count, fit, money, right
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.exam.grade import Exam
    from leafward.summaries.facts.values import FactKind
    from leafward.summaries.fates.report import Survival
    from leafward_tui.lab.model.choices import Choices
    from leafward_tui.ui.appearance.glyphs import Glyphs

    _Fact = tuple[FactKind, str]
    """A fact by its kind and its canonical words."""
    _Known = dict[_Fact, float]
    """Facts with their weights."""

_COLUMNS = (("after", 8), ("summary", 9), ("facts", 7), ("lost", 6), ("cost", 8))
_LEAST_NAME = 24
_OWN_SECTIONS = "did not keep to the sections"


@dataclass(frozen=True, slots=True)
class Run:
    """One summary that was made."""

    name: str
    """Strategy and summariser, or the stored compaction."""
    about: str
    """The settings in a few words."""
    text: str
    """The summary, safe."""
    tokens: int
    after: int
    """Tokens of the context afterwards."""
    survival: Survival
    cost: float | None
    choices: Choices | None = None
    """The choices that lead to it; None for the stored compaction."""
    draft: Draft | None = None
    """The draft that its exam is about; None for the stored compaction."""
    exam: Exam | None = None
    """The exam of the stored compaction; that of a draft is graded when it is looked at."""

    @property
    def remark(self) -> str:
        """A remark on its text, for every list that has it; empty where there is none."""
        odd = self.draft is not None and not self.draft.summary.keeps_to_sections
        return _OWN_SECTIONS if odd else ""

    @property
    def kept(self) -> float | None:
        """The share of its facts that survive, by weight, 0…1; None without facts. The same figure as everywhere else."""
        return self.survival.overall()

    @property
    def lost(self) -> int:
        """The number of lost facts; contradicted ones do not count, as everywhere else."""
        return sum(1 for fate in self.survival.fates if fate.status is Status.LOST)


class FactsKept:
    """The facts in the context after each of some runs, out of all that any of them replaces.

    Runs that replace different spans are compared on the same facts: entries that a run does not replace stay word for
    word. Runs go by their numbers.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self._replaced: list[_Known] = []
        self._alive: list[set[_Fact]] = []
        for run in runs:
            there = [fate for fate in run.survival.fates if fate.status is not Status.INVENTED]
            self._replaced.append({(fate.fact.kind, fate.fact.key): fate.fact.weight for fate in there})
            alive = (fate.fact for fate in there if fate.status in SURVIVED)
            self._alive.append({(fact.kind, fact.key) for fact in alive})

    def of_all(self, *numbers: int) -> _Known:
        """The facts that some runs replace, with their weights; those of all runs where none is given."""
        found: _Known = {}
        for number in numbers or range(len(self._replaced)):
            for fact, weight in self._replaced[number].items():
                found[fact] = max(weight, found.get(fact, 0.0))
        return found

    def after(self, number: int, known: _Known) -> set[_Fact]:
        """The facts, out of some, that are in the context after a run."""
        return (known.keys() - self._replaced[number].keys()) | (self._alive[number] & known.keys())

    def same_span(self, one: int, other: int) -> bool:
        """Whether two runs replace the same facts."""
        return self._replaced[one].keys() == self._replaced[other].keys()


def _shown_columns(width: int) -> list[tuple[str, int]]:
    """The number columns that fit; the last ones go first."""
    columns = list(_COLUMNS)
    while columns and width - sum(cells for _, cells in columns) - 4 < _LEAST_NAME:
        columns.pop()
    return columns


def run_head(width: int) -> SpanLine:
    """The headings of the table."""
    columns = _shown_columns(width)
    room = width - sum(cells for _, cells in columns)
    spans = [Span(fit("    run", room, pad=True), "faint")]
    spans += [Span(right(name, cells), "faint") for name, cells in columns]
    return SpanLine(tuple(spans))


def run_lines(runs: Sequence[Run], first: int, width: int, glyphs: Glyphs) -> Block:
    """One line for each run, with the share of its facts that survive; `first` is A, the base of the comparison."""
    lines = []
    columns = _shown_columns(width)
    room = width - sum(cells for _, cells in columns) - 4
    for number, run in enumerate(runs):
        mark = "A" if number == first else " "
        name = fit(run.name, room, ellipsis=glyphs.ellipsis)
        odd = fit(f"   {run.remark}", room - len(name), ellipsis=glyphs.ellipsis) if run.remark else ""
        about = fit(f"   {run.about}", room - len(name) - len(odd), pad=True, ellipsis=glyphs.ellipsis)
        texts = {
            "after": f"~{count(run.after, zero='0')}",
            "summary": count(run.tokens, zero=glyphs.zero),
            "facts": percent(run.kept, 1.0) if run.kept is not None else "",
            "lost": count(run.lost, zero=glyphs.zero),
            "cost": money(run.cost, zero=glyphs.zero),
        }
        numbers = [
            Span(right(texts[name], cells), "edge" if texts[name] == glyphs.zero else "text")
            for name, cells in columns
        ]
        lead = [Span(f"{mark} ", "strong_ghost"), Span(f"{number + 1} ", "faint")]
        told = [Span(name, "text"), *([Span(odd, "warn")] if odd else []), Span(about, "faint")]
        lines.append(SpanLine((*lead, *told, *numbers), f"run:{number}"))
    return Block(lines)


def difference(facts: FactsKept, one: int, other: int, width: int) -> Block:
    """One line for each kind of fact: the numbers that are there after each of two runs, out of the facts of both spans."""
    known = facts.of_all(one, other)
    both = (facts.after(one, known), facts.after(other, known))
    spans_differ = not facts.same_span(one, other)
    about = "   of both spans" if spans_differ and width > 52 else ""
    head = Span(fit(f"        A           B{about}", max(0, width - 13)), "faint")
    lines = [SpanLine((Span(fit("facts", 13, pad=True), "strong"), head))]
    for kind in PLURAL:
        whole = sum(1 for of, _ in known if of is kind)
        if not whole:
            continue
        kept = [sum(1 for of, _ in found if of is kind) for found in both]
        spans = [Span(fit(PLURAL[kind], 13, pad=True), "sub")]
        spans += [Span(right(f"{number:,} of {whole:,}", 12), "text") for number in kept]
        if kept[0] != kept[1]:
            better = kept[1] > kept[0]
            spans.append(
                Span(
                    f"   B keeps {'more' if better else 'less'}"[: max(0, width - 37)],
                    "leaf" if better else "warn",
                )
            )
        lines.append(SpanLine(tuple(spans), f"kind:{kind}"))
    return Block(lines)


def exam_difference(first: Exam | None, second: Exam | None, width: int) -> Block:
    """One line for each topic: the questions that can be answered after each of two runs. None while one is graded.

    Each run is asked about the entries that it replaces itself, so that two spans may have different questions.
    """
    head = Span(fit("        A           B", max(0, width - 13)), "faint")
    lines = [SpanLine((Span(fit("exam", 13, pad=True), "strong"), head))]
    if first is None or second is None:
        return Block([*lines, SpanLine((Span("grading"[:width], "nothing"),))])
    for topic in (None, *Topic):
        counts = first.count(topic), second.count(topic)
        if not any(total for _, total in counts):
            continue
        name, ink = (topic.value, "sub") if topic is not None else ("in all", "text")
        spans = [Span(fit(name, 13, pad=True), ink)]
        spans += [
            Span(right(f"{answered} of {total}" if total else "", 12), "text") for answered, total in counts
        ]
        lines.append(SpanLine(tuple(spans), f"topic:{name}"))
    if len(lines) == 1:
        lines.append(SpanLine((Span(fit("nothing to ask", width), "nothing"),)))
    return Block(lines)
