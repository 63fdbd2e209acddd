"""Codex: the places of its threads, the files of a thread, and the way to resume one. Rules are those of Codex 0.47 to 0.169."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, cast

from leafward.agents.base import (
    Agent,
    FirstLook,
    Listing,
    SessionText,
    Texts,
    Trouble,
    expanded,
    is_file,
    refuse_copy,
)
from leafward.agents.codex.chain import Thread, meta_of
from leafward.agents.codex.description import TWIN
from leafward.agents.codex.entries.records import framed
from leafward.agents.codex.first_program import ENDING, is_document
from leafward.agents.codex.preview import first_look
from leafward.agents.codex.rollout import first_line, head_of, unpacked_lines
from leafward.agents.codex.spawned_threads import spawned_threads
from leafward.agents.codex.store import (
    COLD,
    RolloutShelf,
    Segment,
    called_in,
    home_of,
    is_rollout,
    named,
    names_in,
    remembered,
    segment_of,
    walk,
)
from leafward.agents.codex.tools import CODEX_TOOLS
from leafward.agents.codex.transcript import CodexReader
from leafward.agents.resume import Resume, folder_of, id_of, own_variables
from leafward.agents.sidecar_texts import kept_texts
from leafward.agents.storage.lines import pieces_of, unmarked
from leafward.base.errors import NotASession, Refused
from leafward.base.paths import is_kept
from leafward.base.unpacking import is_packed, unpacked_head
from leafward.session.entries import text_at
from leafward.session.foreign import ForeignFiles, reader_of
from leafward.session.lines.line_decoding import decode_line
from leafward.session.source import SourceRemark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from leafward.agents.base import SessionCandidate, Stamp
    from leafward.agents.conversation import Conversation
    from leafward.agents.fork_draft import ForkDraft, ForkPoint, ForkTerms
    from leafward.files.tool_calls import ToolTable
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_TYPES = frozenset((
    "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state",
    "token_usage_record"
))  # fmt: skip
_HEAD = re.compile(
    rb'\{\s*(?:"(?:timestamp|ordinal)"\s*:\s*[^,{}\[\]]{1,60},\s*){0,2}"type"\s*:\s*"(?:'
    + "|".join(sorted(_TYPES)).encode()
    + rb')"'
)
"""A record whose type precedes its payload, so that its beginning suffices."""
_BARE = re.compile(
    rb'\{\s*"id"\s*:\s*"[0-9a-fA-F-]{36}"\s*,\s*"timestamp"\s*:\s*"[^"]{1,40}"\s*'
    rb'(?:,\s*"(?:instructions|git)"\s*:|\}\s*\Z)'
)
"""The description at the beginning of rollouts from before September 2025."""
_ID = re.compile(r"[0-9a-fA-F-]{36}")
_SPAWN = b"spawn_agent"
_FRESH = 2.0
"""Seconds for which the list of files of a store is taken to be unchanged."""
_HEAD_SIZE = 4096


class Codex(Agent):
    """OpenAI's Codex CLI."""

    name = "codex"
    title = "Codex"
    tool_table: ToolTable = CODEX_TOOLS

    def __init__(self) -> None:
        self._lock = Lock()
        self._shelves: dict[str, tuple[float, RolloutShelf]] = {}

    def usual_roots(self, env: Mapping[str, str]) -> tuple[Path, ...]:
        """`$CODEX_HOME`, else `~/.codex`."""
        return (expanded(env.get("CODEX_HOME") or "~/.codex", env),)

    def holds(self, folder: str, names: Iterable[str]) -> bool:
        """Whether a folder with these entries is a store of Codex."""
        present = set(names)
        if "archived_sessions" in present or "session_index.jsonl" in present:
            return True
        marked = os.path.basename(folder) == ".codex" or any(
            re.match(r"state_\d+\.sqlite\Z", name) for name in present
        )
        return marked and "sessions" in present

    def discover(
        self, roots: tuple[Path, ...], stop: Callable[[], bool], trouble: list[Trouble]
    ) -> Iterator[Listing]:
        """Every thread, by its first file; the stamp covers all its files and its given name."""
        seen: set[str] = set()
        for root in roots:
            if stop() or str(root) in seen:
                continue
            seen.add(str(root))
            shelf = RolloutShelf.of(walk(str(root), trouble))
            with self._lock:
                self._shelves[str(root)] = time.monotonic(), shelf
            yield from _listings(shelf, names_in(str(root)), self.name)

    def gather(self, listings: Mapping[str, Listing]) -> None:
        """Removes later segments from files found by name: they belong to the session of their first file."""
        found = [
            segment_of(os.path.join(listing.folder, name), stamp)
            for listing in listings.values()
            if listing.agent in ("", self.name)
            for name, stamp in listing.files.items()
            if named(name) is not None
        ]
        for pieces in RolloutShelf.of(found).threads.values():
            first, *later = pieces
            for one in later:
                folder, name = os.path.split(one.path)
                listings[folder].files.pop(name, None)
            if later:
                folder, name = os.path.split(first.path)
                listings[folder].files[name] = _joined(pieces)

    def recognises(self, head: bytes) -> bool:
        """Whether the first line is a record of Codex."""
        if is_packed(head):
            head = unpacked_head(head, _HEAD_SIZE)
        if is_document(unmarked(head)):
            return True
        line = unmarked(head).lstrip().partition(b"\n")[0]
        if _HEAD.match(line) or _BARE.match(line):
            return True
        body = decode_line(line)
        if body is None:
            return False
        if "type" not in body:
            # The description at the beginning of rollouts from before September 2025.
            return bool(_ID.fullmatch(str(body.get("id")))) and framed(body) is not body
        kind = body["type"]
        return isinstance(kind, str) and kind in _TYPES and isinstance(body.get("payload"), dict)

    def peek(self, candidate: SessionCandidate) -> FirstLook | None:
        """Facts from the beginning of a thread's first file. Raises OSError."""
        home = home_of(candidate.path)
        return first_look(candidate, names_in(home) if home is not None else {})

    def source(self, path: Path) -> ForeignFiles:
        """The thread that a file belongs to, with all its segments."""
        return ForeignFiles(path, self.name, self.tool_table, lambda: CodexReader(lambda: self._thread(path)))

    def texts(self, paths: Sequence[str]) -> Texts:
        """Pieces only: one thread may lie in several files, and one file may belong to several threads."""
        return Texts(pieces=self._pieces(paths))

    def _pieces(self, paths: Sequence[str]) -> Iterator[SessionText]:
        """The segments of each thread, its name, and its sidecar's texts; compressed data is unpacked piece by piece."""
        shelves: dict[str, RolloutShelf] = {}
        called: dict[str, dict[str, str]] = {}
        ids: list[tuple[str, str]] = []
        for path in paths:
            alone = segment_of(path, [0, 0])
            home = home_of(path)
            ids.append((path, alone.thread))
            if home is not None:
                if home not in called:
                    called[home] = called_in(home)
                if title := called[home].get(alone.thread):
                    yield SessionText(path, data=title.encode("utf-8", "surrogatepass"))
            place = home if home is not None else os.path.dirname(path)
            if place not in shelves:
                try:
                    shelves[place] = self._shelf(home) if home is not None else RolloutShelf.of(_beside(path))
                except OSError:
                    shelves[place] = RolloutShelf()
            found = shelves[place].threads.get(alone.thread) if alone.thread else None
            for piece in dict.fromkeys((*(one.path for one in found or ()), path)):
                if not piece.endswith(COLD):
                    yield SessionText(path, piece)
                    continue
                for data in unpacked_lines(piece):
                    yield SessionText(path, data=data)
        yield from kept_texts(self.name, ids)

    def belongings(self, path: str) -> list[tuple[str, str]]:
        """Every file of the thread: its segments and those that they are based on."""
        session = self.open(Path(path))
        try:
            source = session.source
            files = source.transcript.files if isinstance(source, ForeignFiles) else ()
            paths = [os.path.abspath(path), *map(os.path.abspath, files)]
        finally:
            session.close()
        home = home_of(os.path.abspath(path)) or os.path.dirname(os.path.abspath(path))
        return [
            (one, os.path.relpath(one, home) if home_of(one) == home else os.path.basename(one))
            for one in dict.fromkeys(paths)
        ]

    def remote(self, path: str) -> str | None:
        """The repository's remote in the thread's first record."""
        from leafward.agents.codex.preview import remote_of

        return remote_of(path)

    def spawned(self, session: Session, since: int, stop: Callable[[], bool]) -> list[tuple[EntryIndex, str]]:
        """As `spawned_threads` tells; a thread without a call of `spawn_agent` is not decoded."""
        path = os.path.abspath(session.path)
        try:
            if not since and not any(
                _SPAWN in piece
                for text in self._pieces([path])
                for piece in ((text.data,) if text.data is not None else pieces_of(text.file or path))
            ):
                return []
            home = home_of(path)
            shelf = self._shelf(home) if home is not None else RolloutShelf.of(_beside(path))
        except OSError:
            return []
        return [
            (entry, made[0].path)
            for entry, thread in spawned_threads(session, since, stop)
            if (made := shelf.threads.get(thread))
        ]

    def resume(self, session: Session, env: Mapping[str, str]) -> Resume:
        """`codex resume -C FOLDER ID`: without the folder Codex first asks in which of the two to continue (0.169)."""
        if str(session.path).endswith(ENDING):
            raise Refused("Codex's present program does not open sessions of its first one: fork this one")
        folder = folder_of(session, self.title)
        refuse_copy(session, self.title)
        if session.header.get("relation") == TWIN:
            raise Refused(
                f"Codex opens this thread from {session.header.get('parentSession')}: fork this copy to go on from it"
            )
        store = self._variables(home_of(os.path.abspath(session.path)), env)
        return Resume(
            ("codex", "resume", "-C", folder, id_of(session, self.title)), folder, own_variables(env), store
        )

    def fork(self, session: Session, cut: ForkPoint, terms: ForkTerms) -> ForkDraft:
        """A rollout of its own with the lines up to the cut, in the thread's store."""
        from leafward.agents.codex.fork import forked

        path = os.path.abspath(session.path)
        own = None if is_kept(path) else home_of(path)
        home = own or str(self.roots(terms.config, terms.env)[0])
        reader = cast("CodexReader", reader_of(session))
        return forked(reader, session, cut, terms, home, self._variables(home, terms.env))

    def convert(self, past: Conversation, terms: ForkTerms) -> ForkDraft:
        """A rollout in the user's own store."""
        from leafward.agents.codex.conversion import converted

        home = str(self.roots(terms.config, terms.env)[0])
        return converted(past, terms, home, self._variables(home, terms.env))

    def _variables(self, home: str | None, env: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """The variables by which Codex finds a thread: none where its store is the usual one."""
        usual = expanded(env.get("CODEX_HOME") or "~/.codex", env)
        if home is None or os.path.realpath(home) == os.path.realpath(usual):
            return ()
        return (("CODEX_HOME", home),)

    # --- a thread and its surroundings ---

    def _shelf(self, home: str, session: str = "", *, anew: bool = False) -> RolloutShelf:
        """The files of a store, listed again after some time, or where a thread is not as it was among them."""
        now = time.monotonic()
        with self._lock:
            known = self._shelves.get(home)
        if known is not None and not anew and now - known[0] < _FRESH:
            pieces = known[1].threads.get(session, ())
            if not session or (pieces and all(os.path.exists(one.path) for one in pieces)):
                return known[1]
        shelf = RolloutShelf.of(walk(home, []))
        with self._lock:
            self._shelves[home] = now, shelf
        return shelf

    def _thread(self, path: Path) -> Thread:
        """The thread of a file, as its store is now. Raises NotASession."""
        absolute = os.path.abspath(path)
        alone = _segment_alone(path, absolute)
        home = home_of(absolute)
        if home is None:
            shelf = RolloutShelf.of(_beside(absolute)) if alone.thread else RolloutShelf()
        else:
            shelf = self._shelf(home, alone.thread)
        segments = shelf.threads.get(alone.thread) if alone.thread else None
        if segments is None or all(one.path != absolute and one.id != alone.id for one in segments):
            segments = [*(segments or ()), alone]
        thread = alone.thread or _given_id(absolute)
        notes: list[SourceRemark] = []
        copy = next((one for one in shelf.copies if one.path == absolute), None)
        original = shelf.segments[copy.id] if copy is not None else None
        if copy is not None and original is not None:
            segments = [copy]
            text = f"a copy that went on by itself: Codex opens the thread from {original.path}"
            notes.append(SourceRemark("diverged-copy", text, path=Path(absolute)))
        names = names_in(home) if home is not None else {}
        known, why = remembered(home, [thread]) if home is not None and thread else ({}, None)
        if why is not None:
            notes.append(SourceRemark("database", f"{why}; names and live segments are read from the files"))

        def find(name: str) -> Segment | None:
            found = shelf.segments.get(name)
            if found is not None and home is not None and not os.path.exists(found.path):
                # It was moved or compressed since the store was listed.
                found = self._shelf(home, anew=True).segments.get(name)
            return found

        row = known.get(thread)
        live = segments[-1]
        if row is not None:
            files = {os.path.basename(one.path).removesuffix(".zst"): one for one in reversed(segments)}
            live = files.get(row.rollout, live)
        return Thread(
            thread,
            segments,
            live,
            find,
            lambda name: next(iter(shelf.threads.get(name, ())), None),
            names.get(thread) or (row.name if row is not None else None),
            row.title if row is not None else None,
            row.parent if row is not None else None,
            notes,
            original,
        )


def _segment_alone(path: Path, absolute: str) -> Segment:
    """The segment in a file, without the store around it. Raises NotASession; the error names `path`."""
    try:
        now = os.stat(absolute)
    except OSError as error:
        raise NotASession(f"cannot read {path}: {error.strerror or error}") from error
    if os.path.isdir(absolute):
        raise NotASession(f"{path} is a folder, not a session file")
    return segment_of(absolute, [now.st_size, now.st_mtime_ns, now.st_ino])


def _given_id(path: str) -> str:
    """The id in a file whose name is not Codex's."""
    try:
        line = first_line(lambda offset, size: head_of(path, offset + size)[offset:])
    except OSError:
        return ""
    return text_at(meta_of(line), "id")


def _beside(path: str) -> Iterator[Segment]:
    """The rollouts in the folder of a file outside any store."""
    folder = os.path.dirname(path)
    with os.scandir(folder) as entries:
        for entry in entries:
            if is_rollout(entry.name) and is_file(entry):
                now = entry.stat()
                yield segment_of(entry.path, [now.st_size, now.st_mtime_ns, now.st_ino])


def _listings(shelf: RolloutShelf, names: Mapping[str, str], agent: str) -> Iterator[Listing]:
    """Threads by the folder of the first file of each."""
    folders: dict[str, dict[str, Stamp]] = {}
    for thread, pieces in shelf.threads.items():
        folder, _, name = pieces[0].path.rpartition(os.sep)
        stamp = pieces[0].stamp if len(pieces) == 1 else _joined(pieces)
        thread_name = names.get(thread)
        folders.setdefault(folder, {})[name] = (
            [*stamp, _number(thread_name)] if thread_name is not None else stamp
        )
    for one in (*shelf.loose, *shelf.copies):
        folder, name = os.path.split(one.path)
        folders.setdefault(folder, {})[name] = one.stamp
    for folder, files in folders.items():
        yield Listing(folder, files, agent)


def _joined(pieces: list[Segment]) -> Stamp:
    """One stamp for several files: the sum of their sizes, the time of the last write, and their identity."""
    return [
        sum(max(0, one.stamp[0]) for one in pieces),
        max(one.stamp[1] for one in pieces),
        *(number for one in pieces for number in one.stamp[2:3]),
    ]


def _number(text: str) -> int:
    from zlib import crc32

    return crc32(text.encode("utf-8", "surrogatepass"))
