"""Facts from the messages of a context that their sizes do not show: files, failures, other counts."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from leafward.context.estimators import Estimator, estimated_tokens
from leafward.files.tool_calls import FileAction, ToolTable, file_calls, path_in
from leafward.session.entries import Body, ToolCall, blocks_of, tool_calls
from leafward.session.messages import trusted_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.context.declared_messages import Declared


_APART = ("skill",)
"""Tools whose results a strategy may treat differently."""


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

    @property
    def as_objects(self) -> bool:
        """Whether whole messages are needed: only the other estimators count them."""
        return bool(self.others)

    def hear_declared(self, entries: Sequence[int], messages: Sequence[Declared]) -> None:
        """Records the same as `hear`, from messages in their declared shapes."""
        from leafward.context.declared_messages import DeclaredCall, Prompt, Reply

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
                    if type(call) is not DeclaredCall or call.name not in touching:
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

    def hear(self, entry: int, message: Body) -> None:
        """Records one message."""
        role = message.get("role")
        if role == "assistant":
            usage = trusted_usage(message)
            if usage is not None:
                self.replies.append(entry)
                self.totals.append(usage.total)
                self.outputs.append(usage.output)
                self.stamps.append(message.get("timestamp"))
            for call in tool_calls(message):
                if call.name in self.touching:
                    for made in file_calls(call, self.table):
                        self._note(entry, made.path, made.action)
        elif role == "user":
            shown = sum(block.get("type") == "image" for block in blocks_of(message.get("content")))
            if shown:
                self.images[entry] = shown
        elif role == "toolResult":
            if message.get("isError"):
                self.failed.append(entry)
            if message.get("toolName") in _APART:
                self.tools[entry] = message["toolName"]
            self._nested(entry, message.get("nestedCalls"))
        for column, estimator in zip(self.columns, self.others, strict=True):
            column.append(estimated_tokens(message, estimator))

    def _nested(self, entry: int, record: object) -> None:
        """Records calls that a tool made while it ran; failed ones count too (pi 1.5.2)."""
        calls = record.get("calls") if isinstance(record, dict) else None
        for call in blocks_of(calls) if isinstance(calls, list) else ():
            name = call.get("name")
            action = self.actions.get(name) if isinstance(name, str) else None
            path = path_in(call.get("arguments"), self.table)
            if action is not None and path is not None:
                self._note(entry, path, action)

    def _note(self, entry: int, path: str, action: FileAction) -> None:
        self.touched.append(entry)
        self.paths.append(path)
        self.modifies.append(action is not FileAction.READ)
