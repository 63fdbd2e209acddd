"""From what a user types to a session: a path, an id, or a unique prefix of one."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from leafward.base.errors import NotASession, NotFound, Refused
from leafward.base.safe_text import safe_line
from leafward.cli.output import cells
from leafward.cli.settings import configured
from leafward.session.entries import is_own

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from leafward.agents import Agent
    from leafward.catalog import Card
    from leafward.query.grammar import Expression, QueryError
    from leafward.query.search import Query
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


def existing(path: str) -> Path:
    """A file or folder that somebody named, or a session in one. Raises NotFound."""
    found = Path(os.path.abspath(os.path.expanduser(path)))
    if not found.exists() and not holds_many(found):
        raise NotFound(f"no file or folder {safe_line(path)!r}")
    return found


def project_part(text: str) -> str:
    """What a project's folder must contain: a path where the text is one, else the text itself."""
    if text.startswith((".", "~", os.sep)):
        return os.path.abspath(os.path.expanduser(text)).lower()
    return text.lower()


def session_path(selector: str) -> Path:
    """The file of the session a user means. Raises NotFound where there is none, or more than one."""
    path = Path(os.path.expanduser(selector))
    if path.is_file() and (path.suffix == ".jsonl" or not holds_many(path)):
        return path
    if path.exists() and not path.is_file() and not path.is_dir():
        raise NotASession(f"{safe_line(selector)} is no regular file")
    from leafward.base import config
    from leafward.catalog import find_session

    return find_session(selector, config.load()[0]).path


def holds_many(path: Path) -> bool:
    """Whether a file holds several sessions, as a database does."""
    from leafward import agents

    return agents.within(path) is not None


def known(selector: str) -> bool:
    """Whether a path of that name exists, or a session, or several."""
    try:
        session_path(selector)
    except NotASession:
        return True
    except NotFound as error:
        return Path(os.path.expanduser(selector)).is_dir() or str(error).startswith("several ")
    return True


def configured_stores() -> list[tuple[Agent, Path]]:
    """The agents' stores: those that are usual, and those that are configured."""
    from leafward.base import config
    from leafward.catalog import stores

    return stores(config.load()[0], os.environ)


def chosen_card(selector: str) -> tuple[Card, Sequence[Card]]:
    """The session a user means, among all that the catalogue knows, and all of them. Raises NotFound, Refused."""
    from leafward.agents import agent_of
    from leafward.catalog import Catalogue

    file = session_path(selector)
    path = str(file.absolute())
    catalogue = Catalogue(configured())
    catalogue.refresh()
    cards = catalogue.cards()
    found = next((card for card in cards if card.path == path), None)
    if found is None:
        # It lies in no agent's store.
        alone = Catalogue(catalogue.config, [file])
        alone.refresh()
        found = alone.card(path)
    if found is None:
        raise NotFound(f"no session {safe_line(selector)!r} for {agent_of(file, configured_stores).title}")
    if found.problem is not None:
        raise Refused(f"{safe_line(path)} cannot be read as a session: {found.problem}")
    return found, cards


@contextmanager
def opened(selector: str) -> Iterator[Session]:
    """The session a user means, open for reading, closed afterwards."""
    from leafward import agents

    path = session_path(selector)
    session = agents.agent_of(path, configured_stores).open(path)
    try:
        yield session
    finally:
        session.close()


class UnreadableQuery(click.UsageError):
    """A query that cannot be read; `below` are lines that show where."""

    def __init__(self, query: str, error: QueryError) -> None:
        super().__init__(str(error))
        begin = max(0, error.column - _AROUND)
        # A space at its end counts.
        before = ("... " if begin else "") + safe_line(f"{query[begin : error.column]}^")[:-1]
        rest = safe_line(query[error.column : error.column + _AROUND])
        self.below = f"{before}{rest}".rstrip(), " " * cells(before) + "^"


def session_query(text: str, *, whole: bool = False) -> Query:
    """A query of sessions, or of all their text, read. Raises UnreadableQuery where a part of it would be left out."""
    from leafward.query.search import parse

    query = parse(text, time.time_ns() // 1_000_000, whole=whole)
    if query.broken_part is not None:
        raise UnreadableQuery(text, query.broken_part)
    return query


_AROUND = 36
"""Code points of a query that are shown on each side of what is wrong."""


def expression_of(query: str) -> Expression:
    """A query that chooses entries, read. Raises UnreadableQuery."""
    from leafward.query.grammar import QueryError, parse

    try:
        return parse(query)
    except QueryError as error:
        raise UnreadableQuery(query, error) from error


def chosen_entries(session: Session, query: str) -> frozenset[int]:
    """The entries that a query chooses. Raises UnreadableQuery."""
    from leafward.query.grammar import QueryError
    from leafward.query.select import select

    try:
        return frozenset(select(session, query).entries)
    except QueryError as error:
        raise UnreadableQuery(query, error) from error


def named_or_chosen(session: Session, named: Sequence[str], query: str | None) -> list[EntryIndex]:
    """The entries that are named, and those that a query chooses. Raises a usage error where neither is said, and Refused."""
    from leafward.session.entries import EntryIndex

    if not named and query is None:
        raise click.UsageError("name entries, or choose them with --select QUERY")
    found = [session.find(one) for one in named]
    if query is not None:
        found += sorted(map(EntryIndex, chosen_entries(session, query)))
        if not found:
            raise Refused("no entry matches the query")
    return list(dict.fromkeys(found))


def agent_behind(session: Session) -> Agent:
    """The agent that a session belongs to."""
    from leafward import agents

    return agents.agent_behind(session)


def leaf_shown(session: Session) -> EntryIndex:
    """The leaf that a person is told of: where a note of ours hangs below it, such as a label, what that hangs on."""
    leaf = session.leaf
    return session.tree.content_at(leaf) if leaf >= 0 and is_own(session.body(leaf) or {}) else leaf


def verify(session: Session, entries: Iterable[int] | None = None) -> None:
    """Decodes entries (all of them by default) and marks lines that prove to be broken: a scan looks at beginnings only."""
    while True:
        checked = range(len(session)) if entries is None else entries
        kinds = session.columns.kind
        broken = [index for index, body in session.bodies(checked) if body is None and kinds[index]]
        if not broken:
            return
        session.discredit(broken)
