"""The verbs that write, and the log of what was written: move, undo, redo, log, label, name, archive."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from leafward.base.errors import LeafwardError
from leafward.base.figures import counted, short
from leafward.base.safe_text import safe, safe_line
from leafward.base.times import parse_time
from leafward.cli.ls import when
from leafward.cli.output import Page, emit_json, indented, money, note, page, say, table
from leafward.cli.selection import agent_behind, opened
from leafward.session import journal
from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.session.entry_headline import headline
from leafward.session.messages import prompt_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from leafward.cli.branch_options import MoveOptions
    from leafward.context.basis import Count
    from leafward.context.price import Part, Price
    from leafward.files.restoration import Record
    from leafward.session.journal import Operation, Write, Writing
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
            prompt = prompt_text(session.body(index) or {})
            index = EntryIndex(session.columns.parent[index])
        price = price_of_move(session, index, now=int(time.time() * 1000))
        carried = None
        if options.summary != "none":
            carried = move_carrying(session, index, options, dry_run)
            written = carried.written
        else:
            written = journal.move(session, index, _writing(dry_run))
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
                if carried.made is not None:
                    _add_summary(document["price"], carried.made.tokens)
            emit_json(document)
            return 0
        lines = list(_move_text(session, written, page()))
        if written.changed:
            lines += price_lines(price, page(), _remarked(written))
        if carried is not None and carried.made is not None:
            lines += ["", page().style(f"summary, {short(carried.made.tokens)} tokens", "memory")]
            lines += indented(carried.made.text, "")
        if prompt is not None:
            lines += ["", page().style("prompt", "faint"), safe(prompt)]
        say(lines)
        for one in carried.remarks if carried is not None and written.changed else ():
            note(one.text)
        remark(session, written)
    return 0


def _add_summary(price: Body, tokens: int) -> None:
    """Adds the summary that is carried along to the price of a move: it stands in the context afterwards."""
    price["summary"] = tokens
    price["context"]["after"] += tokens
    price["sent_again"] += tokens


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
        ("cached", "expired" if price.expired else short(price.cached)),
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
    where = _place(session, written.target)
    if not written.changed:
        yield f"the leaf is there already: {where}"
        return
    done = "would move" if written.dry_run else "moved"
    yield f"{page.style(done, 'ghost')} the leaf to {where}"


_ID_SHOWN = 16
"""Characters of an id in a line: as many as tell those of opencode apart, which begin with the time."""


def _place(session: Session, name: str | None) -> str:
    """An entry as a person knows it: its id and what it says."""
    if name is None:
        return "before the first entry"
    index = session.columns.index(name)
    text = safe_line(name[:_ID_SHOWN], _ID_SHOWN)
    return f"{text}  {safe_line(headline(session, index).text, 100)}" if index >= 0 else text


_DONE = {journal.OperationKind.UNDO: "undid", journal.OperationKind.REDO: "redid"}


def undo(selector: str, op: str | None, dry_run: bool, as_json: bool) -> int:
    """`leafward undo`."""
    return _take_back(selector, lambda session: journal.undo(session, op, _writing(dry_run)), as_json)


def redo(selector: str, dry_run: bool, as_json: bool) -> int:
    """`leafward redo`."""
    return _take_back(selector, lambda session: journal.redo(session, _writing(dry_run)), as_json)


def _take_back(selector: str, act: Callable[[Session], Write], as_json: bool) -> int:
    with opened(selector) as session:
        from leafward.files.restoration import restores_of

        written = act(session)
        log = journal.operations(session)
        if as_json:
            emit_json(write_json(session, written) | {"ops": [_operation_json(one) for one in log]})
            return 0
        about = next((one for one in log if one.op == written.undoes), None)
        done = (
            f"would {written.kind.value}" if written.dry_run else _DONE.get(written.kind, written.kind.value)
        )
        what = _operation_text(session, about) if about is not None else ""
        if written.from_leaf != written.leaf:
            before, after = (_in_conversation(session, name) for name in (written.from_leaf, written.leaf))
            if before != after:
                what = f"the leaf goes {_short(before)} -> {_place(session, after)}"
        say(f"{page().style(done, 'ghost')} {written.undoes}: {what}")
        remark(session, written)
        if about is not None and any(one.move == about.root for one in restores_of(session) if one.standing):
            note(
                "the files that were restored with it stay; "
                f"`leafward restore {safe_line(session.id, 40)} --undo` puts them back"
            )
    return 0


def log(selector: str, as_json: bool) -> int:
    """`leafward log`."""
    from leafward.cli.restore import restore_json
    from leafward.files.restoration import restores_of

    with opened(selector) as session:
        found = journal.operations(session)
        restored = restores_of(session)
        if as_json:
            emit_json(
                {
                    "ops": [_operation_json(one) for one in found],
                    "restores": [restore_json(one) for one in restored],
                }
            )
        elif not found and not restored:
            say("no operation yet")
        else:
            if found:
                say(_log_text(session, found, page()))
            if restored:
                say(_restores_text(restored, page()))
    return 0


def _operation_json(operation: Operation) -> Body:
    return {
        "op": operation.op,
        "kind": operation.kind.value,
        "subject": operation.subject.value,
        "time": operation.time,
        "target": operation.target,
        "from": operation.before,
        "to": operation.after,
        "undoes": operation.undoes,
        "undone": operation.undone,
        "agent": operation.agent,
    }


def _operation_text(session: Session, operation: Operation) -> str:
    from leafward.session.journal import OperationKind, Subject
    from leafward.session.journal.operation_log import SESSION_TARGETS

    if operation.kind in (OperationKind.COMPACT, OperationKind.SUMMARY_MOVE):
        return f"{_short(_in_conversation(session, operation.before))} -> {_place(session, operation.after)}"
    if operation.subject is Subject.MOVE:
        before, after = (_in_conversation(session, name) for name in (operation.before, operation.after))
        return f"{_short(before)} -> {_place(session, after)}"
    if operation.subject is Subject.NAME:
        return f"{_quoted(operation.before)} -> {_quoted(operation.after)}"
    if operation.subject is Subject.ARCHIVE:
        what = _place(session, operation.target) if operation.target not in SESSION_TARGETS else "the session"
        return f"{'archived' if operation.after else 'brought back'} {what}"
    return f"{_quoted(operation.before)} -> {_quoted(operation.after)} on {_place(session, operation.target)}"


def _in_conversation(session: Session, name: str | None) -> str | None:
    """The entry of the conversation that stands for a place: a redo goes back to a line of Leafward's, which says nothing."""
    index = session.columns.index(name) if name is not None else NO_ENTRY
    return name if index < 0 else session.columns.id_at(session.tree.content_at(index))


def _short(name: str | None) -> str:
    return "start" if name is None else safe_line(name[:_ID_SHOWN], _ID_SHOWN)


def _quoted(text: str | None) -> str:
    return "none" if text is None else f'"{safe_line(text, 60)}"'


def _clock(time: str | None) -> str:
    """A stored time as the clock here shows it; empty for what is no time."""
    found = parse_time(time)
    return when(found, seconds=True) if found is not None else ""


def _log_text(session: Session, log: list[Operation], page: Page) -> Iterator[str]:
    rows = [
        (
            safe_line(one.op, 40),
            one.kind.value,
            _clock(one.time),
            "undone" if one.undone else "",
            _operation_text(session, one),
        )
        for one in log
    ]
    yield from table(("op", "kind", "time", "", "what"), rows, page, grow=4)


def _restores_text(restored: list[Record], page: Page) -> Iterator[str]:
    rows = [
        (
            str(one.number),
            _clock(one.time),
            "" if one.state.value == "done" else one.state.value,
            f"{counted(len(one.changes), 'file')} as at {safe_line(one.entry, 40)}",
        )
        for one in restored
    ]
    yield from table(("restore", "time", "", "what"), rows, page, grow=3)


def label(selector: str, entry: str, text: str, dry_run: bool, as_json: bool) -> int:
    """`leafward label`."""
    with opened(selector) as session:
        index = session.place if entry == "leaf" else session.find(entry)
        written = journal.label(session, index, text, _writing(dry_run))
        what = f'label "{safe_line(text, 80)}" on' if text.strip() else "no label on"
        _report(
            session,
            written,
            f"{what} {_place(session, session.columns.id_at(index))}",
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
            f"{'brought back' if unarchive else 'archived'} {_place(session, session.columns.id_at(index))}"
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
        done, verb = ("brought back", "bring back") if unarchive else ("archived", "archive")
        if not written.changed:
            say(f"as it was already: {done}")
        else:
            say(f"{f'would {verb}' if dry_run else done} the session; the file stays where it is")
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
