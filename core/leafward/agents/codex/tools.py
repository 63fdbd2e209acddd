"""The tools of Codex that touch files: shells, patches, images."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from leafward.agents.base import Touch
from leafward.files.reads import ReadForm
from leafward.files.tool_calls import Action, ToolTable, file_calls
from leafward.session.entries import ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterator

SHELLS = frozenset(
    {"exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec", "user_shell"}
)
CODEX_TOOLS = ToolTable(
    {"view_image": Action.READ, "read": Action.READ},
    SHELLS,
    command=("cmd", "command"),
    folder=("workdir", "working_directory"),
    shell_form=ReadForm(
        frame=r"\A(?:(?:Chunk ID|Exit code|Wall time|Total output lines): ?.*?\nOutput:\n)?(?P<text>.*)\Z",
        cut=r"(?:tokens|chars) truncated|^\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]$",
    ),
    scripts={"exec": ("input",)},
    patches={"apply_patch": ("input", "patch"), "applypatch": ("input", "patch")},
)
"""`read` is what a result names by itself: a file that Codex says a command printed. `exec` is its code mode."""

_CALL = re.compile(
    rb'"type":"(?:function|custom_tool)_call"[^{}]{0,400}?"name":"(\w+)","(arguments|input)":("(?:[^"\\]|\\.){0,200000}")'
)
"""A call as Codex writes it."""


def touched_in(data: bytes) -> Iterator[Touch]:
    """Files that calls in a piece of a rollout name."""
    for name, field, raw in _CALL.findall(data):
        try:
            text = orjson.loads(raw)
            arguments = {"input": text} if field == b"input" else orjson.loads(text)
        except ValueError:
            continue
        if isinstance(arguments, dict):
            for made in file_calls(ToolCall("", name.decode(), arguments), CODEX_TOOLS):
                yield Touch(made.path, made.action is not Action.READ)
