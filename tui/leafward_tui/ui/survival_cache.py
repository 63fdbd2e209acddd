"""Survival reports of the compactions of a session, and their aftermaths, each made once for all that show some of it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from leafward.compaction.aftermath.aftermath import aftermath_of
from leafward.compaction.exam.grade import exam_of
from leafward.summaries.facts.values import FactKind
from leafward.summaries.fates.report import survival_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.compaction.aftermath.aftermath import Aftermath
    from leafward.compaction.exam.grade import Exam
    from leafward.session.entries import EntryId
    from leafward.session.lines.scan import Scan
    from leafward.session.session import Session
    from leafward.summaries.fates.report import Survival

PLURAL = {
    FactKind.PATH: "paths",
    FactKind.COMMAND: "commands",
    FactKind.NUMBER: "numbers",
    FactKind.ERROR: "errors",
    FactKind.IDENTIFIER: "identifiers",
    FactKind.URL: "URLs",
    FactKind.CONSTRAINT: "constraints",
    FactKind.DECISION: "decisions",
    FactKind.TODO: "todos",
}
"""Kinds of facts as they are named on the screen."""

_KEPT = 12
"""Reports kept whole; of the others only the number of lost facts is kept."""


class Survivals:
    """The reports of one session, as it was read. May be asked from several threads; two never make the same report at once."""

    def __init__(self) -> None:
        self._reports: OrderedDict[EntryId, Survival] = OrderedDict()
        self._aftermaths: dict[EntryId, tuple[int, Aftermath]] = {}
        """Each with the number of entries that the session had then."""
        self._exams: dict[EntryId, Exam] = {}
        self._making = threading.Lock()
        self.made = 0
        """Reports made so far; work counted for tests."""

    def report(self, session: Session, compaction: int, stop: Callable[[], bool] = lambda: False) -> Survival:
        """The report of a compaction. Raises Refused where the entry is none, Cancelled where `stop` turns true."""
        entry = session.entry(compaction).id
        with self._making:
            found = self._reports.get(entry)
            if found is None:
                found = self._reports[entry] = survival_of(session, compaction, stop)
                self.made += 1
                while len(self._reports) > _KEPT:
                    self._reports.popitem(last=False)
            return found

    def aftermath(
        self, session: Session, compaction: int, stop: Callable[[], bool] = lambda: False
    ) -> Aftermath:
        """The aftermath of a compaction, made again where the session grew. Raises as `report` does."""
        entry = session.entry(compaction).id
        with self._making:
            known = self._aftermaths.get(entry)
            if known is None or known[0] != len(session):
                known = self._aftermaths[entry] = (len(session), aftermath_of(session, compaction, stop))
            return known[1]

    def exam(self, session: Session, compaction: int, stop: Callable[[], bool] = lambda: False) -> Exam:
        """The exam of a compaction. Raises as `report` does."""
        entry = session.entry(compaction).id
        with self._making:
            found = self._exams.get(entry)
            if found is None:
                found = self._exams[entry] = exam_of(session, compaction, stop)
            return found


_BY_SCAN: WeakKeyDictionary[Scan, Survivals] = WeakKeyDictionary()
"""By what was read: a file that was rewritten may have other entries of the same ids."""


def survivals_of(session: Session) -> Survivals:
    """The reports of a session that is open."""
    found = _BY_SCAN.get(session.scan)
    if found is None:
        found = _BY_SCAN.setdefault(session.scan, Survivals())
    return found
