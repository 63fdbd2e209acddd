"""Deleted sessions, kept until they are restored: a folder of our own, the same on every system.

A machine without a desktop has no trash, and a desktop's trash cannot be asked to give a file back. Each session lies in a
folder of its own with a note of its former path.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from leafward.agents.registry import native
from leafward.base.durable import sync_folder, write_new
from leafward.base.errors import NotFound, Refused
from leafward.base.figures import first_few
from leafward.base.paths import make_private, state_dir
from leafward.base.regular_files import read_regular
from leafward.base.safe_text import safe_line
from leafward.catalogue.cards.card_fields import LATEST
from leafward.catalogue.file_move import begins_with, move_file
from leafward.session.journal.lock import refuse_if_busy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from leafward.catalogue.cards.card import Card

FOLDER = "trash"
_NOTE = "note.json"
_NAMED = 5
"""Number of sessions in the trash that an error names."""


@dataclass(frozen=True, slots=True)
class TrashedSession:
    """A session in the trash."""

    name: str
    """Name of its folder in the trash."""
    id: str
    title: str
    path: Path
    """Its former path."""
    file: Path
    size: int
    when: int
    """Time of the deletion, in milliseconds since 1970."""


def trash_folder() -> Path:
    """The folder of the trash; it need not exist."""
    return state_dir() / FOLDER


def refuse_foreign(card: Card) -> None:
    """Raises Refused for a session of another agent."""
    if card.agent != native().name:
        raise Refused(
            f"this session belongs to {card.agent}, whose files Leafward never changes: archive it, or delete it there"
        )


def throw_away(card: Card, clock: float | None = None) -> TrashedSession:
    """Moves a native session to the trash. Raises Refused, which names the folder at fault; the session stays in place then."""
    refuse_foreign(card)
    path = Path(card.path)
    refuse_if_busy(path)
    if path.is_symlink() or not path.is_file():
        raise Refused(f"{path.name} is not a file of its own, so it is not moved")
    when = int((time.time() if clock is None else clock) * 1000)
    trash = trash_folder()
    folder = trash / f"{when}-{uuid4().hex[:8]}"
    target = folder / path.name
    note = {"id": card.id, "title": card.title, "path": str(path), "when": when, "order": _next_order()}
    try:
        try:
            make_private(trash)
            folder.mkdir(mode=0o700)
            # The note comes first: a file that is in the trash can always be restored.
            write_new(folder / _NOTE, [json.dumps(note).encode()])
            sync_folder(folder)
            sync_folder(trash)
        except OSError as error:
            where = safe_line(str(trash), 400)
            why = f"{error.strerror or error}; the session stays where it is"
            raise Refused(f"cannot write to the trash in {where}: {why}") from error
        move_file(path, target)
    except BaseException:
        # On an interrupt too. The copy is deleted if the original still exists; an only copy is kept.
        if path.exists() or not target.exists():
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return TrashedSession(folder.name, card.id, card.title, path, target, target.stat().st_size, when)


def _next_order() -> int:
    """An order number above all others in the trash; times do not suffice, as clocks are set back now and then."""
    return 1 + max((_order(note) for _, note in _notes()), default=0)


def _order(note: Mapping[str, Any]) -> int:
    found = note.get("order")
    return found if type(found) is int else 0


def _notes() -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The folders in the trash with their notes; those without a readable note are left out."""
    try:
        folders = sorted(trash_folder().iterdir())
    except OSError:
        return
    for folder in folders:
        try:
            note = json.loads(read_regular(folder / _NOTE))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(note, dict):
            yield folder, note


def thrown_away() -> list[TrashedSession]:
    """The sessions in the trash, the latest first; a folder without a note of ours is left out."""
    found: list[tuple[int, TrashedSession]] = []
    for folder, note in _notes():
        try:
            found.append((_order(note), _noted(folder, note)))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    found.sort(key=lambda one: (-one[0], -one[1].when, one[1].name))
    return [thrown for _, thrown in found]


def without_note() -> list[Path]:
    """Files in the trash that no undo finds: their note is missing, unreadable, or not ours."""
    known = {thrown.name for thrown in thrown_away()}
    found: list[Path] = []
    with suppress(OSError):
        for folder in sorted(trash_folder().iterdir()):
            if folder.name not in known:
                with suppress(OSError):
                    found += (file for file in sorted(folder.iterdir()) if file.name != _NOTE)
    return found


def _noted(folder: Path, note: Mapping[str, Any]) -> TrashedSession:
    """A session, from its note in the trash. Raises OSError, KeyError, TypeError or ValueError if the note is not ours."""
    identity, title, original, when = note["id"], note["title"], note["path"], note["when"]
    if not all(isinstance(text, str) for text in (identity, title, original)) or type(when) is not int:
        raise TypeError("a value of another type")
    path = Path(original)
    file = folder / path.name
    # The note may only name the file beside it: that file is moved to the path in the note.
    if not path.is_absolute() or path.name in ("", ".", "..", _NOTE) or not 0 <= when < LATEST:
        raise ValueError("not a note of ours")
    found = os.lstat(file)
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("not a regular file")
    return TrashedSession(folder.name, identity, safe_line(title), path, file, found.st_size, when)


def find_thrown(selector: str) -> TrashedSession:
    """The session with an id, a unique prefix of one, or a former path; the latest if it was deleted twice. Raises NotFound."""
    held = thrown_away()
    if not held:
        lost = without_note()
        more = f" that says where it was; move {safe_line(str(lost[0]), 400)} back by hand" if lost else ""
        raise NotFound(f"the trash has no session{more}")
    path_or_id = os.path.abspath(os.path.expanduser(selector))
    fitting = [one for one in held if selector == one.id or path_or_id == str(one.path)] or [
        one for one in held if selector and one.id.startswith(selector)
    ]
    if not fitting:
        raise NotFound(f"no session {selector!r} in the trash, which holds {_named(held)}")
    if len({one.id for one in fitting}) > 1:
        raise NotFound(f"several sessions in the trash start with {selector!r}: {_named(fitting)}")
    return fitting[0]


def _named(sessions: Sequence[TrashedSession]) -> str:
    """Ids and titles of the first sessions, from which a user can choose."""
    titles = {one.id: one.title for one in reversed(sessions)}
    named = [f"{safe_line(one, 60)} ({title[:60]})" for one, title in reversed(titles.items())]
    return first_few(named, _NAMED)


def refuse_taken(thrown: TrashedSession) -> None:
    """Raises Refused if another file has the path to which a session would be restored.

    The session itself may already be there, even with new entries, if a deletion was killed between its two steps.
    """
    if not os.path.lexists(thrown.path):
        return
    try:
        same = begins_with(thrown.path, thrown.file)
    except OSError:
        same = False
    if not same:
        raise Refused(f"a file of that name is there again: {safe_line(str(thrown.path), 400)}")


def bring_back(thrown: TrashedSession) -> Path:
    """Moves a session back to its former path. Raises Refused, with nothing changed, if that cannot be done."""
    refuse_taken(thrown)
    if not os.path.lexists(thrown.path):
        made = _make_folder(thrown.path.parent)
        try:
            move_file(thrown.file, thrown.path, leave=True)
        except BaseException:
            # On an interrupt too: folders created for a session that was not moved are removed.
            for folder in made:
                with suppress(OSError):
                    folder.rmdir()
            raise
    shutil.rmtree(thrown.file.parent, ignore_errors=True)
    return thrown.path


def _make_folder(folder: Path) -> list[Path]:
    """Creates a folder if it is missing; returns the created folders, innermost first. Raises Refused."""
    missing = [one for one in (folder, *folder.parents) if not os.path.lexists(one)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        for one in missing:
            with suppress(OSError):
                one.rmdir()
        where = safe_line(str(folder), 400)
        raise Refused(f"cannot make {where}: {error.strerror or error}") from error
    return missing
