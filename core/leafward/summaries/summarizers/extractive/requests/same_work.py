"""The turns of a span that are about the same work: they changed the same files."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from leafward.session.entries import tool_calls
from leafward.summaries.facts.calls.agent_plan import changes_plan
from leafward.summaries.facts.calls.call_arguments import changes_text
from leafward.summaries.facts.calls.outcomes import files_changed, looks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.session.entries import ToolCall
    from leafward.summaries.summarizers.extractive.candidates import FileWork
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_NAMES = re.compile(r"[\w-]+(?:\.[\w-]+)*")


class SameWork:
    """The turns of a span that changed the same files, or what an earlier one's answer tells of."""

    def __init__(
        self, messages: Sequence[SpanMessage], failed: frozenset[str], cwd: str, files: Mapping[str, FileWork]
    ) -> None:
        """`failed` are the failed calls, `files` the work on each file."""
        self._messages, self._failed, self._cwd, self._files = messages, failed, cwd, files
        self._restored = {path for path, work in files.items() if work.restored and not work.changes}

    def goes_on(self, begun: Turn, goal: Turn) -> bool:
        """Whether a later request's work changed a file that the first one's work changed, or the work just before it."""
        first = set(self._changed(begun.first, begun.last))
        if not first:
            return False
        since = set(self._changed(goal.first, len(self._messages) - 1))
        place = goal.first
        while not since and place > begun.last:
            place -= 1
            since = set(self._changed(place, place))
        return not first.isdisjoint(since) or (not since and place == begun.last)

    def changed(self, turn: Turn) -> list[str]:
        """The files that the work on a request changed; one that changed none and was followed by others may be a remark.

        A file that git brought back is not changed.
        """
        return [path for path in self._changed(turn.first, turn.last) if path not in self._restored]

    def only_looked(self, turn: Turn) -> bool:
        """Whether the calls for a request only showed or searched something, or the last one that did more failed: nothing shows that it is done.

        Not so where the reply to it is behind the span.
        """
        calls = self._calls(turn)
        return bool(calls) and not tool_calls(self._messages[turn.last].message) and not self.did(turn)

    def did(self, turn: Turn) -> bool:
        """Whether the last call for a request that did more than to look went well."""
        did = [
            call
            for call in self._calls(turn)
            if changes_text(call.arguments) or not (looks(call.arguments) or changes_plan(call))
        ]
        return bool(did) and did[-1].id not in self._failed

    def _calls(self, turn: Turn) -> list[ToolCall]:
        return [
            call
            for _, message in self._messages[turn.first : turn.last + 1]
            if message.get("role") == "assistant"
            for call in tool_calls(message)
        ]

    def went_on(self, turn: Turn) -> bool:
        """Whether all files that the work on a request changed were changed again after it."""
        changed = [work.changed for path in self.changed(turn) if (work := self._files.get(path)) is not None]
        return bool(changed) and min(changed) > turn.last

    def overtakes(self, statement: str, turn: Turn) -> bool:
        """Whether a file or a name of code in a statement was written anew after the turn that it ends.

        A file that was made after it may name anything.
        """
        return any(
            made <= turn.last < place
            for name in _NAMES.findall(statement)
            for made, place in self._written.get(name, ())
        )

    @cached_property
    def _written(self) -> dict[str, list[tuple[int, int]]]:
        """For each name where the files were made into which it was written, and where it was written last; so for their own names."""
        written: dict[str, list[tuple[int, int]]] = {}
        for path, work in self._files.items():
            for name, place in (*work.names.items(), (path.rpartition("/")[2], work.changed)):
                written.setdefault(name, []).append((work.made, place))
        return written

    def _changed(self, begin: int, end: int) -> list[str]:
        return list(
            dict.fromkeys(
                path
                for _, message in self._messages[begin : end + 1]
                for path in files_changed(message, self._failed, self._cwd)
            )
        )
