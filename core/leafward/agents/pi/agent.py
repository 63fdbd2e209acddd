"""pi: the places of its sessions, and the way to resume one. Rules are pi 1.5.2's."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from leafward.agents.base import Agent, Listing, Texts, expanded
from leafward.agents.folders import look
from leafward.agents.resume import Resume, folder_of, own_variables
from leafward.base.paths import is_kept
from leafward.base.regular_files import read_regular
from leafward.files.tool_calls import NATIVE_TOOLS
from leafward.session.lines.abridged_lines import BOM
from leafward.session.lines.line_decoding import decode_line
from leafward.session.native_file import NativeFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from leafward.agents.base import Trouble
    from leafward.agents.conversation import Conversation
    from leafward.agents.fork_draft import ForkDraft, ForkPoint, ForkTerms
    from leafward.files.tool_calls import ToolTable
    from leafward.session.session import Session

SUFFIX = ".jsonl"

_HEADER_START = re.compile(rb'\s*\{\s*"type"\s*:\s*"session"\s*,')


class Pi(Agent):
    """The agent whose files are our native format."""

    name = "pi"
    title = "pi"
    tool_table: ToolTable = NATIVE_TOOLS

    def usual_roots(self, env: Mapping[str, str]) -> tuple[Path, ...]:
        """The folder that its variables or its settings name, else `~/.pi/agent/sessions`."""
        session_dir = env.get("PI_CODING_AGENT_SESSION_DIR")
        if session_dir:
            return (expanded(session_dir, env),)
        folder = expanded(env.get("PI_CODING_AGENT_DIR") or "~/.pi/agent", env)
        setting = _session_dir_setting(folder / "settings.json")
        return (expanded(setting, env) if setting else folder / "sessions",)

    def discover(
        self, roots: tuple[Path, ...], stop: Callable[[], bool], trouble: list[Trouble]
    ) -> Iterator[Listing]:
        """Files in a root (a session folder chosen by the user is flat) and in its folders (one for each cwd)."""
        seen: set[str] = set()
        for root in roots:
            folders = [str(root)]
            while folders and not stop():
                folder = folders.pop()
                if folder in seen:
                    continue
                seen.add(folder)
                files, below = look(folder, (SUFFIX,), trouble, into=folder == str(root), follow=True)
                folders += [os.path.join(folder, name) for name in below]
                yield Listing(folder, files, self.name)

    def recognises(self, head: bytes) -> bool:
        """Whether the first line that is not blank is a session header with an id."""
        head = head.removeprefix(BOM).lstrip()
        line, newline, _ = head.partition(b"\n")
        if not newline and _HEADER_START.match(line) and not line.rstrip().endswith(b"}"):
            return True
        body = decode_line(line) if line.startswith(b"{") else None
        return body is not None and body.get("type") == "session" and isinstance(body.get("id"), str)

    def source(self, path: Path) -> NativeFile:
        """A session file."""
        source = NativeFile(path)
        source.tools = self.tool_table
        return source

    def texts(self, paths: Sequence[str]) -> Texts:
        """Its file."""
        return Texts(paths)

    def belongings(self, path: str) -> list[tuple[str, str]]:
        """The file, under the name of its folder."""
        folder, name = os.path.split(path)
        return [(path, os.path.join(os.path.basename(folder), name))]

    def resume(self, session: Session, env: Mapping[str, str]) -> Resume:
        """`pi --session PATH` in the folder in the header: pi opens a path from anywhere without asking."""
        folder = folder_of(session, self.title)
        return Resume(("pi", "--session", os.path.abspath(session.path)), folder, own_variables(env))

    def fork(self, session: Session, cut: ForkPoint, terms: ForkTerms) -> ForkDraft:
        """The path to the cut in a new file beside the session's own; for one of our copies, among pi's sessions."""
        from leafward.agents.pi.fork import forked

        if not is_kept(os.path.abspath(session.path)):
            return forked(session, cut, terms)
        root, flat = self._own_store(terms)
        return forked(session, cut, terms, root, flat=flat)

    def convert(self, past: Conversation, terms: ForkTerms) -> ForkDraft:
        """The path in pi's format, among pi's sessions of the same folder."""
        from leafward.agents.pi.conversion import converted

        root, flat = self._own_store(terms)
        return converted(past, terms, root, flat=flat)

    def _own_store(self, terms: ForkTerms) -> tuple[Path, bool]:
        """The folder where pi itself keeps sessions, and whether it holds those of all working folders together."""
        env = terms.env
        configured = terms.config.roots.get(self.name) or env.get("PI_CODING_AGENT_SESSION_DIR")
        folder = expanded(env.get("PI_CODING_AGENT_DIR") or "~/.pi/agent", env)
        chosen = bool(configured or _session_dir_setting(folder / "settings.json"))
        root = self.roots(terms.config, env)[0]
        # pi's default place has a folder for each working folder; one that the user chose is flat, unless it looks otherwise.
        return root, chosen and not any(root.glob("--*--"))


def _session_dir_setting(path: Path) -> str | None:
    """`sessionDir` in pi's own settings; None where it is not set or the file cannot be used, as in pi."""
    try:
        settings = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError):
        return None
    found = settings.get("sessionDir") if isinstance(settings, dict) else None
    return found if isinstance(found, str) and found and _names_folder(found) else None


def _names_folder(text: str) -> bool:
    """Whether the system can have a folder of this name."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False
