"""Finds the session that a user types: a path, an id, or a unique prefix of one."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.base.errors import Ambiguous, NotASession, NotFound, OutputFailed, Refused
from leafward.base.safe_text import safe_line
from leafward.cli.output.page import with_path
from leafward.cli.output.written import failed_after
from leafward.cli.settings import configured
from leafward.session.entries import EntryIndex, Kind, is_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from leafward.agents.base import Agent
    from leafward.catalogue.cards.card import Card
    from leafward.cli.options.catalogue_options import NarrowingOptions
    from leafward.session.session import Session


def existing(path: str) -> Path:
    """A file, folder or session in one, named by the user. Raises NotFound if it does not exist."""
    found = Path(os.path.abspath(os.path.expanduser(path)))
    # An empty text would be the current folder.
    if not path or (not found.exists() and not holds_many(found)):
        raise NotFound(f"no file or folder {safe_line(path)!r}")
    return found


def sessions_at(name: str) -> Path:
    """A place with sessions: a file, a folder, or a session, also by its id. Raises NotFound."""
    try:
        return existing(name)
    except NotFound:
        if not name or os.sep in name:
            raise
    try:
        return session_path(name)
    except Ambiguous:
        raise
    except NotFound:
        raise NotFound(f"no file, folder or session {safe_line(name)!r}") from None


def project_part(text: str) -> str:
    """The text that a project's folder must contain: an absolute path if the text is a path, else the text itself."""
    if text.startswith((".", "~", os.sep)):
        return os.path.abspath(os.path.expanduser(text)).lower()
    return text.lower()


def narrowing(options: NarrowingOptions) -> Callable[[Card], bool]:
    """Whether a card is of the agent and the project that the options name."""
    agent = options.agent
    part = project_part(options.project) if options.project is not None else ""
    return lambda card: (agent is None or card.agent == agent) and part in card.project.lower()


def session_path(selector: str) -> Path:
    """The file of the session that a user means. Raises NotFound if there is none, or more than one."""
    path = Path(os.path.expanduser(selector))
    if path.is_file() and (path.suffix == ".jsonl" or not holds_many(path)):
        return path
    if path.exists() and not path.is_file() and not path.is_dir():
        raise NotASession(f"{safe_line(selector)} is not a regular file")
    from leafward.base import config
    from leafward.catalogue.lookup import find_session

    return find_session(selector, config.load()[0])


def holds_many(path: Path) -> bool:
    """Whether a file holds several sessions, as a database does."""
    from leafward.agents.recognition import within

    return within(path) is not None


def known(selector: str) -> bool:
    """Whether a name is that of an existing path, of a session, or of several."""
    try:
        session_path(selector)
    except (NotASession, Ambiguous):
        return True
    except NotFound:
        return Path(os.path.expanduser(selector)).exists()
    return True


def _configured_stores() -> list[tuple[Agent, Path]]:
    """The agents' usual and configured stores."""
    from leafward.base import config
    from leafward.catalogue.roots import stores

    return stores(config.load()[0], os.environ)


def chosen_card(selector: str) -> tuple[Card, Sequence[Card]]:
    """The session that a user means, and all sessions of the catalogue. Raises NotFound or Refused."""
    from leafward.agents.recognition import agent_of
    from leafward.catalogue.listing import Catalogue

    file = session_path(selector)
    path = str(file.absolute())
    catalogue = Catalogue(configured())
    catalogue.refresh()
    cards = catalogue.cards()
    found = next((card for card in cards if card.path == path), None)
    if found is None:
        # The session is in no agent's store.
        alone = Catalogue(catalogue.config, [file])
        alone.refresh()
        found = alone.card(path)
    if found is None:
        raise NotFound(f"no session {safe_line(selector)!r} for {agent_of(file, _configured_stores).title}")
    if found.problem is not None:
        raise Refused(safe_line(with_path(path, found.problem)))
    return found, cards


@contextmanager
def opened(selector: str) -> Iterator[Session]:
    """Opens the session that a user means for reading, and closes it afterwards."""
    from leafward.agents.recognition import agent_of

    path = session_path(selector)
    session = agent_of(path, _configured_stores).open(path)
    try:
        yield session
    except (OSError, OutputFailed) as error:
        if session.appended:
            raise failed_after(f"{session.book_path.name} was written", error) from error
        raise
    finally:
        session.close()


@contextmanager
def opened_on(selector: str) -> Iterator[tuple[Session, Mapping[str, Any] | None]]:
    """Opens the session that a user means behind what an earlier run kept of it, if that still counts; gives that too."""
    from leafward.agents.registry import agent_named, native
    from leafward.compaction.injection.findings.kept_findings import load
    from leafward.session.foreign import ForeignFiles
    from leafward.session.session import Session

    path = Path(os.path.abspath(os.path.expanduser(selector)))
    kept = load(path) if path.parent.is_file() else None
    if kept is None:
        # Looking for a session in a database counts the rows of all sessions in it.
        path = session_path(selector)
        kept = load(path)
    if kept is None:
        from leafward.agents.recognition import agent_of

        agent = agent_of(path, _configured_stores)
    else:
        # The bytes are those by which the agent was told.
        agent = native() if kept.scan is not None else agent_named(kept.agent)
    source = agent.source(path)
    if kept is not None:
        kept.lead(source)
    elif isinstance(source, ForeignFiles):
        # So that what it reads can be kept.
        source.go_on_from(b"")
    session = Session.of(source)
    try:
        yield session, kept.of(session) if kept is not None else None
    finally:
        session.close()


def place_named(session: Session, entry: str) -> EntryIndex:
    """The entry that a user means for a note: `leaf` is the nearest entry of the conversation, as notes may follow it.

    Raises NotFound.
    """
    if entry != "leaf" or session.leaf < 0:
        return session.find(entry)
    if session.place < 0:
        raise NotFound("the leaf is before the first entry: name an entry")
    return session.place


def leaf_shown(session: Session) -> EntryIndex:
    """The leaf to show: if the leaf is a note of ours, such as a label, the nearest entry of the conversation above it."""
    leaf = session.leaf
    return session.tree.content_at(leaf) if leaf >= 0 and is_own(session.body(leaf) or {}) else leaf


def compaction_at(session: Session, named: str | None) -> EntryIndex:
    """The named compaction, or the last one on the path to the leaf. Raises NotFound or Refused."""
    if named is not None:
        index = session.find(named)
        if session.columns.kind[index] != Kind.COMPACTION:
            raise Refused(f"{safe_line(session.columns.id_at(index) or '', 40)} is not a compaction")
        return index
    from leafward.summaries.survival.spans import compactions

    on_path = compactions(session)
    if on_path:
        return on_path[-1]
    others = [EntryIndex(index) for index, kind in enumerate(session.columns.kind) if kind == Kind.COMPACTION]
    if not others:
        raise NotFound(f"{session.path.name} has no compaction")
    ids = ", ".join(safe_line(session.columns.id_at(index) or "", 40) for index in others[-4:])
    raise NotFound(f"no compaction is on the path to the leaf; name one of another branch: {ids}")
