"""The injected context for agents' own compactions: installed into their files or removed, after the change is shown."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward_tui.catalogue.controllers.controller import CatalogueController, CatalogueMeans
from leafward_tui.ui.text.paths import tilde

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.agents.installation import AgentFileChange
    from leafward_tui.ui.jobs import Job


class AgentInstallation(CatalogueController):
    """The key that puts Leafward into an agent."""

    def __init__(self, means: CatalogueMeans) -> None:
        super().__init__(means)
        self.actions = {"agents.install": self.look}

    def look(self) -> None:
        """Reads the agents' files, then asks in which one to install."""
        self._jobs.latest("installation", agent_files, self._choose)

    def _choose(self, found: Sequence[AgentFile]) -> None:
        from leafward_tui.ui.sheets.choice_sheet import LETTERS, Choice, ChoiceSheet
        from leafward_tui.ui.sheets.sheet import SheetLine

        if not self._view.on_top:
            return
        about = [
            SheetLine(
                "An agent then runs Leafward when it compacts: beside the summary its model sees rules, recent actions,"
                " changed files and the next step. With summaries it writes pi's summary as well. What would be written"
                " is shown first.",
                lines=4,
            ),
        ]
        choices = []
        for key, one in zip(LETTERS, found, strict=False):
            verb = "Remove from" if one.installed else "Install in"
            choices.append(
                Choice(
                    key,
                    f"{verb} {one.title}",
                    tilde(str(one.change.file)) if one.change is not None else "",
                    refused=one.refused,
                    current=one.installed,
                    path=True,
                    act=partial(self._show, one.title, one.change),
                )
            )
        self._view.open_sheet(ChoiceSheet("Leafward in the agents", choices, about))

    def _show(self, title: str, change: AgentFileChange | None) -> None:
        from leafward_tui.ui.sheets.reading_sheet import ReadingSheet

        if change is None:
            return
        file = tilde(str(change.file))
        sheet = ReadingSheet(
            f"Leafward in {title}",
            note="unified diff",
            markdown=False,
        )
        verb = "write" if change.after is not None else "remove"
        costs = [
            f"At a compaction: {change.cost}." if change.cost else "",
            f"{change.note}." if change.note else "",
        ]
        head = "\n".join(line for line in costs if line)
        text = "\n".join(change.lines())
        sheet.ended(
            f"{head}\n\n{text}" if head else text,
            f"would {verb} {file}",
            tone="",
            move=verb,
            operation=f"{verb} {file}",
        )

        def done(answer: str | None) -> None:
            if answer == "move":
                self._jobs.also("installation", partial(write_change, change), self._did)

        self._view.open_sheet(sheet, done)

    def _did(self, change: AgentFileChange) -> None:
        verb = "wrote" if change.after is not None else "removed"
        key = self._services.keymap.label("agents.install")
        next_step = "start the agent again" if change.installs else f"{key} installs it again" if key else ""
        self._services.say("; ".join(filter(None, (f"{verb} {tilde(str(change.file))}", next_step))))


class AgentFile(NamedTuple):
    """The possible change in one agent."""

    title: str
    installed: bool
    change: AgentFileChange | None
    """The installation; the removal where it is installed already."""
    refused: str
    """The reason why there is no change."""


def agent_files(_job: Job) -> tuple[AgentFile, ...]:
    """Every agent that can run Leafward around a compaction; one whose file cannot be had is refused with the reason."""
    from leafward.agents.installation import installation, removal
    from leafward.agents.registry import all_agents, is_installed
    from leafward.base.errors import LeafwardError, reason_of

    found = []
    for agent in all_agents():
        name, title, there = agent.name, agent.title, is_installed(agent.name)
        first, refused = None, ""
        try:
            first = removal(name) if there else installation(name)
        except (LeafwardError, OSError) as error:
            refused = reason_of(error)
        found.append(AgentFile(title, there, first, refused))
        possible = {}
        for summary in (False, True):
            # Most agents take no summary from elsewhere, and refuse.
            with suppress(LeafwardError, OSError):
                possible[summary] = installation(name, summary)
        for summary, change in possible.items():
            # The installed hook may be without summaries, with them, or of another version of Leafward.
            if (there or summary) and change.changed:
                words = ", with summaries" if summary else ", without summaries" if len(possible) > 1 else ""
                found.append(AgentFile(f"{title}{words}", False, change, ""))
    return tuple(found)


def write_change(change: AgentFileChange, _job: Job) -> AgentFileChange:
    """Writes the change that was shown. Raises Refused where the file has changed since."""
    from leafward.agents.installation import apply

    apply(change)
    return change
