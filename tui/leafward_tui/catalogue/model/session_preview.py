"""What the preview shows of a session: a few rows of its tree, its first and last words, its files. Made in a worker."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents import agent_named
from leafward.base.errors import Cancelled, LeafwardError
from leafward.base.safe_text import safe_line
from leafward.files.working_set import FileChange, changed_files
from leafward.session.entries import PROMPTS, Kind
from leafward.session.entry_headline import headline
from leafward_tui.ui.size_change import SizeChange

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.catalog import Card, Details
    from leafward.context.basis import Basis
    from leafward.session.session import Session
    from leafward.session.tree import Run

ROWS = 9
"""Most rows of the small tree."""

WHOLE_BYTES = 8 << 20
"""Up to this size lines changed are counted; of a larger session the files are named only."""

_OTHER_KINDS = bytes(kind for kind in range(256) if kind not in PROMPTS)


class Sign(StrEnum):
    """What a row of the small tree is."""

    PROMPT = "prompt"
    BRANCH = "branch"
    RUN = "run"
    COMPACTION = "compaction"
    SUMMARY = "summary"
    LEAF = "leaf"


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One row of the small tree."""

    sign: Sign
    text: str
    number: int | None = None
    """Entries of a branch or a run."""
    change: SizeChange | None = None
    """What a compaction did to the size of the context."""


@dataclass(frozen=True, slots=True)
class SessionPreview:
    """What the preview shows of a session. Texts are safe."""

    path: str
    tree: tuple[TreeRow, ...] = ()
    first: str = ""
    last: str = ""
    reply: str = ""
    """The last reply."""
    changes: tuple[FileChange, ...] = ()
    """Files changed on the path, with their lines; empty where the session is too large to count."""
    changed: tuple[str, ...] = ()
    """Names of files changed, where lines were not counted."""
    read: int = 0
    """Files read only."""
    window: int | None = None
    """The context window that the agent recorded last; None where it records none."""
    problem: str = ""
    """Why there is nothing to show."""


def read_preview(card: Card, details: Details, stop: Callable[[], bool]) -> SessionPreview | None:
    """The preview of the session of a card; None where it was stopped. Never raises."""
    from leafward.context.basis import Basis
    from leafward.context.entry_metrics import EntryMetrics
    from leafward.context.sizes import Sizes

    if card.problem is not None:
        return SessionPreview(card.path, problem=card.problem)
    try:
        session = agent_named(card.agent).open(Path(card.path), stop)
    except (LeafwardError, OSError) as error:
        return SessionPreview(card.path, problem=safe_line(str(error)))
    try:
        if stop():
            return None
        # As the list: a preview of ours is no place from which the agent goes on.
        place = session.tree.content_at(session.own_leaf)
        path = session.tree.path_runs(place)
        small = card.size <= WHOLE_BYTES
        entries = (index for run in path for index in range(run.start, run.stop))
        changes = tuple(changed_files(session, entries)) if small else ()
        return SessionPreview(
            card.path,
            _tree(session, path, Basis(Sizes(session, EntryMetrics(session), stop))),
            card.prompt,
            details.last_prompt,
            details.last_reply,
            tuple(FileChange(safe_line(one.path), one.edits, one.added, one.removed) for one in changes),
            tuple(safe_line(name) for name in details.changed),
            len(details.read),
            session.source.recorded_window(place),
        )
    except Cancelled:
        return None
    except (LeafwardError, OSError) as error:
        return SessionPreview(card.path, problem=safe_line(str(error)))
    finally:
        session.close()


def _tree(session: Session, path: list[Run], basis: Basis) -> tuple[TreeRow, ...]:
    """The path from its first prompt to the leaf: what stands out, and how much lies between."""
    if not path:
        return ()
    kinds = session.columns.kind
    joined = b"".join(bytes(kinds[run.start : run.stop]) for run in path)
    starts = []
    at = 0
    for run in path:
        starts.append(at)
        at += run.stop - run.start
    first = joined.find(Kind.USER)
    last = joined.rfind(Kind.USER)
    marks = _landmarks(session, path, joined, starts)
    middle = [mark for mark in marks if mark[0] > first][-(ROWS - 4) :]

    def entry(position: int) -> int:
        number = next(n for n in reversed(range(len(starts))) if starts[n] <= position)
        return path[number].start + position - starts[number]

    rows: list[TreeRow] = []
    done = 0
    if first >= 0 and last > first:
        rows.append(TreeRow(Sign.PROMPT, headline(session, entry(first)).text))
        done = first + 1
    tip = last if last >= 0 else len(joined)
    for position, sign, subject in middle:
        _add_run(rows, joined[done:position], done > 0)
        done = max(done, position)
        if sign is Sign.BRANCH:
            begin = session.tree.content_from(subject)
            rows.append(TreeRow(sign, headline(session, begin).text, session.tree.subtree_content[subject]))
        else:
            rows.append(_memory_row(basis, subject, sign))
    _add_run(rows, joined[done:tip], done > 0)
    if last >= 0:
        rows.append(TreeRow(Sign.LEAF, headline(session, entry(last)).text))
    return tuple(rows)


def _memory_row(basis: Basis, index: int, sign: Sign) -> TreeRow:
    """The row of a compaction, with the sizes that its row in the tree has, or of a branch summary."""
    if sign is Sign.SUMMARY:
        return TreeRow(sign, "branch summary")
    return TreeRow(sign, "compaction", change=SizeChange.of(basis, index))


def _add_run(rows: list[TreeRow], kinds: bytes, after: bool) -> None:
    turns = len(kinds.translate(None, _OTHER_KINDS))
    if turns and after:
        rows.append(TreeRow(Sign.RUN, f"{turns} turn{'' if turns == 1 else 's'}", len(kinds)))


def _landmarks(
    session: Session, path: list[Run], joined: bytes, starts: list[int]
) -> list[tuple[int, Sign, int]]:
    """Position on the path, what stands there, and its entry, or its run for a branch; in order."""
    tree = session.tree
    found: list[tuple[int, Sign, int]] = []
    for kind, sign in ((Kind.COMPACTION, Sign.COMPACTION), (Kind.BRANCH_SUMMARY, Sign.SUMMARY)):
        at = joined.find(kind)
        while at >= 0:
            number = next(n for n in reversed(range(len(starts))) if starts[n] <= at)
            found.append((at, sign, path[number].start + at - starts[number]))
            at = joined.find(kind, at + 1)
    on_path = {tree.run_of(run.start) for run in path}
    for number, run in enumerate(path):
        here = tree.run_of(run.start)
        if run.stop == tree.bounds(here)[1]:
            found += [
                (starts[number] + run.stop - run.start, Sign.BRANCH, child)
                for child in tree.content_children(here)
                if child not in on_path
            ]
    return sorted(found, key=lambda mark: mark[0])
