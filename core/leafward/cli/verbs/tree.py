"""The verbs that read one session: `tree` and `show`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from leafward.agents.native_lines import described
from leafward.agents.recognition import agent_behind
from leafward.base.figures import counted, money
from leafward.base.safe_text import safe, safe_line
from leafward.base.shown_path import shortened
from leafward.cli.output.entry_json import entry_facts
from leafward.cli.output.outline_lines import measure, outline
from leafward.cli.output.page import (
    Page,
    cells,
    emit_json,
    fact_lines,
    faint,
    indented,
    json_bytes,
    page,
    say,
    usage_json,
    warning,
)
from leafward.cli.output.totals import copied_too
from leafward.cli.queries import chosen_entries
from leafward.cli.selection import leaf_shown, opened
from leafward.context.recorded_usage import usage_total
from leafward.session.columns import MIDWAY_TEXT
from leafward.session.entries import Body, EntryIndex, Kind, blocks_of, object_at
from leafward.session.headlines.entry_headline import place_words
from leafward.session.headlines.session_title import title_of
from leafward.session.journal.operation_log import archived_branches
from leafward.session.messages import image_text, message_text, messages_of
from leafward.session.source import GOES_ON, UNCERTAIN_CONTEXT
from leafward.session.tokens import message_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.session import Session

_FOLDER_SHOWN = 30
"""Cells that a long title leaves for the session's folder."""


def _session_facts(session: Session) -> Body:
    """Facts about the session itself in the document of `tree`."""
    header = session.header
    pending = session.scan.pending
    usage = usage_total(session, range(session.inherited, len(session)))
    created, parent = header.get("timestamp"), header.get("parentSession")
    return {
        "id": session.id,
        "path": str(session.path),
        "cwd": session.cwd,
        "name": session.name,
        "version": session.version,
        "agent": agent_behind(session).name,
        "created": created if isinstance(created, str) else None,
        "parent_session": parent if isinstance(parent, str) else None,
        "entries": session.columns.entries,
        "branches": session.branches,
        "compactions": session.columns.kind.count(Kind.COMPACTION),
        "pending": {"offset": pending.offset, "size": pending.size} if pending is not None else None,
        "read_only": session.read_only,
        # Without any record nothing is known, which is not the same as nothing.
        "usage": usage_json(usage) | ({} if usage.cost or usage.priced else {"cost": None}),
    }


def tree(
    selector: str, as_json: bool, every_entry: bool, with_archived: bool = False, chosen: str | None = None
) -> int:
    """`leafward tree`."""
    with opened(selector) as session:
        only = chosen_entries(session, chosen) if chosen is not None else None
        if as_json:
            emit_json(tree_json(session, only))
        else:
            say(tree_text(session, page(), every_entry=every_entry, with_archived=with_archived, only=only))
    return 0


def tree_json(session: Session, only: frozenset[int] | None = None) -> Body:
    """The document of `tree --json`; with `only`, just these entries."""
    measures = measure(session)
    on_path = bytearray(len(session))
    for run in session.tree.path_runs(session.leaf):
        on_path[run.start : run.stop] = b"\1" * (run.stop - run.start)
    kinds = session.columns.kind
    entries = [
        entry_facts(
            session,
            index,
            bool(on_path[index]),
            measures.tokens[index],
            session.body(index) if kinds[index] == Kind.UNKNOWN else None,
        )
        for index in (range(len(session)) if only is None else sorted(only))
    ]
    return {
        "session": _session_facts(session),
        "leaf": session.columns.id_at(session.leaf),
        "place": session.columns.id_at(session.place),
        "own_leaf": session.columns.id_at(session.own_leaf),
        "what_if": session.what_if,
        "entries": entries,
        "leaves": [session.columns.id_at(leaf) for leaf in session.tree.leaves()],
        "archived": [session.columns.id_at(index) for index in sorted(archived_branches(session))],
        "branch_points": [session.columns.id_at(point) for point in session.tree.branch_points()],
        "diagnostics": [
            {"code": note.code, "text": safe_line(note.text), "entry": session.columns.id_at(note.entry)}
            for note in session.source.notes
        ],
    }


def tree_text(
    session: Session,
    page: Page,
    *,
    every_entry: bool = False,
    with_archived: bool = False,
    only: frozenset[int] | None = None,
) -> Iterator[str]:
    """The lines of `tree`: a heading, the rows, and problems of the file."""
    hidden = frozenset[EntryIndex]() if with_archived else archived_branches(session)
    body = list(outline(session, page, every_entry=every_entry, hidden=hidden, only=only))
    yield from heading(session, page)
    yield ""
    yield from body
    remarks = []
    pending = session.scan.pending
    if pending is not None:
        remarks.append(
            f"the last line is not complete yet: {counted(pending.size, 'byte')} at byte {pending.offset:,}"
        )
    if session.read_only is not None:
        remarks.append(f"read only: {session.read_only}")
    if session.what_if:
        own = session.columns.id_at(session.own_leaf)
        remarks.append(
            f"the leaf is a preview that only Leafward knows: the agent itself goes on at {own or 'the beginning'}"
        )
    if session.columns.begins_midway:
        remarks.append(MIDWAY_TEXT)
    if session.place < 0 <= session.leaf:
        remarks.append("the leaf is before the first entry: what comes next starts a new root")
    for code in (GOES_ON, "another-session", "inferred-parent", "gap", "left-out", UNCERTAIN_CONTEXT):
        found = [note for note in session.source.notes if note.code == code]
        if found:
            more = f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""
            remarks.append(f"{session.columns.id_at(found[0].entry)}: {found[0].text}{more}")
    if remarks:
        yield ""
        for remark in remarks:
            yield from warning(safe_line(remark), page)


def heading(session: Session, page: Page) -> Iterator[str]:
    """The title and folder of the session, and below them its agent, size, leaf and cost."""
    title = safe_line(title_of(session) or session.id, 200)
    cwd = safe_line(session.cwd, 200)
    title = page.fit(title, page.width - min(cells(cwd), _FOLDER_SHOWN) - 2)
    room = page.width - cells(title) - 2
    folder = page.fit(shortened(cwd, room, cells, page.gap), room)
    yield f"{page.style(title, 'bold')}  {page.style(folder, 'faint')}".rstrip()
    facts = [
        agent_behind(session).name,
        counted(session.columns.entries, "entry", "entries"),
        counted(session.branches, "branch", "branches"),
        counted(session.columns.kind.count(Kind.COMPACTION), "compaction"),
    ]
    leaf = leaf_shown(session)
    if leaf >= 0:
        facts.append(f"leaf {safe_line(session.columns.id_at(leaf) or '', 40)}")
    usage = usage_total(session, range(session.inherited, len(session)))
    if usage.cost:
        facts.append(f"{money(usage.cost)}{copied_too(session)}")
    yield from faint(fact_lines(facts, page), page)


def show(selector: str, entry: str | None, as_json: bool) -> int:
    """`leafward show`."""
    with opened(selector) as session:
        if entry is None:
            index = session.place
        else:
            # A note of ours behind the conversation is no leaf that anybody sees.
            index = leaf_shown(session) if entry == "leaf" else session.find(entry)
        if index < 0:
            index = session.find("leaf")
        if as_json:
            emit_json(_show_json(session, index))
        else:
            say(show_text(session, index, page()))
    return 0


def _show_json(session: Session, index: EntryIndex) -> Body:
    """One whole entry: the facts of `tree`, its place in the file, and its body."""
    entry = session.entry(index)
    tokens = sum(map(message_tokens, messages_of(entry.body, entry.kind)))
    on_path = session.tree.is_ancestor(index, session.leaf)
    raw = entry.raw.rstrip(b"\r")
    return {
        **entry_facts(session, index, on_path, tokens, entry.body),
        "children": [session.columns.id_at(child) for child in session.tree.children(index)],
        "timestamp": entry.timestamp,
        "file": str(session.origin(index).path),
        "offset": entry.offset,
        "size": len(raw),
        "damage_text": session.columns.damage_text(index) or None,
        "body": entry.body or None,
        "raw": None if entry.body else raw.decode("utf-8", "backslashreplace"),
    }


def show_text(session: Session, index: EntryIndex, page: Page) -> Iterator[str]:
    """One entry as text."""
    entry = session.entry(index)
    role = f" {entry.role}" if entry.role else ""
    yield page.style(f"{safe_line(entry.id, 80)}  {safe_line(entry.type + role, 80)}", "bold")
    facts = [f"#{index}", place_words(session, index)]
    if entry.timestamp:
        facts.append(safe_line(entry.timestamp, 40))
    if entry.parent is not None:
        facts.append(f"child of {safe_line(entry.parent, 40)}")
    label = session.labels.get(index)
    if label is not None:
        facts.append(f"[{safe_line(label, 80)}]")
    yield from faint(fact_lines(facts, page), page)
    if entry.damage is not None:
        yield f"{page.style('!', 'bad')} {session.columns.damage_text(index)}"
    yield ""
    if not entry.body:
        yield safe(entry.raw.decode("utf-8", "backslashreplace"))
        return
    messages = messages_of(entry.body, entry.kind)
    if not messages:
        rest = {
            key: value
            for key, value in entry.body.items()
            if key not in {"type", "id", "parentId", "timestamp"}
        }
        yield from indented(json_bytes(rest, indented=True).decode("utf-8"), "")
    # The prompt that a compaction keeps is older than its summary, and longer: the summary comes first.
    for message in sorted(messages, key=lambda message: message.get("role") == "system"):
        if message.get("role") == "system" and len(messages) > 1:
            yield ""
            yield page.style("system prompt kept by the compaction", "faint")
        yield from _message_lines(message, page)


def _message_lines(message: Body, page: Page) -> Iterator[str]:
    """A message as text: its blocks one below another, and each argument of a call on lines of its own."""
    role = message.get("role")
    if role == "assistant":
        facts = [
            safe_line(str(message[key]), 80)
            for key in ("provider", "model", "stopReason")
            if message.get(key)
        ]
        yield page.style("   ".join(facts), "faint")
    if role == "toolResult":
        failed = "   failed" if message.get("isError") else ""
        yield page.style(safe_line(str(message.get("toolName", ""))) + failed, "bad" if failed else "faint")
    if role in ("bashExecution", "branchSummary", "compactionSummary", "system"):
        yield safe(message_text(message))
        return
    for block in blocks_of(message.get("content")):
        kind = block.get("type")
        if kind == "text":
            yield safe(str(block.get("text", "")))
        elif kind == "thinking":
            yield page.style("thinking", "faint")
            yield from indented(str(block.get("thinking", "")))
        elif kind == "toolCall":
            yield page.style(safe_line(f"calls {block.get('name', '')}"), "ghost")
            for key, value in object_at(block, "arguments").items():
                text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                lines = indented(text, "    ")
                yield (
                    f"  {safe_line(str(key))}: {lines[0].strip()}"
                    if len(lines) == 1
                    else f"  {safe_line(str(key))}:"
                )
                yield from lines if len(lines) > 1 else ()
        elif kind == "image":
            yield safe_line(image_text(block))
        else:
            yield safe(described(block))
    error = message.get("errorMessage")
    if error:
        yield f"{page.style('!', 'bad')} {safe_line(str(error))}"
