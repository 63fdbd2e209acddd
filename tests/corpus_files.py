"""Effects of the calls in the corpora on files, read off the raw lines and rows by each format's tool table.

Nothing of Leafward is used. A call is told by its id; commands of a shell count only where they hand a patch on.
"""

from __future__ import annotations

import json
import posixpath
import re
import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.corpus_counts import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


class Done(NamedTuple):
    """A call that did not fail, and one file of it."""

    call: str
    verb: str
    """`read`, `change`, `delete` or `move`."""
    path: str
    """Absolute."""


def _whole(folder: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder, path))


def _answered(calls: Iterable[Done], failed: dict[str, bool]) -> set[Done]:
    return {one for one in calls if failed.get(one.call) is False}


def pi(path: Path) -> set[Done]:
    rows = lines_of(path)
    cwd = rows[0]["cwd"]
    verbs = {"read": "read", "write": "change", "edit": "change"}
    calls: list[Done] = []
    failed: dict[str, bool] = {}
    for row in rows[1:]:
        message = row.get("message") or {}
        blocks = message.get("content")
        if message.get("role") == "assistant" and message.get("stopReason") not in ("aborted", "error"):
            for block in blocks or ():
                if block.get("type") == "toolCall" and block["name"] in verbs:
                    place = _whole(cwd, block["arguments"]["path"])
                    calls.append(Done(block["id"], verbs[block["name"]], place))
        elif message.get("role") == "toolResult":
            failed[message["toolCallId"]] = bool(message.get("isError"))
    return _answered(calls, failed)


def claude(home: Path) -> set[Done]:
    tools = {
        "Read": ("read", "file_path"),
        "Write": ("change", "file_path"),
        "Edit": ("change", "file_path"),
        "MultiEdit": ("change", "file_path"),
        "NotebookRead": ("read", "notebook_path"),
        "NotebookEdit": ("change", "notebook_path"),
    }
    calls: list[Done] = []
    failed: dict[str, bool] = {}
    for path in (home / "projects").rglob("*.jsonl"):
        for row in lines_of(path):
            content = (row.get("message") or {}).get("content")
            for block in content if isinstance(content, list) else ():
                if block.get("type") == "tool_use" and block["name"] in tools:
                    verb, name = tools[block["name"]]
                    if name in block["input"]:
                        calls.append(
                            Done(block["id"], verb, _whole(row.get("cwd", "/"), block["input"][name]))
                        )
                elif block.get("type") == "tool_result":
                    failed[block["tool_use_id"]] = bool(block.get("is_error"))
    return _answered(calls, failed)


_PATCHED = re.compile(r"^\*\*\* (?:(Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
_VERBS = {"Add": "change", "Update": "change", "Delete": "delete", "": "move"}


def _patched(call: str, text: str, folder: str) -> Iterator[Done]:
    for verb, path in _PATCHED.findall(text):
        yield Done(call, _VERBS[verb], _whole(folder, path))


def codex(home: Path) -> set[Done]:
    """Patches as a tool of free text, as a function, and inside a command."""
    calls: list[Done] = []
    failed: dict[str, bool] = {}
    for path in home.rglob("rollout-*.jsonl"):
        cwd = ""
        for row in lines_of(path):
            payload = row.get("payload") or {}
            cwd = payload.get("cwd") or cwd
            kind = payload.get("type")
            if kind == "custom_tool_call" and payload["name"] == "apply_patch":
                calls += _patched(payload["call_id"], payload["input"], cwd)
            elif kind == "function_call":
                given = json.loads(payload["arguments"])
                if payload["name"] == "apply_patch":
                    calls += _patched(payload["call_id"], given.get("input") or given.get("patch"), cwd)
                command = given.get("command") or given.get("cmd")
                text = " ".join(command) if isinstance(command, list) else command or ""
                if "apply_patch" in text and "*** Begin Patch" in text:
                    calls += _patched(payload["call_id"], text, given.get("workdir") or cwd)
                if payload["name"] == "view_image":
                    calls.append(Done(payload["call_id"], "read", _whole(cwd, given["path"])))
            elif kind in ("item_completed", "exec_command_end"):
                # Codex itself says which files a command printed.
                item = payload.get("item") or payload
                for told in item.get("parsed_cmd") or ():
                    if told.get("type") == "read" and item.get("status", "completed") == "completed":
                        folder = str(item.get("cwd") or cwd).removeprefix("file://")
                        calls.append(
                            Done(item.get("id") or item["call_id"], "read", _whole(folder, told["path"]))
                        )
            elif kind in ("function_call_output", "custom_tool_call_output"):
                failed[payload["call_id"]] = codex_failed(payload["output"])
    return _answered(calls, failed)


def codex_failed(output: Any) -> bool:
    text = output if isinstance(output, str) else json.dumps(output)
    code = re.search(
        r'"exit_code": ?(-?\d+)|^Exit code: (-?\d+)|exited with code (-?\d+)', text, re.MULTILINE
    )
    if code is not None:
        return next(one for one in code.groups() if one is not None) != "0"
    return "verification failed" in text or text.startswith(
        ("failed", "unsupported", "execution error", "aborted")
    )


_OPENCODE = {"read": "read", "write": "change", "edit": "change", "multiedit": "change"}


def _opencode(parts: Iterable[tuple[dict[str, Any], str]]) -> set[Done]:
    found: set[Done] = set()
    for part, folder in parts:
        state = part.get("state") or {}
        if part.get("type") != "tool" or state.get("status") != "completed":
            continue
        given = state.get("input") or {}
        if part["tool"] in _OPENCODE and given.get("filePath"):
            found.add(Done(part["callID"], _OPENCODE[part["tool"]], _whole(folder, given["filePath"])))
        elif part["tool"] in ("patch", "apply_patch"):
            found.update(_patched(part["callID"], given.get("patchText") or "", folder))
    return found


def opencode_files(storage: Path) -> set[Done]:
    folders = {
        session["id"]: session["directory"]
        for session in (json.loads(path.read_bytes()) for path in (storage / "session").rglob("ses_*.json"))
    }
    parts = (json.loads(path.read_bytes()) for path in (storage / "part").rglob("*.json"))
    return _opencode((part, folders.get(part["sessionID"], "")) for part in parts)


def opencode_database(path: Path) -> set[Done]:
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as base:
        folders = dict(base.execute("select id, directory from session"))
        rows = [
            json.loads(data)
            for (data,) in base.execute("select json_set(data, '$.sessionID', session_id) from part")
        ]
        # What was undone stands in the log of events only.
        told = (json.loads(data) for (data,) in base.execute("select data from event"))
        rows += [one["part"] for one in told if isinstance(one.get("part"), dict)]
    return _opencode((part, folders.get(part["sessionID"], "")) for part in rows)


def opencode_searches(path: Path) -> set[tuple[str, str]]:
    """The patterns that were looked for without failing, and where."""
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as base:
        rows = [json.loads(data) for (data,) in base.execute("select data from part")]
        folders = {row[0] for row in base.execute("select directory from session")}
    (folder,) = folders
    return {
        (row["state"]["input"].get("pattern", ""), _whole(folder, row["state"]["input"].get("path") or "."))
        for row in rows
        if row.get("type") == "tool"
        and row["tool"] in ("glob", "grep", "list")
        and row["state"]["status"] == "completed"
    }
