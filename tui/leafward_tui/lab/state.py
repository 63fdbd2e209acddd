"""The state of the lab. Each part names the controller that writes it; the others read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.session.entries import NO_ENTRY
from leafward_tui.lab.model.choices import AS_IT_IS
from leafward_tui.ui.screens.session_watch import FileState

if TYPE_CHECKING:
    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.exam.grade import Exam
    from leafward.compaction.injection.findings.path_findings import Collected
    from leafward.session.headlines.entry_headline import Headline
    from leafward.session.session import Session
    from leafward.summaries.summarizers.model.requests import Outgoing
    from leafward_tui.lab.model.runs import FactsKept, Run
    from leafward_tui.lab.model.what_if import WhatIf

AREAS = ("cut", "plan", "text", "fates")
"""Panes that can have the keys, in the order of `tab`."""
PAGES = ("Summary", "Prompt", "Injected", "Exam")
"""Pages of the text pane."""
TABS = ("Cut", "Plan", *PAGES[:1], "Lost", *PAGES[1:])
"""All pages where one pane has all the room, in the order of `tab`."""
_ALWAYS = frozenset({"app.back", "app.help", "app.themes", "mode.leave", "pane.next", "pane.previous"})
_EDITING = frozenset({"compaction.accept"})


class Mode(Enum):
    """The modes of the lab; settings can change in the first two."""

    CHOICE = auto()
    EDIT = auto()
    """The summary is in a field."""
    STREAM = auto()
    """A model writes the summary."""
    APPEND = auto()
    READ = auto()
    """The file is read again."""


@dataclass(slots=True)
class MeasuredPath:
    """The place of the planned compaction. Written by `controllers.path`."""

    at: int = NO_ENTRY
    beside: int = NO_ENTRY
    """The compaction beside which it is planned; -1 for none."""
    shut: str = ""
    """The reason why nothing can be written to the session; empty where it can, and until that is known."""
    what_if: WhatIf | None = None
    """None until the path is measured.

    `controllers.settings` writes its choices, plans and pins, `controllers.drafts` its drafts and injected texts, and
    `controllers.prompt` its costs.
    """
    trouble: str = ""
    """The reason why the path cannot be measured."""


@dataclass(slots=True)
class Layout:
    """The pane with the keys, and the page of the text pane. Written by `controllers.layout`."""

    area: str = "cut"
    page: str = "Summary"
    whole: bool = False
    """Whether the pane with the keys has all the room."""


@dataclass(slots=True)
class Turns:
    """The pane of the turns. Written by `controllers.turns`."""

    words: dict[int, Headline] = field(default_factory=dict)
    """The known headlines, by entry."""
    unfolded: bool = False


@dataclass(slots=True)
class TextPage:
    """The pane of the summary. Written by `controllers.text`."""

    last: Draft | None = None
    """The draft shown last: it stays while the next one is made."""


@dataclass(slots=True)
class Drafts:
    """The results of the choices. Written by `controllers.drafts`."""

    collected: Collected | None = None
    """The material of the injected context, read once."""
    waiting: bool = False
    """Whether drafts that follow the settings are being made."""
    amending: bool = False
    """Whether a changed summary is being put together."""
    awaited: str = ""
    """What the user waits for until the draft is made, in words; empty for nothing."""
    runs: tuple[Run, ...] = ()
    """Runs made so far, the stored compaction first."""


def reading_words(model: str) -> str:
    """The words while the requests to a model are made."""
    return f"reading what would be sent to {safe_line(model, 60)}"


@dataclass(slots=True)
class Prompt:
    """The requests to a model. Written by `controllers.prompt`."""

    sending: Outgoing | None = None
    """The requests for the present choices; None where they are not known."""
    awaited: str = ""
    """The model that the user waits to send them to; empty for none."""
    problem: str = ""
    """The reason why they could not be made."""

    @property
    def pending(self) -> str:
        """What the user waits for, in words; empty for nothing."""
        return reading_words(self.awaited) if self.awaited else ""


@dataclass(slots=True)
class ModelName:
    """The typed name of a model. Written by `controllers.summarizer`."""

    looked_up: str = ""
    """The name that is being looked up; empty for none."""


@dataclass(slots=True)
class DraftExam:
    """The exam of a draft. Written by `controllers.exam`."""

    draft: Draft | None = None
    """The draft of the exam, graded or being graded."""
    result: Exam | None = None
    """None while it is being graded."""


@dataclass(slots=True)
class Stream:
    """The summary that a model writes. Written by `controllers.request`."""

    text: str | None = None
    """The summary so far; None where none is being written."""
    stage: str = ""
    """The present stage while no text comes: the model and its task, or the reason and time of a retry."""
    since: float = 0.0


@dataclass(slots=True)
class Edit:
    """The field with the summary. Written by `controllers.edit`."""

    open: bool = False
    text: str = ""


@dataclass(slots=True)
class File:
    """The file of the session. Written by `controllers.file`."""

    since: FileState = field(default_factory=FileState)
    reading: bool = False


@dataclass(slots=True)
class Append:
    """The compaction that is being appended. Written by `controllers.acceptance`."""

    running: bool = False


@dataclass(slots=True)
class LabState:
    """The state of a planned compaction."""

    session: Session
    entry: int
    """The place where the lab was opened: an entry, or a compaction to plan beside."""
    given_pins: tuple[str, ...] = ()
    path: MeasuredPath = field(default_factory=MeasuredPath)
    layout: Layout = field(default_factory=Layout)
    turns: Turns = field(default_factory=Turns)
    text: TextPage = field(default_factory=TextPage)
    drafts: Drafts = field(default_factory=Drafts)
    prompt: Prompt = field(default_factory=Prompt)
    model: ModelName = field(default_factory=ModelName)
    exam: DraftExam = field(default_factory=DraftExam)
    stream: Stream = field(default_factory=Stream)
    edit: Edit = field(default_factory=Edit)
    file: File = field(default_factory=File)
    append: Append = field(default_factory=Append)

    @property
    def mode(self) -> Mode:
        """The mode under way; at most one."""
        if self.append.running:
            return Mode.APPEND
        if self.file.reading:
            return Mode.READ
        if self.stream.text is not None:
            return Mode.STREAM
        return Mode.EDIT if self.edit.open else Mode.CHOICE

    @property
    def busy(self) -> str:
        """The reason why no summary can be written and nothing changed now; empty where it can."""
        return _BUSY.get(self.mode, "")

    @property
    def pending(self) -> str:
        """The pending work beside the panes, in words; empty for none."""
        if self.model.looked_up:
            return f"looking up {safe_line(self.model.looked_up, 60)}"
        return self.drafts.awaited or self.prompt.pending

    @property
    def what_if(self) -> WhatIf | None:
        """The considered compaction; None until the path is measured."""
        return self.path.what_if

    @property
    def draft(self) -> Draft | None:
        """The draft of the present choices; None where there is none yet."""
        what_if = self.path.what_if
        return what_if.draft() if what_if is not None else None

    def larger(self, draft: Draft) -> str:
        """The reason why a draft is not offered as a compaction: the context would grow. Empty where it can be accepted.

        A correction of a stored compaction is offered whatever its size.
        """
        if self.path.what_if is not None and self.path.what_if.choices.summarizer == AS_IT_IS:
            return ""
        return f"{draft.growth}; nothing was written" if draft.growth else ""

    @property
    def shown_draft(self) -> Draft | None:
        """The draft of the present choices; while it is being made, the one before. None where there is neither."""
        what_if, draft = self.path.what_if, self.draft
        if draft is not None or what_if is None or what_if.plan.nothing or self.stream.text is not None:
            return draft
        return self.text.last if not what_if.choices.asks or self.drafts.amending else None

    def takes(self, intent_id: str) -> bool:
        """Whether a key does something: few do before the path is measured, and while the summary is in a field."""
        if intent_id in _ALWAYS:
            return True
        return self.path.what_if is not None and (not self.edit.open or intent_id in _EDITING)


_BUSY = {
    Mode.STREAM: "a summary is being written; cancel it first",
    Mode.APPEND: "the compaction is being appended",
    Mode.READ: "the session is being reloaded",
}


@dataclass(slots=True)
class RunsState:
    """The runs. Written by `RunPair` alone."""

    runs: tuple[Run, ...]
    first: int = field(init=False)
    """The number of the run called A."""
    kept: FactsKept = field(init=False)
    exams: dict[int, Exam] = field(init=False)
    """The graded exams, by the number of the run."""

    def __post_init__(self) -> None:
        from leafward_tui.lab.model.runs import FactsKept

        self.exams = {number: run.exam for number, run in enumerate(self.runs) if run.exam is not None}
        self.first = max(0, len(self.runs) - 2)
        self.kept = FactsKept(self.runs)
