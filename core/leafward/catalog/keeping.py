"""Our own copies of sessions: whole, private, read by the very reader of their agent.

An agent that deletes old sessions cannot reach them. A copy lies under the same names as in the agent's store, so that sub-agents
and side files are found beside it, and counts as a place of that agent: it is listed where the original is gone.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents import agent_named
from leafward.errors import Refused
from leafward.paths import DRAFT_END, DRAFT_MARK, data_dir, make_private

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.catalog.card import Card

FOLDER = "kept"


@dataclass(frozen=True, slots=True)
class Kept:
    """What keeping a session did, or would do."""

    path: Path
    """The copy."""
    files: tuple[Path, ...]
    """The files that belong to the session, where they were."""
    copied: int
    """Files that were new or had changed."""
    size: int
    """Bytes of all of them."""
    dry_run: bool

    @property
    def changed(self) -> bool:
        """Whether anything was to do."""
        return self.copied > 0


def kept_root(agent: str) -> Path:
    """Where the copies of one agent's sessions lie; it need not exist."""
    return data_dir() / FOLDER / agent


def is_kept(path: str) -> bool:
    """Whether a session's file is one of our copies."""
    return is_kept_in()(path)


def is_kept_in() -> Callable[[str], bool]:
    """The same to be asked of many paths, and of folders."""
    above = str(data_dir() / FOLDER) + os.sep
    return lambda path: path.startswith(above)


def keep(card: Card, *, dry_run: bool = False) -> Kept:
    """Copies a session with everything that belongs to it; what is there already and the same is left. The original is only read.

    Raises Refused where it is a copy itself, or has no file of its own; OSError where it cannot be read or written.
    """
    if is_kept(card.path):
        raise Refused("this is the kept copy itself; the original is gone")
    agent = agent_named(card.agent)
    files = agent.belongings(card.path)
    if not files:
        raise Refused(
            f"{agent.title} keeps this session in one store with all others, and deletes none by itself; export it instead"
        )
    root = kept_root(card.agent)
    copied = size = 0
    for file, name in files:
        source, target = Path(file), root / name
        now = source.stat()
        size += now.st_size
        if _same(target, now):
            continue
        copied += 1
        if not dry_run:
            _copy(source, target)
    return Kept(root / files[0][1], tuple(Path(file) for file, _ in files), copied, size, dry_run)


def _same(copy: Path, original: os.stat_result) -> bool:
    try:
        there = copy.stat()
    except OSError:
        return False
    return (there.st_size, there.st_mtime_ns) == (original.st_size, original.st_mtime_ns)


def _copy(source: Path, target: Path) -> None:
    """The copy appears whole, readable by its owner only, with the time of the original."""
    make_private(target.parent)
    draft = target.with_name(f"{target.name}{DRAFT_MARK}{os.getpid()}{DRAFT_END}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
        with source.open("rb") as given, os.fdopen(descriptor, "wb") as taken:
            now = os.fstat(given.fileno())
            shutil.copyfileobj(given, taken, 1 << 20)
            taken.flush()
            os.fsync(taken.fileno())
        os.utime(draft, ns=(now.st_mtime_ns, now.st_mtime_ns))
        os.replace(draft, target)
    except BaseException:
        # Also where it is cancelled or interrupted: no half copy is left.
        draft.unlink(missing_ok=True)
        raise


def shown_once(cards: dict[str, Card]) -> tuple[dict[str, Card], frozenset[str]]:
    """The cards without copies whose original is there, and the paths of sessions that we keep, be it the original's or the copy's."""
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
