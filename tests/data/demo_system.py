"""The system message of the demo session: prompt sections and tool declarations in the shape that pi stores."""

from __future__ import annotations

from typing import Any

from tests.data.demo_project import AGENTS

SECTIONS = {
    "preamble": "You work with one engineer on the code in front of you. Look before you answer, change only what was "
    "asked for, and say plainly when something did not work.",
    "tools": """\
<tools>
- read: show a file or a part of it
- bash: run a command in the project folder
- edit: replace exact pieces of a file
- write: create a file or replace it whole
- grep: find lines by pattern
</tools>""",
    "rules": """\
<rules>
- Read a file before the first edit to it.
- Prefer one edit call with several pieces to several calls on the same file.
- Run the tests that a change can break, and quote the line that matters when they fail.
- Keep answers short. Use a table when things are compared.
</rules>""",
    "project_context": f"""\
<project_context>
<project_instructions path="/home/ada/work/hopper/AGENTS.md">
{AGENTS}
</project_instructions>
</project_context>""",
    "cwd": "<cwd>\n/home/ada/work/hopper\n</cwd>",
}


def tool(name: str, description: str, required: list[str], **properties: tuple[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "required": required,
            "properties": {
                key: {"type": kind, "description": text} for key, (kind, text) in properties.items()
            },
        },
    }


TOOLS = [
    tool(
        "read",
        "Show a text file or a picture. Long files are cut; go on with offset.",
        ["path"],
        path=("string", "File to show"),
        offset=("number", "First line, counted from 1"),
        limit=("number", "How many lines"),
    ),
    tool(
        "bash",
        "Run a command and return what it printed. Only the end of a long output is kept.",
        ["command"],
        command=("string", "The command line"),
        timeout=("number", "Seconds after which it is stopped"),
    ),
    {
        "name": "edit",
        "description": "Replace pieces of one file. Each old text has to occur exactly once; pieces must not overlap.",
        "parameters": {
            "type": "object",
            "required": ["path", "edits"],
            "properties": {
                "path": {"type": "string", "description": "File to change"},
                "edits": {
                    "type": "array",
                    "description": "The pieces, all matched against the file as it is now",
                    "items": {
                        "type": "object",
                        "required": ["oldText", "newText"],
                        "properties": {
                            "oldText": {"type": "string", "description": "What stands there"},
                            "newText": {"type": "string", "description": "What shall stand there"},
                        },
                    },
                },
            },
        },
    },
    tool(
        "write",
        "Create a file, or replace it whole. Missing folders are made.",
        ["path", "content"],
        path=("string", "File to write"),
        content=("string", "Its whole text"),
    ),
    tool(
        "grep",
        "Find lines by regular expression. Ignores what git ignores.",
        ["pattern"],
        pattern=("string", "The expression"),
        path=("string", "File or folder to look in"),
        glob=("string", "Only files whose name matches"),
    ),
]
