"""A session with operations of ours, for the tests of the log."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from leafward.session.journal.operation_log import operations
from leafward.session.journal.write import Writing
from leafward.session.session import Session
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.words.operation_text import OperationText
from tests.tui.session_store import NOW

if TYPE_CHECKING:
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from tests.tui.explored import Named


class Hands:
    """Does things to a session, a minute apart."""

    def __init__(self, file: Named) -> None:
        self.file = file
        self.session = Session.open(file.path)
        self.time = NOW - timedelta(hours=2)

    def writing(self) -> Writing:
        self.time += timedelta(minutes=1)
        return Writing(now=lambda: self.time)

    def prompt(self, name: str) -> int:
        return self.session.columns.index(self.file.prompts[name])

    def end(self, name: str) -> int:
        return self.session.columns.index(self.file.ends[name])

    def deeds(self, glyphs: Glyphs = UNICODE) -> OperationText:
        return OperationText(self.session, operations(self.session), glyphs)

    def last(self) -> tuple[str, str, str, str]:
        deeds = self.deeds()
        doing = deeds.doing(deeds.log[-1])
        return doing.verb, doing.lead, doing.follow, doing.state
