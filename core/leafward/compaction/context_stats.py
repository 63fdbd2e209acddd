"""Facts from the messages of a context that their sizes do not show: files, failures, other counts."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from leafward.context.estimators import Estimator, estimated_tokens
from leafward.files.tool_calls import Action, ToolTable, file_calls, path_in
from leafward.session.entries import MOST_TOKENS, Body, ToolCall, blocks_of
from leafward.session.messages import BROKEN_OFF, trusted_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.context.declared_messages import Declared


_APART = ("skill",)
"""Tools whose results a strategy may treat differently."""


def _is_text(block: object) -> bool:
    return type(block) is dict and block.get("type") == "text"


def _counted(message: Body) -> tuple[int, int] | None:
    """The total and output tokens in a reply's usage, with a fast path for the usual form."""
    usage = message.get("usage")
    if type(usage) is dict and message.get("stopReason") not in BROKEN_OFF:
        total, output = usage.get("totalTokens"), usage.get("output")
        if type(total) is int and type(output) is int and 0 < total < MOST_TOKENS:
            return total, output
    trusted = trusted_usage(message)
    return (trusted.total, trusted.output) if trusted is not None else None


class ContextStats:
    """Listens to the messages of a context and records files, failures and other counts."""

    def __init__(self, table: ToolTable, others: tuple[Estimator, ...]) -> None:
        self.actions = table.actions
        self.table = table
        self.touching = table.touching
        self.touched = array("i")
        """The entry of each call that names a file."""
        self.paths: list[str] = []
        self.modifies = bytearray()
        self.failed: list[int] = []
        self.tools: dict[int, str] = {}
        self.replies = array("i")
        """Entries of the replies with recorded usage, in the order of the context."""
        self.totals = array("q")
        """The total tokens that each reply reported."""
        self.outputs: list[int] = []
        """The output tokens that each reply reported."""
        self.stamps: list[object] = []
        """The time of each reply, as written."""
        self.images: dict[int, int] = {}
        """Number of images in messages of the user, by entry."""
        self.others = others
        self.columns: list[list[int]] = [[] for _ in others]
        self.hear = self._listener()

    @property
    def as_objects(self) -> bool:
        """Whether whole messages are needed: only the other estimators count them."""
        return bool(self.others)

    def hear_declared(self, entries: Sequence[int], messages: Sequence[Declared]) -> None:
        """Records the same as `hear`, from messages in their declared shapes."""
        from leafward.context.declared_messages import Call, Prompt, Reply

        replied, came_to, gave = self.replies.append, self.totals.append, self.outputs.append
        stamped: Callable[[object], None] = self.stamps.append
        note, table, touching = self._note, self.table, self.touching
        actions, named = self.actions, table.path[0] if len(table.path) == 1 else None
        for entry, message in zip(entries, messages, strict=True):
            if type(message) is Reply:
                usage = message.usage
                if usage is not None:
                    replied(entry)
                    came_to(usage.total_tokens)
                    gave(usage.output)
                    stamped(message.timestamp)
                for call in message.content:
                    if type(call) is not Call or call.name not in touching:
                        continue
                    action = actions.get(call.name)
                    if action is not None:
                        arguments = call.arguments
                        path = arguments.get(named) if named is not None else path_in(arguments, table)
                        if type(path) is str and path:
                            note(entry, path, action)
                    else:
                        for made in file_calls(ToolCall("", call.name, call.arguments), table):
                            note(entry, made.path, made.action)
            elif type(message) is Prompt:
                shown = message.images()
                if shown:
                    self.images[entry] = shown
            else:
                if message.is_error:
                    self.failed.append(entry)
                if message.tool_name in _APART:
                    self.tools[entry] = message.tool_name

    def _listener(self) -> Callable[[int, Body], None]:
        """The function that records a message. A closure, because it is called for each of a hundred thousand messages."""
        nested, failed, tools = self._nested, self.failed, self.tools
        images = self.images
        replied, came_to, gave = self.replies.append, self.totals.append, self.outputs.append
        stamped: Callable[[object], None] = self.stamps.append
        actions, note, table, touching = self.actions, self._note, self.table, self.touching
        named = table.path[0] if len(table.path) == 1 else None

        def hear(entry: int, message: Body) -> None:
            role = message.get("role")
            if role == "assistant":
                counted = _counted(message)
                if counted is not None:
                    total, output = counted
                    replied(entry)
                    came_to(total)
                    gave(output)
                    stamped(message.get("timestamp"))
                content = message.get("content")
                for block in content if type(content) is list else ():
                    if type(block) is dict and "arguments" in block:
                        name = block.get("name")
                        if type(name) is not str or block.get("type") != "toolCall":
                            continue
                        action = actions.get(name)
                        if action is not None:
                            arguments = block["arguments"]
                            if named is not None and type(arguments) is dict:
                                path = arguments.get(named)
                                if type(path) is str and path:
                                    note(entry, path, action)
                            elif (path := path_in(arguments, table)) is not None:
                                note(entry, path, action)
                        elif name in touching and isinstance(block["arguments"], dict):
                            for made in file_calls(ToolCall("", name, block["arguments"]), table):
                                note(entry, made.path, made.action)
            elif role == "user":
                content = message.get("content")
                if type(content) is list and not (len(content) == 1 and _is_text(content[0])):
                    shown = sum(block.get("type") == "image" for block in blocks_of(content))
                    if shown:
                        images[entry] = shown
            elif role == "toolResult":
                if message.get("isError"):
                    failed.append(entry)
                if message.get("toolName") in _APART:
                    tools[entry] = message["toolName"]
                if "nestedCalls" in message:
                    nested(entry, message["nestedCalls"])

        if not self.others:
            return hear
        counting = list(zip(self.columns, self.others, strict=True))

        def hear_and_count(entry: int, message: Body) -> None:
            hear(entry, message)
            for column, estimator in counting:
                column.append(estimated_tokens(message, estimator))

        return hear_and_count

    def _nested(self, entry: int, record: object) -> None:
        """Records calls that a tool made while it ran; failed ones count too (pi 1.5.2)."""
        calls = record.get("calls") if isinstance(record, dict) else None
        for call in blocks_of(calls) if isinstance(calls, list) else ():
            name = call.get("name")
            action = self.actions.get(name) if isinstance(name, str) else None
            path = path_in(call.get("arguments"), self.table)
            if action is not None and path is not None:
                self._note(entry, path, action)

    def _note(self, entry: int, path: str, action: Action) -> None:
        self.touched.append(entry)
        self.paths.append(path)
        self.modifies.append(action is not Action.READ)
