"""The tools of opencode that touch files."""

from __future__ import annotations

from leafward.files.reads import ReadForm
from leafward.files.tool_calls import FileAction, ToolTable

SNAPSHOT = "snapshot"
"""Not a tool: it stands for a file that opencode's snapshots show as changed and that no call names."""

OPENCODE_TOOLS = ToolTable(
    {
        "read": FileAction.READ,
        "write": FileAction.WRITE,
        "edit": FileAction.EDIT,
        "multiedit": FileAction.EDIT,
        SNAPSHOT: FileAction.EDIT,
    },
    frozenset({"bash", "shell"}),
    path=("filePath", "file_path", "path"),
    content=("content",),
    old=("oldString",),
    new=("newString",),
    edits=("edits",),
    command=("command",),
    folder=("workdir", "cwd"),
    searches={"glob": ("pattern",), "grep": ("pattern",), "list": ()},
    keeps_ends=False,
    read_form=ReadForm(
        number=r"(\d{1,18})(?:\| |: )",
        frame=r"\A(?:(?!<(?:file|content)>\n).)*+<(?:file|content)>\n(?P<text>.*?)(?:(?:(?<!\n)|(?<=>\n))\n+\((?:End of file[^\n]*|(?P<more>[^\n]*))\))?\n</(?:file|content)>",
        folder=r"<path>[^\n]*</path>\n<type>directory</type>",
        cut=r"\.\.\.$",
        newline=False,
    ),
    shell_form=ReadForm(cut=r"^\.\.\.output truncated\.\.\.$|^\(Output was truncated"),
    runs_together=True,
    stopped=r"Tool execution aborted",
    markers=frozenset({SNAPSHOT}),
    patches={"patch": ("patchText", "patch"), "apply_patch": ("patchText", "patch")},
)
"""`list`, `glob` and `grep` name folders and patterns, not files that were read."""

SHELLS = OPENCODE_TOOLS.shells
