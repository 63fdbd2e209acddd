"""Possible targets of the leaf, and remarks on the conversation there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.errors import Refused
from leafward.base.figures import counted
from leafward.session.entries import NO_ENTRY, Damage, EntryIndex, Kind, tool_calls
from leafward.session.journal.write import WriteRemark
from leafward.session.messages import did_run, message_in

if TYPE_CHECKING:
    from leafward.session.session import Session

_NO_TARGET = {
    Damage.MALFORMED: "is a damaged line, not an entry",
    Damage.NO_ID: "has no id",
    Damage.EXTRA_HEADER: "is a session header",
}
"""Damage of an entry that no other entry can name, in words."""


def refuse_unnamable(session: Session, target: int) -> None:
    """Raises Refused where no other entry can name this one, because it is damaged or missing."""
    columns = session.columns
    if not 0 <= target < len(columns):
        raise Refused("there is no such entry")
    if columns.kind[target] not in (Kind.MALFORMED, Kind.HEADER) and session.body(target) is None:
        session.discredit([target])
    damage = columns.damage.get(target)
    if damage in _NO_TARGET:
        raise Refused(f"entry #{target} {_NO_TARGET[damage]}")
    if columns.index(columns.id(EntryIndex(target))) != target:
        raise Refused(f"entry #{target} has the same id as a later one, which is the one that counts")


def refuse_unreachable(session: Session, target: int) -> None:
    """Raises Refused where the leaf cannot move to an entry. -1, before everything, is allowed."""
    if target == NO_ENTRY:
        return
    refuse_unnamable(session, target)
    root = session.tree.path_runs(target)[0].start
    if session.columns.damage.get(root) is Damage.CYCLE:
        raise Refused(f"the parents of entry #{target} run in a circle, which pi cannot open")


def landing(session: Session, target: int) -> tuple[WriteRemark, ...]:
    """Remarks on oddities for a model when the conversation goes on at an entry. Decodes a few bodies."""
    here = session.tree.content_at(target)
    if here >= 0 and session.columns.kind[here] == Kind.USER:
        return (
            WriteRemark(
                "two-prompts",
                "the target is a prompt: your next prompt would follow it with no reply between",
            ),
        )
    missing, answered = _open_calls(session, here)
    if not missing:
        return ()
    calls = counted(missing, "tool call has", "tool calls have")
    which = "partial-results" if answered else "open-calls"
    addition = "; pi tells the model that there is none" if session.is_native else ""
    return (WriteRemark(which, f"{calls} no result here{addition}"),)


def _open_calls(session: Session, here: int) -> tuple[int, int]:
    """Calls of the reply at or above an entry, in the same turn, without a result on its path; and results found."""
    columns = session.columns
    answered: set[str] = set()
    while here >= 0:
        kind = columns.kind[here]
        if kind == Kind.TOOL_RESULT:
            answered.add(str(message_in(session.body(here) or {}).get("toolCallId")))
        elif kind == Kind.ASSISTANT:
            reply = message_in(session.body(here) or {})
            calls = tool_calls(reply) if did_run(reply) else []
            return sum(1 for call in calls if call.id not in answered), len(answered)
        elif kind in (Kind.USER, Kind.COMPACTION, Kind.BRANCH_SUMMARY):
            break
        here = columns.parent[here]
    return 0, 0
