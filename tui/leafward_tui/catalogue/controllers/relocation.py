"""A project whose folder is missing, and one that may be it: new copies of its sessions are made there."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward_tui.catalogue.controllers.controller import CatalogueController, CatalogueMeans
from leafward_tui.ui.text.paths import tilde

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.base.config import Config
    from leafward.branches.relocation import Relocation
    from leafward.catalogue.cards.card import Card
    from leafward_tui.catalogue.controllers.stores import Stores
    from leafward_tui.ui.jobs import Job

_REASONS = 3
"""Sessions that cannot go on there, as many as the sheet names."""


class ProjectRelocation(CatalogueController):
    """The key that copies the sessions of a moved project to its new folder."""

    def __init__(self, means: CatalogueMeans, stores: Stores) -> None:
        super().__init__(means)
        self._list, self._stores = self._state.list, stores
        self.actions = {"project.relocate": self.preview}

    def enabled(self, _intent_id: str) -> bool:
        """Whether the project under the cursor is missing and has a folder that it may be in now."""
        return self._view.project in self._list.stock.status.moved

    def refusal(self, intent_id: str) -> str:
        """The reason why the project under the cursor cannot be relocated; empty for any other intent."""
        if intent_id != "project.relocate":
            return ""
        if not self._view.project:
            return "no project here"
        if self._view.project not in self._list.stock.status.missing:
            return "the project's folder is where it was"
        return "new folder not found: name it with leafward relocate OLD NEW"

    def preview(self) -> None:
        """Works out the outcome for each session, then asks."""
        old = self._view.project
        new = self._list.stock.status.moved.get(old)
        if new is not None:
            work = partial(
                relocate_project, self._list.stock.cards, old, new, self._services.config, write=False
            )
            self._jobs.latest("relocate", work, partial(self._ask, old, new))

    def _ask(self, old: str, new: str, found: Relocated) -> None:
        from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet
        from leafward_tui.ui.sheets.sheet import SheetLine

        if not self._view.on_top:
            return
        about = [SheetLine(f"{tilde(old)} is not found; {tilde(new)} has its git remote or its name")]
        parts = [f"{found.there:,} already there" if found.there else ""]
        parts.append(f"{found.skipped:,} skipped" if found.skipped else "")
        parts.append(f"{found.healed:,} healed: a call in it has no result" if found.healed else "")
        if any(parts):
            about.append(SheetLine(", ".join(filter(None, parts))))
        reasons = [reason.replace(new, tilde(new)) for reason in found.reasons[:_REASONS]]
        about += [SheetLine(reason, "warn", lines=4) for reason in reasons]
        if len(found.reasons) > _REASONS:
            about.append(SheetLine(f"{len(found.reasons) - _REASONS:,} more cannot be copied", "warn"))

        def copy() -> None:
            cards, config = self._list.stock.cards, self._services.config
            work = partial(relocate_project, cards, old, new, config, write=True)
            self._jobs.also("relocation", work, self._did)

        choice = Choice(
            "b",
            f"Copy {counted(found.made, 'session')} to {tilde(new)}",
            "the old ones stay",
            f"write {counted(found.made, 'new session')}",
            "" if found.made else "nothing is left to copy",
            act=copy,
        )
        self._view.open_sheet(ChoiceSheet("Relocate", [choice], about))

    def _did(self, found: Relocated) -> None:
        self._services.say(found.words(), problem=bool(found.reasons))
        self._stores.look_around()


class Relocated(NamedTuple):
    """The outcome for the sessions of a project, planned or written."""

    made: int
    there: int
    skipped: int
    healed: int
    """Number of the copied sessions that could not go on as they are."""
    reasons: tuple[str, ...]
    """The title of each session that cannot go on in the new folder, and why."""

    def words(self) -> str:
        """The effect in words, for a toast."""
        parts = [f"copied {counted(self.made, 'session')}"]
        if self.there:
            parts.append(f"{self.there:,} already there")
        if self.reasons:
            parts.append(f"{len(self.reasons):,} not possible: {self.reasons[0]}")
        return "; ".join(parts)


def relocate_project(
    cards: Sequence[Card], old: str, new: str, config: Config, job: Job, *, write: bool
) -> Relocated:
    """Copies the sessions of a folder to another one; without `write` only works out the outcome."""
    from leafward.branches.relocation import RelocationOutcome, moved_sessions, relocate

    done: list[Relocation] = []
    for one in relocate(moved_sessions(cards, old, new), config, os.environ, write=write):
        done.append(one)
        job.unwanted()

    def number(outcome: RelocationOutcome) -> int:
        return sum(one.outcome is outcome for one in done)

    reasons = tuple(
        f"{one.moved.card.title}: {one.reason}" for one in done if one.outcome is RelocationOutcome.REFUSED
    )
    healed = sum(any(remark.code == "healed" for remark in one.remarks) for one in done)
    return Relocated(
        number(RelocationOutcome.MADE),
        number(RelocationOutcome.THERE),
        number(RelocationOutcome.SKIPPED),
        healed,
        reasons,
    )
