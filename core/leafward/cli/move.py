"""The verbs that move the leaf, label, name and archive, and what every verb that writes says of its operation."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from leafward.base.errors import LeafwardError, Refused
from leafward.base.figures import counted, short
from leafward.base.safe_text import safe, safe_line
from leafward.cli.output import Page, emit_json, indented, money, note, page, say
from leafward.cli.selection import agent_behind, opened
from leafward.session import journal
from leafward.session.entries import EntryIndex, Kind
from leafward.session.entry_headline import headline
from leafward.session.messages import prompt_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from leafward.cli.branch_options import MoveOptions
    from leafward.context.basis import Count
    from leafward.context.price import Part, Price
    from leafward.session.journal import Write, Writing
    from leafward.session.session import Session

Body = dict[str, Any]


def move(selector: str, entry: str, options: MoveOptions, dry_run: bool, as_json: bool) -> int:
    """`leafward move`."""
    from leafward.cli.summarize import move_carrying, refuse_odd
    from leafward.context.price import price_of_move

    refuse_odd(options)
    with opened(selector) as session:
        index = session.find(entry)
        prompt = None
        if options.before:
            if session.columns.kind[index] != Kind.USER:
                raise Refused(
                    f"--before takes a prompt, and {safe_line(session.columns.id(index), 40)} is none: without it the leaf moves to the entry"
                )
            prompt = prompt_text(session.body(index) or {})
            index = EntryIndex(session.columns.parent[index])
        price = price_of_move(session, index, now=int(time.time() * 1000))
        carried = None
        if options.summary != "none":
            carried = move_carrying(session, index, options, dry_run)
            written = carried.written
        else:
            written = journal.move(session, index, _writing(dry_run))
        made = carried.made if carried is not None else None
        if made is not None:
            price = price.with_summary(made.tokens)
        if as_json:
            document = write_json(session, written)
            remarked = _remarked(written)
            document["diagnostics"] += [
                {"code": code, "text": text}
                for code, text in price.surprises
                if code not in remarked and written.changed
            ]
            document |= {"summary_entry": None, "prompt": prompt, "price": price.as_json()}
            if carried is not None:
                document |= carried.as_json(session)
                document["diagnostics"] += [
                    {"code": one.code, "text": one.text} for one in carried.remarks if written.changed
                ]
                if made is not None:
                    document["price"]["summary"] = made.tokens
            emit_json(document)
            return 0
        lines = list(_move_text(session, written, page()))
        if written.changed:
            lines += price_lines(price, page(), _remarked(written))
        if made is not None:
            lines += ["", page().style(f"summary, {short(made.tokens)} tokens", "memory")]
            lines += indented(made.text, "")
        if prompt is not None:
            lines += ["", page().style("prompt", "faint"), safe(prompt)]
        say(lines)
        for one in carried.remarks if carried is not None and written.changed else ():
            note(one.text)
        remark(session, written)
    return 0


def _writing(dry_run: bool) -> Writing:
    return journal.Writing(dry_run=dry_run)


_SAME = {"two-prompts": "two-prompts", "open-calls": "dangling-calls", "partial-results": "dangling-calls"}
"""What a move remarks on, and the surprise of its price that says the same."""


def _remarked(written: Write) -> set[str]:
    """Surprises of a price that the remarks of the move tell already."""
    return {_SAME.get(remark.code, remark.code) for remark in written.remarks}


def price_lines(price: Price, page: Page, remarked: Collection[str] = ()) -> Iterator[str]:
    """A price as a person reads it: what the context loses and gains, what costs the full price, and what one would not expect."""
    parts = [
        ("drops", _entries_text(price.left)),
        ("adds", _entries_text(price.entered)),
        ("context", f"{_size(price.before)} -> {_size(price.after)}"),
        ("cache", "expired") if price.expired else ("cached", short(price.cached)),
        ("full price", short(price.sent_again)),
    ]
    if price.cost_again:
        parts.append(("about", money(price.cost_again)))
    files = (("dropped", price.files_left), ("added", price.files_entered), ("changed", price.files_changed))
    named = ", ".join(f"{len(paths)} {word}" for word, paths in files if paths)
    if named:
        parts.append(("files", named))
    yield "   ".join(f"{page.style(word, 'faint')} {value}" for word, value in parts)
    for code, text in price.surprises:
        if code in remarked:
            continue
        yield f"{page.style('!', 'warn')} {safe_line(text)}"


def _size(count: Count) -> str:
    return f"{count.sign}{short(count.total)}"


def _entries_text(part: Part) -> str:
    """What leaves or comes; its tokens only where all of them are a part of the context."""
    number = counted(part.entries, "entry", "entries")
    return f"{number} ({short(part.tokens)} tokens)" if part.in_context else number


def _move_text(session: Session, written: Write, page: Page) -> Iterator[str]:
    where = place_text(session, written.target)
    if not written.changed:
        yield f"the leaf is there already: {where}"
        return
    done = "would move" if written.dry_run else "moved"
    yield f"{page.style(done, 'ghost')} the leaf to {where}"


_ID_SHOWN = 16
"""Characters of an id in a line: as many as tell those of opencode apart, which begin with the time."""


def place_text(session: Session, name: str | None) -> str:
    """An entry as a person knows it: its id and what it says."""
    if name is None:
        return "before the first entry"
    index = session.columns.index(name)
    text = safe_line(name[:_ID_SHOWN], _ID_SHOWN)
    return f"{text}  {safe_line(headline(session, index).text, 100)}" if index >= 0 else text


def short_id(name: str | None) -> str:
    """An entry's id as it stands in a line; `start` before everything."""
    return "start" if name is None else safe_line(name[:_ID_SHOWN], _ID_SHOWN)


def label(selector: str, entry: str, text: str, dry_run: bool, as_json: bool) -> int:
    """`leafward label`."""
    with opened(selector) as session:
        index = session.place if entry == "leaf" else session.find(entry)
        written = journal.label(session, index, text, _writing(dry_run))
        what = f'label "{safe_line(text, 80)}" on' if text.strip() else "no label on"
        _report(
            session,
            written,
            f"{what} {place_text(session, session.columns.id_at(index))}",
            as_json,
            {"label": text or None},
        )
    return 0


def name(selector: str, text: str, dry_run: bool, as_json: bool) -> int:
    """`leafward name`."""
    with opened(selector) as session:
        written = journal.rename(session, text, _writing(dry_run))
        what = f'name "{safe_line(text, 80)}"' if text.strip() else "no name"
        _report(session, written, what, as_json, {"name": text.strip() or None})
    return 0


def archive(selector: str, entry: str, unarchive: bool, dry_run: bool, as_json: bool) -> int:
    """`leafward archive`."""
    with opened(selector) as session:
        index = session.find(entry)
        written = journal.archive(session, index, not unarchive, _writing(dry_run))
        below = session.tree.children(index)
        what = (
            f"{'unarchived' if unarchive else 'archived'} {place_text(session, session.columns.id_at(index))}"
        )
        if below and not unarchive:
            what += " and what is below it"
        _report(session, written, what, as_json, {"archived": not unarchive})
    return 0


def archive_session(selector: str, unarchive: bool, dry_run: bool, as_json: bool) -> int:
    """`leafward archive SESSION` without an entry."""
    with opened(selector) as session:
        written = journal.archive_session(session, not unarchive, _writing(dry_run))
        if as_json:
            emit_json(write_json(session, written) | {"archived": not unarchive})
            return 0
        done, verb = ("unarchived", "unarchive") if unarchive else ("archived", "archive")
        if not written.changed:
            say(f"as it was already: {done}")
        else:
            say(f"{f'would {verb}' if dry_run else done} the session; the file stays where it is")
            remark(session, written)
    return 0


def _report(session: Session, written: Write, what: str, as_json: bool, facts: Body) -> None:
    """Says what a label, name or archive came to."""
    if as_json:
        emit_json(write_json(session, written) | facts)
        return
    if not written.changed:
        say(f"as it was already: {what}")
        return
    say(f"{page().style('would write', 'ghost') + ' ' if written.dry_run else ''}{what}")
    remark(session, written)


def write_json(session: Session, written: Write) -> Body:
    """What every verb that writes says of its operation."""
    return {
        "op": written.op,
        "kind": written.kind.value,
        "from": written.from_leaf,
        "leaf": written.leaf,
        "target": written.target,
        "undoes": written.undoes,
        "entries": list(written.entries),
        "size": written.size,
        "backup": str(written.backup) if written.backup is not None else None,
        "dry_run": written.dry_run,
        "diagnostics": _remarks(session, written),
    }


def _remarks(session: Session, written: Write) -> list[Body]:
    remarks: list[Body] = [{"code": remark.code, "text": remark.text} for remark in written.remarks]
    if written.recent and written.changed and not written.dry_run:
        remarks.append({"code": "recent", "text": _recent_text(session)})
    return remarks


def _recent_text(session: Session) -> str:
    """What a user with a running agent must do for the agent to see the write."""
    agent = agent_behind(session)
    advice = f"the file changed a moment ago; restart {agent.title} to pick this up"
    try:
        command = agent.resume(session, os.environ)
    except LeafwardError:
        return advice
    return f"{advice}: {command.command()}"


def remark(session: Session, written: Write) -> None:
    """Says on stderr what a user should know of a write."""
    for one in _remarks(session, written):
        note(str(one["text"]))
    if written.backup is not None and not written.dry_run:
        note(f"the file as it was: {written.backup}")
    if written.dry_run and written.changed:
        note(f"nothing was written ({counted(written.size, 'byte')} would be appended)")
