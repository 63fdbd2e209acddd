"""The aftermath of a compaction: what was read, run, got wrong or said again soon after it because it was gone.

A pure function of the session's records. The `WINDOW` tool calls after a compaction are looked at, up to the next
compaction. Something counts as repeated if it was in the replaced part and not in the kept part; each thing counts once,
because the model has it from then on. The result is a lower bound: work done in place of something forgotten cannot be
recognised.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import takewhile
from typing import TYPE_CHECKING

from leafward.base.errors import Cancelled
from leafward.base.figures import counted
from leafward.context.basis import Basis
from leafward.context.call_status import inside
from leafward.context.price import rates_at
from leafward.files.file_names import locate
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.steps import requests_in
from leafward.files.tool_calls import FileAction, file_calls, table_of
from leafward.session.entries import NO_ENTRY, EntryIndex, Kind, text_of, tool_calls
from leafward.session.messages import as_typed, messages_of
from leafward.session.tokens import message_tokens
from leafward.summaries.facts.calls.printed_errors import tells_of_a_run
from leafward.summaries.facts.calls.telling_errors import tells
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.pasting import typed_sentences
from leafward.summaries.facts.user_words import user_words
from leafward.summaries.facts.values import Fact, FactKind, Voice
from leafward.summaries.summarizers.model.settings import facts_of
from leafward.summaries.survival.spans import SpanMessage, replaced_by
from leafward.summaries.survival.text_match import FactMatch, FactText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.files.tool_calls import ToolTable
    from leafward.session.entries import ToolCall
    from leafward.session.session import Session

WINDOW = 24
"""Number of tool calls after a compaction that are looked at."""
_SAME_LINES = 0.9
"""Share of a result's lines that must be known for the file to count as read again unchanged."""
_LEAST_WORDS = 5
"""Least number of content words in a sentence; a shorter one said twice means nothing."""
_DIGITS = re.compile(r"\d+")
_NUMBERED = re.compile(r"^\s*\d+(?:\t|→|: ?|\| ?)")


class Repeat(StrEnum):
    """Kind of repetition."""

    FILE = "file"
    """A file that no call changed meanwhile was read again, or a part of it whose lines were known; each such read counts."""
    COMMAND = "command"
    """A command ran again and printed the same, and no call changed a file since its last run, as far as its words tell."""
    ERROR = "error"
    """A call failed with the same error."""
    REQUEST = "request"
    """The user repeated a sentence."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """One repetition."""

    kind: Repeat
    text: str
    """The path, command, error or sentence; text from the session, not safe to show."""
    entry: EntryIndex
    """The entry of the repetition."""
    tokens: int
    """Estimated tokens that the repetition added to the context: the result, or the message."""


@dataclass(frozen=True, slots=True)
class Aftermath:
    """Repetitions after one compaction."""

    calls: int
    """Number of tool calls that were looked at, at most `WINDOW`."""
    repeated: tuple[Repeated, ...]
    """Repetitions in the order of the path."""
    dollars: float | None
    """Cost of sending the tokens once, at the rates of the session's own replies, else at the model's list price.

    None if no reply records a cost and the model is in no list.
    """

    @property
    def tokens(self) -> int:
        """Tokens of all repetitions; an entry counts once."""
        return sum({one.entry: one.tokens for one in self.repeated}.values())

    def count(self, kind: Repeat) -> int:
        """Number of repetitions of a kind."""
        return sum(one.kind is kind for one in self.repeated)


@dataclass(slots=True)
class _Step:
    """Files, commands, errors and sentences in one message."""

    entry: EntryIndex
    tokens: int
    files: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    """Files shown in the message, each with its shown lines."""
    known: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    """The same, and files of which it has lines otherwise: of a command that does more, or that a call wrote."""
    commands: list[tuple[str, str]] = field(default_factory=list)
    """Commands that ended: the form for comparison, and the text."""
    printed: int = 0
    """What they printed, for comparison: counts and times differ from run to run."""
    errors: list[tuple[str, str]] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    """Sentences of the user."""
    changed: list[str] = field(default_factory=list)
    """Files that the call changed."""
    changes: int = 0
    """Number of changes of files before the call."""
    changes_after: int = 0
    """The same with its own: a command that writes a file changes nothing for its next run."""


class _Reader:
    """Reads the messages of one path in order; a result completes the call before it."""

    def __init__(self, cwd: str, table: ToolTable) -> None:
        self._cwd = cwd
        self._table = table
        self._facts = FactReader(cwd)
        self._calls: dict[str, ToolCall] = {}
        self._changes = 0

    def step(self, spoken: SpanMessage) -> _Step:
        message = as_typed(spoken.message)
        made = _Step(spoken.entry, 0, changes=self._changes)
        role = message.get("role")
        seen = self._facts.read(spoken.entry, message)
        for call in tool_calls(message):
            self._calls[call.id] = call
        if (said := user_words(message)) is not None:
            made.tokens = message_tokens(message)
            made.sentences = [one for one in typed_sentences(said) if len(content_words(one)) >= _LEAST_WORDS]
        if role != "toolResult":
            return made
        made.tokens = message_tokens(message)
        failed = bool(message.get("isError"))
        found = self._calls.pop(str(message.get("toolCallId")), None)
        text = text_of(message.get("content"))
        if found is not None:
            text = inside(text, found.name, self._table)
        shown = _lines(text) if found is not None and not failed else frozenset()
        if found is not None and not failed:
            reads = (one for one in file_calls(found, self._table) if one.action is FileAction.READ)
            made.files = [(self._located(one.path), shown) for one in reads]
            made.known += made.files
        # A command that failed may have changed files before it did.
        if found is not None and (not failed or found.name in self._table.shells):
            self._note_changes(found, made)
            for request in () if failed else requests_in(found, self._table):
                if request.operation in (FileOperation.READ, FileOperation.WRITE):
                    lines = shown if request.operation is FileOperation.READ else _lines(request.text or "")
                    made.known.append((self._located(request.path), lines))
        made.changes_after = self._changes
        made.printed = hash(_DIGITS.sub("", text).strip())
        made.commands = [(one.key, one.text) for one in seen if one.kind is FactKind.COMMAND and one.outcome]
        made.errors = [
            (one.key, one.text)
            for one in seen
            if one.kind is FactKind.ERROR and failed and tells(one.text) and not tells_of_a_run(one.text)
        ]
        return made

    def unanswered(self) -> _Step:
        """The calls so far without a result: what they change may be changed, as a compaction comes between both."""
        made = _Step(NO_ENTRY, 0)
        for call in self._calls.values():
            self._note_changes(call, made)
        return made

    def _note_changes(self, call: ToolCall, made: _Step) -> None:
        for request in requests_in(call, self._table):
            if request.operation.changes:
                made.changed += [self._located(one) for one in (request.path, request.to) if one]
            self._changes += request.operation.changes or request.operation is FileOperation.SWEEP

    def _located(self, path: str) -> str:
        return locate(path, self._cwd, tidy=self._table.tidies_paths)


@dataclass(slots=True)
class _Known:
    """Files, commands, errors and sentences known from some messages."""

    lines: dict[str, set[str]] = field(default_factory=dict)
    """Lines that were shown or written, by file."""
    commands: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Commands that ran, each with the number of changes of files up to its last run, and what that printed."""
    errors: set[str] = field(default_factory=set)
    sentences: list[str] = field(default_factory=list)

    def forget(self, step: _Step) -> None:
        """Takes out the lines of files that a message changed: they are another text now."""
        for path in step.changed:
            self.lines.pop(path, None)

    def add(self, step: _Step) -> None:
        """Adds the contents of a message."""
        self.forget(step)
        for path, lines in step.known:
            self.lines.setdefault(path, set()).update(lines)
        self.commands.update((key, (step.changes_after, step.printed)) for key, _ in step.commands)
        self.errors.update(key for key, _ in step.errors)
        self.sentences += step.sentences

    def shows(self, path: str, lines: frozenset[str]) -> bool:
        """Whether lines of a file are known."""
        known = self.lines.get(path)
        return known is not None and bool(lines) and len(lines & known) >= _SAME_LINES * len(lines)


def aftermath_of(session: Session, compaction: int, stop: Callable[[], bool] = lambda: False) -> Aftermath:
    """The aftermath of a stored compaction. Raises Refused if the entry is none, Cancelled if `stop` returns true."""
    there = replaced_by(session, compaction)
    reader = _Reader(session.cwd, table_of(session))
    gone, kept = _Known(), _Known()
    for messages, known in ((there.messages, gone), (there.kept, kept)):
        for spoken in messages:
            if stop():
                raise Cancelled("the aftermath was cancelled")
            step = reader.step(spoken)
            gone.forget(step)
            known.add(step)
    gone.forget(reader.unanswered())
    earlier = FactText("\n".join(gone.sentences), session.cwd)
    found: list[Repeated] = []
    calls = 0
    for spoken in _after(session, there.compaction):
        if stop():
            raise Cancelled("the aftermath was cancelled")
        step = reader.step(spoken)
        found += _repeated(step, gone, kept, earlier, session.cwd)
        gone.forget(step)
        kept.add(step)
        calls += spoken.message.get("role") == "toolResult"
        if calls == WINDOW:
            break
    rate = _rate(session, there.compaction) if found else None
    made = Aftermath(calls, tuple(found), None)
    return replace(made, dollars=made.tokens * rate if rate is not None else None if found else 0.0)


def _rate(session: Session, at: EntryIndex) -> float | None:
    """US dollars for a token that is sent at an entry; None if it is not known.

    It is what the session's own replies paid, else the model's list price.
    """
    rates = rates_at(session, at)
    rate = rates.resend() if rates is not None else None
    if rate is not None:
        return rate
    model = Basis.of(session).sizes.outline(at).model
    facts = facts_of("/".join(part for part in model if part)) if model is not None else None
    return facts.price_in or None if facts is not None else None


def _repeated(step: _Step, gone: _Known, kept: _Known, earlier: FactText, cwd: str) -> Iterator[Repeated]:
    """Repetitions in a message: things that are gone and were not kept; `earlier` is the text of the sentences that are gone."""
    again = [path for path, lines in step.files if gone.shows(path, lines) and not kept.shows(path, lines)]
    for path in again:
        yield Repeated(Repeat.FILE, path, step.entry, step.tokens)
    for key, text in step.commands:
        # If a command printed a file again, only the file counts.
        if not again and key not in kept.commands and gone.commands.get(key) == (step.changes, step.printed):
            yield Repeated(Repeat.COMMAND, text, step.entry, step.tokens)
    same = [text for key, text in step.errors if key in gone.errors and key not in kept.errors]
    for text in same[:1]:
        # A failed call counts once, however many errors it printed.
        yield Repeated(Repeat.ERROR, text, step.entry, step.tokens)
    for sentence in step.sentences:
        fact = Fact(FactKind.CONSTRAINT, sentence, sentence, step.entry, Voice.USER)
        if _says(earlier, fact) and not _says(FactText("\n".join(kept.sentences), cwd), fact):
            yield Repeated(Repeat.REQUEST, sentence, step.entry, step.tokens)


def repeat_words(found: Aftermath) -> str:
    """Repetitions in words: `1 file read again in 10 reads, 1 request said again`; empty if there are none."""
    counts = {kind: found.count(kind) for kind in Repeat}
    texts = [f"{counted(counts[kind], name)} {verb} again" for kind, name, verb in _WORDS if counts[kind]]
    if reads := counts[Repeat.FILE]:
        files = len({one.text for one in found.repeated if one.kind is Repeat.FILE})
        often = f" in {reads:,} reads" if reads > files else ""
        texts.insert(0, f"{counted(files, 'file')} read again{often}")
    return ", ".join(texts)


_WORDS = (
    (Repeat.COMMAND, "command", "run"),
    (Repeat.ERROR, "error", "made"),
    (Repeat.REQUEST, "request", "said"),
)


def _says(text: FactText, fact: Fact) -> bool:
    return bool(text.text) and text.holds(fact) in {FactMatch.VERBATIM, FactMatch.PARAPHRASED}


def _lines(text: str) -> frozenset[str]:
    """The lines of a result, without line numbers and empty lines."""
    return frozenset(line for one in text.split("\n") if (line := _NUMBERED.sub("", one).strip()))


def _after(session: Session, compaction: EntryIndex) -> Iterator[SpanMessage]:
    """The messages after a compaction up to the next one: on the path to the leaf, else to the last entry below it."""
    tree = session.tree
    end = session.leaf
    if not tree.is_ancestor(compaction, end):
        below = (
            entry for entry in range(len(session) - 1, compaction, -1) if tree.is_ancestor(compaction, entry)
        )
        end = EntryIndex(next(below, compaction))
    if end == compaction:
        return
    entries = (entry for run in tree.below(compaction, end) for entry in range(run.start, run.stop))
    for entry, body in session.bodies(
        takewhile(lambda one: session.columns.kind[one] != Kind.COMPACTION, entries)
    ):
        for message in messages_of(body or {}, Kind(session.columns.kind[entry])):
            yield SpanMessage(entry, message)
