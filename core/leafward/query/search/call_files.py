"""The files that a result is about: its call names them, and the call stands in an entry before it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.files.tool_calls import file_calls, table_of
from leafward.query.search.case_folding import folded
from leafward.session.entries import Kind, tool_calls

if TYPE_CHECKING:
    from leafward.session.entries import Body, ToolCall
    from leafward.session.session import Session

_CALLS_BACK = 64
"""Entries before a result that are searched for its call."""
_ANSWERS = re.compile(rb'"toolCallId"\s*:\s*("[^"\\]*")?')
"""The id of the call that a stored result answers; no id where it is written with escapes."""


class FileCalls:
    """The calls of a session that name one of some files, collected from its replies in order, and their results."""

    def __init__(self, session: Session, files: tuple[str, ...]) -> None:
        """`files` are folded parts of names."""
        self._session = session
        self._table = table_of(session)
        self._files = files
        self._ids: set[str] = set()

    def note(self, message: Body) -> None:
        """Collects the calls of a reply."""
        for call in tool_calls(message):
            if any(name in folded(path) for path in self._paths(call) for name in self._files):
                self._ids.add(call.id)

    def may_answer(self, line: bytes) -> bool:
        """Whether a stored result may answer one of the calls."""
        return any(
            not named or named[1:-1].decode("utf-8", "replace") in self._ids
            for named in _ANSWERS.findall(line)
        )

    def paths(self, index: int, message: Body) -> tuple[str, ...]:
        """The files that the call of a result names; empty where it names none of the wanted files.

        Several calls may have the same id: the nearest one above counts.
        """
        call_id = str(message.get("toolCallId", ""))
        if call_id not in self._ids:
            return ()
        columns = self._session.columns
        at = columns.parent[index]
        for _ in range(_CALLS_BACK):
            if at < 0:
                break
            if columns.kind[at] == Kind.ASSISTANT:
                reply = (self._session.body(at) or {}).get("message")
                for call in tool_calls(reply) if isinstance(reply, dict) else ():
                    if call.id == call_id:
                        return self._paths(call)
            at = columns.parent[at]
        return ()

    def _paths(self, call: ToolCall) -> tuple[str, ...]:
        return tuple(made.path for made in file_calls(call, self._table))
