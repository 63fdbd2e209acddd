"""The choice of the summariser, and of the focus of its summary."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.model.choices import AS_IT_IS, EXTRACTIVE
from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet
from leafward_tui.ui.sheets.sheet import SheetLine, TextSheet, model_sheet

if TYPE_CHECKING:
    from leafward.base.config import Config
    from leafward_tui.lab.controllers.layout import PaneLayout
    from leafward_tui.lab.controllers.prompt import PromptReader
    from leafward_tui.lab.controllers.settings import Settings
    from leafward_tui.ui.jobs import Job


class Summarizer(LabController):
    """Asks for both."""

    def __init__(self, means: LabMeans, layout: PaneLayout, prompt: PromptReader, settings: Settings) -> None:
        super().__init__(means)
        self._layout = layout
        self._prompt = prompt
        self._settings = settings
        self.actions = {
            "summarizer.choose": self.choose,
            "focus.edit": self.ask_focus,
        }

    def choose(self) -> None:
        """Asks for the summariser."""
        what_if = self._state.what_if
        if what_if is None or self._state.busy:
            self._view.tell(self._state.busy, "warn")
            return
        now, config = what_if.choices.summarizer, self._services.config
        nowhere, shown_first = "nothing is sent anywhere", "what would be sent is shown first"

        def choice(key: str, name: str, title: str, effect: str, operation: str) -> Choice:
            choose = partial(self.summarize_by, name)
            return Choice(key, title, effect, operation, current=now == name, act=choose)

        choices = [choice("e", EXTRACTIVE, "Extractive", "extracts text locally, costs nothing", nowhere)]
        if self._state.path.beside >= 0:
            effect = f"that of #{self._state.path.beside:,}, word for word, with what you pin"
            choices.append(choice("k", AS_IT_IS, "The summary as it is", effect, nowhere))
        names = dict.fromkeys(
            name for name in (config.model, now) if name and name not in (EXTRACTIVE, AS_IT_IS)
        )
        for key, name in zip("abcd", names, strict=False):
            effect = "the model of the configuration" if name == config.model else "used before"
            choices.append(choice(key, name, safe_line(name, 60), effect, shown_first))
        effect = "any that litellm reaches, by its name"
        choices.append(Choice("o", "Another model", effect, shown_first, act=self._name_model))
        self._view.open_sheet(ChoiceSheet("Who writes the summary", choices))

    def _name_model(self, name: str = "", problem: str = "") -> None:
        """Asks for a model's name; again where no model of that name can be asked."""

        def done(text: str | None) -> None:
            if text is not None and text.strip():
                self._look_up(text.strip())

        effect = "you see it before anything is sent"
        self._view.open_sheet(model_sheet("Model", name, problem, commit="choose", effect=effect), done)

    def _look_up(self, name: str) -> None:
        """Chooses a model if it can be asked, which is known before anything is sent."""
        model = self._state.model

        def done(problem: str) -> None:
            model.looked_up = ""
            self._view.tell("")
            if not problem:
                self.summarize_by(name)
            elif self._view.on_top:
                self._name_model(name, problem)

        def failed(text: str) -> None:
            model.looked_up = ""
            self._view.tell(text, "bad")

        model.looked_up = name
        self._view.tell("")
        self._jobs.latest(
            "name",
            partial(model_problem, name, self._services.config),
            done,
            failed,
        )

    def summarize_by(self, name: str) -> None:
        """Sets another summariser."""
        what_if = self._state.what_if
        if what_if is not None:
            self._settings.choose(replace(what_if.choices, summarizer=name))
            if what_if.choices.asks:
                self._layout.go_to("text", "Summary")
                self._prompt.read()

    def ask_focus(self) -> None:
        """Asks for the focus of the summary."""
        what_if = self._state.what_if
        if what_if is None or self._state.busy:
            self._view.tell(self._state.busy, "warn")
            return
        extractive = not what_if.choices.asks
        about = [SheetLine("the extractive summariser prefers lines with these words")] if extractive else []

        def done(text: str | None) -> None:
            if text is not None:
                self._settings.choose(replace(what_if.choices, focus=text.strip()))

        sheet = TextSheet(
            "What the summary should emphasise",
            what_if.choices.focus,
            about,
            placeholder="empty for nothing in particular",
        )
        self._view.open_sheet(sheet, done)


def model_problem(name: str, config: Config, _job: Job) -> str:
    """The reason why a model cannot be asked, such as an unknown name or a missing key; empty where it can.

    Nothing is sent.
    """
    from leafward.summaries.summarizers.choice import model_settings
    from leafward.summaries.summarizers.model.failures import SummaryFailed
    from leafward.summaries.summarizers.model.summarizer import Model

    try:
        Model(model_settings(name, config)).refuse_unknown()
    except SummaryFailed as failed:
        return str(failed)
    return ""
