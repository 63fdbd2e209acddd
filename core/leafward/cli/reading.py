"""The verbs that read one session: tree, show, context, files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from leafward.cli.facts import entry_facts, id_of, shown_ids
from leafward.cli.outline import measure, outline
from leafward.cli.output import (
    Page,
    cells,
    compact,
    emit_json,
    fit,
    indented,
    json_bytes,
    money,
    pad,
    page,
    plural,
    say,
    usage_json,
)
from leafward.cli.selection import agent_of, chosen_entries, opened
from leafward.context import ContextMessage, context_at, message_body, usage_total
from leafward.entries import DAMAGE_TEXT, NO_ENTRY, EntryIndex, Kind, blocks_of
from leafward.headline import headline, place_words, title_of
from leafward.journal import archived_branches
from leafward.messages import image_text, message_text, messages_of
from leafward.safe_text import safe, safe_line
from leafward.tokens import message_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.entries import Usage
    from leafward.session import Session

Body = dict[str, Any]
_FOLDER_SHOWN = 30
"""Cells of a session's folder that a long title leaves."""


def session_facts(session: Session) -> Body:
    """What `tree` says of the session itself."""
    header = session.header
    pending = session.pending
    created, parent = header.get("timestamp"), header.get("parentSession")
    return {
        **session.details(),
        "agent": agent_of(session.path).name,
        "created": created if isinstance(created, str) else None,
        "parent_session": parent if isinstance(parent, str) else None,
        "entries": len(session),
        "branches": session.tree.branches(),
        "compactions": session.columns.kind.count(Kind.COMPACTION),
        "pending": {"offset": pending.offset, "size": pending.size} if pending is not None else None,
        "read_only": session.read_only,
        "usage": usage_json(usage_total(session, range(session.inherited, len(session)))),
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
    """The document that `tree --json` writes; of the entries those in `only`, where it is given."""
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
        "session": session_facts(session),
        "leaf": id_of(session, session.leaf),
        "place": id_of(session, session.place),
        "own_leaf": id_of(session, session.own_leaf),
        "what_if": session.what_if,
        "entries": entries,
        "leaves": [id_of(session, leaf) for leaf in session.tree.leaves()],
        "archived": [id_of(session, index) for index in sorted(archived_branches(session))],
        "branch_points": [id_of(session, point) for point in session.tree.branch_points()],
    }


def tree_text(
    session: Session,
    page: Page,
    *,
    every_entry: bool = False,
    with_archived: bool = False,
    only: frozenset[int] | None = None,
) -> Iterator[str]:
    """The lines that `tree` prints: a heading, the rows, and what is wrong with the file."""
    hidden = frozenset[EntryIndex]() if with_archived else archived_branches(session)
    body = list(outline(session, page, every_entry=every_entry, hidden=hidden, only=only))
    yield from heading(session, page)
    yield ""
    yield from body
    remarks = []
    if session.pending is not None:
        remarks.append(
            f"the last line is not whole yet: {plural(session.pending.size, 'byte')} at byte {session.pending.offset:,}"
        )
    if session.read_only is not None:
        remarks.append(f"read only: {session.read_only}")
    if session.what_if:
        own = id_of(session, session.tree.content_at(session.own_leaf))
        remarks.append(
            f"the leaf is a what-if that Leafward keeps: the agent itself goes on at {own or 'the beginning'}"
        )
    if session.place < 0 <= session.leaf:
        remarks.append("the leaf is before the first entry: what comes next starts a new root")
    if remarks:
        yield ""
        yield from (f"{page.style('!', 'warn')} {safe_line(remark)}" for remark in remarks)


def heading(session: Session, page: Page) -> Iterator[str]:
    """Two lines: what the session is called and where it belongs; how much there is of it."""
    title = safe_line(title_of(session) or session.id, 200)
    cwd = safe_line(session.cwd, 200)
    title = fit(title, page.width - min(cells(cwd), _FOLDER_SHOWN) - 2, unicode=page.unicode)
    folder = fit(cwd, page.width - cells(title) - 2, unicode=page.unicode)
    yield f"{page.style(title, 'bold')}  {page.style(folder, 'faint')}".rstrip()
    facts = [
        agent_of(session.path).name,
        plural(len(session), "entry", "entries"),
        plural(session.tree.branches(), "branch", "branches"),
        plural(session.columns.kind.count(Kind.COMPACTION), "compaction"),
    ]
    if session.place >= 0:
        facts.append(f"leaf {safe_line(session.columns.id(session.place), 40)}")
    usage = usage_total(session, range(session.inherited, len(session)))
    if usage.cost:
        facts.append(money(usage.cost))
    yield page.style("   ".join(facts), "faint")


def show(selector: str, entry: str | None, as_json: bool) -> int:
    """`leafward show`."""
    with opened(selector) as session:
        index = session.find(entry) if entry is not None else session.place
        if index < 0:
            index = session.find("leaf")
        if as_json:
            emit_json(show_json(session, index))
        else:
            say(show_text(session, index, page()))
    return 0


def show_json(session: Session, index: EntryIndex) -> Body:
    """One entry whole: what `tree` says of it, where it lies in the file, and its body."""
    entry = session.entry(index)
    tokens = sum(map(message_tokens, messages_of(entry.body, entry.kind)))
    on_path = session.tree.is_ancestor(index, session.leaf)
    raw = entry.raw.rstrip(b"\r")
    return {
        **entry_facts(session, index, on_path, tokens, entry.body),
        "children": [id_of(session, child) for child in session.tree.children(index)],
        "timestamp": entry.timestamp,
        "file": str(session.origin(index).path),
        "offset": entry.offset,
        "size": len(raw),
        "damage_text": DAMAGE_TEXT[entry.damage] if entry.damage is not None else None,
        "body": entry.body or None,
        "raw": None if entry.body else raw.decode("utf-8", "backslashreplace"),
    }


def show_text(session: Session, index: EntryIndex, page: Page) -> Iterator[str]:
    """One entry as a person reads it."""
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
    yield page.style("   ".join(facts), "faint")
    if entry.damage is not None:
        yield f"{page.style('!', 'bad')} {DAMAGE_TEXT[entry.damage]}"
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
    for message in messages:
        yield from message_lines(message, page)


def message_lines(message: Body, page: Page) -> Iterator[str]:
    """A message for reading: its blocks one under the other, calls with each argument on lines of its own."""
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
            arguments = block.get("arguments")
            for key, value in (arguments if isinstance(arguments, dict) else {}).items():
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
    error = message.get("errorMessage")
    if error:
        yield f"{page.style('!', 'bad')} {safe_line(str(error))}"


def context(selector: str, at: str | None, as_json: bool) -> int:
    """`leafward context`."""
    with opened(selector) as session:
        index = session.find(at) if at is not None else session.leaf
        if as_json:
            emit_json(context_json(session, index))
        else:
            say(context_text(session, index, page()))
    return 0


def context_json(session: Session, at: EntryIndex) -> Body:
    """The document that `context --json` writes."""
    found = context_at(session, at)
    types = {index: session.entry(index).type for index in {message.entry for message in found.messages}}
    return {
        "at": id_of(session, found.at),
        "model": {"provider": found.provider, "id": found.model},
        "thinking": found.thinking,
        "compaction": id_of(session, found.compaction),
        "messages": [
            {
                "entry": id_of(session, message.entry),
                "role": message.role,
                "kind": types[message.entry],
                "section": message.section.value,
                "text": message_text(message_body(session, message)),
                "tokens": message.tokens,
                "edited": id_of(session, message.edited),
                "sent": message.sent,
            }
            for message in found.messages
        ],
        "edits": [
            {
                "entry": id_of(session, one.entry),
                "edit": id_of(session, one.edit),
                "removed": one.removed,
                "freed": one.freed,
            }
            for one in found.messages.edits
        ],
        "tokens": {
            "total": found.size.total,
            "from_usage": found.size.from_usage,
            "trailing": found.size.trailing,
        },
        "ledger": ledger_json(found.ledger),
        "usage": {
            "path": usage_json(usage_total(session, session.tree.path(found.at))),
            "session": usage_json(usage_total(session, range(session.inherited, len(session)))),
        },
        "diagnostics": context_remarks(session, found.at),
    }


def ledger_json(ledger: Any) -> dict[str, int]:
    """The parts of a context and their sum."""
    parts = {name: getattr(ledger, name) for name in ("system", "summary", "kept", "after", "unexplained")}
    return {**parts, "total": ledger.total}


def context_remarks(session: Session, at: EntryIndex) -> list[dict[str, str]]:
    """What a reader of a context should know of its path."""
    remarks = []
    if at == NO_ENTRY:
        remarks.append({"code": "empty", "text": "the session has no entries"})
    damage = session.columns.damage
    if damage:
        path = set(session.tree.path(at))
        for index in sorted(path & damage.keys()):
            text = f"{id_of(session, index)}: {DAMAGE_TEXT[damage[index]]}"
            remarks.append({"code": "damage", "text": text})
    return remarks


def context_text(session: Session, at: EntryIndex, page: Page) -> Iterator[str]:
    """A context as lines: one a message with its size, then what it sums up to."""
    found = context_at(session, at)
    where = id_of(session, found.at)
    model = "/".join(part for part in (found.provider, found.model) if part) or "no model yet"
    yield page.style(f"Context at {safe_line(where, 60) if where else 'the start'}", "bold")
    yield page.style(
        f"{safe_line(model)}   thinking {safe_line(found.thinking)}   {plural(len(found.messages), 'message')}",
        "faint",
    )
    yield ""
    most = max((message.tokens for message in found.messages), default=0) or 1
    bar = "█" if page.unicode else "#"
    names = shown_ids(session, (message.entry for message in found.messages))
    name_width = max(8, 0, *map(cells, names.values())) + 2
    width = max(20, page.width - name_width - 11 - 12 - 9)
    section = None
    for message in found.messages:
        if message.section is not section:
            section = message.section
            yield page.style(section.value, "faint")
        kind = message.kind
        told = headline(session, message.entry)
        said = told.text
        if kind is Kind.COMPACTION:
            said = (
                "system prompt kept by the compaction"
                if message.role == "system"
                else _first_words(session, message)
            )
        mark = "" if message.sent else "(not sent) "
        mark += "(edited) " if message.edited >= 0 else ""
        length = -(-message.tokens * 10 // most)
        yield "".join(
            (
                page.style(pad(names.get(message.entry, ""), name_width), "faint"),
                pad(fit(told.word, 10, unicode=page.unicode), 11),
                pad(fit(mark + said, width, unicode=page.unicode), width),
                pad(compact(message.tokens), 9, right=True),
                "  ",
                page.style(bar * length, "leaf"),
            )
        ).rstrip()
    for one in found.messages.edits:
        if one.removed:
            yield page.style(
                f"{pad(fit(safe_line(id_of(session, one.entry) or '', 64), 8), 10)}left out by a context edit, "
                f"which frees {one.freed:,} tokens",
                "faint",
            )
    yield ""
    yield from _ledger_lines(found.ledger, page)
    counted = (
        f"{found.size.from_usage:,} reported by the last reply + {found.size.trailing:,} estimated since"
    )
    yield page.style(counted if found.size.from_usage else "all of it estimated, as pi counts it", "faint")
    path = usage_total(session, session.tree.path(found.at))
    whole = usage_total(session, range(session.inherited, len(session)))
    if whole.total:
        yield page.style(
            f"spent on this path {_spent(path)}, in the session {_spent(whole)}",
            "faint",
        )


def _spent(usage: Usage) -> str:
    """Tokens, and what they cost where somebody recorded it."""
    tokens = f"{compact(usage.total)} tokens"
    return f"{tokens} {money(usage.cost)}" if usage.cost else tokens


def _first_words(session: Session, message: ContextMessage) -> str:
    return safe_line(message_text(message_body(session, message)), 240) or "(empty)"


def _ledger_lines(ledger: Any, page: Page) -> Iterator[str]:
    words = {
        "system": "system prompt and tools in the file",
        "summary": "summary of the compaction",
        "kept": "kept from before the compaction",
        "after": "messages since" if ledger.summary or ledger.kept else "messages",
        "unexplained": "not in the file, or the estimate's error",
    }
    for name, text in words.items():
        amount = getattr(ledger, name)
        if amount:
            yield f"{amount:>10,}  {text}"
    yield page.style(f"{ledger.total:>10,}  tokens", "bold")
