"""The context at an entry, message by message, and its size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.model_window import context_window
from leafward.base.figures import counted, money, short
from leafward.base.safe_text import safe_line
from leafward.cli.output.entry_ids import shown_ids
from leafward.cli.output.page import (
    Page,
    cells,
    emit_json,
    fact_lines,
    faint,
    pad,
    page,
    say,
    usage_json,
    warning,
    wrapped,
)
from leafward.cli.output.totals import copied_too
from leafward.cli.selection import leaf_shown, opened
from leafward.cli.settings import configured
from leafward.context.message_columns import ContextMessage, message_body
from leafward.context.model_context import context_at, uncertainties
from leafward.context.recorded_usage import usage_totals
from leafward.session.entries import NATIVE_TYPE, NO_ENTRY, EntryIndex, Kind
from leafward.session.headlines.entry_headline import headline
from leafward.session.messages import SUMMARY_BASIS_TEXT, SummaryBasis, message_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.context.model_context import Context
    from leafward.session.entries import Body, Usage
    from leafward.session.session import Session

_NAME_SHOWN = 80
"""Most characters shown of a name from the session file."""
_REMARKS = 12
"""Most remarks that the text shows: a damaged file may have one for each entry."""


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
    window = context_window(session, found, configured())
    path, whole = usage_totals(session, session.tree.path(found.at), range(session.inherited, len(session)))
    return {
        "at": session.columns.id_at(found.at),
        "model": {"provider": found.provider, "id": found.model},
        "thinking": found.thinking,
        "window": {"tokens": window.tokens, "source": window.source.value},
        "compaction": session.columns.id_at(found.compaction),
        "messages": [
            {
                "entry": session.columns.id_at(message.entry),
                "role": message.role,
                "kind": _type(session, message.entry),
                "section": message.section.value,
                "text": message_text(message_body(session, message)),
                "tokens": message.tokens,
                "edited": session.columns.id_at(message.edited),
                "sent": message.sent,
            }
            for message in found.messages
        ],
        "edits": [
            {
                "entry": session.columns.id_at(one.entry),
                "edit": session.columns.id_at(one.edit),
                "removed": one.removed,
                "freed": found.freed([one]),
            }
            for one in found.messages.edits
        ],
        "tokens": {
            "total": found.total,
            "recorded": found.ledger.recorded,
            "as_pi": found.size.total,
            "from_usage": found.size.from_usage,
            "trailing": found.size.trailing,
            "sent": found.sent,
        },
        "ledger": found.ledger.as_json(),
        "summary_basis": found.summary_basis,
        "usage": {"path": usage_json(path), "session": usage_json(whole)},
        "diagnostics": _context_remarks(session, found),
    }


def _type(session: Session, entry: EntryIndex) -> str:
    """The native type of an entry, which only an unknown kind is decoded for."""
    kind = Kind(session.columns.kind[entry])
    return session.entry(entry).type if kind is Kind.UNKNOWN else NATIVE_TYPE[kind]


def _context_remarks(session: Session, found: Context) -> list[dict[str, str]]:
    """Remarks on a context and its path."""
    remarks, at = [], found.at
    if at == NO_ENTRY:
        remarks.append({"code": "empty", "text": "the session has no entries"})
    remarks += [{"code": one.code, "text": one.text} for one in uncertainties(session, found)]
    damage = session.columns.damage
    if damage:
        path = set(session.tree.path(at))
        for index in sorted(path & damage.keys()):
            text = f"{session.columns.id_at(index)}: {session.columns.damage_text(index)}"
            remarks.append({"code": "damage", "text": text})
    return remarks


def context_text(session: Session, at: EntryIndex, page: Page) -> Iterator[str]:
    """A context as lines: one for each message with its size, then the sums."""
    found = context_at(session, at)
    yield from _head_lines(session, found, page)
    yield ""
    yield from _message_lines(session, found, page)
    removed = [one for one in found.messages.edits if one.removed]
    names = shown_ids(session, (one.entry for one in removed))
    for one in removed:
        yield page.style(
            f"{names.get(one.entry, '')}  left out by a context edit, which frees ~{found.freed([one]):,} tokens",
            "faint",
        )
    yield ""
    yield from _ledger_lines(found, page)
    yield from faint(wrapped(_counted(found), page), page)
    remarks = _context_remarks(session, found)
    for remark in remarks[:_REMARKS]:
        yield from warning(safe_line(remark["text"]), page)
    if len(remarks) > _REMARKS:
        yield from warning(f"{counted(len(remarks) - _REMARKS, 'more remark')}; --json has all", page)
    path, whole = usage_totals(session, session.tree.path(found.at), range(session.inherited, len(session)))
    if whole.total:
        own = ", without what it inherited" if session.inherited else copied_too(session)
        text = f"spent on this path {_spent(path)}, in the session {_spent(whole)}{own}"
        yield from faint(wrapped(text, page), page)


def _head_lines(session: Session, found: Context, page: Page) -> Iterator[str]:
    where = session.columns.id_at(leaf_shown(session) if found.at == session.leaf else found.at)
    model = "/".join(part for part in (found.provider, found.model) if part) or "no model yet"
    yield page.style(f"Context at {safe_line(where, 60) if where else 'the start'}", "bold")
    thinking = f"thinking {safe_line(found.thinking, _NAME_SHOWN)}" if found.thinking else ""
    parts = (safe_line(model, _NAME_SHOWN), thinking, counted(len(found.messages), "message"))
    yield from faint(fact_lines(parts, page), page)


def _message_lines(session: Session, found: Context, page: Page) -> Iterator[str]:
    """A line for each message, and the names of the sections above theirs."""
    most = max((message.tokens for message in found.messages), default=0) or 1
    bar = "█" if page.unicode else "#"
    names = shown_ids(session, (message.entry for message in found.messages))
    name_width = max(8, 0, *map(cells, names.values())) + 2
    width = max(12, page.width - name_width - 11 - 12 - 9)
    section = None
    for message in found.messages:
        if message.section is not section:
            section = message.section
            yield page.style(section.value, "faint")
        first_words = headline(session, message.entry)
        mark = "" if message.sent else "(not sent) "
        mark += "(edited) " if message.edited >= 0 else ""
        text = first_words.within(width - cells(mark), cells, page.gap)
        if message.kind is Kind.COMPACTION:
            text = (
                "system prompt kept by the compaction"
                if message.role == "system"
                else _first_words(session, message)
            )
        length = -(-message.tokens * 10 // most)
        yield "".join(
            (
                page.style(pad(names.get(message.entry, ""), name_width), "faint"),
                pad(page.fit(first_words.word, 10), 11),
                pad(page.fit(mark + text, width), width),
                pad(short(message.tokens), 9, right=True),
                "  ",
                page.style(bar * length, "leaf"),
            )
        ).rstrip()


def _counted(found: Context) -> str:
    """Basis of the total."""
    size = found.size
    if not found.ledger.recorded:
        return "~ estimate; exact after the next reply"
    if size.from_usage and found.total == size.total:
        return f"{size.from_usage:,} reported by the last reply + {size.trailing:,} estimated since"
    return "from the count of the next request, less what came between"


def _spent(usage: Usage) -> str:
    """Tokens, and their cost if it was recorded."""
    tokens = f"{short(usage.total)} tokens"
    return f"{tokens} {money(usage.cost)}" if usage.cost else tokens


def _first_words(session: Session, message: ContextMessage) -> str:
    return safe_line(message_text(message_body(session, message)), 240) or "(empty)"


_ANEW = ": measured again after the compaction"


def _ledger_lines(found: Context, page: Page) -> Iterator[str]:
    ledger, basis = found.ledger, found.summary_basis
    sealed = f", encrypted: {SUMMARY_BASIS_TEXT[basis]}" if basis is not None else ""
    words = {
        "system": "system prompt and tools in the file",
        "summary": f"summary of the compaction{sealed}",
        "kept": "kept from before the compaction",
        "after": "messages since" if ledger.summary or ledger.kept else "messages",
        "not_in_file": f"not in file: {found.missing}" + (_ANEW if found.measured_anew else ""),
        "error": "estimation error",
        "unsent": "counted but not sent: replies aborted or failed, commands kept from the model",
    }
    for name, text in words.items():
        amount = getattr(ledger, name)
        if amount:
            yield from wrapped(text, page, first=f"{amount:>10,}  ", below=" " * 12)
        elif name == "summary" and basis is SummaryBasis.UNKNOWN:
            yield from wrapped(text, page, first=f"{'?':>10}  ", below=" " * 12)
    total = f"{'' if ledger.recorded else '~'}{ledger.total:,}"
    sent = f"; {found.sent:,} of them are sent" if ledger.unsent else ""
    yield page.style(f"{total:>10}  tokens{sent}", "bold")
