"""Permissions of a file that is created again: those of the session's own `chmod`, else git's."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from leafward.files.file_names import locate
from leafward.files.shell.permissions import executable_bits
from leafward.files.tool_calls import command_text, table_of
from leafward.session.command_text import script_of
from leafward.session.entries import EntryIndex, Kind, tool_calls
from leafward.session.messages import message_in

if TYPE_CHECKING:
    from leafward.files.file_replay.bases import Committed
    from leafward.files.restoration.project_folder import OnDisk
    from leafward.session.session import Session

_WORDS = re.compile(r"\b(?:chmod|rm|mv|cp|ln|install|unlink)\b")
"""Names in commands that matter for permissions: most commands have none and are not parsed."""


class RecordedBits:
    """Executable bits as the commands on the path to an entry left them; read on first use."""

    def __init__(self, session: Session, at: EntryIndex) -> None:
        self._session, self._at = session, at
        self._bits: dict[str, bool | None] | None = None

    def of(self, path: str) -> bool | None:
        """Whether a file was executable; None where no command tells."""
        if self._bits is None:
            self._bits = self._read()
        return self._bits.get(path)

    def _read(self) -> dict[str, bool | None]:
        session = self._session
        table, kinds = table_of(session), session.columns.kind
        recording = (Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.BASH)
        found: dict[str, bool | None] = {}
        waiting: dict[str, tuple[str, str]] = {}
        """Commands with their folders, by the id of their call."""
        entries = [EntryIndex(entry) for entry in session.tree.path(self._at) if kinds[entry] in recording]
        for entry, body in session.bodies(entries):
            message = message_in(body or {})
            if kinds[entry] == Kind.BASH:
                if not message.get("exitCode") and not message.get("cancelled"):
                    self._take(found, str(message.get("command") or ""), "")
            elif kinds[entry] == Kind.TOOL_RESULT:
                script, folder = waiting.pop(str(message.get("toolCallId")), ("", ""))
                if script and not message.get("isError"):
                    self._take(found, script, folder)
            else:
                for call in tool_calls(message):
                    if call.name in table.shells and _WORDS.search(text := command_text(call, table)):
                        named = (call.arguments.get(name) for name in table.folder)
                        waiting[call.id] = text, next((str(one) for one in named if one), "")
        return found

    def _take(self, found: dict[str, bool | None], command: str, folder: str) -> None:
        for bit in executable_bits(script_of(command) or "", folder):
            found[locate(bit.path, self._session.cwd)] = bit.executable


def created(after: OnDisk, recorded: bool | None, held: Committed | None) -> tuple[OnDisk, str]:
    """A file that is created, with its permissions, and a remark on them.

    Sessions do not record permissions: `recorded` is the last `chmod`, `held` git's file.
    """
    executable = recorded if recorded is not None else held.executable if held is not None else None
    if executable is not None:
        # The same as in git: every reader may run it.
        mode = after.mode | (after.mode & 0o444) >> 2 if executable else after.mode
        bit, why = (
            "with" if executable else "without",
            "as git has it" if recorded is None else "as `chmod` left it",
        )
        return replace(after, mode=mode), f"it is created {bit} the executable bit, {why}"
    if after.data.startswith(b"#!"):
        return after, "it is created without the executable bit: the session records no permissions"
    return after, "it is created with your usual permissions: the session records none"
