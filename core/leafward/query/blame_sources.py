"""Input of a blame: the sessions that may have touched a file, and the texts about the file that each of them was shown."""

from __future__ import annotations

import os
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.registry import agent_named
from leafward.base.errors import Cancelled, LeafwardError
from leafward.catalogue.lineage import parents
from leafward.files.file_names import real_folder
from leafward.files.file_replay.calls import Calls
from leafward.files.file_replay.replay import Replay, related
from leafward.files.file_replay.step_reader import steps
from leafward.files.opaque_calls import opaque_calls
from leafward.query.search.corpus import Corpus
from leafward.query.search.literals import needle
from leafward.query.search.prefilter import Prefilter
from leafward.session.entries import PROMPTS, EntryIndex, Kind
from leafward.session.messages import message_in, message_text, written_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.catalogue.cards.card import Card
    from leafward.files.file_replay.steps import ReplayStep
    from leafward.session.session import Session

_ROUNDS = 8
"""Rounds of searching sessions by the earlier names of the file, at most."""


class UntoldWork:
    """The times in which work without a recorded step may have changed a file.

    These are the times of programs that are not known, and of sessions of the project that never name the file. They are
    read on first use only: most files need none of it.
    """

    def __init__(self, sessions: Sequence[tuple[Card, Session]], others: Sequence[Card]) -> None:
        self._sessions, self._others = sessions, others

    def between(self, start: int, end: int) -> bool:
        """Whether such work happened between two times, in milliseconds since 1970."""
        begun, ended = self._spans
        last = bisect_left(begun, end + 1)
        return last > 0 and ended[last - 1] >= start

    @cached_property
    def _spans(self) -> tuple[list[int], list[int]]:
        """The start times in order, and the latest end up to each of them."""
        spans = [(card.created or 0, card.modified) for card in self._others]
        for card, session in self._sessions:
            spans += _opaque_spans(card, session)
        spans.sort()
        return [begin for begin, _ in spans], list(accumulate((end for _, end in spans), max))


def _opaque_spans(card: Card, session: Session) -> Iterator[tuple[int, int]]:
    """The time from each opaque call to the next prompt: a process that it started may run on after its result."""
    prompts = [entry for entry in range(len(session)) if session.columns.kind[entry] in PROMPTS]
    for call in opaque_calls(session, range(len(session))):
        following = bisect_left(prompts, call.entry)
        end = _time(session, prompts[following]) if following < len(prompts) else None
        yield _time(session, call.entry) or 0, end or card.modified


def _time(session: Session, entry: int) -> int | None:
    body = session.body(EntryIndex(entry))
    return written_at(body) if body is not None else None


def concerned(cards: Sequence[Card], path: str) -> list[Card]:
    """The sessions whose project holds a file or lies in its repository; the oldest first, forks after their originals.

    `path` is absolute.
    """
    root = _repository(path)
    found = [
        card
        for card in cards
        if card.problem is None
        and card.project
        and (_holds(real_folder(card.project), path) or (root and _holds(root, real_folder(card.project))))
    ]
    # A fork of Claude Code is as old as its original, for it begins with the same rows.
    generation = _generations(cards)
    return sorted(found, key=lambda card: (card.created or card.modified, generation(card.path), card.path))


def _generations(cards: Sequence[Card]) -> Callable[[str], int]:
    """The number of ancestors of a session in a chain of forks, by its path."""
    above = parents(cards)

    def generation(path: str) -> int:
        seen = {path}
        while path in above and above[path][0] not in seen:
            path = above[path][0]
            seen.add(path)
        return len(seen)

    return generation


def _repository(path: str) -> str:
    folder = os.path.dirname(path)
    while folder != os.path.dirname(folder):
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        folder = os.path.dirname(folder)
    return ""


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


@dataclass(slots=True)
class CandidateSession:
    """One session that may have touched the file."""

    card: Card
    session: Session
    calls: Calls
    replay: Replay
    steps: list[ReplayStep]
    seen: dict[str, set[str] | None] = field(default_factory=dict)
    """Lines of files that it was shown, by name; None where they are not known."""
    blind: set[int] = field(default_factory=set)
    """Changes that wrote over a file whose content was not known."""


def sessions_touching(
    path: str, cards: Sequence[Card], program: str | None, stop: Callable[[], bool], unread: list[str]
) -> list[CandidateSession]:
    """The sessions that touched a file under any of its names, open, the oldest first."""
    left = {card.path: card for card in cards}
    read: dict[str, CandidateSession] = {}
    names, looked_for = {path}, set[str]()
    for _ in range(_ROUNDS):
        new = {os.path.basename(name) for name in names} - looked_for
        if not new:
            break
        looked_for |= new
        for card in _named_in(list(left.values()), new, program, stop):
            del left[card.path]
            part = _opened(card, stop, unread)
            if part is not None:
                read[card.path] = part
        names = names_of(path, [step for part in read.values() for step in part.steps])
    found = []
    for card in cards:
        part = read.get(card.path)
        if part is None:
            continue
        if any(step.path in names or step.to in names for step in part.steps):
            found.append(part)
        else:
            part.session.close()
    return found


def names_of(path: str, made: Sequence[ReplayStep]) -> set[str]:
    """All names of a file, according to the steps of its sessions."""
    return related([step for step in made if not step.glob], {path})


def _named_in(
    cards: list[Card], words: set[str], program: str | None, stop: Callable[[], bool]
) -> list[Card]:
    """The sessions whose bytes contain one of some names."""
    found: set[str] = set()
    corpus = Corpus(cards)
    for word in words:
        literal = needle([word])
        if literal is None:
            return cards
        sieve = Prefilter(literal, program, corpus)
        found.update(sieve.passing(cards, stop))
    return [card for card in cards if card.path in found]


def _opened(card: Card, stop: Callable[[], bool], unread: list[str]) -> CandidateSession | None:
    try:
        session = agent_named(card.agent).open(Path(card.path), stop)
    except Cancelled:
        raise
    except (LeafwardError, OSError) as error:
        unread.append(f"{card.path}: {error}")
        return None
    cwd = real_folder(session.cwd)
    made = [
        _absolute(step, cwd) for step in steps(session, range(len(session)), stop, sweeps=True, counts=False)
    ]
    return CandidateSession(card, session, Calls(session), Replay(session, {}, {}), made)


def _absolute(step: ReplayStep, cwd: str) -> ReplayStep:
    """A step with absolute names, which are the same in every session."""
    to = os.path.normpath(os.path.join(cwd, step.to)) if step.to is not None else None
    return step._replace(path=os.path.normpath(os.path.join(cwd, step.path)), to=to)


def shown_before(session: Session, entry: int, name: str) -> str:
    """Texts that a session was shown of a file before an entry, joined.

    These are prompts, results that name the file, and results of a reply that names it.
    """
    return "\n".join(_texts(session, entry, name))


def _texts(session: Session, before: int, name: str) -> Iterator[str]:
    kinds, named = session.columns.kind, False
    for entry, body in session.bodies([EntryIndex(one) for one in range(before)]):
        if body is None:
            continue
        text = message_text(message_in(body))
        if kinds[entry] == Kind.ASSISTANT:
            named = name in text
        elif kinds[entry] in PROMPTS or named or name in text:
            yield text
