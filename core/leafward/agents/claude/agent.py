"""Claude Code: the places of its sessions, and the way to resume one. Rules are those of Claude Code 1.0 to 2.1."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from leafward.agents.base import Agent, FirstLook, Listing, Texts, Trouble, expanded, refuse_copy
from leafward.agents.claude.config_folders import config_folders
from leafward.agents.claude.entries.records import TYPES
from leafward.agents.claude.lineage import SourceFinder
from leafward.agents.claude.store import PROJECTS, SUFFIX, config_folder_above, is_uuid, place_of, stem, walk
from leafward.agents.claude.subagents import Spawners, spawned
from leafward.agents.claude.tools import CLAUDE_TOOLS
from leafward.agents.claude.transcript import ClaudeReader
from leafward.agents.sidecar_texts import kept_texts
from leafward.agents.storage.lines import unmarked
from leafward.base.errors import Refused
from leafward.base.late_pattern import late
from leafward.session.foreign import ForeignFiles
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from leafward.agents.base import SessionCandidate
    from leafward.agents.conversation import Conversation
    from leafward.agents.fork_draft import ForkDraft, ForkPoint, ForkTerms
    from leafward.agents.resume import Resume
    from leafward.files.tool_calls import ToolTable
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_TYPE = late(rb'"type"\s*:\s*"([\w-]{2,40})"')
_OWN_FIELD = late(
    rb'"(?:parentUuid|sessionId|isSidechain|leafUuid|userType|messageId|isMeta|session_id)"\s*:'
)
_KNOWN = frozenset(name.encode() for name in TYPES)
_STORE = frozenset({
    "history.jsonl", "file-history", "todos", "settings.json", ".credentials.json", "statsig", "tasks",
    "plans"
})  # fmt: skip
"""Entries beside the projects in a configuration folder."""
_LOOKED_AT = 4
_DAY = 86_400_000


class Claude(Agent):
    """Anthropic's Claude Code."""

    name = "claude"
    title = "Claude Code"
    tool_table: ToolTable = CLAUDE_TOOLS

    def __init__(self) -> None:
        self._kin = SourceFinder()
        self._spawners = Spawners()
        self._periods: dict[str, tuple[tuple[int, int] | None, int]] = {}

    def usual_roots(self, env: Mapping[str, str]) -> tuple[Path, ...]:
        """Those that the environment names, else `~/.claude` and `~/.config/claude`."""
        if folders := config_folders(env):
            return tuple(expanded(root, env) for root in folders)
        base = env.get("XDG_CONFIG_HOME") or "~/.config"
        return expanded("~/.claude", env), expanded(os.path.join(base, "claude"), env)

    def holds(self, folder: str, names: Iterable[str]) -> bool:
        """Whether a folder with these entries is a configuration folder of Claude Code."""
        present = set(names)
        return PROJECTS in present and (os.path.basename(folder) == ".claude" or bool(present & _STORE))

    def discover(
        self, roots: tuple[Path, ...], stop: Callable[[], bool], trouble: list[Trouble]
    ) -> Iterator[Listing]:
        """Every transcript, including those of sub-agents, excluding empty files."""
        seen: set[str] = set()
        for root in roots:
            for folder, files, empty in walk(str(root), stop, trouble):
                if folder not in seen:
                    seen.add(folder)
                    yield Listing(folder, files, self.name, empty)

    def gather(self, listings: Mapping[str, Listing]) -> None:
        """Removes the empty files that Claude Code leaves for sessions that were begun and stayed empty."""
        for folder, listing in listings.items():
            if listing.agent not in ("", self.name) or config_folder_above(folder) is None:
                continue
            for name, stamp in list(listing.files.items()):
                if not stamp[0] and name.endswith(SUFFIX) and is_uuid(stem(name)):
                    del listing.files[name]

    def recognises(self, head: bytes) -> bool:
        """Whether one of the first lines is a row of Claude Code."""
        lines = (line for line in unmarked(head).split(b"\n") if line.strip())
        for line in islice(lines, _LOOKED_AT):
            if not line.lstrip().startswith(b"{"):
                continue
            types = set(_TYPE.findall(line))
            if types & _KNOWN and _OWN_FIELD.search(line) is not None:
                return b'"payload"' not in line[:200]
            body = decode_line(line)
            message = body.get("message") if body is not None else None
            if body is None or not isinstance(message, dict) or not message.keys() & {"content", "usage"}:
                continue
            if body.get("type") in ("user", "assistant") or (
                "sessionId" in body and isinstance(message.get("usage"), dict)
            ):
                return True
        return False

    def peek(self, candidate: SessionCandidate) -> FirstLook | None:
        """Facts from both ends of a transcript. Raises OSError."""
        from leafward.agents.claude.preview import first_look

        return first_look(candidate)

    def source(self, path: Path) -> ForeignFiles:
        """A transcript."""
        return ForeignFiles(
            path,
            self.name,
            self.tool_table,
            lambda: ClaudeReader(path, self._kin.origin, self._spawners.spawner),
        )

    def texts(self, paths: Sequence[str]) -> Texts:
        """Its file, and the sidecar's texts."""
        return Texts(paths, kept_texts(self.name, ((path, place_of(path).id) for path in paths)))

    def belongings(self, path: str) -> list[tuple[str, str]]:
        """The transcript, those of its sub-agents, and the files beside it: results, copies of files, lists."""
        from leafward.agents.claude.retention import belongings

        return belongings(os.path.abspath(path))

    def lifetime(self, path: str) -> int | None:
        """`cleanupPeriodDays` of the settings beside the transcripts, 30 days where it is not set (2.1)."""
        home = config_folder_above(os.path.dirname(os.path.abspath(path)))
        if home is None:
            return None
        settings = os.path.join(home, "settings.json")
        try:
            now = os.stat(settings)
            stamp: tuple[int, int] | None = (now.st_size, now.st_mtime_ns)
        except OSError:
            stamp = None
        known = self._periods.get(home)
        if known is None or known[0] != stamp:
            from leafward.agents.claude.retention import cleanup_days

            known = self._periods[home] = stamp, cleanup_days(settings) * _DAY
        return known[1]

    def spawned(self, session: Session, since: int, stop: Callable[[], bool]) -> list[tuple[EntryIndex, str]]:
        """Found by the id that a result notes, or by the call noted beside the sub-agent's transcript."""
        return spawned(session, since, stop)

    def resume(self, session: Session, env: Mapping[str, str]) -> Resume:
        """`claude --resume ID`, in the session's folder: it is not found from another one (2.1.197)."""
        if place_of(str(session.path)).helper:
            raise Refused(f"{session.path.name} is a sub-agent's; resume the session that started it")
        from leafward.agents.claude.fork import resume_of
        from leafward.agents.resume import folder_of, id_of

        folder = folder_of(session, self.title)
        refuse_copy(session, self.title)

        return resume_of(session.path, id_of(session, self.title), folder, env)

    def may_end(self, session: Session, end: EntryIndex, before_prompt: bool) -> str | None:
        """Why a session of Claude Code may not end at an entry; None where it may."""
        from leafward.agents.claude import fork as forking

        return forking.may_end(session, end, before_prompt)

    def fork(self, session: Session, cut: ForkPoint, terms: ForkTerms) -> ForkDraft:
        """A transcript beside the source, with the rows of the path. Raises Refused."""
        from leafward.agents.claude import fork as forking

        return forking.fork(session, cut, terms, self.roots(terms.config, terms.env)[0])

    def convert(self, past: Conversation, terms: ForkTerms) -> ForkDraft:
        """A transcript with the content of another agent's session. Raises Refused."""
        from leafward.agents.claude.conversion import converted

        return converted(past, terms, self.roots(terms.config, terms.env)[0])
