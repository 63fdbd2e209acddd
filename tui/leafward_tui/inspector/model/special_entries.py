"""Entries that are no conversation: compactions, branch summaries, edits, changes of settings, damage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted, percent
from leafward.base.safe_text import safe, safe_line
from leafward.compaction.stored_summary.stored_summary import stored_parts
from leafward.compaction.stored_summary.summary_lines import part_sizes
from leafward.context.basis import Basis
from leafward.context.message_columns import LedgerSection
from leafward.context.model_context import context_at
from leafward.session.entries import (
    DAMAGE_TEXT,
    MOST_TOKENS,
    NO_ENTRY,
    Body,
    Damage,
    EntryIndex,
    Kind,
    read_usage,
    text_of,
)
from leafward.session.headlines.entry_headline import headline, summarised_messages
from leafward.session.messages import EDIT_TARGETS, edit_targets
from leafward_tui.inspector.model.images import described
from leafward_tui.inspector.model.raw import JsonWriter, write_bytes
from leafward_tui.inspector.model.sheet import INDENT, LABEL, Sheet, path_spans
from leafward_tui.ui.text.cells import exact, money
from leafward_tui.ui.text.markdown import rendered
from leafward_tui.ui.text.spans import Span, padded, shown, wrapped_text

if TYPE_CHECKING:
    from leafward.session.session import Session

TITLES: dict[Kind, str] = {
    Kind.USER: "Prompt",
    Kind.ASSISTANT: "Reply",
    Kind.TOOL_RESULT: "Result",
    Kind.BASH: "Command",
    Kind.CUSTOM_ROLE: "Extension message",
    Kind.CUSTOM_MESSAGE: "Extension message",
    Kind.INJECTED: "Added by the agent",
    Kind.SYSTEM: "System message",
    Kind.COMPACTION: "Compaction",
    Kind.BRANCH_SUMMARY: "Branch summary",
    Kind.CONTEXT_EDIT: "Context edit",
    Kind.MODEL_CHANGE: "Model change",
    Kind.THINKING_CHANGE: "Thinking level",
    Kind.CUSTOM: "Extension data",
    Kind.LABEL: "Label",
    Kind.SESSION_INFO: "Session name",
    Kind.USAGE: "Usage",
    Kind.MALFORMED: "Malformed line",
    Kind.HEADER: "Second header",
    Kind.UNKNOWN: "Unknown entry",
}

_NAMES = 12
"""Cells of the column of names."""
_MOST_PATHS = 6
_MOST_KEPT = 8
"""Kept messages that are listed until the rest is opened."""


def write_special(sheet: Sheet, session: Session, index: EntryIndex, kind: Kind, body: Body) -> None:
    """Writes one entry in full."""
    sheet.blank()
    if kind is Kind.COMPACTION:
        _compaction(sheet, session, index, body)
    elif kind is Kind.BRANCH_SUMMARY:
        _branch_summary(sheet, session, index, body)
    elif kind is Kind.CONTEXT_EDIT:
        _context_edit(sheet, session, index, body)
    elif kind is Kind.MALFORMED:
        _malformed(sheet, session, index)
    elif kind in (Kind.CUSTOM, Kind.UNKNOWN, Kind.HEADER):
        if kind is Kind.HEADER:
            sheet.line(
                [Span(f"{sheet.glyphs.malformed} ", "bad"), Span(DAMAGE_TEXT[Damage.EXTRA_HEADER], "warn")]
            )
        else:
            name = body.get("customType") if kind is Kind.CUSTOM else _type_of(body)
            sheet.pairs("type", safe_line(str(name), 120), width=_NAMES)
            if isinstance(body.get("says"), str):
                sheet.pairs("says", safe_line(body["says"], 200), width=_NAMES)
        sheet.blank()
        whole = {name: value for name, value in body.items() if name != "says" or not isinstance(value, str)}
        JsonWriter(sheet, f"json{index}").write(body.get("data") if kind is Kind.CUSTOM else whole)
    else:
        write_other(sheet, session, index, kind, body)


def _type_of(body: Body) -> str:
    message = body.get("message")
    role = message.get("role") if isinstance(message, dict) else None
    return f"{body.get('type')}" + (f", role {role}" if role is not None else "")


def _jump(sheet: Sheet, session: Session, name: str, entry: EntryIndex, missing: object) -> None:
    """Writes a row that leads to another entry and describes it."""
    head = padded([Span(name, "faint")], _NAMES)
    if not 0 <= entry < len(session):
        missing_id = safe_line(str(missing), 60) if isinstance(missing, str) and missing else ""
        spans = (
            [Span("nothing", "nothing")]
            if not missing_id
            else [Span(f"{missing_id}, which is not in this file", "warn")]
        )
        sheet.line([*head, *spans])
        return
    first_words = headline(session, entry)
    sheet.line(
        [
            *head,
            Span(f"#{entry:,}", "text"),
            Span(f"  {first_words.word}  ", "faint"),
            Span(first_words.text, "sub"),
        ],
        entry=entry,
    )


def _author(sheet: Sheet, body: Body) -> None:
    """Writes who made a summary, and what it cost."""
    usage = read_usage(body.get("usage"))
    by = _summarizer(body) or ("an extension" if body.get("fromHook") else "the agent")
    sheet.pairs("by", by, ink="sub", width=_NAMES)
    if usage is not None and usage.total:
        cost = f", {money(usage.cost)}" if usage.cost > 0 else ""
        sheet.pairs("usage", f"{exact(usage.total)} tokens{cost}", ink="sub", width=_NAMES)


def _summarizer(body: Body) -> str:
    """The summariser of a summary that Leafward wrote; empty for any other."""
    details = body.get("details")
    ours = details.get("leafward") if isinstance(details, dict) else None
    if isinstance(ours, dict) and "merged" in ours:
        return "Leafward, carried over from another branch"
    name = ours.get("summarizer") if isinstance(ours, dict) else None
    return f"Leafward, {safe_line(name, 60)}" if isinstance(name, str) and name else ""


def _compaction(sheet: Sheet, session: Session, index: EntryIndex, body: Body) -> None:
    before, after = Basis.of(session).change(index)
    first = f"{before.sign}{exact(before.total)}" if before.total else "not recorded"
    less = before.total > after.total > 0
    saved = f"   {percent(before.total - after.total, before.total)} less" if less else ""
    if after.total > before.total > 0:
        saved = f"   {exact(after.total - before.total)} more than before"
    sheet.line(
        [
            *padded([Span("tokens", "faint")], _NAMES),
            Span(first, "text"),
            Span(f" {sheet.glyphs.arrow} ", "faint"),
            Span(f"{after.sign}{exact(after.total)}", "strong"),
            Span(saved, "faint"),
        ]
    )
    noted = noted_sizes(body, before.total, after.total)
    if noted:
        sheet.pairs("recorded", noted, ink="sub", width=_NAMES)
    _kept(sheet, session, index, body)
    within = part_sizes_in_words(text_of(body.get("summary")))
    if within:
        sheet.pairs("text", within, ink="sub", width=_NAMES)
    _author(sheet, body)
    details = body.get("details")
    inferred = details.get("inferredParent") if isinstance(details, dict) else None
    if isinstance(inferred, str):
        sheet.pairs("place", f"inferred: {safe_line(inferred, 200)}", ink="sub", width=_NAMES)
    _summary(sheet, body)
    _details(sheet, body)


def noted_sizes(body: Body, before: int, after: int) -> str:
    """The sizes that the agent recorded around its compaction, where they differ from those shown; else empty."""
    details = body.get("details")
    details = details if isinstance(details, dict) else {}
    if isinstance(details.get("leafward"), dict):
        return ""
    sizes = (
        ("before it, as the agent counted", body.get("tokensBefore"), before),
        # It is about the summary alone, while the system prompt and the tools take several times as much.
        ("after it, the agent's estimate without system prompt and tools", details.get("postTokens"), after),
    )
    words = [
        f"{exact(noted)} {side}"
        for side, noted, shown in sizes
        if isinstance(noted, int)
        and not isinstance(noted, bool)
        and 0 < noted < MOST_TOKENS
        and noted != shown
    ]
    return "; ".join(words)


def part_sizes_in_words(text: str) -> str:
    """The parts of a stored text that is more than a summary: `1,575 summarised, 17 kept, 551 injected`."""
    names = ("summarised", "kept", "injected")
    parts = [f"{exact(size)} {name}" for name, size in zip(names, part_sizes(text), strict=True) if size]
    return ", ".join(parts) if len(parts) > 1 else ""


def _kept(sheet: Sheet, session: Session, index: EntryIndex, body: Body) -> None:
    """Writes the messages that stay, in the order in which they are sent: only those in the context."""
    messages = context_at(session, index).messages
    places = [at for at in range(messages.first_after) if messages.section(at) is LedgerSection.KEPT]
    quotes = stored_parts(text_of(body.get("summary"))).kept
    parts = []
    if places:
        amount = exact(sum(messages.tokens[at] for at in places))
        parts.append(f"{counted(len(places), 'message')}, {amount} tokens")
    if quotes:
        parts.append(f"{counted(len(quotes), 'prompt')} within the summary")
    first_kept = body.get("firstKeptEntryId")
    place = session.columns.index(first_kept) if isinstance(first_kept, str) else NO_ENTRY
    # An entry that names itself, or one below it, keeps nothing (pi 1.5.2).
    names_first = isinstance(first_kept, str) and place != index
    if parts or not names_first:
        ink = "text" if parts else "nothing"
        sheet.pairs("kept", "; ".join(parts) or "nothing", ink=ink, width=_NAMES)
    if names_first:
        _jump(sheet, session, "kept from", place, first_kept)
        return
    opened = sheet.is_open("kept")
    seen = places if opened or len(places) <= _MOST_KEPT + 1 else places[:_MOST_KEPT]
    for at in seen:
        _jump(sheet, session, "", EntryIndex(messages.entry[at]), None)
    if len(places) > _MOST_KEPT + 1:
        words = "fewer" if opened else f"{len(places) - len(seen):,} more"
        sign = sheet.glyphs.unfolded if opened else sheet.glyphs.folded
        sheet.line([*padded([], _NAMES), Span(f"{sign} {words}", "faint")], toggle="kept")


def _branch_summary(sheet: Sheet, session: Session, index: EntryIndex, body: Body) -> None:
    left = session.columns.index(str(body.get("fromId")))
    _jump(sheet, session, "left at", left, body.get("fromId"))
    summarised = summarised_messages(session, index, body)
    if summarised:
        sheet.pairs("summarises", counted(summarised, "message"), width=_NAMES)
    _author(sheet, body)
    _summary(sheet, body)
    _details(sheet, body)


def _summary(sheet: Sheet, body: Body) -> None:
    summary = body.get("summary")
    text = summary if isinstance(summary, str) else ""
    sheet.blank()
    if not text.strip():
        sheet.note("the summary is empty")
        return
    lines = rendered(text, sheet.width, sheet.glyphs, heading="strong_memory")
    sheet.folded("summary", lines, max(12, sheet.height * 2 // 3), copy=safe(text))


def _details(sheet: Sheet, body: Body) -> None:
    """Writes the files that a summary carries along."""
    details = body.get("details")
    if not isinstance(details, dict):
        return
    for name, title in (("modifiedFiles", "Modified"), ("readFiles", "Read")):
        listed = details.get(name)
        paths = [path for path in listed if isinstance(path, str)] if isinstance(listed, list) else []
        if not paths:
            continue
        sheet.heading(title, counted(len(paths), "file"))
        body_lines = [path_spans(path, sheet.width - INDENT, sheet.glyphs) for path in paths]
        sheet.folded(f"details/{name}", body_lines, _MOST_PATHS, indent=INDENT)


def _context_edit(sheet: Sheet, session: Session, index: EntryIndex, body: Body) -> None:
    replacement = body.get("replacement")
    omits = replacement is None
    verb = "omits" if omits else "replaces"
    for name in edit_targets(body):
        missing = name if EDIT_TARGETS in body else body.get("targetId")
        _jump(sheet, session, verb, session.columns.index(name), missing)
    sheet.pairs(
        "from here on",
        "the model no longer sees it" if omits else "the model reads this instead",
        ink="sub",
        width=14,
    )
    if omits:
        return
    content = replacement.get("content") if isinstance(replacement, dict) else replacement
    text = text_of(content)
    sheet.heading("Replacement")
    images = (
        [block for block in content if isinstance(block, dict) and block.get("type") == "image"]
        if isinstance(content, list)
        else []
    )
    lines = rendered(text, sheet.width, sheet.glyphs) if text.strip() else []
    lines.extend([Span(described(image), "faint")] for image in images[:20])
    if not lines:
        lines = [[Span("empty", "nothing")]]
    sheet.folded(f"edit{index}", lines, max(8, sheet.height // 2), copy=safe(text))


def _malformed(sheet: Sheet, session: Session, index: EntryIndex) -> None:
    entry = session.entry(index)
    reason = DAMAGE_TEXT[entry.damage if entry.damage is not None else Damage.MALFORMED]
    sheet.line([Span(f"{sheet.glyphs.malformed} ", "bad"), Span(reason, "warn")])
    sheet.pairs("at byte", exact(entry.offset), width=_NAMES)
    sheet.pairs("length", f"{exact(len(entry.raw))} bytes", width=_NAMES)
    sheet.blank()
    if entry.raw.strip():
        write_bytes(sheet, entry.raw)
    else:
        sheet.note("the line is empty")


def write_system(sheet: Sheet, index: EntryIndex, message: Body, *, opened: bool) -> None:
    """Writes a system message: its text, its sections by name, the tools it brings."""
    sheet.heading("System", right=[Span(f"#{index:,}", "faint")])
    text = text_of(message.get("content"))
    parts = [("", text)] if text.strip() else []
    sections = message.get("sections")
    if isinstance(sections, dict):
        parts += [(str(name), part) for name, part in sections.items() if isinstance(part, str)]
        gone = [safe_line(str(name), 60) for name, part in sections.items() if part is None]
        if gone:
            sheet.pairs("without", ", ".join(gone), ink="sub", width=_NAMES)
    limit = max(6, sheet.height // 3) if opened else 3
    for at, (name, part) in enumerate(parts):
        key = f"system{index}/{at}"
        lines = wrapped_text(shown(part[:120_000].strip()), sheet.width - INDENT, "sub")
        if name:
            size = [Span(counted(part.count("\n") + 1, "line"), "faint")]
            sheet.row([Span(safe_line(name, 80), "text")], size, copy=safe(part))
        sheet.folded(key, lines, limit, indent=INDENT, copy=safe(part))
    for key, title in (("toolsAdded", "adds tools"), ("toolsRemoved", "drops tools")):
        listed = message.get(key)
        names = (
            [safe_line(str(tool.get("name")), 40) for tool in listed if isinstance(tool, dict)]
            if isinstance(listed, list)
            else []
        )
        if names:
            lines = wrapped_text(", ".join(names), sheet.width - _NAMES, "sub")
            for at, spans in enumerate(lines[:20]):
                sheet.line([*padded([Span(title if at == 0 else "", "faint")], _NAMES), *spans])


def write_other(sheet: Sheet, session: Session, index: EntryIndex, kind: Kind, body: Body) -> None:
    """Writes a bookkeeping entry in one line."""
    first_words = headline(session, index)
    place = [Span(f"#{index:,}", "faint")]
    head = padded([Span(first_words.word, "faint")], LABEL + 3)
    if kind is Kind.LABEL:
        target = session.columns.index(str(body.get("targetId")))
        where = f"on #{target:,}" if target >= 0 else "on an entry that is not here"
        spans = [*head, Span(first_words.text, "text"), Span(f"  {where}", "faint")]
        sheet.row(spans, place, entry=target if target >= 0 else index)
        return
    if kind is Kind.USAGE:
        usage = read_usage(body.get("usage"))
        spans = [*head, Span(first_words.text, "sub")]
        if usage is not None and usage.cost > 0:
            spans.append(Span(f"   {money(usage.cost)}", "faint"))
        sheet.row(spans, place, entry=index)
        note = body.get("note")
        if isinstance(note, str) and note.strip():
            sheet.line([Span(" " * (LABEL + 3), "blank"), Span(safe_line(note, 400), "sub")])
        return
    if kind is Kind.CUSTOM:
        key = f"custom{index}"
        opened = sheet.is_open(key, holding=(body.get("data"),))
        sheet.row([*head, Span(first_words.text, "sub")], place, toggle=key)
        if opened:
            JsonWriter(sheet, key, indent=LABEL + 3).write(body.get("data"))
            sheet.line([Span(" " * (LABEL + 3), "blank"), Span(f"in #{index:,}", "faint")], entry=index)
        return
    sheet.row([*head, Span(first_words.text, "sub")], place, entry=index)
