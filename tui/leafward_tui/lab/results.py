"""The messages in which the results of the lab's background work come back. Each carries the run it belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from leafward.compaction import Plan, PlanSettings, Strategy
    from leafward.compaction.draft import Draft
    from leafward.compaction.injection import Injection
    from leafward.session.headline import Headline
    from leafward.session.journal import Write
    from leafward.summaries.summarizers.model import Outgoing
    from leafward_tui.lab.model.runs import Run
    from leafward_tui.lab.model.what_if import WhatIf


@dataclass
class Measured(Message):
    """The path is measured."""

    run: int
    what_if: WhatIf


@dataclass
class Failed(Message):
    """Something could not be done; the text is one line."""

    run: int
    text: str
    fatal: bool = False
    summary: bool = False
    """It was the summary that failed."""


@dataclass
class Planned(Message):
    """Plans that took too long for the UI thread."""

    run: int
    plans: dict[Strategy, tuple[PlanSettings, Plan]]


@dataclass
class Worded(Message):
    """Headlines of entries on the screen."""

    run: int
    words: dict[int, Headline]


@dataclass
class InjectedMade(Message):
    """An injected text."""

    run: int
    key: tuple[int, frozenset[str]]
    made: Injection


@dataclass
class Streamed(Message):
    """A summary so far."""

    run: int
    text: str

    def can_replace(self, message: Message) -> bool:
        """Only the longest counts."""
        return isinstance(message, Streamed) and message.run == self.run


@dataclass
class DraftMade(Message):
    """A draft, whole and not written; `own` where it is that of the chosen strategy."""

    run: int
    key: tuple[object, ...]
    draft: Draft
    own: bool


@dataclass
class Followed(Message):
    """Everything that follows the settings by itself is made."""

    run: int


@dataclass
class Stood(Message):
    """The compaction that is in the session, as a run beside the others."""

    run: int
    there: Run


@dataclass
class Shown(Message):
    """What a model would be sent, before anything is."""

    run: int
    sending: Outgoing
    asking: bool
    """Whether the user wants to send it."""


@dataclass
class Accepted(Message):
    """The compaction was appended, or refused: then `written` is None and the text says why."""

    written: Write | None
    text: str


@dataclass
class Reread(Message):
    """The session was read anew; the text says what was wrong, empty for nothing."""

    run: int
    text: str
