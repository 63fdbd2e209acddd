"""The turn that wrote each line of a file on disk, found across all sessions of its project and all agents."""

from __future__ import annotations

import heapq
import os
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled, NotFound
from leafward.base.regular_files import read_regular
from leafward.base.safe_text import safe_line
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.steps import StepOutcome
from leafward.files.line_origins import BY_HAND, UNKNOWN, UNSURE, LineOrigins, plain_lines, says_something
from leafward.query.blame_sources import (
    CandidateSession,
    UntoldWork,
    names_of,
    sessions_touching,
    shown_before,
)
from leafward.session.entries import NO_ENTRY, PROMPTS, EntryIndex
from leafward.session.messages import prompt_text, written_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from leafward.catalogue.cards.card import Card
    from leafward.files.file_replay.knowledge import FileState
    from leafward.files.file_replay.steps import ReplayStep
    from leafward.files.file_request import FileRequest

_NO_STEPS = (FileOperation.SWEEP, FileOperation.STAGE)

NOBODY = {BY_HAND: "by hand", UNKNOWN: "unknown", UNSURE: "unsure"}
"""The word for a line that no turn is known to have written."""
UNCLAIMED = {
    BY_HAND: "by hand: it is new between two known versions of the file, and no recorded call in between can have written it",
    UNKNOWN: "unknown: no recorded call is known to have written it",
    UNSURE: "unsure: more than one turn may have written it",
}
"""Why a line has no turn, as a sentence."""
BARE = "unsure: an empty line, or one of brackets, that more than one turn may have written"
"""The reason for a bare line, whose turn hardly matters."""


@dataclass(frozen=True, slots=True)
class Author:
    """The turn that wrote a line."""

    card: Card
    entry: EntryIndex
    """The reply that holds the call; the result, for a call made by a tool."""
    entry_id: str
    prompt: EntryIndex
    """The prompt that began the turn; `NO_ENTRY` where nothing did."""
    prompt_id: str | None
    turn: int
    """The turn's number on its path, from 1; 0 before the first prompt."""
    request: str
    """The prompt as written; not safe to show."""
    written: int | None
    """The time of the call's result, in milliseconds since 1970."""
    abandoned: bool
    """Whether the turn is off the path to the session's leaf."""


@dataclass(frozen=True, slots=True)
class BlameLine:
    """A line of the file."""

    number: int
    """The line's number, from 1."""
    text: str
    """The text as written, without the line end; not safe to show."""
    author: int
    """Index of the author; `UNKNOWN`, `BY_HAND` or `UNSURE` of `files.line_origins` where no turn is known."""
    also: tuple[int, ...] = ()
    """Authors on abandoned branches that wrote the same line."""

    @property
    def is_bare(self) -> bool:
        """Whether the author is unsure and the line is empty or only brackets."""
        return self.author == UNSURE and not says_something(self.text)

    @property
    def unclaimed(self) -> str:
        """The reason why no turn is named, as a sentence."""
        return BARE if self.is_bare else UNCLAIMED[self.author]


@dataclass(frozen=True, slots=True)
class Blame:
    """The lines of a file and the turns that wrote them."""

    path: str
    lines: tuple[BlameLine, ...]
    authors: tuple[Author, ...]
    """The authors of the lines, the oldest first."""
    sessions: int
    """Sessions whose calls touched the file."""
    unread: tuple[str, ...]
    """Sessions that could not be read, with the reason."""


class _Change(NamedTuple):
    """A step of a session, ordered by time."""

    time: int
    """Milliseconds since 1970; never less than that of the step before it in its session."""
    order: int
    """The order of its session: an older session has a lower number."""
    number: int
    step: ReplayStep


def blame(
    path: str, cards: Sequence[Card], *, program: str | None = None, stop: Callable[[], bool] = lambda: False
) -> Blame:
    """The author of each line of a file on disk, according to the calls in sessions.

    `cards` are the sessions that may have touched the file (`concerned`), `program` is ripgrep's path. Raises NotFound
    where no text file lies at `path` (caused by FileNotFoundError where no file does), and Cancelled once `stop` turns
    true.
    """
    path = os.path.realpath(path)
    now, written = _text_of(path)
    unread: list[str] = []
    parts = sessions_touching(path, cards, program, stop, unread)
    told = {part.card.path for part in parts}
    untold = UntoldWork(
        [(part.card, part.session) for part in parts], [card for card in cards if card.path not in told]
    )
    try:
        return _blamed(path, now, written, parts, untold, tuple(unread), stop)
    finally:
        for part in parts:
            part.session.close()


def _text_of(path: str) -> tuple[str, int]:
    """A file's text and its modification time in milliseconds since 1970."""
    try:
        return read_regular(path).decode("utf-8"), os.stat(path).st_mtime_ns // 1_000_000
    except UnicodeDecodeError:
        raise NotFound(f"{safe_line(path)} is not UTF-8 text") from None
    except OSError as error:
        raise NotFound(f"{safe_line(path)}: {error.strerror or error}") from error


def _blamed(
    path: str,
    now: str,
    written: int,
    parts: list[CandidateSession],
    untold: UntoldWork,
    unread: tuple[str, ...],
    stop: Callable[[], bool],
) -> Blame:
    files: dict[str, FileState] = {}
    for part in parts:
        part.replay.files = files
    names = names_of(path, [step for part in parts for step in part.steps])
    origins: dict[str, LineOrigins] = {}
    changes: list[tuple[CandidateSession, _Change]] = []
    for part, change in _in_order(parts, names):
        if stop():
            raise Cancelled
        changes.append((part, change))
        _take(changes, names, origins, untold)
    history = origins.get(path) or LineOrigins()
    found = history.at(now, max(history.known, written), untold.between)
    return _claimed(path, plain_lines(now), found, history, changes, parts, unread)


def _in_order(parts: list[CandidateSession], names: set[str]) -> Iterator[tuple[CandidateSession, _Change]]:
    """The steps that concern a file, in order of time, without those that a copy of a session repeats."""
    done: dict[tuple[str, int, str], list[tuple[CandidateSession, ReplayStep]]] = defaultdict(list)
    rows = heapq.merge(*(_timed(part, order, names) for order, part in enumerate(parts)))
    for change in rows:
        step, part = change.step, parts[change.order]
        if step.call_id:
            same = done[step.call_id, step.order, step.path]
            if any(_texts_of(part, step) == _texts_of(*other) for other in same):
                continue
            same.append((part, step))
        yield part, change


def _texts_of(part: CandidateSession, step: ReplayStep) -> object:
    """Texts that a call writes into a file.

    A call's id does not identify a copy: some models number calls anew in each session.
    """
    request = part.calls.request_of(step)
    return (request.text, request.replacements) if request is not None else None


def _timed(part: CandidateSession, order: int, names: set[str]) -> Iterator[_Change]:
    last = part.card.created or 0
    folders = {name[:at] for name in names for at, sign in enumerate(name) if sign == "/"}
    for number, step in enumerate(part.steps):
        if (
            step.path in names
            or step.to in names
            or step.glob
            or step.operation in _NO_STEPS
            or (step.operation.changes and (step.path in folders or step.to in folders))
        ):
            body = part.session.body(step.result if step.result != NO_ENTRY else step.entry)
            when = written_at(body) if body is not None else None
            last = max(last, when) if when is not None else last
            yield _Change(last, order, number, step)


def _take(
    changes: list[tuple[CandidateSession, _Change]],
    names: set[str],
    origins: dict[str, LineOrigins],
    untold: UntoldWork,
) -> None:
    """Applies the last of the changes."""
    number = len(changes) - 1
    part, (time, *_, step) = changes[number]
    files = part.replay.files
    before = {name: _held(files.get(name)) for name in names}
    done = step.outcome is StepOutcome.DONE
    found = _replaced(part, step) if done else None
    part.replay.go([step])
    if done and step.to in names and step.path in names:
        _send(step, origins)
    tells, reads = done and _tells(step), step.operation is FileOperation.READ
    for name in names:
        state = files.get(name)
        if state is not None:
            # Only fragments are kept here: comparing whole texts with every later edit takes long.
            state.pieces = ()
        after = _held(state)
        if after == before[name] and step.path != name:
            continue
        history = origins.setdefault(name, LineOrigins())
        if state is not None and state.absent:
            history.gone(time)
        elif name != step.path or not tells or reads:
            own_read = name == step.path and tells
            if own_read:
                _note_seen(part, step)
            if after is None:
                history.lost()
            elif own_read or name != step.to:
                history.found(after, time, untold.between)
        elif after is not None:
            found = found if found is not None else before[name]
            if found is None:
                part.blind.add(number)
            whole = step.operation is FileOperation.WRITE
            seen = part.seen.get(name, set()) if whole else None
            history.changed(found, after, number, seen, time, untold.between)
            if whole:
                _wrote_anew(changes, history, seen)
        elif (request := _request(part, step)) is not None:
            history.put_in(request, number)
        else:
            history.lost()
    if step.path in names and step.operation is FileOperation.CHANGE and done:
        part.seen[step.path] = None


def _replaced(part: CandidateSession, step: ReplayStep) -> str | None:
    """The content that an edit or a write replaced, where its call tells it."""
    if step.operation is FileOperation.WRITE and part.calls.created(step):
        return ""
    return part.calls.before(step) if step.operation in (FileOperation.EDIT, FileOperation.WRITE) else None


def _wrote_anew(
    changes: list[tuple[CandidateSession, _Change]], history: LineOrigins, seen: set[str] | None
) -> None:
    """Credits a whole write with lines that only an abandoned branch wrote before.

    Lines that the session read are not credited, because it may have copied them.
    """
    number = len(changes) - 1
    part, (*_, step) = changes[number]
    if seen is None:
        return

    def left(origin: int) -> bool:
        other, (*_, before) = changes[origin]
        return other is part and not part.session.tree.is_ancestor(before.entry, step.entry)

    history.written_anew(number, left, seen)


def _note_seen(part: CandidateSession, step: ReplayStep) -> None:
    """Adds the lines that a read showed to those that the agent knows."""
    shown, seen = part.calls.shown(step), part.seen.setdefault(step.path, set())
    if shown is None:
        part.seen[step.path] = None
    elif seen is not None:
        seen.update(line.removesuffix("\r") for line in shown.lines)


def _tells(step: ReplayStep) -> bool:
    return step.operation in (
        FileOperation.READ,
        FileOperation.WRITE,
        FileOperation.EDIT,
        FileOperation.APPEND,
    )


def _held(state: FileState | None) -> str | None:
    """The content of a file, empty where the file does not exist; None where the content is not known."""
    if state is None:
        return None
    return "" if state.absent else state.text


def _request(part: CandidateSession, step: ReplayStep) -> FileRequest | None:
    return part.calls.request_of(step) if step.certainly_done and not step.inferred else None


def _send(step: ReplayStep, origins: dict[str, LineOrigins]) -> None:
    """Passes the origins of a file's lines on where the file was moved or copied."""
    history = origins.get(step.path)
    if history is None or step.to is None:
        return
    if step.operation is FileOperation.COPY:
        origins[step.to] = history.copy()
    elif step.operation is FileOperation.MOVE:
        origins[step.to] = origins.pop(step.path)


def _claimed(
    path: str,
    now: list[str],
    origins: list[int],
    history: LineOrigins,
    changes: list[tuple[CandidateSession, _Change]],
    parts: list[CandidateSession],
    unread: tuple[str, ...],
) -> Blame:
    """The lines with their authors, from the number of the change that wrote each; negative where none did."""
    author = cache(lambda number: _author(*changes[number]))
    origins = _without_copies(path, now, origins, changes)
    others: list[list[int]] = []
    for line, origin in zip(now, origins, strict=True):
        writers = dict.fromkeys(history.writers.get(line, ())) if says_something(line) else {}
        others.append([one for one in writers if one != origin and author(one).abandoned])
    used = sorted({one for one in origins if one >= 0}.union(*others))
    authors, places = _by_turn({number: (changes[number][0], author(number)) for number in used})
    lines = []
    for number, (line, origin, also) in enumerate(zip(now, origins, others, strict=True), 1):
        own = places.get(origin, origin)
        lines.append(
            BlameLine(
                number, line, own, tuple(dict.fromkeys(places[one] for one in also if places[one] != own))
            )
        )
    return Blame(path, tuple(lines), authors, len(parts), unread)


def _without_copies(
    path: str, now: list[str], origins: list[int], changes: list[tuple[CandidateSession, _Change]]
) -> list[int]:
    """The origins; `UNSURE` for lines that may be copied, and for short ones beside them."""
    shown: dict[int, str] = {}

    def copied(line: str, number: int) -> bool:
        """Whether a line may be copied, because a change wrote the whole file over content that is not known."""
        part, made = changes[number]
        if number not in part.blind:
            return False
        if number not in shown:
            shown[number] = shown_before(part.session, made.step.entry, os.path.basename(path))
        return line.strip() in shown[number]

    copies = [
        origin >= 0 and says_something(line) and copied(line, origin)
        for line, origin in zip(now, origins, strict=True)
    ]
    beside = _beside_copies(now, copies)
    return [
        UNSURE if copies[at] or (origin >= 0 and beside[at]) else origin for at, origin in enumerate(origins)
    ]


def _by_turn(
    used: Mapping[int, tuple[CandidateSession, Author]],
) -> tuple[tuple[Author, ...], dict[int, int]]:
    """The authors, of whom calls of one turn are one, and the place among them of each change."""
    turns: dict[tuple[int, int], int] = {}
    places: dict[int, int] = {}
    authors: list[Author] = []
    for number, (part, one) in used.items():
        key = (id(part), one.prompt if one.prompt != NO_ENTRY else -2 - one.entry)
        if key not in turns:
            turns[key] = len(authors)
            authors.append(one)
        places[number] = turns[key]
    return tuple(authors), places


def _beside_copies(lines: Sequence[str], copies: Sequence[bool]) -> list[bool]:
    """Whether each line is bare and stands next to a line that may be copied; bare lines occur in every text."""
    telling = [says_something(line) for line in lines]

    def nearest(order: Sequence[int]) -> dict[int, bool]:
        """Whether the last line before each one that is not bare may be copied."""
        found, copied = {}, False
        for at in order:
            copied = copies[at] if telling[at] else copied
            found[at] = copied
        return found

    numbers = range(len(lines))
    above, below = nearest(numbers), nearest(numbers[::-1])
    return [not telling[at] and (above[at] or below[at]) for at in numbers]


def _author(part: CandidateSession, change: _Change) -> Author:
    session, entry = part.session, change.step.entry
    prompt = entry
    while prompt != NO_ENTRY and session.columns.kind[prompt] not in PROMPTS:
        prompt = EntryIndex(session.columns.parent[prompt])
    body = session.body(prompt) if prompt >= 0 else None
    return Author(
        part.card,
        entry,
        session.columns.id(entry),
        prompt,
        session.columns.id(prompt) if prompt >= 0 else None,
        session.tree.prompts_upto(entry),
        prompt_text(body) if body is not None else "",
        change.time,
        not session.tree.is_ancestor(entry, session.leaf),
    )
