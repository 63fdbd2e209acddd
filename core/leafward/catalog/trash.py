"""Sessions thrown away, until they are brought back: a folder of our own, the same on every system.

A machine without a desktop has no trash, and that of a desktop cannot be asked to give a file back. Each session lies in a folder
of its own with a note of where it was.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from leafward.agents import native
from leafward.base.errors import NotFound, Refused
from leafward.base.paths import make_private, state_dir
from leafward.base.safe_text import safe_line
from leafward.regular import read_regular
from leafward.session.journal.lock import refuse_if_busy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.catalog.card import Card

FOLDER = "trash"
_NOTE = "note.json"
_LATEST = 8_640_000_000_000_000
"""The last moment that JavaScript has a date for, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Thrown:
    """A session in the trash."""

    name: str
    """Of its folder there."""
    id: str
    title: str
    path: Path
    """Where it was."""
    file: Path
    """Where it is."""
    size: int
    when: int
    """Milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Going:
    """What throwing a session away would do."""

    card: Card
    forks: tuple[Card, ...]
    """Sessions made from it; they stay, as sessions of their own."""


def trash_folder() -> Path:
    """Where it lies; it need not exist."""
    return state_dir() / FOLDER


def going(card: Card, cards: Sequence[Card], found: Mapping[str, tuple[str, str]]) -> Going:
    """What would go; `found` is what `parents` said of all cards. Raises Refused for a session that is not ours to delete."""
    if card.agent != native().name:
        raise Refused(
            f"this session is {card.agent}'s, and the files of other agents are never touched: archive it, or delete it there"
        )
    return Going(card, tuple(one for one in cards if found.get(one.path, ("", ""))[0] == card.path))


def throw_away(card: Card, clock: float | None = None) -> Thrown:
    """Moves a native session to the trash. Raises Refused or OSError."""
    going(card, (), {})
    path = Path(card.path)
    refuse_if_busy(path)
    if path.is_symlink() or not path.is_file():
        raise Refused(f"{path.name} is no file of its own, so it is not moved")
    when = int((time.time() if clock is None else clock) * 1000)
    folder = make_private(trash_folder()) / f"{when}-{uuid4().hex[:8]}"
    folder.mkdir(mode=0o700)
    target = folder / path.name
    note = {"id": card.id, "title": card.title, "path": str(path), "when": when}
    # The note comes first: a file that is here can always be brought back.
    (folder / _NOTE).write_text(json.dumps(note), encoding="utf-8")
    (folder / _NOTE).chmod(0o600)
    try:
        _move(path, target)
    except BaseException:
        # Also where it is interrupted; what has arrived stays, since it can be brought back.
        if not target.exists():
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return Thrown(folder.name, card.id, card.title, path, target, target.stat().st_size, when)


def thrown_away() -> list[Thrown]:
    """What lies in the trash, the latest first; a folder without a readable note is left out."""
    found = []
    try:
        folders = sorted(trash_folder().iterdir(), reverse=True)
    except OSError:
        return []
    for folder in folders:
        try:
            thrown = _noted(folder)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
        found.append(thrown)
    return sorted(found, key=lambda one: (-one.when, one.name))


def _noted(folder: Path) -> Thrown:
    """A session as its note in the trash says. Raises OSError, or what a note of any content does."""
    note = json.loads(read_regular(folder / _NOTE))
    identity, title, given, when = note["id"], note["title"], note["path"], note["when"]
    if not all(isinstance(text, str) for text in (identity, title, given)) or type(when) is not int:
        raise TypeError("a value of another type")
    path = Path(given)
    file = folder / path.name
    # What the note names lies right here, and nowhere else: it is moved to where the note says.
    if not path.is_absolute() or path.name in ("", ".", "..", _NOTE) or not 0 <= when < _LATEST:
        raise ValueError("not a note of ours")
    found = os.lstat(file)
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("not a regular file")
    return Thrown(folder.name, identity, safe_line(title), path, file, found.st_size, when)


def find_thrown(selector: str) -> Thrown:
    """What somebody means by an id, a unique prefix of one, or the path it had; the latest where it was thrown away twice. Raises NotFound."""
    held = thrown_away()
    if not held:
        raise NotFound("nothing lies in the trash")
    wanted = os.path.abspath(os.path.expanduser(selector))
    fitting = [one for one in held if selector == one.id or wanted == str(one.path)] or [
        one for one in held if selector and one.id.startswith(selector)
    ]
    if not fitting:
        raise NotFound(f"no session {selector!r} in the trash")
    if len({one.id for one in fitting}) > 1:
        raise NotFound(f"several sessions in the trash start with {selector!r}")
    return fitting[0]


def bring_back(thrown: Thrown) -> Path:
    """Moves a session back to where it was. Raises Refused where something lies there now; OSError."""
    if os.path.lexists(thrown.path):
        raise Refused(f"a file of that name is there again: {thrown.path}")
    thrown.path.parent.mkdir(parents=True, exist_ok=True)
    _move(thrown.file, thrown.path)
    shutil.rmtree(thrown.file.parent, ignore_errors=True)
    return thrown.path


def _move(source: Path, target: Path) -> None:
    """A rename, or a whole copy and then a removal where the two lie on different disks. Never replaces anything."""
    if os.path.lexists(target):
        raise FileExistsError(17, "file exists", str(target))
    try:
        os.rename(source, target)
    except OSError:
        draft = target.with_name(f"{target.name}.part")
        shutil.copy2(source, draft)
        os.replace(draft, target)
        source.unlink()
