"""Agents that really work in a folder and are recorded as Claude Code, Codex and opencode record them. For tests.

The forms are those of stored sessions: Claude Code 2.1, Codex 0.169, opencode 1.18.33.
"""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from tests.claude_transcript import IDS, Transcript
from tests.codex_rollout import THREADS, Rollout
from tests.opencode_store import Conversation, Database, call, said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Colleague(Protocol):
    """Somebody who works in the folder: each call is made and recorded with what came of it."""

    @property
    def name(self) -> str:
        """The last part of where its session lies."""
        ...

    def user(self, text: str) -> object:
        """A prompt begins a turn."""
        ...

    def read(self, name: str) -> None: ...

    def write(self, name: str, text: str) -> None: ...

    def edit(self, name: str, old: str, new: str) -> None:
        """Fails where the agent's own tool would."""
        ...

    def run(self, script: str) -> None: ...

    def reply(self, text: str) -> object:
        """Ends the turn."""
        ...

    def close(self) -> Path:
        """All that was done is stored from here on; where the session lies."""
        ...


class Folder:
    """The files that an agent works on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def text(self, name: str) -> str | None:
        """Bytes of the file on disk; None where there is none."""
        file = self.path / name
        return file.read_bytes().decode() if file.is_file() else None

    def put(self, name: str, text: str) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    def run(self, script: str) -> tuple[str, int]:
        """Output of a command, and its exit code."""
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.path, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr, done.returncode


def _stamp(clock: Iterator[int]) -> str:
    when = datetime.fromtimestamp(next(clock) / 1000, UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _ClaudeRows(Transcript):
    def __init__(self, home: Path, session: str, clock: Iterator[int]) -> None:
        super().__init__(home, session)
        self.clock = clock

    @property
    def stamp(self) -> str:
        return _stamp(self.clock)


class ClaudeColleague:
    """Claude Code: it edits and writes over a file only after it read what lies there."""

    def __init__(self, root: Path, folder: Path, number: int, clock: Iterator[int]) -> None:
        self.folder = Folder(folder)
        self.rows = _ClaudeRows(root / ".claude", IDS[number], clock)
        self.rows.defaults["cwd"] = str(folder)
        self.name = self.rows.path.name
        self.number = 0
        self.known: dict[str, str | None] = {}

    def reply(self, text: str) -> None:
        self.rows.reply(text)

    def close(self) -> Path:
        return self.rows.path

    def user(self, text: str) -> None:
        self.rows.prompt(text)

    def _call(self, tool: str, **given: Any) -> str:
        self.number += 1
        name = f"toolu_{self.rows.session[:8]}{self.number:016}"
        self.rows.call(tool, name, **given)
        return name

    def _path(self, name: str) -> str:
        return str(self.folder.path / name)

    def read(self, name: str) -> None:
        made, text = self._call("Read", file_path=self._path(name)), self.folder.text(name)
        if text is None:
            self._failed(made, "File does not exist.")
            return
        self.known[name] = text
        lines = text.split("\n")
        shown = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, 1))
        file = {
            "filePath": self._path(name),
            "content": text,
            "numLines": len(lines),
            "startLine": 1,
            "totalLines": len(lines),
        }
        self.rows.result(made, shown, toolUseResult={"type": "text", "file": file})

    def _failed(self, made: str, why: str) -> None:
        text = f"<tool_use_error>{why}</tool_use_error>"
        self.rows.result(made, text, failed=True, toolUseResult=f"Error: {why}")

    def _look(self, name: str) -> None:
        text = self.folder.text(name)
        if text is not None and self.known.get(name) != text:
            self.read(name)

    def write(self, name: str, text: str) -> None:
        self._look(name)
        before, path = self.folder.text(name), self._path(name)
        made = self._call("Write", file_path=path, content=text)
        self.folder.put(name, text)
        self.known[name] = text
        kind = "create" if before is None else "update"
        told: dict[str, Any] = {"type": kind, "filePath": path, "content": text, "originalFile": before}
        told["structuredPatch"] = []
        if before is None:
            self.rows.result(made, f"File created successfully at: {path}", toolUseResult=told)
        else:
            self.rows.result(made, f"The file {path} has been updated successfully.", toolUseResult=told)

    def edit(self, name: str, old: str, new: str) -> None:
        self._look(name)
        before, path = self.folder.text(name), self._path(name)
        made = self._call("Edit", file_path=path, old_string=old, new_string=new, replace_all=False)
        if before is None or not old or before.count(old) != 1 or old == new:
            self._failed(made, "String to replace not found in file, or found more than once.")
            return
        text = before.replace(old, new)
        self.folder.put(name, text)
        self.known[name] = text
        told = {"filePath": path, "oldString": old, "newString": new, "originalFile": before}
        self.rows.result(
            made,
            f"The file {path} has been updated successfully.",
            toolUseResult={**told, "replaceAll": False, "userModified": False},
        )

    def run(self, script: str) -> None:
        made = self._call("Bash", command=script)
        text, code = self.folder.run(script)
        if code:
            told = f"Exit code {code}\n{text}"
            self.rows.result(made, told, failed=True, toolUseResult=f"Error: {told}")
        else:
            told_of = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
            self.rows.result(made, text, toolUseResult=told_of)


class _CodexLines(Rollout):
    def __init__(self, home: Path, thread: str, clock: Iterator[int], cwd: str) -> None:
        self.clock = clock
        super().__init__(home, thread, cwd=cwd, cli_version="0.169.0")

    @property
    def stamp(self) -> str:
        return _stamp(self.clock)


class CodexColleague:
    """Codex: files change by patches and by its shell."""

    def __init__(self, root: Path, folder: Path, number: int, clock: Iterator[int]) -> None:
        self.folder = Folder(folder)
        self.lines = _CodexLines(root / ".codex", THREADS[number], clock, str(folder))
        self.name = self.lines.path.name
        self.number = 0

    def reply(self, text: str) -> None:
        self.lines.reply(text)

    def close(self) -> Path:
        return self.lines.path

    def user(self, text: str) -> None:
        self.lines.prompt(text)

    def _call(self, script: str, output: str) -> None:
        self.number += 1
        made = f"call_{self.lines.thread[-4:]}{self.number:020}"
        self.lines.call("exec_command", {"cmd": script}, output, made)

    def run(self, script: str) -> None:
        text, code = self.folder.run(script)
        head = f"Chunk ID: 95c84c\nWall time: 0.0000 seconds\nProcess exited with code {code}\n"
        self._call(script, f"{head}Original token count: {len(text) // 4}\nOutput:\n{text}")

    def read(self, name: str) -> None:
        self.run(f"cat {name}")

    def _patch(self, body: str, done: str | None, why: str = "") -> None:
        script = f"apply_patch <<'PATCH'\n*** Begin Patch\n{body}\n*** End Patch\nPATCH"
        said_there = f"Success. Updated the following files:\n{done}\n" if done is not None else f"{why}\n"
        head = "Wall time: 0.0000 seconds\nOutput:\n"
        code = 0 if done is not None else 1
        self._call(script, f"{head}Exit code: {code}\nWall time: 0 seconds\nOutput:\n{said_there}")

    def write(self, name: str, text: str) -> None:
        if self.folder.text(name) is not None:
            self.run(f"cat > {name} <<'EOF'\n{text}EOF")
            return
        self.folder.put(name, text)
        added = "\n".join(f"+{line}" for line in text.splitlines())
        self._patch(f"*** Add File: {name}\n{added}", f"A {name}")

    def edit(self, name: str, old: str, new: str) -> None:
        """The first place where the old lines stand is the one, as in Codex."""
        lines, gone = (self.folder.text(name) or "").splitlines(), old.splitlines()
        places = [at for at in range(len(lines)) if lines[at : at + len(gone)] == gone]
        hunk = "\n".join([*(f"-{line}" for line in gone), *(f"+{line}" for line in new.splitlines())])
        body = f"*** Update File: {name}\n@@\n{hunk}"
        if not places or not gone:
            self._patch(body, None, f"Failed to find expected lines in {name}")
            return
        lines[places[0] : places[0] + len(gone)] = new.splitlines()
        self.folder.put(name, "\n".join(lines) + "\n")
        self._patch(body, f"M {name}")


class OpencodeColleague:
    """opencode: all sessions of a store lie in one database."""

    def __init__(self, base: Database, folder: Path, number: int, clock: Iterator[int]) -> None:
        self.folder = Folder(folder)
        self.base = base
        self.clock = clock
        self.talk = Conversation(f"ses_{number:012x}", at=next(clock), directory=str(folder))
        self.name = self.talk.id
        self.number = 0

    def reply(self, text: str) -> None:
        self.talk.time = next(self.clock) - 1000
        self.talk.reply(said(text))

    def close(self) -> Path:
        return self.base.write(self.talk)

    def user(self, text: str) -> None:
        self.talk.time = next(self.clock) - 1000
        self.talk.ask(text)

    def _call(self, tool: str, output: str, given: dict[str, Any], **told: Any) -> None:
        self.number += 1
        part = call(tool, output, number=f"{self.talk.id[4:]}{self.number:012}", **told)
        part["state"]["input"] = given
        part["state"]["time"] = {"start": next(self.clock), "end": next(self.clock)}
        self.talk.time = part["state"]["time"]["start"] - 1000
        self.talk.reply(part)

    def _path(self, name: str) -> str:
        return str(self.folder.path / name)

    def read(self, name: str) -> None:
        text, given = self.folder.text(name), {"filePath": self._path(name)}
        if text is None:
            self._call("read", "", given, status="error", error=f"File not found: {self._path(name)}")
            return
        lines = text.splitlines()
        shown = "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1))
        end = f"(End of file - total {len(lines)} lines)"
        head = f"<path>{self._path(name)}</path>\n<type>file</type>\n<content>"
        self._call("read", f"{head}\n{shown}\n\n{end}\n</content>", given)

    def write(self, name: str, text: str) -> None:
        there = self.folder.text(name) is not None
        self.folder.put(name, text)
        told = {"diagnostics": {}, "filepath": self._path(name), "exists": there, "truncated": False}
        given = {"filePath": self._path(name), "content": text}
        self._call("write", "Wrote file successfully.", given, metadata=told)

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.folder.text(name)
        given = {"filePath": self._path(name), "oldString": old, "newString": new}
        if text is None or not old or text.count(old) != 1 or old == new:
            self._call("edit", "", given, status="error", error="oldString not found in content")
            return
        self.folder.put(name, text.replace(old, new))
        self._call("edit", "Edit applied successfully.", given, metadata={"truncated": False})

    def run(self, script: str) -> None:
        text, code = self.folder.run(script)
        told = {"output": text, "exit": code, "truncated": False}
        self._call("bash", text, {"command": script, "description": "work"}, metadata=told)
