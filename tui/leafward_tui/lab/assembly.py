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

    from leafward_tui.lab.model.paid_summaries import KeptDrafts
    from leafward_tui.lab.ports import LabPort
    from leafward_tui.lab.state import LabState
    from leafward_tui.ui.screens.routed_screen import Controller
    from leafward_tui.ui.services import AppServices, Jobs


class Controllers:
    """One controller of each kind, made in the order of their dependencies."""

    def __init__(
        self,
        state: LabState,
        view: LabPort,
        jobs: Jobs,
        services: AppServices,
        kept: KeptDrafts,
        prefetch: Callable[[], object],
    ) -> None:
        """`prefetch` loads the modules of the screens that the keys of the lab open."""
        glyphs = services.glyphs
        self.turns = TurnsPane(state, view, jobs, glyphs)
        grader = DraftGrader(state, view, jobs, services)
        self.display = Display(state, view, glyphs, self.turns, TextPane(state, view, services, grader))
        self.prompt = PromptReader(state, view, jobs, services, self.display)
        self.layout = PaneLayout(state, view, self.display, self.prompt)
        self.drafts = DraftMaker(state, view, jobs, services, self.display, self.prompt, kept)
        self.settings = Settings(state, view, jobs, self.display, self.drafts)
        self.request = SummaryRequest(
            state, view, jobs, services, self.display, self.layout, self.prompt, self.drafts
        )
        self.summarizer = Summarizer(state, view, jobs, services, self.layout, self.prompt, self.settings)
        self.pins = Pins(state, view, glyphs, self.settings, self.drafts)
        self.edit = SummaryEdit(state, view, self.display, self.layout, self.drafts)
        before = KeptSummaries(
            state, view, services, self.display, self.layout, self.settings, self.drafts, kept
        )
        self.path = PathReader(
            state,
            view,
            jobs,
            services,
            self.display,
            self.turns,
            self.settings,
            self.drafts,
            before,
            prefetch,
        )
        self.file = SessionFile(state, view, jobs, services.keymap, self.path)
        self.acceptance = Acceptance(state, view, jobs, services, self.edit, self.file, kept, self.pins)
        self.sources = Sources(
            state,
            view,
            services,
            self.turns,
            self.layout,
            self.settings,
            self.pins,
            self.request,
            partial(grader.ask_model, self.display.show_text),
        )
        self.leave = Leave(state, view, self.layout, self.edit, self.request)
        self.routed: tuple[Controller, ...] = (
            self.turns,
            self.layout,
            self.settings,
            self.request,
            self.summarizer,
            self.pins,
            self.edit,
            self.file,
            self.acceptance,
            self.sources,
            self.leave,
        )
