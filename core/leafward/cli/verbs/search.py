"""The verb `search`: searches the text of all sessions, or of those in the folders and files named."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from leafward.base import config as settings
from leafward.base.figures import counted
from leafward.base.safe_text import safe, safe_line
from leafward.base.shown_path import project_name
from leafward.catalogue.cards.full_card import whole
from leafward.catalogue.lookup import sighted, typed_ids
from leafward.cli.output.page import Page, cells, emit_json, local_time, note, page, say, with_path
from leafward.cli.output.progress_line import ProgressLine
from leafward.cli.queries import expression_of, session_query
from leafward.cli.selection import project_part, sessions_at
from leafward.cli.settings import remarks_on
from leafward.query.search.corpus import Corpus
from leafward.query.search.prefilter import ripgrep
from leafward.query.search.text_search import SessionHits, TextSearch
from leafward.query.vocabulary import part_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.agents.base import Trouble
    from leafward.catalogue.cards.card import Card
    from leafward.cli.options.catalogue_options import SearchOptions
    from leafward.query.search.text_match import Hit

_NAMED_AT_MOST = 5
"""Most unreadable sessions that the text output names."""


def search(text: str, paths: Sequence[str], options: SearchOptions, as_json: bool) -> int:
    """`leafward search`."""
    places = [sessions_at(path) for path in paths]
    config, problems = settings.load()
    query = session_query(text, whole=True)
    if options.select is not None:
        query = query.among(expression_of(options.select))
    if options.agent is not None:
        query = replace(query, agents=(options.agent,))
    if options.project is not None:
        query = replace(query, projects=(*query.projects, project_part(options.project)))
    remarks = [{"code": "config", "text": text} for text in remarks_on(problems)]
    remarks += [{"code": "query", "text": str(problem)} for problem in query.problems]
    if not query.looks_inside:
        nothing = "nothing to search for: give a word, a phrase or a pattern"
        if not text.strip():
            raise click.UsageError(nothing)
        remarks.append({"code": "query", "text": nothing})
    trouble: list[Trouble] = []
    cards = list(sighted(config, places, os.environ, trouble)) if query.looks_inside else []
    remarks += [{"code": "unreadable-folder", "text": f"{one.path}: {one.reason}"} for one in trouble]
    running = TextSearch(Corpus(cards), query, program=ripgrep(), kept=options.limit)
    shown = page()
    found: list[SessionHits] = []
    line = ProgressLine()
    short: dict[str, str] = {}
    for session in _limited(running, options.limit, line):
        found.append(session)
        if not as_json:
            # Of all sessions in the stores, which are not looked at where nothing is found.
            short = short or typed_ids(cards, config, places)
            line.wipe()
            say(_group(session, short, shown))
    line.wipe()
    remarks += _remarks(running, found, options.limit, whole=as_json)
    if as_json:
        emit_json(_document(running, found, remarks))
        return 0
    say(_last_line(running, found, shown))
    for remark in remarks:
        note(remark["text"])
    return 0


def _limited(running: TextSearch, limit: int, line: ProgressLine) -> Iterator[SessionHits]:
    """Sessions up to so many hits in total; the hits of the last one are cut.

    A session that was looked at only to be searched gets its title here.
    """
    left = limit
    for session in running.run(
        publish=lambda progress: line.show("searching", progress.done, progress.total)
    ):
        yield replace(session, card=whole(session.card), hits=session.hits[:left])
        left -= len(session.hits)
        if left <= 0:
            return


def _remarks(
    running: TextSearch, found: Sequence[SessionHits], limit: int, *, whole: bool
) -> list[dict[str, str]]:
    """Remarks on the search: hits left out, sessions not read, patterns that took too long."""
    remarks = []
    listed = sum(len(session.hits) for session in found)
    more = sum(session.total for session in found) - listed
    rest = running.progress.total - running.done
    if listed >= limit and (more or rest):
        unlisted = [f"{counted(more, 'more hit')} in these sessions"] if more else []
        unlisted += [f"{counted(rest, 'session')} not searched"] if rest else []
        remarks.append(
            {"code": "limit", "text": f"{counted(limit, 'hit')} listed, {', '.join(unlisted)}: --limit"}
        )
    unread = running.unread
    remarks += [
        {"code": one.code, "text": f"not searched: {with_path(one.path, one.reason)}"}
        for one in (unread if whole else unread[:_NAMED_AT_MOST])
    ]
    if not whole and len(unread) > _NAMED_AT_MOST:
        hidden = counted(len(unread) - _NAMED_AT_MOST, "more session")
        remarks.append({"code": "unreadable", "text": f"not searched: {hidden} that cannot be read"})
    if running.copies:
        hits, copies = counted(running.copied_hits, "more hit"), _copies(running.copies)
        repeat = "repeats" if running.copies == 1 else "repeat"
        text = (
            f"{hits} in {copies} not listed: {'it' if running.copies == 1 else 'they'} {repeat} a session that was "
            "searched too; a search without that session (--project or PATH) lists such hits"
        )
        remarks.append({"code": "copies", "text": text})
    if running.matcher.slow:
        consequence = "and was given up" if running.matcher.gave_up else "which were skipped"
        remarks.append(
            {
                "code": "slow-pattern",
                "text": f"the pattern took too long on {counted(running.matcher.slow, 'text')}, {consequence}",
            }
        )
    return remarks


def _copies(number: int) -> str:
    return "a fork or copy" if number == 1 else f"{number:,} forks and copies"


def _document(
    running: TextSearch, found: Sequence[SessionHits], remarks: list[dict[str, str]]
) -> dict[str, Any]:
    return {
        "hits": [_hit_json(session.card, hit) for session in found for hit in session.hits],
        "sessions": [
            {
                "id": session.card.id,
                "agent": session.card.agent,
                "path": session.card.path,
                "title": session.card.title,
                "project": session.card.project,
                "hits": session.total,
            }
            for session in found
        ],
        "searched": running.done,
        "diagnostics": remarks,
    }


def _hit_json(card: Card, hit: Hit) -> dict[str, Any]:
    return {
        "session": card.id,
        "path": card.path,
        "entry": hit.entry,
        "kind": hit.kind,
        "role": hit.role,
        "part": hit.part,
        "tool": hit.tool or None,
        "time": hit.time,
        "failed": hit.failed,
        "text": hit.text,
        "spans": [list(span) for span in hit.spans],
        "count": hit.count,
    }


_ENTRY, _PART = 20, 8


def _group(session: SessionHits, short: dict[str, str], page: Page) -> Iterator[str]:
    """A session, and below it its hits, each with the text around it."""
    card = session.card
    about = f"{safe_line(short.get(card.id, card.id), 36)}  {safe_line(card.agent)}  {local_time(card.when)}"
    name = project_name(card.project)
    behind = f"  {counted(session.total, 'hit')}"
    room = page.width - cells(about) - cells(name) - cells(behind) - 4
    title = page.fit(card.title, max(12, room))
    yield f"{page.style(about, 'faint')}  {name}  {page.style(title, 'bold')}{page.style(behind, 'faint')}"
    width = min(_ENTRY, max(len(hit.entry) for hit in session.hits))
    for hit in session.hits:
        lead = f"  {safe_line(hit.entry)[:width]:<{width}}  "
        what = hit.tool and f"{hit.tool} {hit.part}"
        what = page.fit(safe_line(what or part_word(hit.part)), 2 * _PART)
        sign = "! " if hit.failed else ""
        lead += f"{what:<{2 * _PART}}  {sign}"
        yield page.style(lead, "faint") + _marked(hit, page.width - cells(lead), page)
    yield ""


def _marked(hit: Hit, room: int, page: Page) -> str:
    """The snippet with its matches emphasised, cut so that the first match is visible."""
    text = safe(hit.text)
    first = hit.spans[0] if hit.spans else (0, 0)
    begin = 0
    if cells(text[: first[1]]) > room - 4:
        begin = max(0, first[0] - room // 3)
    fitted = page.fit((page.gap if begin else "") + text[begin:], room)
    moved = bool(begin) - begin
    pieces, at = [], 0
    for start, stop in hit.spans:
        start, stop = max(at, start + moved), min(len(fitted), stop + moved)
        if start < stop:
            pieces += [fitted[at:start], page.style(fitted[start:stop], "leaf")]
            at = stop
    return "".join(pieces) + fitted[at:]


def _last_line(running: TextSearch, found: Sequence[SessionHits], page: Page) -> str:
    if not found:
        return f"nothing found in {counted(running.done, 'session')}"
    hits = counted(sum(session.total for session in found), "hit")
    looked = counted(running.done, "session")
    return page.style(f"{hits} in {counted(len(found), 'session')}, {looked} searched", "faint")
