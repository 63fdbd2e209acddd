"""The controllers of the lab, made with their dependencies."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.lab.controllers.acceptance import Acceptance
from leafward_tui.lab.controllers.display import Display
from leafward_tui.lab.controllers.drafts import DraftMaker
from leafward_tui.lab.controllers.edit import SummaryEdit
from leafward_tui.lab.controllers.exam import DraftGrader
from leafward_tui.lab.controllers.file import SessionFile
from leafward_tui.lab.controllers.layout import PaneLayout
from leafward_tui.lab.controllers.leave import Leave
from leafward_tui.lab.controllers.paid_summaries import KeptSummaries
from leafward_tui.lab.controllers.path import PathReader
from leafward_tui.lab.controllers.pins import Pins
from leafward_tui.lab.controllers.prompt import PromptReader
from leafward_tui.lab.controllers.request import SummaryRequest
from leafward_tui.lab.controllers.settings import Settings
from leafward_tui.lab.controllers.sources import Sources
from leafward_tui.lab.controllers.summarizer import Summarizer
from leafward_tui.lab.controllers.text import TextPane
from leafward_tui.lab.controllers.turns import TurnsPane

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward_tui.lab.controllers.controller import LabController, LabMeans
    from leafward_tui.lab.model.paid_summaries import KeptDrafts


class Controllers:
    """One controller of each kind, made in the order of their dependencies."""

    def __init__(self, means: LabMeans, kept: KeptDrafts, prefetch: Callable[[], object]) -> None:
        """`prefetch` loads the modules of the screens that the keys of the lab open."""
        self.turns = TurnsPane(means)
        grader = DraftGrader(means)
        self.display = Display(means, self.turns, TextPane(means, grader))
        self.prompt = PromptReader(means, self.display)
        self.layout = PaneLayout(means, self.display, self.prompt)
        self.drafts = DraftMaker(means, self.display, self.prompt, kept)
        self.settings = Settings(means, self.display, self.drafts)
        self.request = SummaryRequest(means, self.display, self.layout, self.prompt, self.drafts)
        self.summarizer = Summarizer(means, self.layout, self.prompt, self.settings)
        self.pins = Pins(means, self.settings, self.drafts)
        self.edit = SummaryEdit(means, self.display, self.layout, self.drafts)
        before = KeptSummaries(means, self.display, self.layout, self.settings, self.drafts, kept)
        self.path = PathReader(means, self.display, self.turns, self.settings, self.drafts, before, prefetch)
        self.file = SessionFile(means, self.path)
        self.acceptance = Acceptance(means, self.edit, self.file, kept, self.pins)
        self.sources = Sources(
            means,
            self.turns,
            self.layout,
            self.settings,
            self.pins,
            self.request,
            self.drafts,
            partial(grader.ask_model, self.drafts.exchange),
            self.file.reload,
        )
        self.leave = Leave(means, self.layout, self.edit, self.request, before)
        self.routed: tuple[LabController, ...] = tuple(vars(self).values())
