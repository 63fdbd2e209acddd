"""The Compaction tab: what the compaction here did, what survived it, and what did not.

Of an entry that is no compaction it tells about the one that applies there. What became of the facts takes longest and is
made once for each compaction; how they fade over later ones only when that part is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.compaction.exam import PLACE_WORDS
from leafward.compaction.exam.sitting import exams_kept
from leafward.compaction.xray import Link, xray_of
from leafward.context.projection import latest
from leafward.session.entries import EntryIndex, Kind, read_usage
from leafward.summaries.survival import SURVIVED, Status, Survival, compactions, decay, facts_of, survival
from leafward.summaries.survival.spans import Said
from leafward_tui.inspector.model.files import where
from leafward_tui.inspector.model.sheet import INDENT, Sheet
from leafward_tui.ui.cells import counted, exact, money, percent, right
from leafward_tui.ui.exam_request import answer_words
from leafward_tui.ui.inspector_tab import Tab
from leafward_tui.ui.page import EXAM, XRAY, Page, Selection, Span
from leafward_tui.ui.spans import padded, shown_line
from leafward_tui.ui.survival_cache import PLURAL, survivals_of
from leafward_tui.ui.times import moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.base.config import Config
    from leafward.compaction.aftermath import Aftermath
    from leafward.compaction.exam import Exam
    from leafward.compaction.xray import XRay
    from leafward.session.entries import Body
    from leafward.session.session import Session
    from leafward.summaries.survival import Fate
    from leafward_tui.ui.glyphs import Glyphs

_NAMES = 17
_BAR = 18
_SURVIVAL_ABOUT = (
    "facts still in the context after it, by weight",
    "facts still in context, by weight",
    "of facts, by weight",
    "by weight",
)
_MOST_LOST = 12
_MOST_OTHERS = 5
_SHARES = (
    (Link.SYSTEM, "system", "sub"),
    (Link.REPLACED, "summarised", "memory"),
    (Link.PREFIX, "split turn", "warn"),
    (Link.KEPT, "kept", "leaf"),
    (Link.INJECTED, "injected", "ghost"),
    (Link.CUT, "cut", "bad"),
    (Link.REST, "not in file", "faint"),
    (Link.ERROR, "estimation error", "faint"),
)


def compaction_page(
    selection: Selection,
    width: int,
    height: int,
    glyphs: Glyphs,
    config: Config,
    toggled: frozenset[str] = frozenset(),
    stop: Callable[[], bool] = lambda: False,
    words: str = "",
) -> Page:
    """The Compaction tab. Enter goes to the source of a lost fact, or opens the X-ray."""
    sheet = Sheet(Tab.COMPACTION, width, height, glyphs, toggled, words)
    sheet.blank()
    session = selection.session
    kind = session.columns.kind[selection.head]
    if kind == Kind.BRANCH_SUMMARY:
        _branch_summary(sheet, selection, EntryIndex(selection.head))
        return sheet.page()
    own = kind == Kind.COMPACTION
    index = selection.head if own else latest(session, selection.at, frozenset({Kind.COMPACTION}))
    if index < 0:
        sheet.facts([[Span("Compaction", "strong")], where(selection)], gap=2)
        sheet.blank()
        sheet.note("No compaction on the path to here.")
        return sheet.page()
    if _compaction(sheet, selection, EntryIndex(index), stop, own=own):
        _traced(sheet, session, EntryIndex(index), config)
    return sheet.page()


def _compaction(
    sheet: Sheet, selection: Selection, index: EntryIndex, stop: Callable[[], bool], *, own: bool
) -> bool:
    """What it did and what it lost; whether all of that is there."""
    session = selection.session
    entry = session.entry(index)
    when = moment(entry.timestamp) if entry.timestamp else ""
    left = [
        [Span("Compaction", "strong")],
        where(selection) if own else [Span("last one above", "faint")],
    ]
    sheet.facts(left, _dated(when, index), gap=2, entry=-1 if own else index)
    xray = xray_of(session, index)
    _numbers(sheet, xray)
    _made_by(sheet, entry.body)
    sheet.line(
        [Span(f"{sheet.glyphs.arrow} ", "faint"), Span("before and after, line by line", "text")],
        toggle=f"{XRAY}{index}",
    )
    if stop():
        return False
    report = survivals_of(session).report(session, index, stop)
    _survival(sheet, report)
    _lost(sheet, report)
    _others(sheet, report)
    if stop():
        return False
    _exam(sheet, survivals_of(session).exam(session, index, stop), session, index)
    if stop():
        return False
    _aftermath(sheet, survivals_of(session).aftermath(session, index, stop))
    _decay(sheet, session, index)
    return True


def _numbers(sheet: Sheet, xray: XRay) -> None:
    """Sizes, and the ledger of both sides."""
    glyphs = sheet.glyphs
    less = (
        f"   {(xray.before - xray.after) * 100 // xray.before} % less" if xray.before > xray.after > 0 else ""
    )
    after = f"{'' if xray.recorded else '~'}{exact(xray.after)}"
    sheet.line(
        [
            *padded([Span("context", "faint")], _NAMES),
            Span(exact(xray.before), "text"),
            Span(f" {glyphs.arrow} ", "faint"),
            Span(after, "strong"),
            Span(less, "faint"),
        ]
    )
    sheet.line(
        [
            *padded([Span("messages", "faint")], _NAMES),
            Span(exact(xray.messages_before), "text"),
            Span(f" {glyphs.arrow} ", "faint"),
            Span(exact(xray.messages_after), "text"),
        ]
    )
    sheet.blank()
    head = [*padded([], _NAMES), Span(right("before", 10), "faint"), Span(right("after", 10), "faint")]
    sheet.line(head)
    shares = {share.link: share for share in xray.ledger}
    for link, name, ink in _SHARES:
        share = shares[link]
        if not share.before and not share.after:
            continue
        sheet.line(
            [
                *padded([Span(name, ink)], _NAMES),
                *_amount(share.before, glyphs),
                *_amount(share.after, glyphs),
            ]
        )
    sheet.line(
        [
            *padded([Span("total", "faint")], _NAMES),
            Span(right(exact(xray.before), 10), "strong"),
            Span(right(after, 10), "strong"),
        ]
    )
    sheet.blank()


def _amount(amount: int, glyphs: Glyphs) -> list[Span]:
    if not amount:
        return [Span(right(glyphs.zero, 10), "edge")]
    return [Span(right(exact(amount).replace("-", glyphs.minus), 10), "sub")]


def _made_by(sheet: Sheet, body: Body) -> None:
    """Who made it, how, and what that cost, as far as it is stored."""
    details = body.get("details")
    ours = details.get("leafward") if isinstance(details, dict) else None
    ours = ours if isinstance(ours, dict) else {}
    by = "an extension" if body.get("fromHook") else "the agent"
    if ours or isinstance(body.get("leafward"), dict):
        by = "Leafward"
    made = _text(ours.get("summarizer"))
    sheet.pairs("by", f"{by}, {made}" if made else by, ink="sub", width=_NAMES)
    inferred = _text(details.get("inferredParent")) if isinstance(details, dict) else ""
    if inferred:
        sheet.pairs("place", f"inferred: {inferred}", ink="sub", width=_NAMES)
    strategy = _text(ours.get("strategy"))
    if strategy:
        behaviour = _text(ours.get("behaviour"))
        sheet.pairs("strategy", f"{strategy} {behaviour}".strip(), ink="sub", width=_NAMES)
    usage = read_usage(body.get("usage"))
    if usage is not None and usage.total:
        cost = ours.get("cost")
        dollars = float(cost) if isinstance(cost, (int, float)) and not isinstance(cost, bool) else usage.cost
        words = f"{exact(usage.total)} tokens" + (f", {money(dollars)}" if dollars > 0 else "")
        sheet.pairs("usage", words, ink="sub", width=_NAMES)
    pins = ours.get("pins")
    if isinstance(pins, list) and pins:
        sheet.pairs(
            "pinned", ", ".join(shown_line(str(pin), 60) for pin in pins[:6]), ink="sub", width=_NAMES
        )
    focus = _text(ours.get("focus"))
    if focus:
        sheet.pairs("focus", focus, ink="sub", width=_NAMES)
    sheet.blank()


def _text(value: object) -> str:
    return shown_line(value, 120) if isinstance(value, str) else ""


def _survival(sheet: Sheet, report: Survival) -> None:
    """A thin line for each kind: how many of its facts are still there."""
    overall = report.overall()
    if overall is None:
        sheet.heading("Survival")
        sheet.note("no facts in what it summarised", indent=INDENT)
        return
    share = percent(overall, 1)
    room = sheet.width - len("Survival") - len(share) - 4
    about = next((words for words in _SURVIVAL_ABOUT if len(words) <= room), "")
    sheet.heading("Survival", about, [Span(share, "strong")])
    glyphs = sheet.glyphs
    for kind, row in report.counts().items():
        there = sum(number for status, number in row.items() if status is not Status.INVENTED)
        if not there:
            continue
        alive = sum(number for status, number in row.items() if status in SURVIVED)
        bar = max(6, min(_BAR, sheet.width - _NAMES - 16))
        done = round(bar * alive / there)
        done = min(bar - (alive < there), max(done, alive > 0))
        sheet.line(
            [
                *padded([Span(" " * INDENT + PLURAL[kind], "sub")], _NAMES),
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
    for fate in fates if opened else fates[:most]:
        fact = fate.fact
        place = [Span(f"#{fact.entry:,}", "faint")] if fact.entry >= 0 else []
        sheet.row(
            [
                Span(f"{sign} ", ink),
                *padded([Span(fact.kind.value, "faint")], 11),
                Span(shown_line(fact.text, 300), "sub"),
            ],
            place,
            entry=fact.entry,
            copy=shown_line(fact.text, 4_000),
        )
    if len(fates) > most:
        words = "fewer" if opened else counted(len(fates) - most, "more", "more")
        fold = sheet.glyphs.unfolded if opened else sheet.glyphs.folded
        sheet.line([Span(f"{fold} {words}", "faint")], toggle=key)


def _lost(sheet: Sheet, report: Survival) -> None:
    lost = _listed(fate for fate in report.fates if fate.status is Status.LOST)
    if not lost:
        return
    sheet.heading("Lost", "enter goes to where it was said", [Span(exact(len(lost)), "warn")])
    _fates(sheet, "lost", lost, _MOST_LOST, sheet.glyphs.error, "bad")


def _others(sheet: Sheet, report: Survival) -> None:
    for status, title, sign in (
        (Status.CONTRADICTED, "Contradicted", sheet.glyphs.differs),
        (Status.INVENTED, "Invented", sheet.glyphs.malformed),
    ):
        found = _listed(fate for fate in report.fates if fate.status is status)
        if found:
            about = (
                "the summary says otherwise" if status is Status.CONTRADICTED else "nothing before says it"
            )
            sheet.heading(title, about, [Span(exact(len(found)), "warn")])
            _fates(sheet, title, found, _MOST_OTHERS, sign, "warn")


def _exam(sheet: Sheet, found: Exam, session: Session, index: EntryIndex) -> None:
    """Questions about what it replaced, and where the right answers stand now."""
    answered, total = found.count()
    if not total:
        return
    if not sheet.opening("exam", "Exam", f"{answered} of {counted(total, 'question')} can be answered now"):
        return
    sat = list(exams_kept(session, index))
    for place, one in enumerate(found.graded):
        sheet.row(
            [
                Span(
                    f"{sheet.glyphs.ok if one.answered else sheet.glyphs.error} ",
                    "leaf" if one.answered else "bad",
                ),
                Span(one.question.text, "strong"),
            ],
            [Span(f"#{one.question.entry:,}", "faint")],
            entry=one.question.entry,
        )
        for number, answer in enumerate(one.question.answers):
            right_one = number == one.question.right
            lead = f"{sheet.glyphs.arrow} " if right_one else "  "
            ink = "text" if right_one else "faint"
            sheet.line([Span(" " * INDENT + lead, ink), Span(shown_line(answer.text, 300), ink)])
        sheet.line([Span(" " * (INDENT + 2) + PLACE_WORDS[one.place], "faint")])
        for kept in sat:
            if answers := kept.answers_to(found):
                good, words = answer_words(one.question, kept.model, answers[place])
                sign, ink = (sheet.glyphs.ok, "leaf") if good else (sheet.glyphs.error, "bad")
                sheet.line([Span(f"{' ' * (INDENT + 2)}{sign} ", ink), Span(shown_line(words, 300), "sub")])
    for kept in sat:
        sheet.row(
            [
                Span(" " * INDENT + shown_line(kept.model, 60), "sub"),
                Span(f"  {kept.right} of {kept.asked} right", "text"),
            ],
            [Span(money(kept.cost) if kept.cost else "", "faint")],
        )
    sheet.line(
        [Span(f"{sheet.glyphs.folded} ", "faint"), Span("have a model answer them", "text")],
        toggle=f"{EXAM}{index}",
    )


def _aftermath(sheet: Sheet, later: Aftermath) -> None:
    """What was read, run, got wrong and said again soon after it."""
    if not later.repeated:
        calls = counted(later.calls, "tool call")
        sheet.heading("Repeated", f"nothing in the next {calls}" if later.calls else "no tool call after it")
        return
    cost = f", {money(later.dollars)}" if later.dollars else ""
    size = f"{sheet.glyphs.about}{exact(later.tokens)} tokens{cost}"
    room = sheet.width - len("Repeated") - len(size) - 4
    calls = counted(later.calls, "tool call")
    about = next((words for words in (f"in the next {calls}", f"in {calls}") if len(words) <= room), "")
    sheet.heading("Repeated", about, [Span(size, "warn")])
    opened = sheet.is_open("repeated")
    for one in later.repeated if opened else later.repeated[:_MOST_OTHERS]:
        sheet.row(
            [
                *padded([Span(" " * INDENT + one.kind.value, "faint")], 11 + INDENT),
                Span(shown_line(one.text, 300), "sub"),
            ],
            [Span(f"#{one.entry:,}", "faint")],
            entry=one.entry,
            copy=shown_line(one.text, 4_000),
        )
    if len(later.repeated) > _MOST_OTHERS:
        words = "fewer" if opened else counted(len(later.repeated) - _MOST_OTHERS, "more", "more")
        fold = sheet.glyphs.unfolded if opened else sheet.glyphs.folded
        sheet.line([Span(f"{fold} {words}", "faint")], toggle="repeated")


def _decay(sheet: Sheet, session: Session, index: EntryIndex) -> None:
    """How the facts of each span fade over the compactions after it, those up to this one."""
    path = compactions(session, index)
    if len(path) < 2:
        return
    if not sheet.opening("decay", "Decay", f"how facts fade over {len(path)} compactions"):
        return
    generations = decay(session, index)
    shown = generations[-6:]
    cells = max(6, min(9, (sheet.width - _NAMES) // max(1, len(shown))))
    heads = [Span(right(f"#{generation.compaction:,}", cells), "faint") for generation in shown]
    sheet.line([*padded([Span("  said before", "faint")], _NAMES), *heads])
    for number, generation in enumerate(shown):
        born = sum(generation.born.values())
        spans = padded([Span(f"  #{generation.compaction:,}", "sub")], _NAMES)
        spans.append(Span(" " * (cells * number), "blank"))
        for compaction, counts in generation.alive:
            if compaction in {one.compaction for one in shown}:
                alive = sum(counts.values())
                share = percent(alive, born) if born else sheet.glyphs.zero
                spans.append(Span(right(share, cells), "text" if alive else "edge"))
        sheet.line(spans, entry=generation.compaction)


def _traced(sheet: Sheet, session: Session, index: EntryIndex, config: Config) -> None:
    """Rules that held before, and what would be injected: which of it the summary and the kept messages still carry."""
    if not sheet.opening("traced", "Rules and injected text", "still in the context"):
        return
    from leafward.compaction.injection.audit import Presence, RuleFate
    from leafward.compaction.injection.sections import BY_KEY
    from leafward.compaction.injection.trace import trace

    found = trace(session, index, config, None)
    if not found.rules and not found.items:
        sheet.note("no rules and nothing to inject were found for this session", indent=INDENT)
        return
    signs = {
        RuleFate.KEPT: (sheet.glyphs.ok, "leaf"),
        RuleFate.RECOVERED: (sheet.glyphs.injected, "ghost"),
        RuleFate.LOST: (sheet.glyphs.error, "bad"),
    }
    for audit in found.rules:
        mark, ink = signs[audit.fate]
        name = Span(shown_line(audit.rule, 120), "text")
        sheet.row([Span(f"  {mark} ", ink), name], [Span(f"rule {audit.fate.value}", "faint")])
    sections: dict[str, list[Presence]] = {}
    for item in found.items:
        sections.setdefault(item.section, []).append(item.presence)
    for section, presences in sections.items():
        there = sum(1 for presence in presences if presence is not Presence.ABSENT)
        share = [Span(exact(there), "text"), Span(f" of {exact(len(presences))} in the summary", "faint")]
        title = BY_KEY[section].title if section in BY_KEY else shown_line(section, 60)
        sheet.row([Span(f"  {title}", "sub")], share)


def _dated(when: str, index: int) -> list[list[Span]]:
    """The time of an entry, where it says one, and its number."""
    return [[Span(word, "faint")] for word in (when, f"#{index:,}") if word]


def _branch_summary(sheet: Sheet, selection: Selection, index: EntryIndex) -> None:
    """What a branch summary stands for, and what of it the summary holds."""
    session = selection.session
    entry = session.entry(index)
    when = moment(entry.timestamp) if entry.timestamp else ""
    sheet.facts([[Span("Branch summary", "strong")], where(selection)], _dated(when, index), gap=2)
    left = session.columns.index(str(entry.body.get("fromId")))
    summary = entry.body.get("summary")
    text = summary if isinstance(summary, str) else ""
    tree = session.tree
    ancestor = tree.common_ancestor(left, index) if left >= 0 else -1
    runs = tree.below(ancestor, left) if left >= 0 and ancestor not in (left, index) else []
    sheet.pairs("stands for", counted(tree.content_in(runs), "entry", "entries"), width=_NAMES)
    if left >= 0:
        sheet.line([*padded([Span("left at", "faint")], _NAMES), Span(f"#{left:,}", "text")], entry=left)
    _made_by(sheet, entry.body)
    if not runs:
        sheet.note("the summarised entries are not in this file")
        return
    report = survival(
        facts_of(_messages(session, (at for run in runs for at in range(run.start, run.stop))), session.cwd),
        text,
        cwd=session.cwd,
        compaction=index,
    )
    _survival(sheet, report)
    _lost(sheet, report)
    _others(sheet, report)


def _messages(session: Session, entries: Iterable[int]) -> Iterable[Said]:
    from leafward.session.messages import messages_of

    for at, body in session.bodies(entries):
        if body is not None:
            for message in messages_of(body, Kind(session.columns.kind[at])):
                yield Said(at, message)
