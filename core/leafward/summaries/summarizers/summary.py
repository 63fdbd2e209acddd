"""The request for a summary, its result, and the protocol of summarisers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from leafward.session.entries import NO_ENTRY, EntryIndex, Usage
from leafward.session.tokens import tokens_of_units, utf16_length
from leafward.summaries.facts.known_texts import Known

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leafward.summaries.facts.calls.agent_plan import Items
    from leafward.summaries.survival.span_reading import SpanReading
    from leafward.summaries.survival.spans import SpanMessage


class Purpose(StrEnum):
    """The purpose of a summary."""

    COMPACTION = "compaction"
    """The summary replaces the messages, and the work goes on after it."""
    BRANCH = "branch"
    """The summary tells another branch what was tried on this one, which is abandoned."""


@dataclass(frozen=True, slots=True)
class Span:
    """The span that a summary is to replace."""

    messages: Sequence[SpanMessage]
    """The messages that it replaces, in the order of the path, the prefix of a split turn among them.

    A compaction's own message is not one of them: its summary is `previous`.
    """
    previous: str = ""
    """The summary of everything before; its content is carried on."""
    previous_entry: EntryIndex = NO_ENTRY
    """The entry of that summary."""
    plan: Items = ()
    """The agent's own task list before the first message."""
    kept: Sequence[SpanMessage] = ()
    """The messages that stay in the context: the summary need not repeat their content."""
    quoted: Sequence[str] = ()
    """The messages of the user that are stored word for word beside the summary, which need not repeat them."""
    cwd: str = ""
    """The folder of the session; paths inside it are relative to it."""
    focus: str = ""
    """The user's words on what the summary should emphasise."""
    pins: Sequence[str] = ()
    """Facts that the user wants in it word for word, without secrets; nothing has a higher priority."""
    purpose: Purpose = Purpose.COMPACTION
    prefix: int = 0
    """The number of last messages that begin a split turn, whose rest stays; 0 where no turn is split."""
    known: Known = field(default_factory=Known, compare=False, repr=False)
    """The facts of texts that were read already, so that a judge of the summary need not read them again."""
    read: Callable[[], SpanReading] | None = field(default=None, compare=False, repr=False)
    """Reads all messages that leave the context, secrets included, the first time that it is called; None where only the summariser reads them."""


NO_SECTIONS = "did not keep to the sections that it was asked for"
"""Remark on a model that wrote in an outline of its own; its name stands before it."""


class SummaryLine(NamedTuple):
    """One line of a summary's text."""

    text: str
    section: str
    """The heading above it; empty for headings and blank lines."""
    sources: tuple[EntryIndex, ...]
    """The entries that it comes from."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, with its cost and its sources."""

    text: str
    """The text, safe to show and to send; secrets are redacted."""
    summarizer: str
    """The summariser: `extractive`, or a model's name."""
    lines: tuple[SummaryLine, ...] = ()
    """The text line by line with its sources, where they are known; joined by newlines they are the text."""
    usage: Usage | None = None
    """The usage that the provider counted, over all requests; None where no model was asked."""
    cost: float | None = None
    """US dollars; None where no model was asked, or where its price is not known."""
    remarks: tuple[str, ...] = ()
    """Remarks on how it was made, one line each, such as omissions and repeated requests."""
    redacted: Mapping[str, int] = field(default_factory=dict)
    """Distinct secrets removed, by name."""

    @property
    def keeps_to_sections(self) -> bool:
        """Whether a model wrote it in the sections that it was asked for; what is made here always is."""
        return not any(remark.endswith(NO_SECTIONS) for remark in self.remarks)


class Summarizer(Protocol):
    """A maker of summaries."""

    @property
    def name(self) -> str:
        """The name in `Summary.summarizer`."""
        ...

    def summarize(
        self,
        span: Span,
        budget: int,
        progress: Callable[[str], object] = ...,
        stop: Callable[[], bool] = ...,
    ) -> Summary:
        """A summary of at most `budget` tokens; `progress` receives the growing text.

        Raises Cancelled where `stop` turns true. An empty span gives an empty text, or the previous summary unchanged.
        """
        ...


def tokens_of(text: str) -> int:
    """Tokens of a text, as pi 1.5.2 estimates those of a summary."""
    return tokens_of_units(utf16_length(text))
