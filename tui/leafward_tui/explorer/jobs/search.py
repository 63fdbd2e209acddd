"""What a session is asked for: entries that hold words or that a query chooses, files and who touches them, its branches."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.safe_text import safe_line
from leafward.branches.diff.sides import side
from leafward.files.edits import table_of
from leafward.files.file_replay import steps, timeline
from leafward.query.grammar import parse_find
from leafward.query.search.case_folding import folded
from leafward.query.search.passages import passages
from leafward.query.search.text_match import Phrase
from leafward.query.select import members_of, select
from leafward.query.select.sets import entries as entries_of
from leafward.session.entries import EntryIndex, Kind
from leafward.session.headline import headline
from leafward_tui.explorer.jobs.session import PUBLISH_EVERY
from leafward_tui.explorer.model.branch_table import BranchRow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.files.file_replay import Step
    from leafward.session.session import Session
    from leafward_tui.ui.services import Job


class Found(NamedTuple):
    """What a search found."""

    entries: Sequence[int]
    """In the order of the file."""
    by_query: bool = False
    """Whether a query chose them."""


class Chosen(NamedTuple):
    """Entries that a filter shows."""

    words: str
    """What chose them."""
    entries: tuple[int, ...]
    touching: tuple[Step, ...] = ()
    """The steps of the file that was asked for."""


def find(session: Session, text: str, literal: str, found_more: Callable[[Found], object], job: Job) -> Found:
    """Entries that hold a text or, where it asks for more than that and is not `literal`, that it chooses.

    Raises Cancelled, QueryError.
    """
    expression = parse_find(text) if text != literal else None
    if expression is not None:
        members = members_of(session, expression, job.unwanted)
        return Found([int(entry) for entry in entries_of(members)], by_query=True)
    return Found(
        search(session, text, job.unwanted, lambda some: job.report(partial(found_more, Found(some))))
    )


def search(
    session: Session, text: str, stop: Callable[[], bool], publish: Callable[[list[int]], object]
) -> list[int]:
    """Entries whose full text holds `text`, case ignored: prompts, replies, calls, results and summaries.

    `publish` hears what was found so far at most four times a second.
    """
    wanted = Phrase(text)
    found: list[int] = []
    reported = time.monotonic()
    kinds, table = session.columns.kind, table_of(session)
    for number, (index, body) in enumerate(session.bodies(range(len(session)))):
        if body is not None and any(
            wanted.is_in(folded(passage.text)) for passage in passages(body, Kind(kinds[index]), table)
        ):
            found.append(index)
        if number % 256 == 0:
            if stop():
                break
            if time.monotonic() - reported >= PUBLISH_EVERY:
                reported = time.monotonic()
                publish(list(found))
    return found


def choose(session: Session, query: str, job: Job) -> Chosen:
    """The entries that a query chooses. Raises Cancelled, QueryError."""
    return Chosen(safe_line(query, 200), tuple(select(session, query, job.unwanted).entries))


def choose_touching(session: Session, path: str, job: Job) -> Chosen:
    """The entries of all branches that read or change a file. Raises Cancelled."""
    found = timeline(session, path, stop=job.unwanted)
    entries = tuple(sorted({int(one.entry) for one in found}))
    return Chosen(safe_line(path, 200), entries, tuple(found))


def files_touched(session: Session, entries: Sequence[int], job: Job) -> tuple[str, ...]:
    """The files that entries touch, those first that are changed: that is what is asked for most. Raises Cancelled."""
    found = sorted(steps(session, entries, job.unwanted), key=lambda step: not step.deed.changes)
    return tuple(dict.fromkeys(step.path for step in found))


def read_branches(session: Session, job: Job) -> tuple[BranchRow, ...]:
    """What came of every leaf. Raises Cancelled."""
    kinds = session.columns.kind
    forks = frozenset(int(at) for at in session.tree.branch_points())
    found = []
    for leaf in session.tree.leaves():
        made = side(session, own_part(session, leaf, forks), leaf, job.unwanted)
        # Made here, and not where they are drawn.
        _ = made.outcomes
        first = next((at for at in made.entries if kinds[at] == Kind.USER), leaf)
        label = next((session.labels[at] for at in map(EntryIndex, made.entries) if at in session.labels), "")
        words = f"[{label}] " if label else ""
        found.append(BranchRow(leaf, words + headline(session, first).text, made))
    return tuple(found)


def own_part(session: Session, leaf: int, forks: frozenset[int]) -> int:
    """The nearest branch point above a leaf; -1 where it is alone."""
    return next((at for at in reversed(session.tree.path(leaf)) if at != leaf and at in forks), -1)
