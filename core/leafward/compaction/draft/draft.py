"""A compaction that is complete but not written: its entries and its sources. Accepting it writes them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from leafward.compaction.plan.growth import growth_words
from leafward.compaction.stored_summary.file_lists import stored_lists
from leafward.compaction.stored_summary.provenance import provenance
from leafward.session.journal.lines import utc_now
from leafward.session.journal.open_file import refuse_changed
from leafward.session.journal.operation_log import OperationKind
from leafward.session.journal.placement import Place, edit_lines, milliseconds, place_at, stamped, usage_body
from leafward.session.journal.write import Writing, write
from leafward.session.messages import PROJECTION
from leafward.session.tokens import message_tokens
from leafward.summaries.summarizers.summary import Summary, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.compaction.draft.replacement import DividedPath
    from leafward.compaction.injection.values import Injection
    from leafward.compaction.plan.plan import Plan
    from leafward.compaction.strategies.division import Diagnostic
    from leafward.session.columns import Columns
    from leafward.session.entries import Body, EntryIndex
    from leafward.session.journal.lines import Clock
    from leafward.session.journal.write import Write
    from leafward.session.session import Session
    from leafward.summaries.facts.values import Fact
    from leafward.summaries.fates.report import Survival
    from leafward.summaries.survival.kept_state import KeptState
    from leafward.summaries.survival.span_reading import SpanReading


@dataclass(frozen=True, slots=True)
class Ground:
    """The inputs of a draft, kept so that it can be changed without reading anything again."""

    there: DividedPath
    previous: str
    """The previous summary as stored, without the context injected into it."""
    kept: str
    """The kept messages as text."""
    read: Sequence[str]
    """Files read, the most recent first."""
    modified: Sequence[str]
    cwd: str
    columns: Columns
    limit: int | None
    """Most UTF-16 units of the stored text; None for no limit."""
    took: int | None
    """Counted tokens of the kept tail in the context before, without the part that is cut from it; None if no provider counted them."""
    named: Sequence[EntryIndex] | None = None
    """Entries, with their edits, that the compaction must name as kept: another agent may send them in an order of its own, so that
    they are not simply the entries after the cut. None if pi's rule determines them.
    """
    facts: Sequence[Fact] = ()
    """Facts in the replaced span; they are read once there is a summary to be judged."""
    reading: SpanReading | None = field(default=None, compare=False, repr=False)
    """The reading of its messages, so that the exam need not read them again."""
    kept_state: KeptState | None = field(default=None, compare=False, repr=False)
    """What the kept messages change about it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A compaction that is complete but not written."""

    plan: Plan
    summary: Summary
    """The summary as it is in the text."""
    injection: Injection | None
    pins: tuple[str, ...]
    """Pins as they are in the summary: one line each, secrets removed, those of earlier compactions first."""
    focus: str
    text: str
    """The entry's `summary`, byte for byte."""
    tokens_before: int
    """Tokens of the context before, as pi 1.5.2 counts them: the entry's `tokensBefore`."""
    tokens_after: int
    """Tokens of the context at the new entry, as pi 1.5.2 will count them until the next reply."""
    counted_after: int
    """Tokens of the context at the new entry as shown, on one basis with `plan.tokens.counted_before`."""
    summary_tokens: int
    """Tokens of the summary and its file lists: the stored text without injected and quoted parts."""
    quoted_tokens: int
    """Tokens of the messages quoted word for word."""
    survival: Survival
    diagnostics: tuple[Diagnostic, ...]
    """Remarks of the plan, except those on sizes, which were estimates, then remarks on the summary."""
    place: Place
    ground: Ground = field(repr=False)
    changed: bool = False
    """Whether the user changed the summary."""
    exams: tuple[Body, ...] = ()
    """Results of its exam by models, in the form of `exam.sitting`."""

    @property
    def stored_tokens(self) -> int:
        """Tokens of the whole stored text."""
        return tokens_of(self.text)

    @property
    def kept_tokens(self) -> int:
        """Tokens of the messages that stay, as entries or quoted word for word in the stored text."""
        return self.ground.there.kept_tokens + self.quoted_tokens

    @property
    def growth(self) -> str:
        """The message that this summary makes the context larger; empty if it does not."""
        return growth_words(self.plan.tokens.counted_before, self.counted_after)

    @property
    def system_tokens(self) -> int:
        """Tokens of the system prompt that the compaction carries."""
        system = self.ground.there.system
        return message_tokens(system) if system is not None else 0

    def lines(self, now: Clock = utc_now) -> list[Body]:
        """The entries to be appended, in order; the last one is the compaction."""
        moment, stamp = milliseconds(now)
        plan, there, name = self.plan, self.ground.there, self.ground.columns.id
        edits = [(name(edit.entry), edit.content) for edit in there.edits]
        lines, place = edit_lines(self.ground.columns, self.place, moment, edits)
        first_kept = name(plan.first_kept) if plan.first_kept >= 0 else place.id
        body: Body = {
            "summary": self.text,
            "firstKeptEntryId": first_kept,
            "tokensBefore": self.tokens_before,
            "details": self.details(),
            "usage": usage_body(self.summary.usage, self.summary.cost),
            "fromHook": False,
        }
        if self.ground.named is not None:
            names = [*map(name, self.ground.named), *(str(line["id"]) for line in lines)]
            body[PROJECTION] = {"before": [], "after": names}
        if there.system is not None:
            body["systemMessage"] = {**there.system, "timestamp": stamp}
        return [*lines, stamped("compaction", place, moment, body)]

    def details(self) -> Body:
        """The entry's `details`: the file lists as pi stores them, and the provenance of the compaction."""
        plan, settings = self.plan, self.plan.settings
        ours = provenance(self.summary, self.text, self.ground.columns, self.injection)
        ours["strategy"] = settings.strategy.value
        ours["behaviour"] = settings.behaviour
        ours["settings"] = {
            "keep_recent": settings.budget,
            "reserve": settings.reserved,
            "window": settings.window,
            "corrected": settings.mends,
            "estimator": plan.estimator.value,
        }
        ours["tokens_after"] = self.tokens_after
        if self.pins:
            ours["pins"] = list(self.pins)
        if self.focus:
            ours["focus"] = self.focus
        if self.changed:
            ours["edited"] = True
        if self.exams:
            ours["exams"] = list(self.exams)
        return {**stored_lists(self.ground.read, self.ground.modified), "leafward": ours}


_DEFAULT = Writing()


def accept(session: Session, draft: Draft, writing: Writing = _DEFAULT) -> Write:
    """Appends the compaction: its entry, and before it one for each message of the kept tail that is shortened.

    Everything reaches the file in one write. Raises Refused if the conversation went on since the draft was made, or if the
    file cannot be written; nothing is written then.
    """
    refuse_changed(session)
    place = place_at(session, draft.plan.at, draft.place)
    ready = replace(draft, place=place, ground=replace(draft.ground, columns=session.columns))
    return write(session, OperationKind.COMPACT, ready.lines(writing.now), place.parent, writing)
