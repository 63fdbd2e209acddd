"""Drafts that were paid for or written by hand and not appended: kept for later visits while the application runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from leafward.compaction.draft.draft import Draft
    from leafward.session.entries import EntryId
    from leafward.session.session import Session
    from leafward_tui.lab.model.choices import Choices

_MOST = 24
"""Drafts kept, of all sessions together."""


@dataclass(frozen=True, slots=True)
class KeptDraft:
    """A draft with its choices, and the place where it would be appended."""

    path: Path
    at: EntryId
    """The entry that its compaction follows."""
    choices: Choices
    draft: Draft
    made: datetime

    def fits(self, session: Session, at: int) -> bool:
        """Whether it could be appended after an entry of a session in its present state."""
        if session.path != self.path or not 0 <= at < len(session) or session.columns.id(at) != self.at:
            return False
        place = session.place
        return place >= 0 and session.columns.id(place) == self.draft.place.stands


class KeptDrafts:
    """The drafts of one application, the oldest first."""

    def __init__(self) -> None:
        self._kept: list[KeptDraft] = []

    def keep(self, session: Session, at: int, choices: Choices, draft: Draft, made: datetime) -> None:
        """Keeps a draft that is worth it; it replaces one with the same choices."""
        if at < 0 or not worth_keeping(draft):
            return
        found = KeptDraft(session.path, session.columns.id(at), choices, draft, made)
        self._kept = [one for one in self._kept if (one.path, one.at, one.choices) != _place(found)]
        self._kept = [*self._kept[1 - _MOST :], found]

    def drop(self, draft: Draft) -> None:
        """Forgets an appended draft."""
        self._kept = [one for one in self._kept if one.draft is not draft]

    def of(self, session: Session, at: int) -> list[KeptDraft]:
        """The drafts that could follow an entry of a session, the oldest first."""
        return [one for one in self._kept if one.fits(session, at)]


def worth_keeping(draft: Draft) -> bool:
    """Whether a model wrote a draft or was examined on it, or the user wrote it."""
    return draft.summary.usage is not None or draft.changed or bool(draft.exams)


def _place(one: KeptDraft) -> tuple[Path, EntryId, Choices]:
    return one.path, one.at, one.choices


_BY_APPLICATION: WeakKeyDictionary[object, KeptDrafts] = WeakKeyDictionary()


def kept_drafts(application: object) -> KeptDrafts:
    """The drafts kept by an application; they end with it."""
    found = _BY_APPLICATION.get(application)
    if found is None:
        found = _BY_APPLICATION.setdefault(application, KeptDrafts())
    return found
