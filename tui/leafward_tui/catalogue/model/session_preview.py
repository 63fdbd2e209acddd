"""The preview of a session: a few rows of its tree, its first and last words, its files. Made in a worker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.registry import agent_named
from leafward.base.errors import Cancelled, LeafwardError
from leafward.base.safe_text import safe_line
from leafward.files.working_set import FileChange, changed_files
from leafward_tui.catalogue.model.preview_tree import TreeRow, tree_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.catalogue.cards.card import Card, Details

WHOLE_BYTES = 8 << 20
"""The largest session whose changed lines are counted; of a larger one the files are only named."""


@dataclass(frozen=True, slots=True)
class SessionPreview:
    """The content of a preview. Texts are safe."""

    tree: tuple[TreeRow, ...] = ()
    first: str = ""
    last: str = ""
    reply: str = ""
    """The last reply; empty where there is none yet."""
    changes: tuple[FileChange, ...] = ()
    """Files changed on the path, with their lines; empty where the session is too large to count."""
    changed: tuple[str, ...] = ()
    """Names of changed files, where lines were not counted."""
    read: int = 0
    """Files read only."""
    window: int | None = None
    """The context window that the agent recorded last, or that its settings name; None where there is neither."""
    problem: str = ""
    """The reason why there is nothing to show."""


def read_preview(card: Card, details: Details, stop: Callable[[], bool]) -> SessionPreview | None:
    """The preview of the session of a card; None where it was stopped. Never raises."""
    from leafward.agents.model_window import named_window
    from leafward.context.basis import Basis
    from leafward.context.entry_metrics import EntryMetrics
    from leafward.context.model_context import settings_at
    from leafward.context.sizes import Sizes

    if card.problem is not None:
        return SessionPreview(problem=card.problem)
    try:
        session = agent_named(card.agent).open(Path(card.path), stop)
    except (LeafwardError, OSError) as error:
        return SessionPreview(problem=safe_line(str(error)))
    try:
        if stop():
            return None
        # As in the list: a preview leaf is no place from which the agent goes on.
        place = session.tree.content_at(session.own_leaf)
        path = session.tree.path_runs(place)
        small = card.size <= WHOLE_BYTES
        entries = (index for run in path for index in range(run.start, run.stop))
        changes = tuple(changed_files(session, entries)) if small else ()
        return SessionPreview(
            tree_rows(session, place, Basis(Sizes(session, EntryMetrics(session), stop))),
            card.prompt,
            details.last_prompt,
            details.last_reply,
            tuple(FileChange(safe_line(one.path), one.edits, one.added, one.removed) for one in changes),
            tuple(safe_line(name) for name in details.changed),
            len(details.read),
            session.source.recorded_window(place) or named_window(session, *settings_at(session, place)[:2]),
        )
    except Cancelled:
        return None
    except (LeafwardError, OSError) as error:
        return SessionPreview(problem=safe_line(str(error)))
    finally:
        session.close()
