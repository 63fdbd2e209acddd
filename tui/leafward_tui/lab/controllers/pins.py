"""Lost facts that are pinned into the summary."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from leafward.base.errors import Cancelled
from leafward.compaction.stored_summary.pins import as_sentences
from leafward.summaries.fates.report import Status
from leafward.summaries.summarizers.summary import tokens_of
from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.model.fates import LostFact, lost_facts
from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet
from leafward_tui.ui.text.cells import exact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.session import Session
    from leafward_tui.lab.controllers.drafts import DraftMaker
    from leafward_tui.lab.controllers.settings import Settings
    from leafward_tui.ui.jobs import Job

_MANY = 12
"""Facts that are pinned together without a question."""
_CHANGING = "the summary is still being changed: pin again in a moment"


class Pins(LabController):
    """Pins facts, and takes pins out."""

    def __init__(self, means: LabMeans, settings: Settings, drafts: DraftMaker) -> None:
        super().__init__(means)
        self._settings = settings
        self._drafts = drafts
        self.actions = {
            "lost.pin": self.pin_here,
            "lost.pin_all": self.pin_all,
        }

    def lost(self) -> list[LostFact]:
        """The lost facts in the order of the list, pinned ones among them."""
        draft, what_if = self._state.shown_draft, self._state.what_if
        return lost_facts(draft.survival, what_if.pinned) if draft is not None and what_if is not None else []

    def pin_here(self) -> None:
        """Pins the lost fact under the cursor into the summary, or takes the pin out."""
        layout = self._state.layout
        alone = self._view.panes.columns_shown == 1 and layout.area != "fates"
        if alone or layout.page != "Summary":
            # A fact that is not on the screen would be pinned.
            self._view.tell("the lost facts are not shown here: go to them to pin one", "warn")
            return
        area, _, number = self._view.panes.fates.key.partition(":")
        facts = self.lost()
        if area != "lost" or int(number) >= len(facts):
            self._view.tell("go to a lost fact first", "warn")
            return
        self.toggle([facts[int(number)]])
        self._view.panes.fates.move_by(1)

    def pin_all(self) -> None:
        """Pins all lost facts; asks first where there are many."""
        facts = [fact for fact in self.lost() if not fact.pinned]
        if len(facts) <= _MANY:
            self.toggle(facts)
        else:
            self._ask_how_many(facts)

    def _ask_how_many(self, facts: list[LostFact]) -> None:
        """Asks whether to pin all of many facts, or those with the most weight."""

        def effect(some: list[LostFact]) -> str:
            lines = "\n".join(fact.pin for fact in some)
            return f"~{exact(tokens_of(lines))} tokens"

        some, pins, grows = (
            facts[:_MANY],
            "pins them into the summary",
            "pins them; the summary grows by as much",
        )
        choices = [
            Choice("h", f"The {_MANY} that weigh most", effect(some), pins, act=partial(self.toggle, some)),
            Choice("a", f"All {len(facts):,}", effect(facts), grows, act=partial(self.toggle, facts)),
        ]
        self._view.open_sheet(ChoiceSheet("Pin lost facts", choices))

    def pin_texts(self, texts: tuple[str, ...]) -> None:
        """Pins lost facts by their texts."""
        named = set(texts)
        known = [
            fact for fact in self.lost() if not fact.pinned and (fact.text in named or fact.pin in named)
        ]
        rest = named - {fact.text for fact in known} - {fact.pin for fact in known}
        self.toggle([*known, *(LostFact(text, -1, Status.LOST, text) for text in texts if text in rest)])

    def toggle(self, facts: list[LostFact]) -> None:
        """Pins facts, or takes the pin of one out, once their sentences are found; the summary follows."""
        what_if = self._state.what_if
        if what_if is None or not facts or self._waits():
            return
        if len(facts) > _MANY:
            self._view.tell(f"looking up the sentences of {len(facts):,} facts")
        work = partial(in_sentences, self._state.session, int(what_if.plan.at), tuple(facts))
        self._jobs.also("pins", work, self._toggled, lambda text: self._view.tell(text, "bad"))

    def _waits(self) -> bool:
        """Whether pins have to wait for other work; says so."""
        state = self._state
        why = state.busy or (_CHANGING if state.drafts.amending else "")
        if why:
            self._view.tell(why, "warn")
        return bool(why)

    def _toggled(self, facts: list[LostFact]) -> None:
        what_if = self._state.what_if
        if what_if is None or self._waits():
            return
        out = {fact.pin for fact in facts if fact.pinned}
        kept = [fact for fact in what_if.pinned if fact.pin not in out]
        known = {(fact.text, fact.pin) for fact in kept}
        new = [replace(fact, pinned=True) for fact in facts if not fact.pinned]
        pins = (*(pin for pin in what_if.choices.pins if pin not in out), *(fact.pin for fact in new))
        before, made = self._state.draft, replace(what_if.choices, pins=tuple(dict.fromkeys(pins)))
        pinned = [*kept, *(fact for fact in new if (fact.text, fact.pin) not in known)]
        self._settings.set_pins(pinned, made)
        if before is not None and (before.changed or before.summary.usage is not None):
            # The summary of a model or of the user is not written again for a pin.
            self._drafts.add_pins(before, made)


def in_sentences(session: Session, at: int, facts: Iterable[LostFact], job: Job) -> list[LostFact]:
    """Facts, each that is not pinned yet with the sentence that pins it. Raises Cancelled, LeafwardError, OSError."""
    found = []
    for fact in facts:
        if job.unwanted():
            raise Cancelled
        if not fact.pinned:
            # A fact with a known entry is found at once; any other is searched for from the end.
            (sentence,) = as_sentences(session, fact.entry if fact.entry >= 0 else at, [fact.pin])
            fact = replace(fact, pin=sentence)
        found.append(fact)
    return found
