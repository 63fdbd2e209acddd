"""What touches the files of whole sessions: functions of a card, run beside the screen. Each may raise LeafwardError, OSError."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward_tui.ui.cells import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.catalog import Card
    from leafward_tui.ui.services import Job

__all__ = ["Done", "archive", "delete", "done_of", "keep_copy"]


class Done(NamedTuple):
    """What was done: words for a toast, and how it is taken back."""

    words: str
    undo: Callable[[], Done] | None = None


def done_of(act: Callable[[], Done], _job: Job) -> Done:
    """Does it."""
    return act()


def keep_copy(card: Card) -> Done:
    """Copies a session where its agent cannot reach it."""
    from leafward.catalog.backups import keep

    kept = keep(card)
    if kept.changed:
        return Done(f"kept, {counted(len(kept.files), kept.what)}")
    return Done("the kept copy is up to date")


def archive(card: Card, archived: bool) -> Done:
    """Puts a session away, or takes it out again."""
    from leafward.agents import agent_named
    from leafward.session.journal import archive_session

    session = agent_named(card.agent).open(Path(card.path))
    try:
        archive_session(session, archived)
    finally:
        session.close()
    return Done("archived" if archived else "restored", partial(_unarchive, card, archived))


def _unarchive(card: Card, archived: bool) -> Done:
    return archive(card, not archived)._replace(undo=None)


def delete(card: Card) -> Done:
    """Moves a session to the trash."""
    from leafward.catalog.trash import throw_away

    thrown = throw_away(card)

    def back() -> Done:
        from leafward.catalog.trash import bring_back

        bring_back(thrown)
        return Done("restored from the trash")

    return Done("in the trash", back)
