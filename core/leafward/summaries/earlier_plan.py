"""The list that an agent keeps of its own work as it was before a span: a call in the span may change an item by its id alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entries import EntryIndex, Kind, tool_calls
from leafward.session.messages import message_in
from leafward.summaries.facts.agent_plan import BY_ITEM, AgentPlan, whole_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward.session.entries import Body, ToolCall
    from leafward.session.session import Session
    from leafward.summaries.facts.agent_plan import Items

_NAMES = (*(name.encode() for name in BY_ITEM), b"todo", b"Todo", b"update_plan", b'"plan"', b'"tasks"')
"""What stands in every line with a call that is about the list."""

_LISTED = frozenset({"todo", "todoread"})
"""Tools whose results carry the list: of pi's extension and of opencode."""


def plan_before(session: Session, messages: Sequence[tuple[EntryIndex, Body]]) -> Items:
    """The list as the path above some messages left it; empty where none of them has to do with one."""
    if not any(_about_plan(message) for _, message in messages):
        return ()
    top = session.columns.parent[min(entry for entry, _ in messages)]
    path = [entry for run in session.tree.path_runs(top) for entry in range(run.start, run.stop)]
    kinds = session.columns.kind
    callers = [place for place, entry in enumerate(path) if kinds[entry] == Kind.ASSISTANT]
    plan, place_of = AgentPlan(), {path[place]: place for place in callers}
    for entry, body in session.bodies(place_of, lambda _, line: any(name in line for name in _NAMES)):
        reply = message_in(body or {})
        calls = _plan_calls(reply)
        for call in calls:
            plan.called(call, entry)
        results = _results(path, place_of[entry], kinds) if calls else ()
        for index in results:
            answer = message_in(session.body(EntryIndex(index)) or {})
            plan.answered(str(answer.get("toolCallId")), answer)
            plan.shown(answer, entry)
    return tuple(plan.items.items())


def _about_plan(message: Body) -> bool:
    return message.get("role") == "assistant" and bool(_plan_calls(message))


def _plan_calls(message: Body) -> list[ToolCall]:
    return [
        call
        for call in tool_calls(message)
        if call.name in BY_ITEM or call.name in _LISTED or whole_list(call.arguments) is not None
    ]


def _results(path: Sequence[int], place: int, kinds: Sequence[int]) -> Iterable[int]:
    """The results behind a reply, until the next one."""
    for entry in path[place + 1 :]:
        if kinds[entry] == Kind.ASSISTANT:
            return
        if kinds[entry] == Kind.TOOL_RESULT:
            yield entry
