"""The outcome of a compaction: facts that survived or were lost, its exam, its aftermath, later compactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted, percent
from leafward.base.safe_text import safe_line
from leafward.compaction.aftermath.aftermath import Repeat
from leafward.compaction.exam.grade import PLACE_WORDS, AnswerPlace
from leafward.compaction.exam.sitting import exams_kept
from leafward.summaries.facts.values import FactKind
from leafward.summaries.fates.decay import decay
from leafward.summaries.fates.report import SURVIVED, Status, Survival
from leafward.summaries.survival.spans import compactions
from leafward_tui.inspector.model.sheet import INDENT, Sheet, path_spans
from leafward_tui.inspector.page import EXAM
from leafward_tui.ui.sheets.exam_request import answer_lines, given_lines
from leafward_tui.ui.survival_cache import PLURAL
from leafward_tui.ui.text.cells import exact, fit, fit_apart, money, right, wrap
from leafward_tui.ui.text.spans import Span, padded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward.compaction.aftermath.aftermath import Aftermath
    from leafward.compaction.exam.grade import Exam
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session
    from leafward.summaries.fates.report import Fate

NAMES = 17
"""Cells of a name before its value."""
_BAR = 18
_KIND = 13
"""Cells of a sign and a kind before a text."""
_SURVIVAL_ABOUT = (
    "{} facts still in the context after it; by weight",
    "{} facts still in context; by weight",
    "{} facts; by weight",
    "{}; by weight",
    "by weight",
)
"""Texts beside the share: the share weighs facts, the lines below count them, and they would seem to disagree otherwise."""
_MOST_LOST = 12
_MOST_OTHERS = 5


def survival_lines(sheet: Sheet, report: Survival) -> None:
    """Writes how many facts are still there, then those that are lost, contradicted or invented."""
    _kinds(sheet, report)
    _lost(sheet, report)
    _others(sheet, report)


def _kinds(sheet: Sheet, report: Survival) -> None:
    """Writes a thin line for each kind: how many of its facts are still there."""
    overall = report.overall()
    if overall is None:
        sheet.heading("Survival")
        sheet.note("no facts in what it summarised", indent=INDENT)
        return
    counts = {
        kind: (
            sum(number for status, number in row.items() if status in SURVIVED),
            sum(number for status, number in row.items() if status is not Status.INVENTED),
        )
        for kind, row in report.counts().items()
    }
    alive, there = map(sum, zip(*counts.values(), strict=True))
    share = percent(overall, 1)
    room = sheet.width - len("Survival") - len(share) - 4
    abouts = (words.format(f"{exact(alive)} of {exact(there)}") for words in _SURVIVAL_ABOUT)
    about = next((words for words in abouts if len(words) <= room), "")
    sheet.heading("Survival", about, [Span(share, "strong")])
    glyphs = sheet.glyphs
    for kind, (alive, there) in counts.items():
        if not there:
            continue
        bar = max(6, min(_BAR, sheet.width - NAMES - 16))
        done = round(bar * alive / there)
        done = min(bar - (alive < there), max(done, alive > 0))
        sheet.line(
            [
                *padded([Span(" " * INDENT + PLURAL[kind], "sub")], NAMES),
                Span(glyphs.thin * done, "leaf" if alive == there else "sub"),
                Span(glyphs.thin_rest * (bar - done), "warn"),
                Span(right(exact(alive), 6), "text"),
                Span(f" of {exact(there)}", "faint"),
            ]
        )


def _listed(fates: Iterable[Fate]) -> list[Fate]:
    return sorted(fates, key=lambda fate: (-fate.fact.weight, fate.fact.entry, fate.fact.key))


def _fates(sheet: Sheet, key: str, fates: list[Fate], most: int, sign: str, ink: str) -> None:
    opened = sheet.is_open(key)
    listed = fates if opened else fates[:most]
    places = [f"#{fate.fact.entry:,}" if fate.fact.entry >= 0 else "" for fate in listed]
    texts = _apart(sheet, [(fate.fact.text, fate.fact.kind is FactKind.PATH) for fate in listed], places)
    for fate, source, text in zip(listed, places, texts, strict=True):
        fact = fate.fact
        sheet.row(
            [Span(f"{sign} ", ink), *padded([Span(fact.kind.value, "faint")], 11), *text],
            [Span(source, "faint")] if source else [],
            entry=fact.entry,
            copy=safe_line(fact.text, 4_000),
        )
    if len(fates) > most:
        words = "fewer" if opened else counted(len(fates) - most, "more", "more")
        fold = sheet.glyphs.unfolded if opened else sheet.glyphs.folded
        sheet.line([Span(f"{fold} {words}", "faint")], toggle=key)


def _apart(sheet: Sheet, texts: Sequence[tuple[str, bool]], places: Sequence[str]) -> list[list[Span]]:
    """Texts that stand between a kind and a place, told apart where they are cut; True marks a path."""
    width = sheet.width - _KIND - 2
    cut = fit_apart(
        [safe_line(text, 300) for text, _ in texts],
        width - max(map(len, places), default=0),
        ellipsis=sheet.glyphs.ellipsis,
    )
    # Paths of one project begin alike: their ends distinguish them.
    return [
        path_spans(text, width - len(place), sheet.glyphs, ink="sub") if is_path else [Span(shown, "sub")]
        for (text, is_path), place, shown in zip(texts, places, cut, strict=True)
    ]


def _lost(sheet: Sheet, report: Survival) -> None:
    lost = _listed(fate for fate in report.fates if fate.status is Status.LOST)
    if not lost:
        return
    if report.unreadable:
        size = exact(len(lost))
        room = sheet.width - len("May be lost") - len(size) - 4
        abouts = ("the summary is encrypted and may hold it", "encrypted summary, may hold it", "encrypted")
        about = next((words for words in abouts if len(words) <= room), "")
        sheet.heading("May be lost", about, [Span(size, "sub")])
    else:
        sheet.heading("Lost", "each opens where it was said", [Span(exact(len(lost)), "warn")])
    _fates(sheet, "lost", lost, _MOST_LOST, sheet.glyphs.error, "bad")


def _others(sheet: Sheet, report: Survival) -> None:
    for status, title, sign in (
        (Status.CONTRADICTED, "Contradicted", sheet.glyphs.differs),
        (Status.INVENTED, "Invented", sheet.glyphs.malformed),
    ):
        found = _listed(fate for fate in report.fates if fate.status is status)
        if found:
            about = (
                "the summary says otherwise"
                if status is Status.CONTRADICTED
                else "in the summary, nowhere before"
            )
            sheet.heading(title, about, [Span(exact(len(found)), "warn")])
            _fates(sheet, title, found, _MOST_OTHERS, sign, "warn")


def exam_lines(sheet: Sheet, found: Exam, session: Session, index: EntryIndex) -> None:
    """Writes questions about the replaced entries, and the present places of the right answers."""
    answered, total = found.count()
    if not total:
        return
    about = f"{answered} of {counted(total, 'question')} can be answered now"
    if unreadable := found.unreadable():
        about = f"{answered} of {counted(total, 'question')}, {exact(unreadable)} unreadable (encrypted)"
    if not sheet.opening("exam", "Exam", about):
        return
    if unreadable:
        sheet.note("the summary is encrypted and may answer the rest", indent=INDENT)
    sat = list(exams_kept(session, index))
    for place, one in enumerate(found.graded):
        sign, ink = (sheet.glyphs.ok, "leaf") if one.answered else (sheet.glyphs.error, "bad")
        if one.place is AnswerPlace.UNREADABLE:
            sign, ink = "?", "faint"
        source = f"#{one.question.entry:,}"
        first, *rest = wrap(one.question.text, sheet.width - INDENT - 2 - len(source))
        sheet.row(
            [Span(f"{sign} ", ink), Span(first, "strong")],
            [Span(source, "faint")],
            entry=one.question.entry,
        )
        for part in rest:
            sheet.line([Span(" " * INDENT + part, "strong")])
        for number, answer in enumerate(answer_lines(one.question, sheet.width - INDENT - 2, sheet.glyphs)):
            right_one = number == one.question.right
            lead = f"{sheet.glyphs.arrow} " if right_one else "  "
            ink = "text" if right_one else "faint"
            sheet.line([Span(" " * INDENT + lead, ink), Span(answer, ink)])
        sheet.line([Span(" " * (INDENT + 2) + PLACE_WORDS[one.place], "faint")])
        for kept in sat:
            if answers := kept.answers_to(found):
                room, chosen = sheet.width - INDENT - 4, answers[place]
                good, (name, *given) = given_lines(one.question, kept.model, chosen, room, sheet.glyphs)
                sign, ink = (sheet.glyphs.ok, "leaf") if good else (sheet.glyphs.error, "bad")
                sheet.line([Span(f"{' ' * (INDENT + 2)}{sign} ", ink), Span(name, "sub")])
                for part in given:
                    sheet.line([Span(" " * (INDENT + 4) + part, "sub")])
    for kept in sat:
        result, cost = f"  {kept.right} of {kept.asked} right", money(kept.cost) if kept.cost else ""
        room = sheet.width - INDENT - len(result) - len(cost) - 1
        name = fit(safe_line(kept.model, 60), room, ellipsis=sheet.glyphs.ellipsis)
        sheet.row([Span(" " * INDENT + name, "sub"), Span(result, "text")], [Span(cost, "faint")])
    sheet.line(
        [Span(f"{sheet.glyphs.folded} ", "faint"), Span("have a model answer them", "text")],
        toggle=f"{EXAM}{index}",
    )


def aftermath_lines(sheet: Sheet, later: Aftermath) -> None:
    """Writes the repeats soon after the compaction: things read, run, got wrong or said again."""
    calls = "tool call" if later.calls == 1 else counted(later.calls, "tool call")
    if not later.repeated:
        sheet.heading("Repeated", f"nothing in the next {calls}" if later.calls else "no tool call after it")
        return
    cost = f", {money(later.dollars)}" if later.dollars else ""
    size = f"~{exact(later.tokens)} tokens{cost}"
    room = sheet.width - len("Repeated") - len(size) - 4
    about = next((words for words in (f"in the next {calls}", f"in {calls}") if len(words) <= room), "")
    sheet.heading("Repeated", about, [Span(size, "warn")])
    opened = sheet.is_open("repeated")
    listed = later.repeated if opened else later.repeated[:_MOST_OTHERS]
    places = [f"#{one.entry:,}" for one in listed]
    texts = _apart(sheet, [(one.text, one.kind is Repeat.FILE) for one in listed], places)
    for one, place, text in zip(listed, places, texts, strict=True):
        sheet.row(
            [*padded([Span(" " * INDENT + one.kind.value, "faint")], _KIND), *text],
            [Span(place, "faint")],
            entry=one.entry,
            copy=safe_line(one.text, 4_000),
        )
    if len(later.repeated) > _MOST_OTHERS:
        words = "fewer" if opened else counted(len(later.repeated) - _MOST_OTHERS, "more", "more")
        fold = sheet.glyphs.unfolded if opened else sheet.glyphs.folded
        sheet.line([Span(f"{fold} {words}", "faint")], toggle="repeated")


def decay_lines(sheet: Sheet, session: Session, index: EntryIndex) -> None:
    """Writes how the facts of each span fade over later compactions, up to this one."""
    path = compactions(session, index)
    if len(path) < 2:
        return
    if not sheet.opening("decay", "Decay", f"facts left after each of {len(path)} compactions"):
        return
    generations = decay(session, index)
    shown = generations[-6:]
    cells = max(6, min(9, (sheet.width - NAMES) // max(1, len(shown))))
    heads = [Span(right(f"#{generation.compaction:,}", cells), "faint") for generation in shown]
    sheet.line([*padded([Span("  said before", "faint")], NAMES), *heads])
    for number, generation in enumerate(shown):
        born = sum(generation.born.values())
        spans = padded([Span(f"  #{generation.compaction:,}", "sub")], NAMES)
        spans.append(Span(" " * (cells * number), "blank"))
        for compaction, counts in generation.alive:
            if compaction in {one.compaction for one in shown}:
                alive = sum(counts.values())
                share = percent(alive, born) if born else sheet.glyphs.zero
                spans.append(Span(right(share, cells), "text" if alive else "edge"))
        sheet.line(spans, entry=generation.compaction)
