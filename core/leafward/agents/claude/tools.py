"""The tools of Claude Code that touch files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from leafward.agents.base import Touch
from leafward.files.reads import NUMBERED_LINES, ReadForm
from leafward.files.tool_calls import Action, ToolTable, file_calls
from leafward.session.entries import ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterator

CLAUDE_TOOLS = ToolTable(
    {
        "Read": Action.READ,
        "NotebookRead": Action.READ,
        "Write": Action.WRITE,
        "Edit": Action.EDIT,
        "MultiEdit": Action.EDIT,
        "NotebookEdit": Action.EDIT,
    },
    frozenset({"Bash", "PowerShell"}),
    path=("file_path", "notebook_path", "path"),
    content=("content",),
    old=("old_string",),
    new=("new_string", "new_source"),
    edits=("edits",),
    command=("command",),
    searches={"Glob": ("pattern",), "Grep": ("pattern",), "LS": ()},
    read_form=ReadForm(
        number=NUMBERED_LINES,
        frame=r"\A(?P<text>.*?)(?:\n+<system-reminder>.*)?\Z",
        cut=r"\.\.\. \[truncated\]$",
        most=2000,
        ends=False,
    ),
    shell_form=ReadForm(
        cut=r"^<persisted-output>$|^\.\.\. \[\d+ (?:lines|characters) truncated\] \.\.\.$", newline=False
    ),
)
"""`Glob`, `Grep` and `LS` name places to look in, not files that are read. What is read and recorded has newlines alone; an edit
puts the ends of the file back, a write takes its text as it is (2.1.197 and 2.1.330)."""

_CALL = re.compile(
    rb'"type":"tool_use","id":"[^"\\]{0,80}","name":"(Read|NotebookRead|Write|Edit|MultiEdit|NotebookEdit|Bash|PowerShell)",'
    rb'"input":\{[^{}]{0,2000}?"(file_path|notebook_path|command)":("(?:[^"\\]|\\.){0,20000}")'
)
"""A call as Claude Code writes it."""


def touched_in(data: bytes) -> Iterator[Touch]:
    """Files that calls in a piece of a transcript name."""
    for name, field, raw in _CALL.findall(data):
        try:
            text = orjson.loads(raw)
        except ValueError:
            continue
        for made in file_calls(ToolCall("", name.decode(), {field.decode(): text}), CLAUDE_TOOLS):
            yield Touch(made.path, made.action is not Action.READ)
