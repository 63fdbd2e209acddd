"""The verbs `blame` and `why`: the turn and session that wrote each line of a file, and the reason."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from leafward.agents.registry import agent_named
from leafward.base.errors import NotFound
from leafward.base.figures import counted
from leafward.base.safe_text import safe, safe_line
from leafward.base.times import iso_time
from leafward.branches.line_reason import check_words, reason_of
from leafward.catalogue.lookup import sighted, typed_ids
from leafward.cli.output.page import Page, cells, emit_json, local_time, note, pad, page, say, wrapped
from leafward.cli.selection import existing, sessions_at
from leafward.cli.settings import configured
from leafward.files.line_origins import UNSURE
from leafward.query.blame import NOBODY, Author, Blame, blame
from leafward.query.blame_sources import concerned
from leafward.query.search.prefilter import ripgrep

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.agents.base import Trouble
    from leafward.branches.line_reason import Reason

_RANGE = re.compile(r"(.+?):(\d{1,9})(?:-(\d{1,9}))?")
_LABEL = 28
"""Most cells of a turn's name."""


class _Lines(NamedTuple):
    """A file and a range of its lines."""

    path: str
    first: int
    """The first line, from 1."""
    last: int | None
    """The last line; None for the end of the file."""


def run_blame(place: str, paths: Sequence[str], as_json: bool) -> int:
    """`leafward blame`."""
    lines = _lines_of(place)
    found, ids, remarks = _found(lines, paths)
    if as_json:
        emit_json(_document(found, lines, remarks))
        return 0
    say(_text(found, lines, ids, page()))
    _tell(remarks)
    return 0


def run_why(place: str, paths: Sequence[str], as_json: bool) -> int:
    """`leafward why`."""
    lines = _lines_of(place)
    if lines.last is None or lines.last != lines.first:
        raise click.UsageError(f"{safe_line(place)} names no line: write FILE:LINE")
    found, ids, remarks = _found(lines, paths)
    line = found.lines[lines.first - 1]
    author = found.authors[line.author] if line.author >= 0 else None
    reason = None
    if author is not None:
        session = agent_named(author.card.agent).open(Path(author.card.path))
        try:
            reason = reason_of(session, author.entry, author.prompt)
        finally:
            session.close()
    if as_json:
        document = _document(found, lines, remarks)
        document["why"] = _why_json(reason) if reason is not None else None
        emit_json(document)
        return 0
    say(_why_text(found, line.number, reason, ids, page()))
    _tell(remarks)
    return 0


def _tell(remarks: Sequence[dict[str, str]]) -> None:
    for remark in remarks:
        note(remark["text"])


def _lines_of(place: str) -> _Lines:
    """The file and lines that `FILE[:LINE[-LINE]]` names; an existing file with such a name is meant whole."""
    ranged = _RANGE.fullmatch(place)
    if ranged is None or os.path.exists(os.path.expanduser(place)):
        return _Lines(str(existing(place)), 1, None)
    first = int(ranged[2])
    last = int(ranged[3] or first)
    if not 0 < first <= last:
        raise click.UsageError(
            f"{safe_line(place)}: lines count from 1, and the first must not come after the last"
        )
    return _Lines(str(existing(ranged[1])), first, last)


def _found(lines: _Lines, paths: Sequence[str]) -> tuple[Blame, dict[str, str], list[dict[str, str]]]:
    """The authors of a file, the short ids of sessions, and remarks on what could not be read."""
    trouble: list[Trouble] = []
    config, places = configured(), [sessions_at(path) for path in paths]
    cards = list(sighted(config, places, os.environ, trouble))
    remarks = [{"code": "unreadable-folder", "text": f"{one.path}: {one.reason}"} for one in trouble]
    path = os.path.realpath(lines.path)
    found = blame(path, concerned(cards, path), program=ripgrep())
    if lines.last is not None and lines.first > len(found.lines):
        raise NotFound(f"{safe_line(path)} has {counted(len(found.lines), 'line')}")
    remarks += [{"code": "unreadable", "text": f"not read: {reason}"} for reason in found.unread]
    return found, typed_ids(cards, config, places), remarks


def _document(found: Blame, lines: _Lines, remarks: list[dict[str, str]]) -> dict[str, Any]:
    shown = found.lines[lines.first - 1 : lines.last]
    return {
        "path": found.path,
        "lines": [
            {
                "line": line.number,
                "text": line.text,
                "by": "turn" if line.author >= 0 else NOBODY[line.author].removeprefix("by "),
                "author": line.author if line.author >= 0 else None,
                "also": list(line.also),
            }
            for line in shown
        ],
        "authors": [
            {
                "session": one.card.id,
                "agent": one.card.agent,
                "path": one.card.path,
                "entry": one.entry_id,
                "prompt": one.prompt_id,
                "turn": one.turn,
                "request": one.request,
                "time": iso_time(one.written),
                "abandoned": one.abandoned,
            }
            for one in found.authors
        ],
        "sessions": found.sessions,
        "claimed": sum(line.author >= 0 for line in shown),
        "unread": list(found.unread),
        "diagnostics": remarks,
    }


def _turn(one: Author, short: dict[str, str]) -> str:
    return safe_line(f"{one.card.agent} {short.get(one.card.id, one.card.id)} turn {one.turn}", _LABEL)


def _text(found: Blame, lines: _Lines, short: dict[str, str], page: Page) -> Iterator[str]:
    shown = found.lines[lines.first - 1 : lines.last]
    labels = [
        _turn(found.authors[line.author], short) if line.author >= 0 else NOBODY[line.author]
        for line in shown
    ]
    wide = max(map(cells, labels), default=0)
    digits = len(str(shown[-1].number)) if shown else 1
    before = None
    for line, label in zip(shown, labels, strict=True):
        name = label if line.author != before else ""
        before = line.author
        left = pad(name, wide)
        if line.author < 0:
            left = page.style(left, "faint")
        room = max(8, page.width - wide - digits - 4)
        text = page.fit(safe(line.text.expandtabs(4)), room)
        yield f"{left}  {line.number:>{digits}}  {text}".rstrip()
    used = dict.fromkeys(line.author for line in shown if line.author >= 0)
    also = {other for line in shown for other in line.also}
    if used or also:
        yield ""
    for number in sorted({*used, *also}):
        yield _author_line(found.authors[number], short, wide, page)
    by_turns = sum(line.author >= 0 for line in shown)
    bare = sum(line.is_bare for line in shown)
    rest = [
        f"{counted(count, 'line')} {name}{' (empty)' if count == bare and name == NOBODY[UNSURE] else ''}"
        for author, name in NOBODY.items()
        if (count := sum(line.author == author for line in shown))
    ]
    yield ""
    sums = (
        *([f"{counted(by_turns, 'line')} by {counted(len(used), 'turn')}"] if by_turns else ()),
        *rest,
        f"{counted(found.sessions, 'session')} touched the file",
    )
    yield from wrapped(", ".join(sums), page)


def _author_line(one: Author, short: dict[str, str], wide: int, page: Page) -> str:
    marks = "off the path  " if one.abandoned else ""
    head = f"{pad(_turn(one, short), wide)}  {local_time(one.written) if one.written else ''}  {marks}"
    request = safe_line(one.request) or "(no prompt)"
    return head + page.fit(request, max(8, page.width - cells(head)))


def _why_json(reason: Reason) -> dict[str, Any]:
    return {
        "request": reason.request,
        "said": reason.words,
        "decisions": list(reason.decisions),
        "checks": [one.as_json() for one in reason.checks],
        "turns_later": reason.turns_later,
    }


def _why_text(
    found: Blame, number: int, reason: Reason | None, short: dict[str, str], page: Page
) -> Iterator[str]:
    line = found.lines[number - 1]
    yield page.fit(f"{number}  {safe(line.text.expandtabs(4))}", page.width)
    if reason is None:
        yield from wrapped(line.unclaimed, page)
    else:
        one = found.authors[line.author]
        head = f"written by {_turn(one, short)}, {local_time(one.written) if one.written else 'at an unknown time'}"
        yield from wrapped(head + (", on a branch off the path" if one.abandoned else ""), page)
        yield ""
        yield page.style("asked", "bold")
        yield from _prose(safe(reason.request).strip() or "(nothing: no prompt came before it)", page)
        if reason.words:
            yield page.style("the agent said", "bold")
            yield from _prose(safe(reason.words), page)
        if reason.decisions:
            yield page.style("decided", "bold")
            yield from (f"  {page.fit(safe_line(one), page.width - 2)}" for one in reason.decisions)
        yield page.style("checked after", "bold")
        for one_check in reason.checks:
            yield from wrapped(check_words(one_check), page, first="  ", below="    ")
        if not reason.checks:
            yield "  no test, build, linter or check script ran"
        elif reason.turns_later:
            yield f"  {counted(reason.turns_later, 'turn')} later"
    for other in line.also:
        yield from wrapped(
            f"the same line was written by {_turn(found.authors[other], short)}, off the path", page
        )


def _prose(text: str, page: Page) -> Iterator[str]:
    """Safe text of a session, indented; its own line breaks stay."""
    for line in text.split("\n"):
        yield from wrapped(line, page, first="  ")
