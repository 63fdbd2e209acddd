"""Our own copies of sessions: whole, private, and read by the same reader as the originals.

An agent that deletes old sessions cannot reach them. A copy lies under the same names as in the agent's store, so that sub-agents
and side files are found beside it, and counts as a place of that agent: it is listed when the original is gone. The copy of one
session from a database is a database with only the rows of that session.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from leafward.agents.recognition import excerpt
from leafward.agents.registry import agent_named
from leafward.base.errors import NotASession, Refused
from leafward.base.paths import is_kept, kept_dir, make_private
from leafward.base.regular_files import open_buffered
from leafward.base.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.agents.base import Excerpt
    from leafward.catalogue.cards.card import Card

_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class KeptCopy:
    """Result of keeping a session, or of a dry run of it."""

    path: Path
    files: tuple[Path, ...]
    """Original files of the session; for a database, the sessions in it."""
    copied: int
    """Number of `files` that were new or had changed."""
    size: int
    """Bytes of all files; for sessions in a database, bytes of their content."""
    what: str = "file"
    """Kind of thing in `files`: `file` or `session`."""

    @property
    def changed(self) -> bool:
        """Whether there was anything to copy."""
        return self.copied > 0


def kept_root(agent: str) -> Path:
    """Folder of the copies of one agent's sessions; it need not exist."""
    return kept_dir() / agent


def is_kept_in() -> Callable[[str], bool]:
    """The test of `is_kept` with the folder looked up once, for many paths and for folders."""
    above = str(kept_dir()) + os.sep
    return lambda path: path.startswith(above)


def keep(card: Card, *, dry_run: bool = False) -> KeptCopy:
    """Copies a session with everything that belongs to it, except files whose copy is up to date. Only reads the original.

    Raises Refused if the session is itself a copy, cannot be read, or its copy cannot be written.
    """
    if is_kept(card.path):
        raise Refused("this is the kept copy itself; the original is gone")
    agent = agent_named(card.agent)
    root = kept_root(card.agent)
    try:
        taken_out = excerpt(card.path)
        if taken_out is not None:
            return _keep_excerpt(taken_out, root, card.path, dry_run)
        files = agent.belongings(card.path)
        stats = [os.stat(file) for file, _ in files]
    except (OSError, NotASession) as error:
        raise _unreadable(card.path, error) from error
    if not files:
        raise Refused(f"{agent.title} has no file of this session that could be copied")
    copied = 0
    for (file, name), now in zip(files, stats, strict=True):
        target = root / name
        if _same(target, now):
            continue
        copied += 1
        if not dry_run:
            _copy(Path(file), target)
    size = sum(now.st_size for now in stats)
    return KeptCopy(root / files[0][1], tuple(Path(file) for file, _ in files), copied, size)


def _keep_excerpt(taken_out: Excerpt, root: Path, path: str, dry_run: bool) -> KeptCopy:
    target = root / taken_out.name
    members = tuple(map(Path, taken_out.members))
    same = taken_out.is_at(target)
    if not same and not dry_run:
        with _appearing(target) as (waiting, _):
            taken_out.write(waiting)
    copied = 0 if same else len(members)
    return KeptCopy(target / os.path.basename(path), members, copied, taken_out.size, "session")


def _same(copy: Path, original: os.stat_result) -> bool:
    try:
        there = copy.stat()
    except OSError:
        return False
    return (there.st_size, there.st_mtime_ns) == (original.st_size, original.st_mtime_ns)


def _copy(source: Path, target: Path) -> None:
    """Copies a file and gives the copy the time of the original."""
    try:
        original = open_buffered(source)
    except OSError as error:
        raise _unreadable(str(source), error) from error
    with original, _appearing(target) as (waiting, taken):
        now = os.fstat(original.fileno())
        for piece in _pieces(original, source):
            taken.write(piece)
        taken.flush()
        os.utime(waiting, ns=(now.st_mtime_ns, now.st_mtime_ns))


def _pieces(original: BinaryIO, source: Path) -> Iterator[bytes]:
    while True:
        try:
            piece = original.read(_PIECE)
        except OSError as error:
            raise _unreadable(str(source), error) from error
        if not piece:
            return
        yield piece


@contextmanager
def _appearing(target: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Opens a file that appears under its name once it is whole, readable by its owner only. Raises Refused if that fails."""
    # Imported only when something is written: the first frame waits for every module of the catalogue.
    from leafward.base.durable import discarded_on_failure, draft_name, sync_folder

    waiting = draft_name(target)
    try:
        make_private(target.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
        with discarded_on_failure(waiting):
            with os.fdopen(os.open(waiting, flags, 0o600), "wb") as taken:
                yield waiting, taken
                taken.flush()
                os.fsync(taken.fileno())
            os.replace(waiting, target)
            sync_folder(target.parent)
    except OSError as error:
        folder = safe_line(str(_there(target.parent)), 400)
        why = f"{safe_line(error.strerror or str(error))}; no copy was made"
        raise Refused(f"cannot write to {folder}: {why}") from error


def _there(folder: Path) -> Path:
    """The nearest existing folder at or above one: the folder in which nothing could be created."""
    return next((one for one in (folder, *folder.parents) if os.path.lexists(one)), folder)


def _unreadable(path: str, error: OSError | NotASession) -> Refused:
    if isinstance(error, NotASession):
        return Refused(str(error))
    whose = error.filename if isinstance(error.filename, str) else path
    return Refused(f"cannot read {safe_line(whose, 400)}: {safe_line(error.strerror or str(error))}")


def shown_once(cards: dict[str, Card]) -> tuple[dict[str, Card], frozenset[str]]:
    """The cards without copies of listed originals, and the path of each kept session: the original if listed, else the copy."""
    kept = is_kept_in()
    copies = {(cards[path].agent, cards[path].id): path for path in cards if kept(path)}
    if not copies:
        return cards, frozenset()
    originals = {
        key: path
        for path, card in cards.items()
        if (key := (card.agent, card.id)) in copies and copies[key] != path and card.problem is None
    }
    hidden = {copies[key] for key in originals}
    shown = {path: card for path, card in cards.items() if path not in hidden}
    return shown, frozenset(originals.get(key, path) for key, path in copies.items())
