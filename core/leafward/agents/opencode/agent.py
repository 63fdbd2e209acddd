"""opencode: the places of its sessions, and the way to read and to resume one. Rules are those of opencode 0.5 to 1.18.

A session inside a database has a path of its own: the database's, followed by the session's id.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.base import Agent, Listing, SessionText, Texts, Trouble, refuse_copy
from leafward.agents.opencode.preview import first_look
from leafward.agents.opencode.storage import exports, trees
from leafward.agents.opencode.storage.data_root import usual_root
from leafward.agents.opencode.storage.database import is_database, opened
from leafward.agents.opencode.storage.records import number_in, object_in
from leafward.agents.opencode.storage.store import (
    USUAL,
    Shelves,
    databases_in,
    is_store,
    root_of,
    store_variables,
)
from leafward.agents.opencode.storage.surroundings import setting_of
from leafward.agents.opencode.tools import OPENCODE_TOOLS
from leafward.agents.opencode.transcript import TORN, OpenCodeReader
from leafward.agents.resume import Resume, folder_of, id_of, own_variables
from leafward.agents.sidecar_texts import kept_texts
from leafward.agents.storage.lines import unmarked
from leafward.agents.tool_results import tool_results
from leafward.base.errors import NotASession, Refused
from leafward.base.paths import is_kept
from leafward.session.entries import object_at, text_at
from leafward.session.foreign import ForeignFiles
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from leafward.agents.base import FirstLook, SessionCandidate
    from leafward.agents.conversation import Conversation
    from leafward.agents.fork_draft import ForkDraft, ForkPoint, ForkTerms
    from leafward.agents.opencode.storage.excerpts import SessionCopy
    from leafward.agents.opencode.storage.store import Store
    from leafward.files.tool_calls import ToolTable
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_LONG_HEAD = re.compile(rb'\{\s*"id"\s*:\s*"ses_')


class OpenCode(Agent):
    """opencode."""

    name = "opencode"
    title = "opencode"
    tool_table: ToolTable = OPENCODE_TOOLS

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._shelves = Shelves(self.name, clock)

    def usual_roots(self, env: Mapping[str, str]) -> tuple[Path, ...]:
        """`$XDG_DATA_HOME/opencode`, else `~/.local/share/opencode`, on every system.

        A database elsewhere that `$OPENCODE_DB` names is added.
        """
        root = usual_root(env)
        database = env.get("OPENCODE_DB")
        if not database or database == ":memory:":
            return (root,)
        extra = Path(os.path.join(root, database))
        return (root,) if str(extra) in databases_in(str(root), []) else (root, extra)

    def holds(self, folder: str, names: Iterable[str]) -> bool:
        """Whether a folder with these entries is a store of opencode, or the part of a store that holds sessions."""
        return is_store(folder, set(names))

    def discover(
        self, roots: tuple[Path, ...], stop: Callable[[], bool], trouble: list[Trouble]
    ) -> Iterator[Listing]:
        """Every session, from databases and files. The database's copy of a session counts, unless it has no message of it."""
        seen: set[str] = set()
        folders: set[str] = set()
        for root in roots:
            if stop() or str(root) in seen:
                continue
            seen.add(str(root))
            for listing in self._shelves.listings(str(root), stop, trouble):
                if listing.folder not in folders:
                    folders.add(listing.folder)
                    yield listing

    def within(self, path: str, trouble: list[Trouble] | None = None) -> Listing | None:
        """The sessions in a named database, or the session that a path into one names; None for any other path."""
        return self._shelves.within(path, trouble)

    def strays(self, path: str) -> dict[str, int]:
        """The numbers of messages in a database whose session is missing, by the session that they name."""
        return self._shelves.strays(path)

    def recognises(self, head: bytes) -> bool:
        """Whether it is the description file of a session, or an exported session."""
        if exports.is_beginning(head):
            return True
        start = unmarked(head).lstrip()
        if not start.startswith(b"{"):
            return False
        body = decode_line(start)
        if body is None:
            return _LONG_HEAD.match(start) is not None and b'"title"' in start
        return (
            bool(text_at(body, "id"))
            and number_in(object_at(body, "time"), "created") is not None
            and "title" in body
            and bool({"version", "directory"} & body.keys())
            and not {"role", "sessionID", "type"} & body.keys()
        )

    def peek(self, candidate: SessionCandidate) -> FirstLook | None:
        """Facts from its own description, and its first prompt where it has no title. Raises OSError."""
        return first_look(self._shelves, candidate.path)

    def source(self, path: Path) -> ForeignFiles:
        """A session: `path` is its file's, or a database's followed by the session's id."""
        absolute = os.path.abspath(path)
        return ForeignFiles(
            path,
            self.name,
            self.tool_table,
            lambda: OpenCodeReader(lambda: setting_of(self._shelves, absolute)),
        )

    def texts(self, paths: Sequence[str]) -> Texts:
        """Pieces only: no session has a single file with all of its content."""
        return Texts(pieces=self._pieces(paths))

    def _pieces(self, paths: Sequence[str]) -> Iterator[SessionText]:
        """The rows of each session in its database, or its files, and its sidecar's texts; each database is opened once."""
        waiting = list(paths)
        ids = [(path, os.path.basename(path).removesuffix(".json")) for path in waiting]
        while waiting:
            base = os.path.dirname(waiting[0])
            if not os.path.isfile(base):
                path = waiting.pop(0)
                if os.path.isdir(path) or is_database(path):
                    yield SessionText(path)
                    continue
                yield from (SessionText(path, file) for file in trees.files_of(trees.tree_of(path)))
                continue
            here = [path for path in waiting if os.path.dirname(path) == base]
            waiting = [path for path in waiting if os.path.dirname(path) != base]
            try:
                with opened(base) as database:
                    for path in here:
                        yield from (
                            SessionText(path, data=data) for data in database.texts(os.path.basename(path))
                        )
            except (sqlite3.Error, OSError, NotASession):
                # Opening the sessions finds any text missed here.
                yield from map(SessionText, here)
        yield from kept_texts(self.name, ids)

    def belongings(self, path: str) -> list[tuple[str, str]]:
        """The description files of the session and its sub-agents, their messages and parts; none for a session in a database.

        An exported session is one file.
        """
        absolute = os.path.abspath(path)
        if exports.is_export(absolute):
            return [(absolute, os.path.join(exports.KEPT_IN, os.path.basename(absolute)))]
        return (
            []
            if os.path.isdir(absolute) or not absolute.endswith(trees.SUFFIX)
            else trees.belongings(absolute)
        )

    def excerpt(self, path: str) -> SessionCopy | None:
        """A session in a database with its sub-agents; None for any other. Raises OSError, NotASession."""
        base, session = os.path.split(os.path.abspath(path))
        if not os.path.isfile(base) or not is_database(base):
            return None
        from leafward.agents.opencode.storage.excerpts import SessionCopy

        return SessionCopy(base, session)

    def description(self, path: str) -> Mapping[str, object]:
        """The session's row in the database with all its columns, or its description file."""
        base, session = os.path.split(os.path.abspath(path))
        if not os.path.isfile(base):
            body = decode_line(trees.read(path)) or {}
            return object_at(body, "info") if exports.is_export(path) else body
        try:
            with opened(base) as database:
                row = database.row(session)
        except sqlite3.Error as error:
            raise OSError(5, str(error), base) from error
        return {name: _stored(value) for name, value in row.items()}

    def spawned(self, session: Session, since: int, stop: Callable[[], bool]) -> list[tuple[EntryIndex, str]]:
        """Found by the session that a result of the task tool notes."""
        path = os.path.abspath(session.path)
        base, own = os.path.split(path)
        try:
            if os.path.isfile(base) and not any(
                row.info.parent == own for row in self._shelves.shelf(base, lately=True).rows.values()
            ):
                return []
            path_of = setting_of(self._shelves, path).path_of
        except (sqlite3.Error, OSError, NotASession):
            return []
        found = []
        for entry, message in tool_results(session, since, stop):
            details = message.get("details")
            made = details.get("sessionId") if isinstance(details, dict) else None
            if isinstance(made, str) and (there := path_of(made)) is not None:
                found.append((entry, there))
        return found

    def resume(self, session: Session, env: Mapping[str, str]) -> Resume:
        """`opencode -s ID` in the session's folder.

        Raises Refused where the session names no folder, where it exists only in the files of an older version or in an export,
        where the newer engine made it, which no command opens, and for our own copy of a session that opencode no longer has.
        """
        folder = folder_of(session, self.title)
        path = os.path.abspath(session.path)
        refuse_copy(session, self.title)
        if exports.is_export(path):
            raise Refused(
                f"{session.id} is in an exported file: `opencode import` brings it into opencode, or begin a new session"
                " from it (fork)"
            )
        if os.path.isfile(path):
            root = root_of(path)
            if databases_in(root, []):
                raise Refused(
                    f"{session.id} is in files of an older opencode, not in the database, and opencode cannot open it:"
                    " begin a new session from it (fork)"
                )
        if _is_torn(session):
            raise Refused(
                f"the row of {session.id} in {os.path.dirname(path)} cannot be read, and {self.title} needs it:"
                " begin a new session from it"
            )
        if _in_newer_engine(session):
            raise Refused(
                f"{session.id} was made by opencode's newer engine, and `opencode -s` would not see what was said:"
                " begin a new session from it"
            )
        base = os.path.dirname(path)
        removed, added = self._store(base, env) if os.path.isfile(base) else ((), ())
        name = id_of(session, self.title)
        return Resume(("opencode", "-s", name), folder, (*own_variables(env), *removed), added)

    def fork(self, session: Session, cut: ForkPoint, terms: ForkTerms) -> ForkDraft:
        """A document of the path's messages for opencode's own import. Raises Refused.

        A session in the files of an older version is converted to the present format.
        """
        from leafward.agents.conversation import Conversation
        from leafward.agents.opencode import fork as forking
        from leafward.session.journal.write import WriteRemark

        base = os.path.dirname(os.path.abspath(session.path))
        remark = WriteRemark(
            "older-files",
            "it is in files of an older opencode; the messages are converted to the current format",
        )
        if exports.is_export(str(session.path)):
            remark = WriteRemark("exported-file", "it is in an exported file; the messages are converted")
        if _is_torn(session):
            remark = WriteRemark("session-row", "its row cannot be read; the messages are converted")
        if not os.path.isfile(base) or _is_torn(session):
            draft = self.convert(Conversation(session, cut), terms)
            return replace(draft, remarks=(remark, *draft.remarks), converted=True)
        into = self._into(terms) if is_kept(base) else base
        return forking.fork(session, cut, terms, base, into, self._store(into, terms.env))

    def convert(self, past: Conversation, terms: ForkTerms) -> ForkDraft:
        """A document with the content of another agent's session, for opencode's own import. Raises Refused."""
        from leafward.agents.opencode.conversion import converted

        base = self._into(terms)
        return converted(past, terms, base, self._store(base, terms.env))

    def _into(self, terms: ForkTerms) -> str:
        """The database that opencode itself uses."""
        found = self.roots(terms.config, terms.env)
        extra = terms.env.get("OPENCODE_DB")
        if extra and extra != ":memory:" and terms.config.roots.get(self.name) is None:
            return os.path.join(found[0], extra)
        return str(found[0] / USUAL)

    def _store(self, database: str, env: Mapping[str, str]) -> Store:
        return store_variables(database, str(usual_root(env)), env)


def _stored(value: object) -> object:
    """A value of a row; JSON is decoded, since a secret in it may be written with escapes."""
    found = object_in(f'{{"value":{value}}}') if isinstance(value, str) else {}
    return found.get("value", value)


def _is_torn(session: Session) -> bool:
    """Whether a session's own row is unreadable."""
    return any(note.code == TORN for note in session.source.notes)


def _in_newer_engine(session: Session) -> bool:
    """Whether the conversation at the session's place belongs to the newer engine."""
    files = session.source
    if not isinstance(files, ForeignFiles) or not isinstance(files.reader, OpenCodeReader):
        return False
    leaf = files.transcript.leaf
    return leaf >= 0 and files.reader.is_newer(leaf)
