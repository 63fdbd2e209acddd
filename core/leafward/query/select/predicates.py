"""Conditions of a query on single entries: texts, tools, files, numbers, times. Bodies are decoded on demand."""

from __future__ import annotations

import fnmatch
import re
import time
from typing import TYPE_CHECKING

from leafward.base.errors import Cancelled
from leafward.base.globs import matches
from leafward.context.entry_metrics import FAILED, EntryMetrics
from leafward.context.model_context import context_at
from leafward.context.projection import latest
from leafward.files.file_replay.step_reader import steps
from leafward.files.file_replay.steps import StepOutcome
from leafward.files.tool_calls import table_of
from leafward.query.conditions import limit_of
from leafward.query.lexer import QueryError
from leafward.query.passages import KINDS, passages
from leafward.query.patterns import TooSlow
from leafward.query.select import sets
from leafward.session.entries import (
    BOOKKEEPING_BYTES,
    CONTEXT_CHANGES,
    NO_ENTRY,
    PROMPTS,
    Body,
    EntryIndex,
    Kind,
    tool_calls,
)
from leafward.session.messages import message_in, message_text, messages_of, usage_of, written_at
from leafward.summaries.fates.report import Status, survival_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from leafward.query.grammar import Compare
    from leafward.query.patterns import Pattern
    from leafward.query.select.sets import Members
    from leafward.session.session import Session

_LOOK = 256


class Bodies:
    """Answers for single entries that only their bodies give."""

    def __init__(self, session: Session, stop: Callable[[], bool]) -> None:
        self._session = session
        self._stop = stop
        self._kinds = session.columns.kind
        self._metrics: EntryMetrics | None = None

    def metrics(self, within: Members) -> EntryMetrics:
        """The columns of numbers, filled for a set."""
        if self._metrics is None:
            self._metrics = EntryMetrics(self._session)
        self._metrics.fill(self._session, list(sets.entries(within)), self._stop)
        self._check()
        return self._metrics

    def saying(self, text: str, within: Members) -> bytearray:
        """Entries whose text contains another, case ignored."""
        needle = text.casefold()
        return self._where(within, lambda body, kind: needle in _full_text(body, kind).casefold())

    def matching(self, pattern: Pattern, within: Members, column: int) -> bytearray:
        """Entries whose text matches a pattern. Raises QueryError where that takes too long."""

        def holds(body: Body, kind: Kind) -> bool:
            return next(pattern.spans(_full_text(body, kind), 1), None) is not None

        try:
            return self._where(within, holds)
        except TooSlow:
            raise QueryError("this regular expression takes too long: make it simpler", column) from None

    def tool(self, name: str, within: Members) -> bytearray:
        """Replies that call a tool, and its results."""
        pattern = re.compile(fnmatch.translate(name.casefold()))

        def asks(body: Body, kind: Kind) -> bool:
            message = message_in(body)
            if kind is Kind.TOOL_RESULT:
                return pattern.match(str(message.get("toolName")).casefold()) is not None
            return any(pattern.match(call.name.casefold()) for call in tool_calls(message))

        return self._where(within, asks, (Kind.ASSISTANT, Kind.TOOL_RESULT))

    def file(self, pattern: str, within: Members, *, changing: bool, part: bool = False) -> bytearray:
        """Entries whose calls touch a file; only those that change it where `changing`. Failed calls do not count.

        Where `part`, the pattern is a part of a name, case ignored, and failed calls count.
        """
        # Results are read even for a query about calls alone, because they tell which calls failed.
        every = steps(self._session, range(len(within)), self._stop)
        self._check()
        return sets.of(
            (
                step.entry
                for step in every
                if (part or step.outcome is not StepOutcome.FAILED)
                and (step.operation.changes or not changing)
                and any(_names(path, pattern, part) for path in (step.path, step.to) if path is not None)
            ),
            len(within),
        )

    def failed_on(self, name: str, within: Members) -> bytearray:
        """Results of failed calls on a file whose name contains `name`, case ignored."""
        every = steps(self._session, range(len(within)), self._stop)
        self._check()
        return sets.of(
            (
                step.result
                for step in every
                if step.outcome is StepOutcome.FAILED
                and step.result >= 0
                and any(_names(path, name, part=True) for path in (step.path, step.to) if path is not None)
            ),
            len(within),
        )

    def part(self, part: str, within: Members) -> bytearray:
        """Entries that have a part such as a prompt, a call or a summary."""
        table = table_of(self._session)

        def has(body: Body, kind: Kind) -> bool:
            return any(one.part == part and one.text for one in passages(body, kind, table))

        return self._where(within, has, KINDS[part])

    def since(self, moment: int, within: Members) -> bytearray:
        """Entries written since a moment, in milliseconds since 1970."""
        return self._where(within, lambda body, _kind: (written_at(body) or 0) >= moment)

    def failed(self, within: Members) -> bytearray:
        """Failed calls, replies that ended in an error, and the user's commands that failed."""
        flags = self.metrics(within).flags
        return sets.of((at for at in sets.entries(within) if flags[at] & FAILED), len(within))

    def turns(self, members: Members) -> bytearray:
        """The entries from the prompt before each entry to the next one, along its path and below it in its run."""
        found, tree = bytearray(len(members)), self._session.tree
        for index in sets.entries(members):
            at = index
            while at >= 0 and not found[at]:
                found[at] = 1
                if self._kinds[at] in PROMPTS:
                    break
                at = EntryIndex(tree.parent[at])
            stop = tree.bounds(tree.run_of(index))[1]
            for below in range(index + 1, stop):
                # What an earlier entry of the turn has found goes on to the next prompt.
                if self._kinds[below] in PROMPTS or found[below]:
                    break
                found[below] = 1
        return found

    def context(self, nodes: Iterable[EntryIndex]) -> bytearray:
        """The entries that the model reads at some nodes.

        Below the last compaction or context edit of a path the model reads every spoken entry, so shared parts of paths are
        visited once.
        """
        session, parent = self._session, self._session.tree.parent
        found, walked = bytearray(len(session)), bytearray(len(session))
        seen: set[EntryIndex] = set()
        speaking: list[int] = []
        for node in nodes:
            self._check()
            above = latest(session, node, CONTEXT_CHANGES)
            at = node
            while at not in (NO_ENTRY, above) and not walked[at]:
                walked[at] = 1
                speaking.append(at)
                at = EntryIndex(parent[at])
            if at == above >= 0 and above not in seen:
                seen.add(above)
                for entry in context_at(session, above).messages.entry:
                    found[entry] = 1
        for index, body in self._bodies(sets.of(speaking, len(found))):
            if body is not None and messages_of(body, Kind(self._kinds[index])):
                found[index] = 1
        return found

    def lost(self, compactions: Iterable[EntryIndex]) -> bytearray:
        """Entries that contain the facts which compactions lost."""
        found = bytearray(len(self._session))
        for compaction in compactions:
            self._check()
            fates = survival_of(self._session, compaction, self._stop).fates
            for fate in fates:
                if fate.status is Status.LOST and fate.fact.entry >= 0:
                    found[fate.fact.entry] = 1
        return found

    def _where(
        self, within: Members, holds: Callable[[Body, Kind], bool], kinds: tuple[Kind, ...] = ()
    ) -> bytearray:
        found = bytearray(len(within))
        column = self._kinds
        for index, body in self._bodies(within, kinds):
            if body is not None and holds(body, Kind(column[index])):
                found[index] = 1
        return found

    def _bodies(
        self, within: Members, kinds: tuple[Kind, ...] = ()
    ) -> Iterator[tuple[EntryIndex, Body | None]]:
        column = self._kinds
        entries = (at for at in sets.entries(within) if not kinds or column[at] in kinds)
        for number, (index, body) in enumerate(self._session.bodies(entries)):
            if number % _LOOK == 0:
                self._check()
            yield index, body

    def _check(self) -> None:
        if self._stop():
            raise Cancelled


def _full_text(body: Body, kind: Kind) -> str:
    """All text of an entry: prompts, replies, thinking, calls, results, summaries, labels and names."""
    if kind in (Kind.LABEL, Kind.SESSION_INFO):
        return str(body.get("label") or body.get("name") or "")
    texts = [message_text(message) for message in messages_of(body, kind)]
    # The provider's error instead of a reply, which no model receives.
    if kind is Kind.ASSISTANT and isinstance(trouble := message_in(body).get("errorMessage"), str):
        texts.append(trouble)
    return "\n".join(texts)


def _names(path: str, pattern: str, part: bool) -> bool:
    if part:
        return pattern.lower() in path.lower()
    return path == pattern or matches(path, pattern) or fnmatch.fnmatchcase(path, pattern)


def numbers(
    session: Session,
    bodies: Bodies,
    condition: Compare,
    sign: Callable[[float, float], bool],
    within: Members,
) -> bytearray:
    """Entries with a number that satisfies a comparison.

    Bookkeeping has no tokens and is left out of all fields but `index` and `depth`.
    """
    limit = limit_of(condition)
    kinds = session.columns.kind
    if condition.field == "index":
        return sets.of((at for at in sets.entries(within) if sign(at, limit)), len(within))
    if condition.field == "depth":
        depth = session.tree.depth
        return sets.of((at for at in sets.entries(within) if sign(depth(at), limit)), len(within))
    spoken = sets.of((at for at in sets.entries(within) if kinds[at] not in BOOKKEEPING_BYTES), len(within))
    if condition.field == "cost":
        found = bytearray(len(within))
        for index, body in session.bodies(sets.entries(spoken)):
            usage = usage_of(body) if body is not None else None
            found[index] = usage is not None and sign(usage.cost, limit)
        return found
    column = getattr(bodies.metrics(spoken), condition.field)
    return sets.of((at for at in sets.entries(spoken) if sign(column[at], limit)), len(within))


def times(
    session: Session,
    condition: Compare,
    sign: Callable[[float, float], bool],
    within: Members,
    now: int | None,
) -> bytearray:
    """Entries written before or after a time, or longer or shorter ago; those without a time are left out."""
    limit = limit_of(condition)
    moment = float(now if now is not None else time.time() * 1000)
    found = bytearray(len(within))
    for index, body in session.bodies(sets.entries(within)):
        if body is None:
            continue
        written = written_at(body)
        if written is not None:
            value = moment - written if condition.field == "age" else written
            found[index] = sign(value, limit)
    return found
