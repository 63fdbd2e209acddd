"""The tools of Claude Code that touch files."""

from __future__ import annotations

from leafward.files.reads import NUMBERED_LINES, ReadForm
from leafward.files.tool_calls import FileAction, ToolTable

CLAUDE_TOOLS = ToolTable(
    {
        "Read": FileAction.READ,
        "NotebookRead": FileAction.READ,
        "Write": FileAction.WRITE,
        "Edit": FileAction.EDIT,
        "MultiEdit": FileAction.EDIT,
        "NotebookEdit": FileAction.EDIT,
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
        frame=r"\A(?P<text>.*?)(?:(?<!\n)\n+<system-reminder>.*)?\Z",
        cut=r"\.\.\. \[truncated\]$",
        most=2000,
        ends=False,
    ),
    shell_form=ReadForm(
        cut=r"^<persisted-output>$|^\.\.\. \[\d+ (?:lines|characters) truncated\] \.\.\.$", newline=False
    ),
)
"""`Glob`, `Grep` and `LS` name places to search, not files that are read. Reads and records use newlines only; an edit restores the
line ends of the file, a write takes its text as it is (2.1.197 and 2.1.330)."""
