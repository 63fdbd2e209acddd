"""The tools of Codex that touch files: shells, patches, images."""

from __future__ import annotations

from leafward.files.reads import ReadForm
from leafward.files.tool_calls import FileAction, ToolTable

SHELLS = frozenset(
    {"exec_command", "shell", "shell_command", "local_shell", "container.exec", "unified_exec", "user_shell"}
)
STOPPED = r"(?:Wall time: [\d.]+ seconds\n)?aborted by user(?: after [\d.]+s)?\Z"
"""The text in place of the output of a call that the user stopped."""
CODEX_TOOLS = ToolTable(
    {"view_image": FileAction.READ, "read": FileAction.READ},
    SHELLS,
    command=("cmd", "command"),
    folder=("workdir", "working_directory"),
    shell_form=ReadForm(
        frame=r"\A(?:(?:(?:Chunk ID|Exit code|Wall time|Total output lines): ?|Script \w+).*?\nOutput:\n+)?(?P<text>.*)\Z",
        cut=r"(?:tokens|chars) truncated|^\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]$",
    ),
    stopped=STOPPED,
    stand_in="aborted",
    runs_together=True,
    scripts={"exec": ("input",)},
    patches={"apply_patch": ("input", "patch"), "applypatch": ("input", "patch")},
)
"""`read` is the name in results: a file that a command printed, according to Codex. `exec` is Codex's code mode."""
