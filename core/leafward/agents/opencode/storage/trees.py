"""opencode's trees of JSON files, before 1.2: a file for every session, message and part.

Until about 0.5 each project had its own store, with everything under `session` (A); later versions had one for all (B).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.base import is_file, is_folder
from leafward.agents.opencode.storage.records import (
    Info,
    MessageRecord,
    StoredRow,
    created_in,
    dumped,
    in_order,
    number_in,
    object_in,
    time_in_id,
)
from leafward.agents.storage.lines import unmarked
from leafward.base.regular_files import open_buffered
from leafward.session.entries import object_at, text_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.agents.base import Trouble
    from leafward.session.entries import Body

SUFFIX = ".json"
_NOTICE = re.compile(rb"\s{0,16}Exporting session: [^\n]{0,200}\n")
INFO_FOLDER = "info"


class Tree(NamedTuple):
    """The places of one session's files."""

    info: str
    messages: str
    """The folder with the messages of all sessions."""
    parts: str
    nested: bool
    """Whether the parts of a message lie under the session's own folder (A)."""

    def parts_of(self, session: str, message: str) -> str:
        """The folder of a message's parts."""
        return (
            os.path.join(self.parts, session, message) if self.nested else os.path.join(self.parts, message)
        )


def tree_of(info: str) -> Tree:
    """The places of a session's files, from its description file."""
    folder = os.path.dirname(info)
    above = os.path.dirname(folder)
    if os.path.basename(folder) == INFO_FOLDER:
        return Tree(info, os.path.join(above, "message"), os.path.join(above, "part"), nested=True)
    storage = os.path.dirname(above)
    return Tree(info, os.path.join(storage, "message"), os.path.join(storage, "part"), nested=False)


def folders_in(root: str, trouble: list[Trouble]) -> Iterator[str]:
    """The folders of session files under a data root, a `storage` folder, or the `session` folder of one."""
    from leafward.agents.base import Trouble

    def below(folder: str) -> list[str]:
        try:
            with os.scandir(folder) as entries:
                return sorted(entry.path for entry in entries if is_folder(entry))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            trouble.append(Trouble(folder, error.strerror or str(error)))
            return []

    stores = [os.path.join(root, "session"), os.path.join(root, "storage", "session")]
    stores += [
        os.path.join(project, "storage", "session") for project in below(os.path.join(root, "project"))
    ]
    if os.path.basename(root) == "session":
        stores.append(root)
    for store in stores:
        info = os.path.join(store, INFO_FOLDER)
        if os.path.isdir(info):
            yield info
            continue
        yield from below(store)


def _id_of(body: Body, stem: str) -> str:
    """The id in a file; the id in its name where the one inside cannot name a folder, or leads elsewhere."""
    stored = text_at(body, "id")
    plain = stored.isprintable() and not any(sign in stored for sign in "/\\:")
    plain = plain and stored not in ("", ".", "..")
    return stored if plain else stem


def info_in(data: bytes, path: str) -> Info:
    """The description in a session file; a broken one tells only its name."""
    return info_of(object_in(data), path)


def info_of(body: Body, path: str) -> Info:
    """A session's description, decoded; the file's name is its id where that is missing or no name."""
    time = object_at(body, "time")
    name = os.path.basename(path).removesuffix(SUFFIX)
    revert = object_at(body, "revert")
    return Info(
        id=_id_of(body, name),
        title=text_at(body, "title"),
        directory=text_at(body, "directory"),
        parent=text_at(body, "parentID") or None,
        created=number_in(time, "created"),
        updated=number_in(time, "updated"),
        archived=number_in(time, "archived"),
        compacting=number_in(time, "compacting"),
        version=text_at(body, "version"),
        project=text_at(body, "projectID"),
        slug=text_at(body, "slug"),
        share=text_at(object_at(body, "share"), "url"),
        revert=dumped(revert).decode("utf-8", "replace") if revert else "",
    )


def read(path: str) -> bytes:
    """A whole file, with spaces for what stands ahead of its document. Raises OSError."""
    with open_buffered(path) as file:
        return unannounced(file.read())


def unannounced(head: bytes) -> bytes:
    """The first bytes of a file, with spaces for a byte order mark, and for the line that `opencode export` prints beside its document.

    That line is in the file where both outputs of the command went there.
    """
    head = unmarked(head)
    notice = _NOTICE.match(head)
    return b" " * notice.end() + head[notice.end() :] if notice is not None else head


def names_in(folder: str) -> list[str]:
    """The JSON files of a folder, sorted; empty where the folder is missing."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.name.endswith(SUFFIX) and is_file(entry))
    except (FileNotFoundError, NotADirectoryError):
        return []


def messages(
    tree: Tree, session: str, near: int, broken: Callable[[str, Exception], object]
) -> Iterator[MessageRecord]:
    """The messages of a session by time with their parts; `broken` is called for unreadable files.

    A message of invalid JSON has the time in its name.
    """
    folder = os.path.join(tree.messages, session)
    found: list[tuple[int, str, str]] = []
    for name in names_in(folder):
        path = os.path.join(folder, name)
        try:
            body = object_in(read(path))
        except OSError as error:
            broken(path, error)
            continue
        stem = name.removesuffix(SUFFIX)
        found.append((created_in(body) or time_in_id(stem, near), _id_of(body, stem), path))
    found.sort()
    for created, name, path in found:
        try:
            data = read(path)
        except OSError as error:
            broken(path, error)
            continue
        yield MessageRecord(StoredRow(name, created, data, path), _parts(tree, session, name, broken))


def _parts(
    tree: Tree, session: str, message: str, broken: Callable[[str, Exception], object]
) -> list[StoredRow]:
    folder = tree.parts_of(session, message)
    found = []
    for name in names_in(folder):
        path = os.path.join(folder, name)
        try:
            data = read(path)
        except OSError as error:
            broken(path, error)
            continue
        found.append(StoredRow(name.removesuffix(SUFFIX), 0, data, path))
    return in_order(found)


def files_of(tree: Tree) -> Iterator[str]:
    """Every file of a session: its description, its messages, their parts."""
    yield tree.info
    try:
        session = info_in(read(tree.info), tree.info).id
    except OSError:
        return
    folder = os.path.join(tree.messages, session)
    for name in names_in(folder):
        yield os.path.join(folder, name)
        parts = tree.parts_of(session, name.removesuffix(SUFFIX))
        yield from (os.path.join(parts, part) for part in names_in(parts))


def belongings(info: str) -> list[tuple[str, str]]:
    """The files of a session and of its sub-agents, its own first, each with its name in a data root. Raises OSError."""
    folder = os.path.dirname(info)
    parents: dict[str, list[str]] = {}
    for name in names_in(folder):
        path = os.path.join(folder, name)
        above = info_in(read(path), path).parent
        if above is not None and path != info:
            parents.setdefault(above, []).append(path)
    found: list[tuple[str, str]] = []
    waiting, seen = [info], {info}
    while waiting:
        path = waiting.pop(0)
        tree = tree_of(path)
        store = os.path.dirname(tree.messages)
        inside = (
            os.path.join("project", _project_of(store), "storage", "session") if tree.nested else "storage"
        )
        for file in files_of(tree):
            name = os.path.relpath(file, store)
            # The id in a file may be any text, and becomes part of a path.
            if not name.startswith(os.pardir):
                found.append((file, os.path.join(inside, name)))
        below = [child for child in parents.get(info_in(read(path), path).id, ()) if child not in seen]
        seen.update(below)
        waiting += below
    return found


def _project_of(store: str) -> str:
    """The name of the project that a store of generation A belongs to."""
    return os.path.basename(os.path.dirname(os.path.dirname(store))) or "global"


def first_time(tree: Tree, session: str) -> int:
    """The time of a session's first message; 0 where it has none."""
    folder = os.path.join(tree.messages, session)
    for name in names_in(folder):
        try:
            return created_in(object_in(read(os.path.join(folder, name))))
        except OSError:
            continue
    return 0
