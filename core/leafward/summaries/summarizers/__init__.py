"""Summaries of a span of a session: what is asked for, what comes back, and who can make one.

`extractive` works offline and always; a summariser that asks a model fits the same protocol.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from leafward.base.errors import Cancelled
from leafward.session.entries import NO_ENTRY, EntryIndex, Usage
from leafward.session.tokens import tokens_of_units, utf16_length
from leafward.summaries.survival.spans import SpanMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from leafward.summaries.facts import Known
    from leafward.summaries.facts.agent_plan import Items

__all__ = [
    "NO_SECTIONS",
    "Line",
    "Purpose",
    "Span",
    "SpanMessage",
    "Summarizer",
    "Summary",
    "tokens_of",
    "unless_cancelled",
]

Item = TypeVar("Item")


def unless_cancelled(items: Iterable[Item], stop: Callable[[], bool]) -> Iterator[Item]:
    """Items one by one, each after a look whether they are still wanted. Raises Cancelled where `stop` turns true."""
    for item in items:
        if stop():
            raise Cancelled("the summary was cancelled")
        yield item


class Purpose(StrEnum):
    """What a summary is for."""

    COMPACTION = "compaction"
    """It takes the place of the messages, and the work goes on behind it."""
    BRANCH = "branch"
    """It tells another branch what was tried here; this one is left."""


@dataclass(frozen=True, slots=True)
class Span:
    """What a summary is to stand for."""

    messages: Sequence[SpanMessage]
    """The messages it replaces, in the order of the path, the prefix of a split turn among them. A compaction's own
    message is not one of them: its summary is `previous`."""
    previous: str = ""
    """The summary that stood for everything before; what it says is carried on."""
    previous_entry: EntryIndex = NO_ENTRY
    """The entry that holds it."""
    plan: Items = ()
    """The list that the agent kept of its own work before the first message."""
    kept: Sequence[SpanMessage] = ()
    """The messages that stay in the context: what they hold need not be repeated."""
    cwd: str = ""
    """The folder of the session; paths inside it are told relative to it."""
    focus: str = ""
    """What the user wants the summary to dwell on."""
    pins: Sequence[str] = ()
    """Facts that the user wants in it, word for word; secrets apart, nothing goes before them."""
    purpose: Purpose = Purpose.COMPACTION
    prefix: int = 0
    """How many of the last messages are the beginning of a turn that is split: its rest stays as it is. 0: none is."""
    known: Known = field(default_factory=dict, compare=False, repr=False)
    """The facts of texts that were read already, so that whoever judges the summary need not read them again."""


NO_SECTIONS = "did not keep to the sections that it was asked for"
"""What a remark says behind the name of a model that wrote in an outline of its own."""


class Line(NamedTuple):
    """One line of a summary's text."""

    text: str
    section: str
    """The heading it stands under; empty for headings and blank lines."""
    sources: tuple[EntryIndex, ...]
    """The entries it was taken from."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, with what it cost and where it comes from."""

    text: str
    """Safe to show and to send; secrets are redacted."""
    tokens: int
    """Of the text, as pi 1.5.2 estimates them."""
    summarizer: str
    """Who made it: `extractive`, or a model's name."""
    lines: tuple[Line, ...] = ()
    """The text line by line with its sources, where they are known: joined by newlines they are the text."""
    usage: Usage | None = None
    """What the model's provider counted, over all requests that were made; None where no model was asked."""
    cost: float | None = None
    """US dollars; None where no model was asked, or where its price is not known."""
    remarks: tuple[str, ...] = ()
    """What the user should know of how it came about, one line each: what was left out, what had to be asked again."""
    redacted: Mapping[str, int] = field(default_factory=dict)
    """Different secrets taken out, by name."""
    dropped: int = 0
    """Lines that were worth telling and did not fit."""

    @property
    def keeps_to_sections(self) -> bool:
        """Whether a model wrote it in the sections that it was asked for; what is made here always is."""
        return not any(remark.endswith(NO_SECTIONS) for remark in self.remarks)


class Summarizer(Protocol):
    """Makes summaries."""

    @property
    def name(self) -> str:
        """What stands in `Summary.summarizer`."""
        ...

    def summarize(
        self,
        span: Span,
        budget: int,
        progress: Callable[[str], object] = ...,
        stop: Callable[[], bool] = ...,
    ) -> Summary:
        """A summary of at most `budget` tokens; `progress` is given the text as it grows.

        Where `stop` turns true, Cancelled is raised. Nothing to summarise gives an empty text, or the previous summary as
        it was.
        """
        ...


def tokens_of(text: str) -> int:
    """Tokens of a text, as pi 1.5.2 estimates those of a summary."""
    return tokens_of_units(utf16_length(text))
