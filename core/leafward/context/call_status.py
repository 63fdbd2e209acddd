"""Outcome of a tool's call or of a user's command."""

from __future__ import annotations

import re
from dataclasses import dataclass

from leafward.files.edits import lines_of
from leafward.files.tool_calls import NATIVE_TOOLS, FileAction, ToolTable
from leafward.session.entries import Body, ToolCall, text_of


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Outcome of a tool's call or of a user's command."""

    ok: bool
    exit_code: int | None
    """Exit code of a command that ran to its end; None for other tools and for a command that was stopped."""
    lines: int
    """Lines of output: the recorded total if the result has one, else the lines that were kept."""
    stopped: str = ""
    """`aborted` or `timed out` if a command was stopped."""


# pi 1.5.2 appends this to the output of a command that did not end well.
_STATUS = re.compile(
    r"(?:\A|\n)\s*Command (?:exited with code (-?\d{1,18})|(aborted|timed out)|terminated without an exit code)[^\n]*\s*\Z"
)


_STATUS_SIZE = 400


_NO_OUTPUT = "(no output)"

_FRAMED = 1 << 18
"""Most characters of a result in which a frame around it is looked for."""


def outcome(body: Body, table: ToolTable = NATIVE_TOOLS) -> CallOutcome:
    """The outcome recorded in a tool's result or in a `bashExecution` message."""
    message = body.get("message")
    if not isinstance(message, dict):
        return CallOutcome(ok=True, exit_code=None, lines=0)
    if message.get("role") == "bashExecution":
        code = message.get("exitCode")
        stopped = "aborted" if message.get("cancelled") else ""
        lines = len(lines_of(str(message.get("output") or "")))
        code = code if isinstance(code, int) else None
        return CallOutcome(not code and not stopped, None if stopped else code, lines, stopped)
    ok = not message.get("isError")
    name = str(message.get("toolName"))
    text = inside(text_of(message.get("content")), name, table)
    if name not in table.shells:
        return CallOutcome(ok, None, len(lines_of(text)))
    exit_code = message.get("exitCode")
    if isinstance(exit_code, int):
        return CallOutcome(ok, exit_code, len(lines_of(text.rstrip("\n"))))
    ending = None if ok else _STATUS.search(text, max(0, len(text) - _STATUS_SIZE))
    output = text[: ending.start()] if ending is not None else text
    lines = 0 if output.strip() == _NO_OUTPUT else _total_lines(message) or len(lines_of(output.rstrip("\n")))
    if ok:
        return CallOutcome(ok, 0, lines)
    code = int(ending[1]) if ending is not None and ending[1] else None
    return CallOutcome(ok, code, lines, (ending[2] or "") if ending is not None else "")


def inside(text: str, name: str, table: ToolTable) -> str:
    """The file's content or the command's output, without the text that the agent puts around it."""
    form = table.shell_form if name in table.shells else table.part_of(ToolCall("", name, {})).read_form
    reads = name in table.shells or table.actions.get(name) is FileAction.READ
    found = re.search(form.frame, text, re.DOTALL) if form.frame and reads and len(text) <= _FRAMED else None
    return found["text"] if found is not None else text


def _total_lines(message: Body) -> int:
    details = message.get("details")
    truncation = details.get("truncation") if isinstance(details, dict) else None
    total = truncation.get("totalLines") if isinstance(truncation, dict) else None
    return total if isinstance(total, int) else 0
