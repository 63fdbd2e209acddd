"""The verbs `label`, `name` and `archive`: notes on an entry, a session or a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.cli.output.page import emit_json, note, page, say
from leafward.cli.output.write_report import place_text, remark, write_json
from leafward.cli.selection import opened, place_named
from leafward.session.journal import session_operations
from leafward.session.journal.write import WriteRemark, Writing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.entries import Body
    from leafward.session.journal.write import Write
    from leafward.session.session import Session


def label(selector: str, entry: str, text: str, dry_run: bool, as_json: bool) -> int:
    """`leafward label`."""
    with opened(selector) as session:
        index = place_named(session, entry)
        written = session_operations.label(session, index, text, Writing(dry_run=dry_run))
        what = f'label "{safe_line(text, 80)}" on' if text.strip() else "no label on"
        _report(
            session,
            written,
            f"{what} {place_text(session, session.columns.id_at(index))}",
            as_json,
            {"label": session_operations.one_line(text) or None},
        )
    return 0


def name(selector: str, text: str, dry_run: bool, as_json: bool) -> int:
    """`leafward name`."""
    with opened(selector) as session:
        written = session_operations.rename(session, text, Writing(dry_run=dry_run))
        what = f'name "{safe_line(text, 80)}"' if text.strip() else "no name"
        _report(session, written, what, as_json, {"name": session_operations.one_line(text) or None})
    return 0


def archive(selector: str, entry: str, unarchive: bool, dry_run: bool, as_json: bool) -> int:
    """`leafward archive`."""
    with opened(selector) as session:
        index = place_named(session, entry)
        written = session_operations.archive(session, index, not unarchive, Writing(dry_run=dry_run))
        below = session.tree.children(index)
        branch = "the branch at " if below and not unarchive else ""
        place = place_text(session, session.columns.id_at(index))
        what = f"{'unarchived' if unarchive else 'archived'} {branch}{place}"
        remarks = (
            [
                WriteRemark(
                    "on-path", "it is on the active path, and hidden only once the leaf is on another branch"
                )
            ]
            if not unarchive and session.tree.is_ancestor(index, session.place)
            else []
        )
        _report(session, written, what, as_json, {"archived": not unarchive}, remarks)
    return 0


def archive_session(selector: str, unarchive: bool, dry_run: bool, as_json: bool) -> int:
    """`leafward archive SESSION` without an entry."""
    with opened(selector) as session:
        written = session_operations.archive_session(session, not unarchive, Writing(dry_run=dry_run))
        if as_json:
            emit_json(write_json(session, written) | {"archived": not unarchive})
            return 0
        done, verb = ("unarchived", "unarchive") if unarchive else ("archived", "archive")
        if not written.changed:
            say(f"unchanged: {done}")
        else:
            say(f"{f'would {verb}' if dry_run else done} the session; the file stays where it is")
            if written.remarks:
                # A running agent has nothing to pick up, but a conversion of the file to the current version must be reported.
                remark(session, written)
    return 0


def _report(
    session: Session,
    written: Write,
    what: str,
    as_json: bool,
    facts: Body,
    remarks: Sequence[WriteRemark] = (),
) -> None:
    """Prints the result of labelling, naming or archiving."""
    if as_json:
        document = write_json(session, written) | facts
        document["diagnostics"] += [{"code": one.code, "text": one.text} for one in remarks]
        emit_json(document)
        return
    if written.changed:
        say(f"{page().style('would write', 'ghost') + ' ' if written.dry_run else ''}{what}")
        remark(session, written)
    else:
        say(f"unchanged: {what}")
    for one in remarks:
        note(one.text)
