"""Lines that a summary could hold, and the other evidence of a span."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.summaries.facts.calls.outcomes import files_changed_by
from leafward.summaries.facts.calls.restorations import BroughtBack
from leafward.summaries.facts.sentences.checklists import OPEN_IN
from leafward.summaries.facts.values import FactKind, Voice
from leafward.summaries.summarizers.outline import LINE_LIMIT, Provenance, SummarySection, cut, harmless

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from leafward.session.entries import EntryIndex, ToolCall
    from leafward.summaries.facts.reader import FactReader
    from leafward.summaries.facts.values import Fact


_NOWHERE = re.compile(
    r"://(?:[\w-]+\.)*(?:example\.(?:com|net|org|edu)|localhost)\b|://[^/]*/?$|://www\.w3\.org/\d{4}/|[{$<]"
    r"|://claude\.(?:ai|com)/(?:claude-)?code(?:/session_\w*)?$"
)
"""Addresses that lead nowhere.

They are hosts reserved for examples, hosts without a path, XML names, addresses that a program completes, and the one in
Claude Code's commit signature.
"""


_NAMES = frozenset({FactKind.PATH, FactKind.IDENTIFIER})
OUTCOME = " → "
"""The arrow between a request and its outcome."""
REPLY = "the reply "
"""The beginning of what stands there where no call shows that the request is done."""
_SAYS = f"{REPLY}says: “"
REVERTED_SINCE = "reverted since"
"""What stands there of work that was taken back."""


ASKED = "Asked: "
ASKED_BEFORE = "Asked before: "
"""The lead of an earlier request of which nothing tells whether it is done."""


ANSWERED_BY_USER = "Answered by the user: "
"""The lead of an answer of the user to a question that a tool asked."""

SAID_WITH = "Said with an earlier request: "
"""The lead of a limit that was set for work which was answered since: it may hold for later work, too."""

SAID_WITH_LAST = "Said with the last request: "
"""The same where no request came after that one."""

SAID_WITH_OPEN = "Said with the open request: "
"""The lead of a limit on work that goes on, where the goal does not quote it."""

SAID_WITH_ANY = (SAID_WITH, SAID_WITH_LAST, SAID_WITH_OPEN)

OPEN_IN_LIST = f"{OPEN_IN}the agent's list: "
"""The words before steps that say where they stand open, and no more."""

FROM_PLAN = "From the plan: "
"""The lead of what a plan says: it tells how things are to become, in words that may also tell how they are."""

PROPOSED = "Proposed: "
"""The lead of a choice that nobody agreed to, and that no work carried out."""


BEFORE_KEPT = " before the messages that were kept"
"""Words in a line about the last of its kind in the span, where the kept messages have a later one."""


FIRST_OF_ALL = -1
"""The place of lines before all others of their section: pins, and the state of the work."""


def leads_somewhere(url: str) -> bool:
    """Whether a URL is more than a mere example or host."""
    return _NOWHERE.search(url) is None


def sources_of(fact: Fact) -> tuple[EntryIndex, ...]:
    """The first entries that state a fact, and the one whose text is told."""
    return tuple(dict.fromkeys((*fact.entries[:3], fact.entry)))


@dataclass(slots=True)
class LineCandidate:
    """A line that the summary could hold."""

    section: SummarySection
    text: str
    place: int
    """Its order among the lines of its section."""
    sources: tuple[EntryIndex, ...]
    worth: float = 0.0
    """Its own worth, without that of its facts."""
    facts: frozenset[tuple[FactKind, str]] = frozenset()
    carries: tuple[tuple[FactKind, str], ...] = ()
    """Facts that it is known to carry, besides those found in its text."""
    provenance: Provenance = Provenance.RECORDED
    group: str = ""
    """Words before a line that lines of the same group share."""
    reports: bool = False
    """Whether a reply tells finished work in it: calls show that something was done, but not that it is this."""
    names_something: bool = False
    """Whether it is worthless without a fact that is needed."""
    first: bool = False
    """Whether it goes in before the ranking begins, if it fits at all."""
    ordered: tuple[tuple[FactKind, str], ...] = ()
    """`facts` in the order in which they are added up."""
    words: frozenset[str] = frozenset()
    """The content words of the text."""
    compared: int = 0
    """The number of chosen lines that it was compared with."""
    repeats: bool = False
    """Whether one of them holds most of it already."""

    @property
    def is_code(self) -> bool:
        """Whether it is a piece of code, which is only worth telling for its names."""
        return self.names_something and bool(self.group)

    @property
    def tells_work(self) -> bool:
        """Whether it is about finished work, in whoever's words."""
        done = self.section is SummarySection.DONE or self.reports
        return done or (self.section is SummarySection.GOAL and OUTCOME in self.text)

    @property
    def asks(self) -> bool:
        """Whether it repeats a request of the user's."""
        return self.section is SummarySection.GOAL or self.is_request

    @property
    def is_request(self) -> bool:
        """Whether it begins as the line of one."""
        return self.text.startswith((ASKED, ASKED_BEFORE, "Last request"))

    @property
    def is_ticked(self) -> bool:
        """Whether calls of the span show it: no request, no line that says who ticked it, and none of an earlier summary."""
        shown = self.provenance is Provenance.RECORDED and not (self.asks or self.group)
        return self.section is SummarySection.DONE and shown

    @property
    def came(self) -> str:
        """What its outcome says, or the whole line where it repeats no request."""
        came = self.text.partition(OUTCOME)[2] if self.asks else self.text
        return came.removeprefix(_SAYS).rpartition("”")[0] if came.startswith(_SAYS) else came

    def shorten(self) -> None:
        """Cuts the text to a line, without a quotation of which only a part would be left."""
        if len(self.text) > LINE_LIMIT:
            self.text = cut(self.text.partition(f"{OUTCOME}{_SAYS}")[0], LINE_LIMIT)

    def lose_outcome(self) -> None:
        """Takes the outcome from the line of a request: nothing says any more that what was asked for is done."""
        self.text = self.text.partition(OUTCOME)[0]
        if self.section is SummarySection.DONE and self.text.startswith(ASKED):
            self.section, self.text = SummarySection.CONTEXT, ASKED_BEFORE + self.text.removeprefix(ASKED)


@dataclass(slots=True)
class FileWork:
    """The work of the span on one file."""

    path: str
    reads: int = 0
    named: int = 0
    """The number of commands that name it."""
    missed: int = 0
    """How many of these only search for it, have it in a text that they write, or are calls that were to write it and failed."""
    written: int = 0
    """How many have it in such a text."""
    changes: int = 0
    last: int = 0
    """Position of the last message that touched it."""
    changed: int = -1
    """Position of the last change; -1 where the span changed nothing."""
    pending: int = 0
    """Changes since the last commit: git can take them back."""
    committed: int = -1
    """Position of the last change before that commit."""
    made: int = -1
    """Position of the call that wrote it whole, where nothing had touched it before; -1 else."""
    stashed: int = 0
    """Changes that `git stash` put aside."""
    restored: bool = False
    """Whether git took changes back."""
    from_root: bool = False
    """Whether a call named it by its whole path."""
    sources: list[EntryIndex] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    """Names in the text written into it, each with the position of its last writing."""
    removed: set[str] = field(default_factory=set)
    """Names that were taken out of it and not written again."""
    taken: dict[str, int] = field(default_factory=dict)
    """Names that edits took out of it, each with the position of the last such edit."""
    declared: dict[str, str] = field(default_factory=dict)
    """Names that the text written into it declares, each with the last line that does."""
    undeclared: dict[str, int] = field(default_factory=dict)
    """Names whose declaration edits took out of it, each with the position of the last such edit."""

    def write(self, names: Iterable[str], place: int) -> None:
        """Records names that are written into it at a position."""
        self.names.update(dict.fromkeys(names, place))
        self.removed.difference_update(names)

    def take_out(self, names: Iterable[str], place: int = -1) -> None:
        """Records names that an edit at a position takes out of it."""
        self.removed.update(names)
        self.taken.update(dict.fromkeys(names, place))
        for name in names:
            self.names.pop(name, None)
            if self.declared.pop(name.removesuffix("()"), None) is not None:
                self.undeclared[name.removesuffix("()")] = place

    def change(self, place: int) -> None:
        """Records a change at a position."""
        self.changes += 1
        self.pending += 1
        self.changed = place

    def merge(self, other: FileWork) -> None:
        """Adds the work on the same file under another name."""
        self.reads += other.reads
        self.named += other.named
        self.changes += other.changes
        self.last = max(self.last, other.last)
        self.changed = max(self.changed, other.changed)
        self.sources = sorted({*self.sources, *other.sources})
        for name, place in other.names.items():
            self.names[name] = max(place, self.names.get(name, place))
        self.removed |= other.removed
        self.declared = {**other.declared, **self.declared}

    @property
    def is_settled(self) -> bool:
        """Whether nothing of it is left to be committed, taken back or put back."""
        return not (self.pending or self.stashed or self.changed != self.committed)

    def commit(self) -> None:
        """Records that the changes were committed."""
        self.pending, self.committed = 0, self.changed

    def restore(self, *, aside: bool) -> None:
        """Records that git took back what was not committed; `aside` keeps the changes for `put_back`."""
        if not self.pending:
            return
        self.restored = True
        self.stashed = self.pending if aside else 0
        self.changes = max(0, self.changes - self.pending)
        self.pending, self.changed = 0, self.committed
        if not aside:
            self.names = {name: place for name, place in self.names.items() if place <= self.committed}
            self.removed.clear()
        if not (self.changes or aside):
            self.declared.clear()

    def put_back(self, place: int) -> None:
        """Records that the changes put aside are in the file again."""
        if self.stashed:
            self.changes += self.stashed
            self.pending += self.stashed
            self.stashed, self.changed = 0, place

    def remove(self) -> None:
        """Records that the file was removed: if it comes back, its content is another one."""
        self.changes = self.pending = self.stashed = 0
        self.take_out(list(self.names))
        self.declared.clear()


def last_written(files: Mapping[str, FileWork]) -> dict[str, int]:
    """The positions at which names were written last, and files, by the ends of their paths, were changed last."""
    written: dict[str, int] = {}
    for path, work in files.items():
        for name, place in (*work.names.items(), (path.rpartition("/")[2], work.changed)):
            written[name] = max(place, written.get(name, place))
    return written


@dataclass(slots=True)
class Evidence:
    """Everything that a summary of a span can use."""

    facts: dict[tuple[FactKind, str], Fact]
    candidates: list[LineCandidate]
    files: dict[str, FileWork]
    size: int
    """The number of messages in the span."""
    position: dict[EntryIndex, int]
    """The position of each entry among them."""
    reader: FactReader
    last_turn: int = 0
    """Position of the last request, counted from 1."""
    calls: dict[int, Sequence[ToolCall]] = field(default_factory=dict)
    """The calls of each reply that makes some, by its position, in order."""
    standing: list[int] | None = None
    """The positions of replies whose changes nobody undid, in order; None until `undo` is asked."""
    failed: set[EntryIndex] = field(default_factory=set)
    """Messages about failures: results of calls, and commands that the user ran."""
    failed_calls: frozenset[str] = frozenset()
    """The ids of the calls that failed, or have no result."""
    brought_back: BroughtBack = field(default_factory=BroughtBack)
    """What git brought back."""
    named: set[str] = field(default_factory=set)
    """Names that somebody said or wrote into a file, and that do not stand in commands and outputs alone."""
    only_said: set[str] = field(default_factory=set)
    """Those that a reply said, and beyond replies only calls: in a command, a pattern, a plan; and those that the user said once alone."""
    removed: set[str] = field(default_factory=set)
    """Names of folders that were deleted, and names in files that were."""
    addresses: set[str] = field(default_factory=set)
    """Addresses that are more than a reply's words: the user gave them, or they stand in a call or in what one did."""
    missing: set[str] = field(default_factory=set)
    """Files that calls name and that perhaps never were."""
    left: set[EntryIndex] = field(default_factory=set)
    """Summaries of abandoned branches, which list their own open work."""
    proposed: set[EntryIndex] = field(default_factory=set)
    """Replies that end with an offer that nobody accepted: their steps wait for a yes."""

    def undo(self, places: range, cwd: str) -> None:
        """Takes the changes of files at some positions, and the names that they wrote, out of the work on files, once."""
        if self.standing is None:
            self.standing = list(self.calls)
        first, end = (bisect_left(self.standing, place) for place in (places.start, places.stop))
        undone = self.standing[first:end]
        del self.standing[first:end]
        for place in undone:
            for call in self.calls[place]:
                if call.id in self.failed_calls:
                    continue
                for path in files_changed_by(call, cwd):
                    work = self.files.get(path)
                    if work is not None and work.changes:
                        work.changes -= 1
                        work.restored = True
                        work.names = {name: at for name, at in work.names.items() if at not in places}

    def place_of(self, candidate: LineCandidate) -> int:
        """The position of the last source message of a line; -1 for a line of an earlier summary."""
        return max((self.position.get(source, -1) for source in candidate.sources), default=-1)

    def recency(self, fact: Fact) -> float:
        """How far into the span a fact was stated last; 0 where only an earlier summary has it, 1 at the end."""
        return (self.position.get(fact.last, -1) + 1) / max(1, self.size)

    def is_left_alone(
        self, text: str, entry: EntryIndex, later: Collection[tuple[FactKind, str]] = ()
    ) -> bool:
        """Whether a text of an entry names something, and nobody named it since: then nothing was done to it.

        `later` are facts of the messages behind the span.
        """
        seen = self.reader.texts.by_form(text, Voice.TOLD, entry)
        keys = [(one.kind, one.key) for one in seen if one.kind in _NAMES]
        facts = [self.facts.get(key) for key in keys]
        return (
            bool(facts)
            and all(fact is not None and fact.last <= entry for fact in facts)
            and not any(key in later for key in keys)
        )

    def is_carried(self, candidate: LineCandidate) -> bool:
        """Whether a line is only in an earlier summary."""
        return bool(candidate.sources) and all(entry not in self.position for entry in candidate.sources)


_REQUEST = 120
"""Characters that are quoted at least of a request with its outcome."""
_SINCE = 60
"""Characters that are quoted of a later request about a rule."""


def quoted(said: str) -> str:
    """What a reply says of a request, as its outcome."""
    return f"{_SAYS}{said}”"


def asked_since(rule: str, request: str) -> str:
    """A rule with the later request that may end it, if there is one."""
    return f"{rule} (asked since: {cut(request, _SINCE)})" if request else rule


def add(
    evidence: Evidence,
    section: SummarySection,
    text: str,
    sources: tuple[EntryIndex, ...],
    worth: float,
    *,
    first: bool = False,
    limit: int = 0,
    lead: str = "",
    carries: tuple[Fact, ...] = (),
    names_something: bool = False,
    group: str = "",
    provenance: Provenance = Provenance.RECORDED,
    reports: bool = False,
) -> None:
    """Adds a line, made harmless; a line that becomes empty is not added. `lead` are words of ours before it.

    Lines of one `group` share a line after these words.
    """
    limit = limit or LINE_LIMIT
    line = harmless(text, limit)
    request, _, outcome = text.partition(OUTCOME)
    if 0 < len(outcome) < limit - _REQUEST and len(text) > limit:
        # Of a request with its outcome the request is cut.
        line = harmless(cut(request, limit - len(OUTCOME) - len(outcome)) + OUTCOME + outcome, limit)
    if len(line) >= 3:
        place = len(evidence.candidates)
        known = tuple((fact.kind, fact.key) for fact in carries)
        evidence.candidates.append(
            LineCandidate(
                section,
                lead + line,
                place,
                sources,
                worth,
                carries=known,
                provenance=provenance,
                group=group,
                reports=reports,
                names_something=names_something,
                first=first,
            )
        )
