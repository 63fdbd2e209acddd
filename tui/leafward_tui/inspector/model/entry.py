"""The Entry tab: title, settings, messages, changed files, commands and other calls. In this order, always."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.base.safe_text import safe, safe_line
from leafward.context.basis import Basis
from leafward.context.estimate_sign import AHEAD, estimate_sign
from leafward.session.entries import PROMPTS, SUMMARIES, Damage, EntryIndex, Kind, is_own
from leafward_tui.inspector.model.calls import write_called, write_changed, write_ran
from leafward_tui.inspector.model.files import where
from leafward_tui.inspector.model.images import described
from leafward_tui.inspector.model.raw import JsonWriter
from leafward_tui.inspector.model.sheet import LABEL, MOST_LINES, Sheet
from leafward_tui.inspector.model.special_entries import TITLES, write_other, write_special, write_system
from leafward_tui.inspector.model.turn import Gathered, MessageText, gather
from leafward_tui.inspector.page import Page, Selection, SelectionKind
from leafward_tui.ui.text.cells import count, exact, fit, money
from leafward_tui.ui.text.markdown import rendered
from leafward_tui.ui.text.spans import Span, shown, wrapped_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.session.session import Session
    from leafward_tui.inspector.page_request import PageRequest

SPECIAL = frozenset(
    {
        Kind.COMPACTION,
        Kind.BRANCH_SUMMARY,
        Kind.CONTEXT_EDIT,
        Kind.MALFORMED,
        Kind.HEADER,
        Kind.UNKNOWN,
    }
)
"""Kinds that are shown whole, before everything else."""

_FOLD_PROMPTS = 12
"""The most prompts that are listed for a folded run."""

_MARKS = 8
"""The most labels and damages that are listed."""
_LOST_ROWS = frozenset({"gap", "left-out"})
"""Codes of remarks on rows that are missing before an entry, and on words that the agent did not send."""

_TROUBLE = {"error": "error", "aborted": "aborted", "length": "cut off by the output limit"}


def entry_page(request: PageRequest, stop: Callable[[], bool]) -> Page:
    """The Entry tab of a turn, an entry or a folded run. Decodes every entry of it; stops where `stop` turns true."""
    selection = request.selection
    found = gather(selection, stop)
    sheet = Sheet(request)
    sheet.blank()
    _what(sheet, selection, found)
    _with_what(sheet, selection, found)
    _marks(sheet, selection)
    folded = selection.kind is SelectionKind.FOLD
    single = selection.kind is SelectionKind.ENTRY
    specials = [] if folded else [other for other in found.others if other[1] in SPECIAL]
    # Leafward's notes are in the list of operations; an entry of its own is shown all the same.
    others = [other for other in found.others if other not in specials and (single or not is_own(other[2]))]
    for index, kind, body in specials:
        write_special(sheet, selection.session, index, kind, body)
    if single and others and not (found.prompts or found.replies or found.steps):
        for index, kind, body in others:
            write_special(sheet, selection.session, index, kind, body)
        others = []
    for index, message in found.systems:
        write_system(sheet, index, message, opened=single)
    if folded:
        _prompts(sheet, found)
    else:
        _messages(sheet, found, alone=not found.steps)
    before = len(sheet.lines)
    write_changed(sheet, selection, found)
    write_ran(sheet, found, opened=single and len(found.steps) == 1)
    title = "Other calls" if len(sheet.lines) > before else "Calls"
    write_called(sheet, selection, found, title, opened=single and len(found.steps) == 1)
    _unknown(sheet, found)
    if others:
        sheet.heading("Also")
        for index, kind, body in others[:40]:
            write_other(sheet, selection.session, index, kind, body)
        if len(others) > 40:
            sheet.note(f"{len(others) - 40:,} more")
    return sheet.page(copy=_copied_text(found))


def _what(sheet: Sheet, selection: Selection, found: Gathered) -> None:
    session = selection.session
    kind = Kind(session.columns.kind[selection.head])
    title: list[Span] = []
    if selection.kind is SelectionKind.FOLD:
        kinds = session.columns.kind
        turns = sum(kinds[at] in PROMPTS for span in selection.entries for at in span)
        title.append(Span(counted(turns, "turn"), "strong"))
    elif selection.kind is SelectionKind.ENTRY or selection.turn is None or kind in SPECIAL:
        hue = "strong_memory" if kind in SUMMARIES else "strong"
        title.append(Span(_title(session, found, kind), hue))
        if selection.turn is not None and selection.kind is SelectionKind.ENTRY:
            place = f"turn {selection.turn:,}" if selection.turn else "before turn 1"
            title.append(Span(f"  {place}", "sub"))
    else:
        title.append(Span(f"Turn {selection.turn:,}", "strong"))
        if kind not in PROMPTS:
            # Such as the rest of a turn behind a compaction, which has a row of its own.
            title.append(Span(", continued", "faint"))
    # As `tree` names the end of a turn, which other verbs take as the whole turn: bookkeeping may follow it.
    first, last = selection.head, max(selection.head, selection.at)
    span = f"#{first:,}" if first == last else f"#{first:,} {sheet.glyphs.dash} #{last:,}"
    right = [[Span(found.first_time, "faint")]] if found.first_time else []
    sheet.facts([title, where(selection)], [*right, [Span(span, "faint")]], gap=2)


def _title(session: Session, found: Gathered, kind: Kind) -> str:
    if kind is Kind.TOOL_RESULT and found.steps:
        return "Result of " + safe_line(found.steps[0].call.name or "a tool", 24)
    if kind is Kind.UNKNOWN and found.others and found.others[0][2].get("says"):
        return "Note"
    if kind is Kind.CUSTOM and not session.is_native and not session.is_kept(found.others[0][0]):
        return "Record of the agent"
    return TITLES.get(kind, "Entry")


def _with_what(sheet: Sheet, selection: Selection, found: Gathered) -> None:
    left: list[list[Span]] = []
    if found.models:
        more = f" +{len(found.models) - 1}" if len(found.models) > 1 else ""
        left.append([Span(safe_line(found.models[-1], 40) + more, "sub")])
    if len(selection) == 1:
        if found.others and found.others[0][1] is Kind.MALFORMED:
            return
        left.append(
            [
                Span("id ", "faint"),
                Span(safe_line(selection.session.columns.id(EntryIndex(selection.head)), 60), "sub"),
            ]
        )
    else:
        columns = selection.session.columns
        entries = columns.entries_in(selection.entries)
        words = [Span(f"{entries:,}", "sub"), Span(" entry" if entries == 1 else " entries", "faint")]
        # The line above ends with the last entry of the conversation: bookkeeping may follow it.
        end = max(selection.head, selection.at)
        if after := columns.entries_in(
            [range(max(end + 1, span.start), span.stop) for span in selection.entries]
        ):
            words.append(Span(f", {after:,} after #{end:,}", "faint"))
        left.append(words)
    # As in the tree, a command that the user ran is no call.
    calls = sum(not step.by_user for step in found.steps)
    if calls and len(selection) > 1:
        left.append([Span(f"{calls:,}", "sub"), Span(" call" if calls == 1 else " calls", "faint")])
    right: list[Span] = []
    if found.tokens:
        size = exact if len(selection) == 1 else count
        if 0 < found.summary_tokens == found.tokens - found.system_tokens:
            # A compaction has sizes of its own: these are those of its text, with the summary counted as in the
            # context.
            right += [Span("summary ", "faint"), Span(size(found.summary_tokens), "sub")]
            if found.system_tokens:
                right += [Span(", system ", "faint"), Span(size(found.system_tokens), "sub")]
        else:
            if len(selection) == 1 and found.steps and not found.steps[0].by_user and not found.replies:
                # The row of the tree counts the call as well.
                right.append(Span("result ", "faint"))
            right.append(Span(_sign(selection, found.tokens) + size(found.tokens), "sub"))
        right.append(Span(" token" if right[-1].text == "1" else " tokens", "faint"))
    if found.usage.cost > 0:
        right += [Span("   ", "blank"), Span(money(found.usage.cost), "sub")]
    # The foot of the screen shows both; without the calls a turn reads as one that made none.
    spare = len(left) - 2 if calls and len(selection) > 1 else -1
    sheet.facts(left, [right] if right else [], spare=spare)


def _marks(sheet: Sheet, selection: Selection) -> None:
    """Writes labels on the entries, their sub-agents and their damage."""
    session = selection.session
    inside = [index for index in session.labels if any(index in span for span in selection.entries)]
    for index in inside[:_MARKS]:
        sheet.line(
            [Span(f"[{safe_line(session.labels[index], 120)}]", "sub"), Span(f"  on #{index:,}", "faint")],
            entry=index,
        )
    for made, title in selection.sub_agents[:_MARKS]:
        called = fit(safe_line(title, 200), max(8, sheet.width - 18), ellipsis=sheet.glyphs.ellipsis)
        sheet.facts(
            [[Span("sub-agent: ", "memory"), Span(called, "sub")]],
            [[Span(f"#{made:,}", "faint")]],
            entry=made,
        )
    damaged = [
        index
        for index, damage in session.columns.damage.items()
        if damage is not Damage.MALFORMED and any(index in span for span in selection.entries)
    ]
    for at in damaged[:_MARKS]:
        words = [Span(f"{sheet.glyphs.malformed} ", "bad"), Span(session.columns.damage_text(at), "warn")]
        sheet.facts([words, [Span(f"#{at:,}", "faint")]], entry=at)
    for remark in session.source.notes:
        if remark.code in _LOST_ROWS and any(remark.entry in span for span in selection.entries):
            sheet.note(f"#{remark.entry:,}: {safe_line(remark.text, 400)}")


def _sign(selection: Selection, tokens: int) -> str:
    """The sign before a size, as in the row of the tree; for a system prompt the next reply decides about it."""
    session = selection.session
    if session.columns.kind[selection.head] != Kind.SYSTEM:
        return ""
    metrics = Basis.of(session).sizes.metrics
    behind = selection.last + 1
    metrics.fill(session, range(behind, min(behind + AHEAD, len(session))))
    return estimate_sign(metrics.reported, session.columns.kind, selection.entries, tokens)


def _prompts(sheet: Sheet, found: Gathered) -> None:
    """Writes the prompts of a folded run, one on each line."""
    sheet.blank()
    opened = sheet.is_open("prompts", holding=(prompt.text for prompt in found.prompts[_FOLD_PROMPTS:]))
    seen = (
        found.prompts if opened or len(found.prompts) <= _FOLD_PROMPTS + 1 else found.prompts[:_FOLD_PROMPTS]
    )
    for prompt in seen:
        words = safe_line(prompt.text, 400) or "(no text)"
        sheet.labelled(prompt.label, [[Span(words, "text")]], entry=prompt.entry, copy=safe(prompt.text))
    if len(found.prompts) > _FOLD_PROMPTS + 1:
        rest = len(found.prompts) - len(seen)
        more = f"{sheet.glyphs.folded} {counted(rest, 'more prompt')}"
        words = more if rest else f"{sheet.glyphs.unfolded} fewer prompts"
        sheet.line([Span(" " * LABEL, "blank"), Span(words, "faint")], toggle="prompts")


def _messages(sheet: Sheet, found: Gathered, *, alone: bool) -> None:
    """Writes prompts, thinking and replies; at most a third of the height unless nothing follows."""
    if not (found.prompts or found.replies or found.thoughts or found.redacted):
        return
    sheet.blank()
    limit = max(6, sheet.height // 3)
    for at, prompt in enumerate(found.prompts):
        mine = limit * 2 if alone and not found.replies else max(3, limit // 2)
        body = _body(sheet, prompt, "sub" if prompt.author else "strong")
        if prompt.author:
            body.insert(0, [Span(f"by {safe_line(prompt.author, 60)}", "faint")])
        sheet.folded(f"you{at}", body, mine, label=prompt.label, entry=prompt.entry, copy=safe(prompt.text))
    _thoughts(sheet, found)
    if len(found.replies) > 1:
        _remarks(sheet, found.replies[:-1])
    if found.replies:
        _reply(sheet, found.replies[-1], "ai", MOST_LINES if alone else limit)


def _body(sheet: Sheet, message: MessageText, ink: str) -> list[list[Span]]:
    body = rendered(message.text, sheet.width - LABEL, sheet.glyphs, ink=ink) if message.text.strip() else []
    for image in message.images[:20]:
        body.append([Span(described(image), "faint")])
    return body or [[Span("(no text)", "nothing")]]


def _reply(sheet: Sheet, reply: MessageText, key: str, limit: int) -> None:
    if reply.text.strip() or reply.images:
        sheet.folded(
            key, _body(sheet, reply, "text"), limit, label="ai", entry=reply.entry, copy=safe(reply.text)
        )
        label = ""
    else:
        label = "ai"
    if reply.trouble:
        hue = "warn" if reply.trouble == "aborted" else "bad"
        spans = [Span(f"{sheet.glyphs.error} ", hue), Span(_TROUBLE[reply.trouble], hue)]
        sheet.labelled(label, [spans], entry=reply.entry)
        reason = shown(reply.reason.strip())
        if reason and reason.lower() != "request was aborted":
            body = wrapped_text(reason, sheet.width - LABEL, "sub", 200)
            sheet.folded(f"{key}/reason", body, 4, indent=LABEL, copy=reason)


def _thoughts(sheet: Sheet, found: Gathered) -> None:
    """Writes the thinking as one line that can be opened."""
    if not found.thoughts:
        if found.redacted:
            sheet.line([Span(" " * LABEL, "blank"), Span("thinking, text withheld by the provider", "faint")])
        return
    lines = sum(thought.text.strip().count("\n") + 1 for thought in found.thoughts)
    opened = sheet.is_open("thoughts", holding=(thought.text for thought in found.thoughts))
    sign = sheet.glyphs.unfolded if opened else sheet.glyphs.folded
    text = "\n\n".join(safe(thought.text.strip()) for thought in found.thoughts)
    sheet.line(
        [Span(" " * LABEL, "blank"), Span(f"{sign} thinking, {counted(lines, 'line')}", "faint")],
        toggle="thoughts",
        copy=text,
    )
    if opened:
        for at, thought in enumerate(found.thoughts):
            body = rendered(thought.text.strip(), sheet.width - LABEL - 2, sheet.glyphs, ink="sub")
            sheet.folded(f"thought{at}", body, 400, indent=LABEL + 2, copy=safe(thought.text))
            sheet.line(
                [Span(" " * (LABEL + 2), "blank"), Span(f"in #{thought.entry:,}", "faint")],
                entry=thought.entry,
            )


def _remarks(sheet: Sheet, early: list[MessageText]) -> None:
    """Writes the interim replies as one line that can be opened."""
    troubled = sum(1 for remark in early if remark.trouble == "error")
    opened = sheet.is_open("remarks", holding=((remark.text, remark.reason) for remark in early))
    sign = sheet.glyphs.unfolded if opened else sheet.glyphs.folded
    spans = [
        Span(" " * LABEL, "blank"),
        Span(f"{sign} {counted(len(early), 'interim reply', 'interim replies')}", "faint"),
    ]
    if troubled:
        spans.append(Span(f"   {counted(troubled, 'error')}", "bad"))
    sheet.line(spans, toggle="remarks")
    if opened:
        for at, remark in enumerate(early):
            _reply(sheet, remark, f"remark{at}", max(4, sheet.height // 4))


def _unknown(sheet: Sheet, found: Gathered) -> None:
    """Writes blocks of unknown types as JSON."""
    for at, (index, block) in enumerate(found.unknown_blocks[:8]):
        sheet.heading(
            "Unknown block",
            safe_line(str(block.get("type", "without a type")), 60),
            [Span(f"#{index:,}", "faint")],
        )
        JsonWriter(sheet, f"block{at}", indent=2).write(block)
    if len(found.unknown_blocks) > 8:
        sheet.note(f"{len(found.unknown_blocks) - 8:,} more unknown blocks")


def _copied_text(found: Gathered) -> str:
    """The text that a copy of the whole page takes: the prompts and the last reply."""
    parts = [message.text for message in found.prompts] + [message.text for message in found.replies[-1:]]
    return safe("\n\n".join(part.strip() for part in parts if part.strip()))
