"""Calls and results as providers take them: each call right before its result, no result without a call, no id twice."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from typing import TYPE_CHECKING

from leafward.agents.conversation import NO_RESULT, ConversationMessage
from leafward.branches.healing.refused_blocks import HealedDifference, call_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.session.entries import Body, EntryIndex


class CallPairs:
    """Pairs the calls of a conversation with their results; appends its changes to `changes`."""

    def __init__(self, messages: Sequence[ConversationMessage], changes: list[HealedDifference]) -> None:
        self._messages = messages
        self._changes = changes
        self._results = _Results(messages)
        self._others = [position for position, one in enumerate(messages) if one.role != "result"]
        """The positions of all that is no result."""
        self._arguments: dict[str, object] = {}
        """The ids given so far, each with the arguments of its call."""
        self._numbers: dict[str, int] = {}
        """The number that an id was given last."""

    def paired(self) -> list[ConversationMessage]:
        """The messages in an order, and with ids, that every provider accepts."""
        made: list[ConversationMessage] = []
        for position, one in enumerate(self._messages):
            if one.role == "assistant":
                made += self._reply(position, one)
            elif one.role != "result":
                made.append(one)
            elif position not in self._results.taken:
                again = one.call in self._arguments
                what = "a second result of the same call" if again else "a result without a call"
                code = "repeated-result" if again else "orphan-result"
                self._change(code, f"{what} is left out", one.entry)
        return made

    def _reply(self, position: int, reply: ConversationMessage) -> list[ConversationMessage]:
        """A reply and the results of its calls; an empty list where no block of it is left."""
        blocks: list[Body] = []
        results: list[ConversationMessage] = []
        for block in reply.content:
            if block.get("type") != "toolCall":
                blocks.append(block)
                continue
            call = str(block.get("id") or "")
            found = self._results.take(call, position)
            name = self._name(call, block, reply, answered=found is not None)
            if name is None:
                continue
            self._arguments[name] = block.get("arguments")
            blocks.append({**block, "id": name})
            if found is None:
                results.append(self._no_result(call, name, block, reply))
            else:
                results.append(self._moved_up(call, position, found)._replace(call=name))
        return [reply._replace(content=tuple(blocks)), *results] if blocks else []

    def _name(self, call: str, block: Body, reply: ConversationMessage, *, answered: bool) -> str | None:
        """The id that a call gets; None for a call that was made before."""
        name = call_id(call, reply)
        if name != call:
            name = self._fresh(name) if name in self._arguments else name
            self._change("call-id", f"call {call} has another provider's id: it becomes {name}", reply.entry)
        elif call in self._arguments or not call:
            if not answered and self._arguments.get(call) == block.get("arguments"):
                self._change("repeated-call", f"call {call} was made before: it is left out", reply.entry)
                return None
            name = self._fresh(call)
            text = f"call {call} has the id of another call: it becomes {name}"
            self._change("repeated-id", text, reply.entry)
        return name

    def _no_result(
        self, call: str, name: str, block: Body, reply: ConversationMessage
    ) -> ConversationMessage:
        text = f"call {call} has no result: a result that says so is added"
        self._change("open-call", text, reply.entry)
        content: Body = {"type": "text", "text": NO_RESULT}
        tool = str(block.get("name") or "")
        return ConversationMessage("result", (content,), reply.entry, reply.time, name, tool, failed=True)

    def _moved_up(self, call: str, position: int, found: int) -> ConversationMessage:
        result = self._messages[found]
        following = bisect_right(self._others, position)
        if following < len(self._others) and self._others[following] < found:
            text = f"the result of call {call} is too far below: it is moved up to its call"
            self._change("late-result", text, result.entry)
        return result

    def _fresh(self, call: str) -> str:
        number = self._numbers.get(call, 2)
        while (name := f"{call or 'call'}_{number}") in self._arguments:
            number += 1
        self._numbers[call] = number
        return name

    def _change(self, code: str, text: str, entry: EntryIndex) -> None:
        self._changes.append(HealedDifference(code, text, entry))


class _Results:
    """The positions of the results, and which of them a call took."""

    def __init__(self, messages: Sequence[ConversationMessage]) -> None:
        self.taken: set[int] = set()
        self._waiting: dict[str, deque[int]] = {}
        self._replies: dict[str, list[int]] = {}
        for position, one in enumerate(messages):
            if one.role == "result":
                self._waiting.setdefault(one.call, deque()).append(position)
            elif one.role == "assistant":
                for name in _calls(one):
                    self._replies.setdefault(name, []).append(position)

    def take(self, call: str, after: int) -> int | None:
        """The first result of a call behind its reply and before the next reply with a call of that id; None without one."""
        waiting = self._waiting.get(call)
        while waiting and waiting[0] < after:
            waiting.popleft()
        replies = self._replies.get(call, [])
        at = bisect_right(replies, after)
        if not waiting or (at < len(replies) and waiting[0] > replies[at]):
            return None
        self.taken.add(waiting[0])
        return waiting.popleft()


def _calls(reply: ConversationMessage) -> Iterator[str]:
    for block in reply.content:
        if block.get("type") == "toolCall":
            yield str(block.get("id") or "")
