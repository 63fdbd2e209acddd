"""A first look at a session: its own description, and its first prompt where it has no title."""

from __future__ import annotations

import os
import sqlite3
from itertools import islice
from typing import TYPE_CHECKING

from leafward.agents.base import FirstLook
from leafward.agents.opencode.entries.parts import asked_in, blocks_of, is_typed
from leafward.agents.opencode.storage import exports, trees
from leafward.agents.opencode.storage.database import is_database, opened
from leafward.agents.opencode.storage.records import object_in
from leafward.agents.opencode.storage.surroundings import paths_in_database, paths_in_folder
from leafward.agents.opencode.transcript import named
from leafward.base.errors import NotASession
from leafward.session.entries import object_at, text_at, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from leafward.agents.opencode.storage.records import Info, MessageRecord
    from leafward.agents.opencode.storage.store import Shelves

_FIRST_MESSAGES = 4


def first_look(shelves: Shelves, path: str) -> FirstLook:
    """Facts from a first look at a session, in a database or a file. Raises OSError."""
    base, session = os.path.split(path)
    if os.path.isfile(base):
        try:
            row = shelves.shelf(base, lately=True).rows.get(session)
            if row is None:
                raise FileNotFoundError(2, f"no session {session}", base)
            prompt = ""
            if named(row.info.title) is None and row.messages:
                with opened(base) as database:
                    prompt = _first_prompt(database.messages(session, base, _silent))
                    if row.info.torn:
                        folder = _first_folder(database.messages(session, base, _silent))
                        row = row._replace(info=row.info._replace(directory=folder))
        except (sqlite3.Error, NotASession) as error:
            raise OSError(5, str(error), base) from error
        return _first_look(row.info, prompt, paths_in_database(shelves, base))
    if is_database(path):
        raise OSError(5, "a database that cannot be read", path)
    messages: Iterable[MessageRecord]
    if exports.is_export(path):
        document = exports.document_in(path) or {}
        info = exports.info_in(document, path)
        messages = exports.messages(document, path, info.created or 0, _silent)
    else:
        info = trees.info_in(trees.read(path), path)
        messages = trees.messages(trees.tree_of(path), info.id, info.created or 0, _silent)
    prompt = _first_prompt(messages) if named(info.title) is None else ""
    return _first_look(info, prompt, paths_in_folder(path))


def _first_look(info: Info, prompt: str, path_of: Callable[[str], str | None]) -> FirstLook:
    return FirstLook(
        id=info.id,
        title=named(info.title),
        prompt=prompt,
        project=info.directory,
        created=info.created,
        modified=info.updated or info.created,
        parent=(path_of(above) or above) if (above := info.parent or info.source) is not None else None,
        relation=info.relation,
        archived=bool(info.archived),
    )


def _first_prompt(messages: Iterable[MessageRecord]) -> str:
    for record in islice(messages, _FIRST_MESSAGES):
        if object_in(record.message.data).get("role") != "user":
            continue
        parts = [object_in(part.data) for part in record.parts]
        blocks = blocks_of(filter(is_typed, parts), by_newer=record.stored is not None)
        text = text_of(blocks) or asked_in(parts)
        if text:
            return text
    return ""


def _first_folder(messages: Iterator[MessageRecord]) -> str:
    """The working folder of the first reply."""
    bodies = (object_in(record.message.data) for record in islice(messages, _FIRST_MESSAGES))
    return next((folder for body in bodies if (folder := text_at(object_at(body, "path"), "cwd"))), "")


def _silent(_name: str, _error: Exception) -> None:
    """Ignores unreadable parts in a first look."""
