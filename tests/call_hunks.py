"""The whole diff of a call, whatever number of files it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.files.edits import hunks
from leafward.files.tool_calls import NATIVE_TOOLS, ToolTable, file_calls

if TYPE_CHECKING:
    from leafward.files.edits import Hunk
    from leafward.session.entries import Body, ToolCall


def call_hunks(call: ToolCall, result: Body | None = None, table: ToolTable = NATIVE_TOOLS) -> list[Hunk]:
    return [hunk for made in file_calls(call, table) for hunk in hunks(made.action, made.call, result, table)]
