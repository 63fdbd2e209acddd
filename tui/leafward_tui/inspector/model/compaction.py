"""The Compaction tab: the effect of the compaction here, and the facts that survived it or were lost.

For an entry that is no compaction, the page is about the one that applies there. The survival report takes longest and
is made once for each compaction; its decay over later ones only when that part is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import counted, percent
from leafward.base.safe_text import safe_line
from leafward.compaction.xray.alignment import Link
from leafward.compaction.xray.xray import xray_of
from leafward.context.basis import Basis
from leafward.context.projection import latest
from leafward.session.entries import EntryIndex, Kind, read_usage
from leafward.session.messages import SUMMARY_BASIS_TEXT, summary_basis
from leafward.summaries.fates.report import facts_of, survival
from leafward.summaries.survival.spans import SpanMessage
from leafward_tui.inspector.model.compaction_outcome import (
    NAMES,
    aftermath_lines,
    decay_lines,
    exam_lines,
    survival_lines,
)
from leafward_tui.inspector.model.files import where
from leafward_tui.inspector.model.sheet import INDENT, Sheet
from leafward_tui.inspector.model.special_entries import noted_sizes
from leafward_tui.inspector.page import XRAY, Page, Selection
from leafward_tui.ui.survival_cache import survivals_of
from leafward_tui.ui.text.cells import exact, money, right
from leafward_tui.ui.text.spans import Span, padded
from leafward_tui.ui.text.times import moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.base.config import Config
    from leafward.compaction.xray.alignment import XRay
    from leafward.session.entries import Body
    from leafward.session.session import Session
    from leafward_tui.inspector.page_request import PageRequest
    from leafward_tui.ui.appearance.glyphs import Glyphs

_SHARES = (
    (Link.SYSTEM, "system", "sub"),
    (Link.REPLACED, "summarised", "memory"),
    (Link.PREFIX, "split turn", "warn"),
    (Link.KEPT, "kept", "leaf"),
    (Link.INJECTED, "injected", "ghost"),
    (Link.CUT, "dropped", "bad"),
    (Link.REST, "not in file", "faint"),
    (Link.ERROR, "estimation error", "faint"),
)


def compaction_page(request: PageRequest, stop: Callable[[], bool]) -> Page:
    """The Compaction tab. Enter goes to the source of a lost fact, or opens the X-ray."""
    sheet = Sheet(request)
    sheet.blank()
    selection = request.selection
    session = selection.session
    kind = session.columns.kind[selection.head]
    if kind == Kind.BRANCH_SUMMARY:
        _branch_summary(sheet, selection, EntryIndex(selection.head))
        return sheet.page()
    own = kind == Kind.COMPACTION
    index = selection.head if own else latest(session, selection.at, frozenset({Kind.COMPACTION}))
    if index < 0:
        sheet.facts([[Span("Compaction", "strong")]])
        sheet.blank()
        sheet.note("No compaction on the path to here.")
        return sheet.page()
    if _compaction(sheet, selection, EntryIndex(index), stop, own=own):
        _traced(sheet, session, EntryIndex(index), request.config)
    return sheet.page()


def _compaction(
    sheet: Sheet, selection: Selection, index: EntryIndex, stop: Callable[[], bool], *, own: bool
) -> bool:
    """Writes a compaction's effect and its losses; whether the page is complete."""
    session = selection.session
    entry = session.entry(index)
    when = moment(entry.timestamp) if entry.timestamp else ""
    left = [
        [Span("Compaction", "strong")],
        where(selection) if own else [Span("last one above", "faint")],
    ]
    sheet.facts(left, _dated(when, index), gap=2, entry=-1 if own else index)
    xray = xray_of(session, index)
    _numbers(sheet, xray, noted_sizes(entry.body, xray.before, xray.after))
    _made_by(sheet, entry.body)
    sheet.line(
        [Span(f"{sheet.glyphs.arrow} ", "faint"), Span("before and after, line by line", "text")],
        toggle=f"{XRAY}{index}",
    )
    if stop():
        return False
    report = survivals_of(session).report(session, index, stop)
    survival_lines(sheet, report)
    if stop():
        return False
    exam_lines(sheet, survivals_of(session).exam(session, index, stop), session, index)
    if stop():
        return False
    aftermath_lines(sheet, survivals_of(session).aftermath(session, index, stop))
    decay_lines(sheet, session, index)
    return True


def _numbers(sheet: Sheet, xray: XRay, noted: str) -> None:
    """Writes the sizes, with those that the agent recorded, the ledger of both sides, and notes on both."""
    said_short = _sizes(sheet, xray, noted)
    sheet.blank()
    _ledger(sheet, xray)
    _notes(sheet, xray, said_short=said_short)
    sheet.blank()


def _size_after(xray: XRay) -> str:
    return f"{'' if xray.recorded else '~'}{exact(xray.after)}"


def _sizes(sheet: Sheet, xray: XRay, noted: str) -> bool:
    """Writes tokens and messages before and after; whether they say that something is not in the file."""
    arrow = Span(f" {sheet.glyphs.arrow} ", "faint")
    less = " + not in file" if xray.is_short else ""
    if xray.before > xray.after > 0 and not less:
        less = f"   {percent(xray.before - xray.after, xray.before)} less"
    before, after = exact(xray.before), _size_after(xray)
    if NAMES + cell_len(f"{before}{arrow.text}{after}{less}") > sheet.width:
        less = ""
    context = [Span(before, "text"), arrow, Span(after, "strong"), Span(less, "faint")]
    sheet.line([*padded([Span("context", "faint")], NAMES), *context])
    if noted:
        sheet.pairs("recorded", noted, ink="sub", width=NAMES)
    messages = [Span(exact(xray.messages_before), "text"), arrow, Span(exact(xray.messages_after), "text")]
    sheet.line([*padded([Span("messages", "faint")], NAMES), *messages])
    return bool(less)


def _ledger(sheet: Sheet, xray: XRay) -> None:
    """Writes the parts of both sides, in tokens, and their totals."""
    glyphs = sheet.glyphs
    sheet.line([*padded([], NAMES), Span(right("before", 10), "faint"), Span(right("after", 10), "faint")])
    shares = {share.link: share for share in xray.ledger}
    for link, name, ink in _SHARES:
        share = shares[link]
        if not share.before and not share.after:
            continue
        unknown = link is Link.REST and xray.lacks_rest
        after = [Span(right("unknown", 10), "faint")] if unknown else _amount(share.after, glyphs)
        sheet.line([*padded([Span(name, ink)], NAMES), *_amount(share.before, glyphs), *after])
    totals = [Span(right(exact(xray.before), 10), "strong"), Span(right(_size_after(xray), 10), "strong")]
    sheet.line([*padded([Span("total", "faint")], NAMES), *totals])


def _notes(sheet: Sheet, xray: XRay, *, said_short: bool) -> None:
    """Writes the source of the size after, and what is not in file, encrypted or estimated wrongly."""
    shares = {share.link: share for share in xray.ledger}
    rest = shares[Link.REST]
    if xray.recorded:
        basis, at = Basis.of(xray.session), EntryIndex(xray.compaction)
        # Without a part that is carried, the size would be that of the file's contents alone.
        carries = basis.carried_not_in_file(at) or not rest.after
        carried = basis.carried(at) if carries else xray.after
        estimate = f" (estimate: ~{exact(carried)})" if carried != xray.after else ""
        sheet.note(f"after: counted by the next request{estimate}")
    else:
        sheet.note("after: estimated from the counts before it, until a request counts it")
    if rest.before and rest.after and rest.before != rest.after and xray.recorded:
        again = "; files added again are part of it" if xray.puts_files_in else ""
        sheet.note(f"not in file: measured again after the compaction{again}")
    if xray.lacks_files:
        sheet.note("files added again are not in file and come on top: their size is not known yet")
    elif xray.lacks_rest and not said_short:
        sheet.note("what is not in file comes on top")
    counted_as = summary_basis(xray.session.body(xray.compaction) or {}) if xray.compaction >= 0 else None
    if counted_as is not None:
        sheet.note(f"summary: encrypted, {SUMMARY_BASIS_TEXT[counted_as]}")
    errors = [error for error in (shares[Link.ERROR].before, shares[Link.ERROR].after) if error]
    if errors:
        ways = [word for word, there in (("above", max(errors) > 0), ("below", min(errors) < 0)) if there]
        sheet.note(f"estimation error: how far the count is {' or '.join(ways)} the estimates")


def _amount(amount: int, glyphs: Glyphs) -> list[Span]:
    if not amount:
        return [Span(right(glyphs.zero, 10), "edge")]
    return [Span(right(exact(amount).replace("-", glyphs.minus), 10), "sub")]


def _made_by(sheet: Sheet, body: Body) -> None:
    """Writes the author, the method and the cost of a compaction, as far as they are stored."""
    details = body.get("details")
    ours = details.get("leafward") if isinstance(details, dict) else None
    ours = ours if isinstance(ours, dict) else {}
    by = "an extension" if body.get("fromHook") else "the agent"
    if ours or isinstance(body.get("leafward"), dict):
        by = "Leafward"
    made = _text(ours.get("summarizer"))
    sheet.pairs("by", f"{by}, {made}" if made else by, ink="sub", width=NAMES)
    inferred = _text(details.get("inferredParent")) if isinstance(details, dict) else ""
    if inferred:
        sheet.pairs("place", f"inferred: {inferred}", ink="sub", width=NAMES)
    strategy = _text(ours.get("strategy"))
    if strategy:
        behaviour = _text(ours.get("behaviour"))
        sheet.pairs("strategy", f"{strategy} {behaviour}".strip(), ink="sub", width=NAMES)
    usage = read_usage(body.get("usage"))
    if usage is not None and usage.total:
        cost = ours.get("cost")
        dollars = float(cost) if isinstance(cost, (int, float)) and not isinstance(cost, bool) else usage.cost
        words = f"{exact(usage.total)} tokens" + (f", {money(dollars)}" if dollars > 0 else "")
        sheet.pairs("usage", words, ink="sub", width=NAMES)
    pins = ours.get("pins")
    if isinstance(pins, list) and pins:
        sheet.pairs("pinned", ", ".join(safe_line(str(pin), 60) for pin in pins[:6]), ink="sub", width=NAMES)
    focus = _text(ours.get("focus"))
    if focus:
        sheet.pairs("focus", focus, ink="sub", width=NAMES)
    sheet.blank()


def _text(value: object) -> str:
    return safe_line(value, 120) if isinstance(value, str) else ""


def _traced(sheet: Sheet, session: Session, index: EntryIndex, config: Config) -> None:
    """Writes rules and injectable items of the span, and which of them are still in the summary or the kept messages."""
    if not sheet.opening("traced", "Rules, goals and files", "still in the summary"):
        return
    from leafward.compaction.injection.audit import RuleFate, SummaryPresence
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
        name = Span(safe_line(audit.rule, 120), "text")
        sheet.row([Span(f"  {mark} ", ink), name], [Span(f"rule {audit.fate.value}", "faint")])
    sections: dict[str, list[SummaryPresence]] = {}
    for item in found.items:
        sections.setdefault(item.section, []).append(item.presence)
    for section, presences in sections.items():
        there = sum(1 for presence in presences if presence is not SummaryPresence.ABSENT)
        share = [Span(exact(there), "text"), Span(f" of {exact(len(presences))}", "faint")]
        title = BY_KEY[section].title if section in BY_KEY else safe_line(section, 60)
        sheet.row([Span(f"  {title}", "sub")], share)


def _dated(when: str, index: int) -> list[list[Span]]:
    """The time of an entry, where it records one, and its number."""
    return [[Span(word, "faint")] for word in (when, f"#{index:,}") if word]


def _branch_summary(sheet: Sheet, selection: Selection, index: EntryIndex) -> None:
    """Writes the entries that a branch summary summarises, and the facts of them that it holds."""
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
    sheet.pairs("summarises", counted(tree.content_in(runs), "message"), width=NAMES)
    if left >= 0:
        sheet.line([*padded([Span("left at", "faint")], NAMES), Span(f"#{left:,}", "text")], entry=left)
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
    survival_lines(sheet, report)


def _messages(session: Session, entries: Iterable[int]) -> Iterable[SpanMessage]:
    from leafward.session.messages import messages_of

    for at, body in session.bodies(entries):
        if body is not None:
            for message in messages_of(body, Kind(session.columns.kind[at])):
                yield SpanMessage(at, message)
