"""The catalogue's cache: one file with the cards of all sessions seen, each valid while its session's file is unchanged.

It has three lines: a header, the cards as columns, and the facts that only previews and `file:` searches need, read when
first asked for. The file is always replaced whole, a process that loses a race loses only its cache, and an unusable file
is made again.
"""

from __future__ import annotations

import gc
import json
import os
import tempfile
import time
from array import array
from binascii import a2b_base64, b2a_base64
from contextlib import suppress
from itertools import repeat
from mmap import ACCESS_READ, mmap
from sys import byteorder
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from leafward.base.gc_pause import gc_paused
from leafward.base.paths import cache_dir, draft_ending, make_private
from leafward.base.regular_files import open_buffered
from leafward.catalogue.cards.card import Card, DayUsage, Details, Reading, ReadMark
from leafward.catalogue.stored_values import (
    check_column,
    check_folders,
    check_holds_numbers,
    check_marks,
    check_paths,
    check_spent,
    check_stamps,
    check_texts,
    fitted,
    is_stamp,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from leafward.agents.base import Listing, SessionCandidate, Stamp

UNREAD: Stamp = [-2, 0]
"""The stamp of a file whose card has to be made again although the file is unchanged."""

FORMAT = 14
"""Increased when cards are made in another way; the names of the fields are compared too."""

_KIND = "leafward catalogue"
_REPEATED = ("agent", "project", "model", "relation", "problem")
"""Columns with few different values: stored as a table and a number for each card. A column of one value is stored as that
value alone.
"""
_NONE = -(2**62)
"""Stored for None in a column of numbers."""
_MANY = 1000
"""Number of cards from which on the garbage collector never scans them again: they are values without references to each
other and are freed like any others.
"""
_FIELDS = [byteorder, *Card._fields, "+", *Details._fields, "+", *ReadMark._fields, "+", *DayUsage._fields]


Extra = tuple[Details, ReadMark | None, tuple[DayUsage, ...]]
"""Everything kept of a session besides its card."""


class Index:
    """Cards and stamps by path, as loaded and since changed. Not thread-safe."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = cache_dir() / "catalogue.json" if path is None else path
        self.cards: dict[str, Card] = {}
        self.folders: dict[str, dict[str, Stamp]] = {}
        """Stamps of the files when they were read, by folder and name."""
        self.kept: dict[str, Stamp] = {}
        """Stamps of the sidecars of other agents' sessions when the cards were made, by file name."""
        self.rejected: str | None = None
        """Why the file on disk could not be used; None if it could, or if there was none."""
        self.changed = False
        self.faultless = False
        """Whether no loaded card has a problem, so that none needs to be checked for it."""
        self._extras: dict[str, Extra] = {}
        """Facts besides the cards that this process read."""
        self._stored: dict[str, tuple[Stamp, Extra]] | None = None
        """Facts besides the cards that lie in the file, each with the stamp it was written for; None until asked for."""
        self._lost = False
        self._load()

    def stamp(self, path: str) -> Stamp | None:
        """The stamp of a file when it was read; None if it was not read."""
        folder, name = os.path.split(path)
        found = self.folders.get(folder, {}).get(name)
        return found if is_stamp(found) else None

    def compare(self, listing: Listing) -> list[SessionCandidate]:
        """The files of a folder whose cards are out of date. If nothing changed, this is a single comparison."""
        known = self.folders.get(listing.folder, {})
        if known == listing.files:
            return []
        return [listing.candidate(name) for name, stamp in listing.files.items() if known.get(name) != stamp]

    def cards_within(self, places: Iterable[str]) -> dict[str, Card]:
        """The cards whose files are one of `places` or lie under one, by path."""
        folders = set(places)
        above = tuple(place.rstrip(os.sep) + os.sep for place in folders)
        outside = [
            folder for folder in self.folders if not (folder.rstrip(os.sep) + os.sep).startswith(above)
        ]
        if not outside:
            return dict(self.cards)
        elsewhere = {
            os.path.join(folder, name) for folder in outside for name in self.folders[folder]
        } - folders
        return {path: card for path, card in self.cards.items() if path not in elsewhere}

    def reading(self, path: str) -> Reading | None:
        """Everything kept of a file; None if it has no card."""
        card = self.cards.get(path)
        return Reading(card, *self._extra(path)) if card is not None else None

    def details(self, path: str) -> Details:
        """Files and last words of a session; empty if they are not known."""
        return self._extra(path)[0]

    def all_details(self) -> dict[str, Details]:
        """The details of every card."""
        return {path: self._extra(path)[0] for path in self.cards}

    def spent(self, path: str) -> tuple[DayUsage, ...]:
        """Tokens and costs of a session, by day; empty if they are not known."""
        return self._extra(path)[2]

    def _extra(self, path: str) -> Extra:
        found = self._extras.get(path)
        if found is not None:
            return found
        stored = self._stored
        if stored is None:
            stored = self._stored = self._load_extras()
        held = stored.get(path)
        return held[1] if held is not None and held[0] == self.stamp(path) else _NOTHING

    def put(self, candidate: SessionCandidate, reading: Reading) -> None:
        """Stores the reading of a file."""
        folder, name = os.path.split(candidate.path)
        reading = fitted(reading)
        self.cards[candidate.path] = reading.card
        self.folders.setdefault(folder, {})[name] = candidate.stamp
        self._extras[candidate.path] = (reading.details, reading.mark, reading.spent)
        self.changed = True

    def conceal(self, card: Card) -> None:
        """Replaces a card by one that says less, and forgets all other facts of the session."""
        self.cards[card.path] = card
        self._extras[card.path] = _NOTHING
        self.changed = True

    def drop(self, paths: Iterable[str]) -> None:
        """Forgets files."""
        for path in paths:
            folder, name = os.path.split(path)
            if self.cards.pop(path, None) is not None:
                self.changed = True
            self.folders.get(folder, {}).pop(name, None)
            self._extras.pop(path, None)

    def save(self) -> bool:
        """Replaces the file if something changed; False if that failed, which loses only the cache."""
        if not self.changed:
            return True
        try:
            folder = make_private(self.path.parent)
            handle, name = tempfile.mkstemp(prefix=self.path.name, suffix=draft_ending(), dir=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.writelines(self._lines())
                os.replace(name, self.path)
            except BaseException:  # on an interrupt too, no half-written index stays behind
                os.unlink(name)
                raise
        except OSError:
            return False
        self.changed = False
        return True

    def _lines(self) -> Iterator[bytes]:
        paths = _paths(self.folders)
        columns = dict(zip(Card._fields, zip(*map(self.cards.__getitem__, paths), strict=True), strict=False))
        columns.pop("path", None)
        extras = [self._extra(path) for path in paths]
        packed = {name: _pack(name, columns) for name in columns}
        hot = _dump({"folders": self.folders, "kept": self.kept, "cards": packed})
        cold = _dump(
            {
                "changed": ["\n".join(details.changed) for details, _, _ in extras],
                "read": ["\n".join(details.read) for details, _, _ in extras],
                "last_prompt": [details.last_prompt for details, _, _ in extras],
                "last_reply": [details.last_reply for details, _, _ in extras],
                "mark": [list(mark) if mark else None for _, mark, _ in extras],
                "spent": [[list(one) for one in spent] for _, _, spent in extras],
            }
        )
        first = {
            "kind": _KIND,
            "format": FORMAT,
            "zone": _zone(),
            "fields": _FIELDS,
            "bytes": [len(hot), len(cold)],
        }
        yield _dump(first) + b"\n"
        yield hot + b"\n"
        yield cold + b"\n"

    def _load(self) -> None:
        try:
            with gc_paused(), open_buffered(self.path) as file:
                hot, _ = _blocks(file, cold=False)
                check_folders(hot["folders"])
                check_stamps(hot["kept"])
                paths = _paths(hot["folders"])
                check_paths(paths)
                columns = (
                    [_unpack(hot["cards"], name, len(paths)) for name in Card._fields[1:]] if paths else []
                )
                rows = zip(paths, *columns, strict=True)
                make: Any = tuple.__new__
                self.cards = dict(zip(paths, map(make, repeat(Card), rows), strict=True))
                self.folders = hot["folders"]
                self.kept = hot["kept"]
                self.faultless = bool(paths) and hot["cards"]["problem"] == {"all": None}
                if len(paths) >= _MANY:
                    gc.freeze()
        except FileNotFoundError:
            return
        except _UNUSABLE as error:
            self.rejected = str(error) or type(error).__name__
            self.cards, self.folders, self.kept = {}, {}, {}
            self.changed = True

    def _load_extras(self) -> dict[str, tuple[Stamp, Extra]]:
        """The facts in the file now, whichever process wrote them; the stamp beside each tells whether it is still valid."""
        try:
            with open_buffered(self.path) as file:
                hot, cold = _blocks(file, cold=True)
            check_folders(hot["folders"])
            for name in ("changed", "read"):
                check_texts(name, cold[name], joined=True)
            for name in ("last_prompt", "last_reply"):
                check_texts(name, cold[name])
            check_marks(cold["mark"])
            check_spent(cold["spent"])
            found = zip(
                _paths(hot["folders"]),
                (stamp for files in hot["folders"].values() for stamp in files.values()),
                map(_names, cold["changed"]),
                map(_names, cold["read"]),
                cold["last_prompt"],
                cold["last_reply"],
                cold["mark"],
                cold["spent"],
                strict=True,
            )
            return {
                path: (
                    stamp,
                    (
                        Details(changed, read, prompt, reply),
                        ReadMark(*mark) if mark else None,
                        tuple(DayUsage(*one) for one in spent),
                    ),
                )
                for path, stamp, changed, read, prompt, reply, mark, spent in found
            }
        except FileNotFoundError:
            return {}
        except _UNUSABLE as error:
            self._reject(str(error) or type(error).__name__)
            return {}

    def _reject(self, why: str) -> None:
        """Rejects the file because the facts behind its cards are unusable: it is removed, and every session is read again."""
        self.rejected, self.changed, self._lost = why, True, True
        self.folders = {
            folder: {
                name: stamp if os.path.join(folder, name) in self._extras else UNREAD
                for name, stamp in files.items()
            }
            for folder, files in self.folders.items()
        }
        # If this process ends before it reads them again, the next process does.
        with suppress(OSError):
            self.path.unlink()

    def has_lost(self) -> bool:
        """Whether the facts behind the cards proved unusable, reported only once; no stamp is valid then."""
        if self._stored is None:
            if self.cards.keys() <= self._extras.keys():
                return False
            self._stored = self._load_extras()
        lost, self._lost = self._lost, False
        return lost


_NOTHING: Extra = (Details(), None, ())

_UNUSABLE = (
    OSError, ValueError, TypeError, KeyError, IndexError, RecursionError, AttributeError, OverflowError, MemoryError
)  # fmt: skip
"""Exceptions that reading a file of any content may raise here."""


def _paths(folders: Mapping[str, Mapping[str, Stamp]]) -> list[str]:
    """The paths of all files, in the order of folders and names."""
    paths: list[str] = []
    for folder, files in folders.items():
        above = folder.rstrip(os.sep) + os.sep
        paths += [above + name for name in files]
    return paths


def _blocks(file: BinaryIO, *, cold: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """The cards' columns and, if asked for, the facts behind them.

    The file is mapped, not read: it is never written to once it has its name. Raises ValueError if the file is not ours, of
    another format, or not whole.
    """
    first = orjson.loads(file.readline(1 << 16))
    if not isinstance(first, dict) or first.get("kind") != _KIND:
        raise ValueError("not a catalogue")
    if first.get("format") != FORMAT or first.get("fields") != _FIELDS:
        raise ValueError("a catalogue of another version")
    if first.get("zone") != _zone():
        raise ValueError("a catalogue whose days are those of another time zone")
    blocks: list[dict[str, Any]] = [{}, {}]
    start = file.tell()
    with mmap(file.fileno(), 0, access=ACCESS_READ) as mapped, memoryview(mapped) as whole:
        for number in range(1 + cold):
            size = first["bytes"][number]
            with whole[start : start + size] as block:
                blocks[number] = _parse(block)
            start += size + 1
    return blocks[0], blocks[1]


def _zone() -> list[int | str]:
    """The time zone of this machine: usage is stored by its days."""
    return [time.timezone, time.altzone, *time.tzname]


def _pack(name: str, columns: Mapping[str, tuple[Any, ...]]) -> object:
    """A column in its stored form; a title equal to the prompt is stored as null."""
    values = columns[name]
    if name == "title":
        return [
            None if text == prompt else text for text, prompt in zip(values, columns["prompt"], strict=True)
        ]
    if values.count(values[0]) == len(values):
        return {"all": values[0]}
    if name in _REPEATED:
        numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
        return {"table": list(numbers), "at": _pack_numbers([numbers[value] for value in values])}
    if _are_numbers(values):
        packed = _pack_numbers([_NONE if value is None else value for value in values])
        return {**packed, "none": None in values}
    return values


def _are_numbers(values: tuple[Any, ...]) -> bool:
    """Whether all values are None or whole numbers that can be stored as such."""
    types = set(map(type, values))
    if not types <= {int, type(None)}:
        return False
    numbers = [value for value in values if value is not None] if type(None) in types else values
    return not numbers or (min(numbers) > _NONE and max(numbers) < -_NONE)


def _pack_numbers(values: list[int]) -> dict[str, Any]:
    """Whole numbers as base64 of their bytes: read back several times faster than digits."""
    code = "i" if min(values) >= -(2**31) and max(values) < 2**31 else "q"
    raw = array(code, values).tobytes()
    return {"code": code, "numbers": b2a_base64(raw, newline=False).decode("ascii")}


def _unpack(packed: Mapping[str, Any], name: str, rows: int) -> Iterable[Any]:
    """The values of a column in its stored form: the inverse of `_pack`."""
    stored = packed[name]
    if name == "title":
        prompts = _unpack(packed, "prompt", rows)
        if not isinstance(stored, list):
            raise ValueError("title: not a list")
        check_column(name, [text for text in stored if text is not None])
        return [prompt if text is None else text for text, prompt in zip(stored, prompts, strict=True)]
    if isinstance(stored, list):
        check_column(name, stored)
        return stored
    if "all" in stored:
        check_column(name, [stored["all"]])
        return repeat(stored["all"], rows)
    if "table" in stored:
        check_column(name, stored["table"])
        return map(stored["table"].__getitem__, _unpack_numbers(stored["at"]))
    check_holds_numbers(name)
    numbers = _unpack_numbers(stored)
    return [None if number == _NONE else number for number in numbers] if stored["none"] else numbers


def _unpack_numbers(stored: Mapping[str, Any]) -> array[int]:
    values: array[int] = array(stored["code"])
    values.frombytes(a2b_base64(stored["numbers"]))
    return values


def _names(joined: str) -> tuple[str, ...]:
    return tuple(joined.split("\n")) if joined else ()


def _dump(value: object) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        # Only the standard module writes lone surrogates, which file names and texts may hold.
        return json.dumps(value).encode("ascii")


def _parse(line: memoryview) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return json.loads(bytes(line))
