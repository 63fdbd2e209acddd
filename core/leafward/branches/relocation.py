"""Sessions of a project whose folder was renamed, continued in the new folder: one fork of each leaf.

A session that cannot continue at its leaf, because a call there has no result, is healed as well. The old sessions are only
read. Each new one is written completely before the next is begun, so that a failure leaves complete sessions and a second run
continues with the rest: a session counts as done once a fork in the new folder holds its last message.
"""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.fork_draft import ForkDraft, ForkTerms, last_said
from leafward.agents.registry import agent_named
from leafward.base.errors import LeafwardError, NotFound, Refused
from leafward.branches import fork as forking
from leafward.branches.earlier_fork import mark_of
from leafward.branches.healing.healing import healing, new_session
from leafward.catalogue.lineage import parents
from leafward.session.entries import SUBAGENT
from leafward.session.journal.lines import utc_now
from leafward.session.journal.write import WriteRemark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from leafward.agents.base import Agent
    from leafward.base.config import Config
    from leafward.catalogue.cards.card import Card
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


class RelocationOutcome(StrEnum):
    """The outcome for one session."""

    MADE = "made"
    """A new session was written, or would be in a dry run."""
    THERE = "there"
    """A session in the new folder already holds all of it."""
    SKIPPED = "skipped"
    """Another session includes it, or it is empty."""
    REFUSED = "refused"
    """It cannot continue in the new folder, or writing failed."""


@dataclass(frozen=True, slots=True)
class MovedSession:
    """A session of the old folder, and its new folder."""

    card: Card
    folder: str
    """The new folder; for a session in a subfolder of the old one, the same subfolder of the new one."""
    forks: tuple[Card, ...]
    """The sessions in the new folder that were forked from it, directly or indirectly."""


@dataclass(frozen=True, slots=True)
class Relocation:
    """The result for one session."""

    moved: MovedSession
    outcome: RelocationOutcome
    reason: str = ""
    """Why it was skipped or refused, in one line."""
    draft: ForkDraft | None = None
    """The draft that was written, or would be."""
    path: str = ""
    """The session in the new folder, where there is one."""
    remarks: tuple[WriteRemark, ...] = ()


def moved_sessions(cards: Sequence[Card], old: str, new: str) -> list[MovedSession]:
    """The sessions that worked in a folder or below it, oldest first, each with its new folder.

    Both folders are absolute. Raises NotFound, with the nearest folder, where no session worked there, and Refused where
    both are the same.
    """
    old, new = os.path.normpath(old), os.path.normpath(new)
    if old == new:
        raise Refused(f"the old folder and the new one are both {old}")
    above = parents(cards)
    by_folder: dict[str, list[Card]] = {}
    for card in cards:
        by_folder.setdefault(os.path.normpath(card.project) if card.project else "", []).append(card)
    found = []
    for folder, held in by_folder.items():
        # The new folder may lie inside the old one.
        if not _within(folder, old) or (_within(new, old) and _within(folder, new)):
            continue
        target = os.path.normpath(os.path.join(new, os.path.relpath(folder, old)))
        there = by_folder.get(target, ())
        for card in held:
            forks = tuple(one for one in there if card.path in _ancestors(one.path, above))
            found.append(MovedSession(card, target, forks))
    if not found:
        raise NotFound(f"no session worked in {old}{_nearest(old, by_folder)}")
    return sorted(found, key=lambda moved: (moved.card.modified, moved.card.path))


def _within(folder: str, above: str) -> bool:
    return folder == above or folder.startswith(above.rstrip(os.sep) + os.sep)


def _ancestors(path: str, above: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    while path in above:
        path, relation = above[path]
        if relation == SUBAGENT:
            return
        yield path


def _nearest(old: str, folders: Iterable[str]) -> str:
    names: dict[str, str] = {}
    for folder in filter(None, folders):
        if not os.path.isdir(folder):
            names.setdefault(os.path.basename(folder), folder)
    close = get_close_matches(os.path.basename(old), names, 1)
    return f"; one whose folder is gone worked in {names[close[0]]}" if close else ""


def relocate(
    sessions: Iterable[MovedSession], config: Config, env: Mapping[str, str], *, write: bool
) -> Iterator[Relocation]:
    """Forks each session into its new folder, one after the other, and yields its outcome.

    A session that fails is refused and the next one is tried. Without `write` nothing is written. Never raises LeafwardError.
    """
    for moved in sessions:
        try:
            yield _relocated(moved, config, env, write=write)
        except LeafwardError as error:
            yield Relocation(moved, RelocationOutcome.REFUSED, str(error))
        except OSError as error:
            yield Relocation(moved, RelocationOutcome.REFUSED, error.strerror or str(error))


def _relocated(moved: MovedSession, config: Config, env: Mapping[str, str], *, write: bool) -> Relocation:
    card = moved.card
    if card.relation == SUBAGENT:
        return Relocation(
            moved, RelocationOutcome.SKIPPED, "a sub-agent's session belongs to the one that started it"
        )
    if card.problem is not None:
        return Relocation(moved, RelocationOutcome.REFUSED, card.problem)
    agent = agent_named(card.agent)
    with closing(agent.open(Path(card.path))) as session:
        end = last_said(session, session.place)
        if end < 0:
            return Relocation(moved, RelocationOutcome.SKIPPED, "nothing was said in it")
        if not os.path.isdir(moved.folder):
            return Relocation(moved, RelocationOutcome.REFUSED, f"no folder {moved.folder}")
        draft, end, remarks = _drafted(session, agent, ForkTerms(env, config, utc_now(), cwd=moved.folder))
        held = _holding(moved, session, end)
        if held:
            return Relocation(moved, RelocationOutcome.THERE, path=held)
        if draft.imported is not None:
            draft.resume.program(env)
        if write:
            _store(session, draft, env)
    return Relocation(moved, RelocationOutcome.MADE, draft=draft, path=str(draft.path), remarks=remarks)


def _drafted(
    session: Session, agent: Agent, terms: ForkTerms
) -> tuple[ForkDraft, EntryIndex, tuple[WriteRemark, ...]]:
    """The new session, the last entry that it holds, and its remarks: a fork, or a healed session where a fork is refused."""
    try:
        made = forking.fork(session, session.place, agent, terms, agent)
    except Refused:
        found = healing(session, terms.config)
        if not found.changes:
            raise
        text = f"healed: {found.changes[0].text}"
        if len(found.changes) > 1:
            text += f", and {len(found.changes) - 1:,} more"
        remarks = (WriteRemark("healed", text), *found.remarks)
        return new_session(session, found, terms, agent), found.cut.end, remarks
    if made.prompt is None:
        return made.draft, made.cut.end, made.remarks
    before = WriteRemark("before-prompt", "it ends before the last prompt, which has no reply")
    return made.draft, made.cut.end, (before, *made.remarks)


def _store(session: Session, draft: ForkDraft, env: Mapping[str, str]) -> None:
    forking.store(session, draft)
    # A second run makes another document, so this one would be left over.
    forking.import_now(draft, env, kept=False)


def _holding(moved: MovedSession, session: Session, end: EntryIndex) -> str:
    """The path of a fork that holds the session up to its end; empty without one."""
    if not moved.forks:
        return ""
    mark = mark_of(session, end)
    agent = agent_named(moved.card.agent)
    for fork in moved.forks:
        if fork.problem is not None or fork.agent != moved.card.agent:
            continue
        with closing(agent.open(Path(fork.path))) as other:
            kinds = other.columns.kind
            same = (index for index in range(len(other)) if kinds[index] == session.columns.kind[end])
            if any(mark_of(other, index) == mark for index in same):
                return fork.path
    return ""
