"""The verb `files`: what was read and modified on the path to an entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.cli.facts import id_of
from leafward.cli.output import Page, emit_json, fit, pad, page, plural, say
from leafward.cli.selection import opened, verify
from leafward.files import FileUse, WorkingSet, working_set
from leafward.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session import Session


def files(selector: str, at: str | None, as_json: bool) -> int:
    """`leafward files`."""
    with opened(selector) as session:
        index = session.find(at) if at is not None else session.leaf
        verify(session, session.tree.path(index))
        found = working_set(session, index)
        if as_json:
            emit_json(
                {
                    "at": id_of(session, index),
                    "read": [_json(session, use) for use in found.read],
                    "modified": [_json(session, use) for use in found.modified],
                }
            )
        else:
            say(_text(session, found, page()))
    return 0


def _json(session: Session, use: FileUse) -> dict[str, Any]:
    return {"path": use.path, "entries": [id_of(session, entry) for entry in use.entries]}


def _text(session: Session, found: WorkingSet, page: Page) -> Iterator[str]:
    if not found.read and not found.modified:
        yield "no file was read or modified on this path"
        return
    for title, uses in (("modified", found.modified), ("read", found.read)):
        if uses:
            yield page.style(
                f"{title}  {plural(len(uses), 'file')}", "bold" if title == "modified" else "faint"
            )
        for use in uses:
            path = fit(safe_line(use.path), max(20, page.width - 30), unicode=page.unicode)
            times = plural(len(use.entries), "time")
            last = safe_line(id_of(session, use.entries[-1]) or "", 40)
            yield f"  {pad(path, max(20, page.width - 30))}  {pad(times, 10, right=True)}  {page.style(last, 'faint')}"
