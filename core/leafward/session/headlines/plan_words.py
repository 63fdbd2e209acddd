"""A call's effect on an agent's own task list, in one line: the progress of the list, or the change of one item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.entries import ToolCall

_WHOLE = ("todos", "plan")
"""Arguments with such a list, each item with a `status`."""
_TEXT = ("content", "step", "text")
_OVER = ("completed", "cancelled")
CREATES = "TaskCreate"
"""Claude Code's tool that makes one item (since 2.1)."""
CREATED = late(r"Task #(\S{1,80}) created successfully: (.*)")
"""The beginning of its result: the id of the item, and its words."""


def made_items(answered: Iterable[tuple[ToolCall, str]]) -> dict[str, str]:
    """The words of the items that calls made, by the ids in their results."""
    made = (CREATED.match(output) for call, output in answered if call.name == CREATES)
    return {one[1]: one[2] for one in made if one is not None}


def plan_words(call: ToolCall) -> str:
    """The progress of a list and its current item, or the change of one item; empty where a call has no such list."""
    arguments = call.arguments
    if isinstance(arguments.get("taskId"), str):
        return _of_item(arguments)
    if call.name == CREATES and isinstance(arguments.get("subject"), str):
        return str(arguments["subject"])
    if call.name == "todo" and isinstance(arguments.get("action"), str):
        # The tool belongs to an extension that comes with pi.
        number, text = arguments.get("id"), arguments.get("text")
        place = f" #{number}" if isinstance(number, int) else ""
        return f"{arguments['action']}{place}" + (f": {text}" if isinstance(text, str) and text else "")
    found = next((value for key in _WHOLE if isinstance(value := arguments.get(key), list)), None)
    return _of_list(found) if found is not None else ""


def _of_item(arguments: dict[str, Any]) -> str:
    status, subject, owner = (arguments.get(name) for name in ("status", "subject", "owner"))
    said = [status.replace("_", " ")] if isinstance(status, str) else []
    for name, words in (("addBlockedBy", "waits for"), ("addBlocks", "blocks")):
        others = arguments.get(name)
        if isinstance(others, list) and others:
            said.append(f"{words} " + ", ".join(f"#{one}" for one in others))
    if isinstance(owner, str) and owner:
        said.append(f"owner {owner}")
    head = f"#{arguments['taskId']}" + (f" {', '.join(said)}" if said else "")
    return f"{head}: {subject}" if isinstance(subject, str) and subject else head


def _of_list(items: list[Any]) -> str:
    listed = [one for one in items if isinstance(one, dict)]
    left = [one for one in listed if one.get("status") not in _OVER]
    count = f"{len(listed) - len(left):,} of {len(listed):,} done"
    if not left:
        return count
    now = next((one for one in left if one.get("status") == "in_progress"), None)
    words = next((one for key in _TEXT if isinstance(one := (now or left[0]).get(key), str)), "")
    return f"{count}, {'next' if now is None else 'now'}: {words}" if words else count
