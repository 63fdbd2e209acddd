"""An agent's own task list before a span: a call in the span may change an item by its id alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entries import EntryIndex, Kind, tool_calls
from leafward.session.messages import message_in
from leafward.summaries.facts.calls.agent_plan import BY_ITEM, AgentPlan, whole_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from leafward.session.entries import Body, ToolCall
    from leafward.session.session import Session
    from leafward.summaries.facts.calls.agent_plan import Items

_NAMES = (
    *(name.encode() for name in BY_ITEM),
    b"todo",
    b"Todo",
    b"update_plan",
    b'"plan"',
    b'"tasks"',
    b'"items"',
)
"""Words of calls about the list: every line with such a call holds at least one."""

_AT_ONCE = 256
"""Replies that are decoded together."""
_LISTED = frozenset({"todo", "todoread"})
"""Tools whose results carry the list: that of pi's extension and that of opencode."""


def plan_before(session: Session, messages: Sequence[tuple[EntryIndex, Body]]) -> Items:
    """The list as the path above some messages left it; empty where none of them is about one."""
    if not any(_about_plan(message) for _, message in messages):
        return ()
    top = session.columns.parent[min(entry for entry, _ in messages)]
    path = [entry for run in session.tree.path_runs(top) for entry in range(run.start, run.stop)]
    plan = AgentPlan()
    for entry, calls, results in reversed(list(_changes(session, path))):
        for call in calls:
            plan.called(call, entry)
        for result in results:
            plan.answered(str(result.get("toolCallId")), result)
            plan.shown(result, entry)
    return tuple(plan.items.items())


def _changes(
    session: Session, path: Sequence[int]
) -> Iterator[tuple[EntryIndex, list[ToolCall], list[Body]]]:
    """The replies of a path with calls about the list, the newest first, with their calls and results.

    Replies before one that wrote the whole list do not matter.
    """
    kinds = session.columns.kind
    place_of = {entry: place for place, entry in enumerate(path) if kinds[entry] == Kind.ASSISTANT}
    callers = list(place_of)
    for end in range(len(callers), 0, -_AT_ONCE):
        some = callers[max(0, end - _AT_ONCE) : end]
        bodies = session.bodies(some, lambda _, line: any(name in line for name in _NAMES))
        found = [(entry, calls) for entry, body in bodies if (calls := _plan_calls(message_in(body or {})))]
        for entry, calls in reversed(found):
            results = [
                message_in(session.body(EntryIndex(index)) or {})
                for index in _results(path, place_of[entry], kinds)
            ]
            yield entry, calls, results
            failed = {str(one.get("toolCallId")) for one in results if one.get("isError")}
            if any(call.id not in failed and whole_list(call.arguments) is not None for call in calls):
                return


def _about_plan(message: Body) -> bool:
    return message.get("role") == "assistant" and bool(_plan_calls(message))


def _plan_calls(message: Body) -> list[ToolCall]:
    return [
        call
        for call in tool_calls(message)
        if call.name in BY_ITEM or call.name in _LISTED or whole_list(call.arguments) is not None
    ]


def _results(path: Sequence[int], place: int, kinds: Sequence[int]) -> Iterable[int]:
    """The results after a reply, until the next one."""
    for entry in (path[later] for later in range(place + 1, len(path))):
        if kinds[entry] == Kind.ASSISTANT:
            return
        if kinds[entry] == Kind.TOOL_RESULT:
            yield entry
