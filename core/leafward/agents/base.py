"""The protocols by which an agent's sessions are found, read and resumed; rooms above the registry know nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from leafward.base.errors import Refused
from leafward.base.paths import is_kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from leafward.agents.conversation import Conversation
    from leafward.agents.fork_draft import ForkDraft, ForkPoint, ForkTerms
    from leafward.agents.resume import Resume
    from leafward.base.config import Config
    from leafward.files.tool_calls import ToolTable
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session
    from leafward.session.source import Source

Stamp = list[int]
"""Size in bytes, time in nanoseconds and number (inode) of a file, and any other value that its content depends on: another
stamp means other content. A size of -1: even the file's status is unreadable. A list, because an index of ten thousand
stamps is read back as lists."""


class Listing(NamedTuple):
    """Files of one folder that may be sessions, taken from the folder's listing alone; none of them has been read."""

    folder: str
    files: dict[str, Stamp]
    """By name."""
    agent: str
    """The agent that the folder belongs to; empty where only the content can tell."""
    empty: tuple[str, ...] = ()
    """Files without a byte that are no sessions: the agent leaves them for sessions that were begun and stayed empty."""

    def candidate(self, name: str) -> SessionCandidate:
        """One of the files."""
        return SessionCandidate(os.path.join(self.folder, name), self.files[name], self.agent)


class SessionCandidate(NamedTuple):
    """A file that may be a session."""

    path: str
    stamp: Stamp
    agent: str
    """The agent that its folder belongs to; empty where only the content can tell."""

    @property
    def size(self) -> int:
        """Bytes."""
        return max(0, self.stamp[0])

    @property
    def mtime_ns(self) -> int:
        """The time of the last write, in nanoseconds since 1970."""
        return self.stamp[1]


class FirstLook(NamedTuple):
    """Facts from the beginning of a session, found before it is read. Times in milliseconds since 1970."""

    id: str
    name: str | None = None
    prompt: str = ""
    """The first prompt, as typed; empty where none was found."""
    title: str | None = None
    """The agent's own title, for a session that nobody named."""
    project: str = ""
    created: int | None = None
    modified: int | None = None
    parent: str | None = None
    """The session that it was made from: a path or an id."""
    relation: str | None = None
    """`fork` or `subagent`."""
    archived: bool = False


class Trouble(NamedTuple):
    """A folder that could not be searched, with the reason in a few words."""

    path: str
    reason: str


class SessionText(NamedTuple):
    """Bytes that hold texts of a session: those of a file as it is, or bytes that were read or unpacked.

    Without either, only the opened session shows its texts.
    """

    session: str
    """The session's path."""
    file: str | None = None
    data: bytes | None = None
    """No text extends from one piece into the next."""


class Texts(NamedTuple):
    """The places of the texts of sessions: together the pieces hold every text of a session, including taken-back ones."""

    own: Sequence[str] = ()
    """Paths of the sessions whose own file holds its texts as it is. Plain paths: there may be ten thousand."""
    pieces: Iterable[SessionText] = ()
    """All other texts, or more; found during the iteration."""


class Agent(Protocol):
    """One coding agent. An answer given here is the usual one: an agent with another one says so."""

    name: str
    """As in `--agent` and in a listing."""
    title: str
    """The name as people write it."""
    tool_table: ToolTable
    """The rules by which its tools name files."""

    def roots(self, config: Config, env: Mapping[str, str]) -> tuple[Path, ...]:
        """The folders that hold its sessions: the configured ones, else the usual ones. They need not exist."""
        configured = config.roots.get(self.name)
        if configured is not None:
            return tuple(expanded(root, env) for root in configured)
        return self.usual_roots(env)

    def usual_roots(self, env: Mapping[str, str]) -> tuple[Path, ...]:
        """The folders that the agent itself would use."""
        ...

    def discover(
        self, roots: tuple[Path, ...], stop: Callable[[], bool], trouble: list[Trouble]
    ) -> Iterator[Listing]:
        """Every file under `roots` that may be a session, folder by folder, each folder once, without opening any.

        A missing root holds none; folders that cannot be listed are added to `trouble`.
        """
        ...

    def holds(self, folder: str, names: Iterable[str]) -> bool:
        """Whether a folder that contains these names is a store of this agent, to be searched by `discover`."""
        return False

    def gather(self, listings: Mapping[str, Listing]) -> None:
        """Removes files that are pieces of a session that stays, from files found under named folders.

        `listings` by folder; they are changed in place.
        """
        return

    def peek(self, candidate: SessionCandidate) -> FirstLook | None:
        """Facts from the beginning of a session; None for a file in the native format. Raises OSError."""
        return None

    def recognises(self, head: bytes) -> bool:
        """Whether a file that begins with these bytes (4 KiB or all of it) is one of its sessions."""
        ...

    def source(self, path: Path) -> Source:
        """A session's files, not yet read."""
        ...

    def open(self, path: Path, stop: Callable[[], bool] = lambda: False) -> Session:
        """Reads a session. Raises NotASession."""
        from leafward.session.session import Session

        return Session.of(self.source(path), stop)

    def texts(self, paths: Sequence[str]) -> Texts:
        """The places of the texts of sessions, so that bytes can be searched before any session is read. Never raises."""
        ...

    def belongings(self, path: str) -> list[tuple[str, str]]:
        """The files of a session, its own first, each with its name in a store of its own; empty where it has no file.

        For a session in a file with others see `Enclosing.excerpt`. Raises OSError, NotASession.
        """
        ...

    def lifetime(self, path: str) -> int | None:
        """Milliseconds after the last write to a session's file until the agent deletes it; None where it never does."""
        return None

    def remote(self, path: str) -> str | None:
        """The git remote of the folder that a session worked in, where the session recorded it. Never raises."""
        return None

    def description(self, path: str) -> Mapping[str, object]:
        """Values that the agent stores of a session outside its entries, beyond the header; empty where there are none.

        Raises OSError, NotASession.
        """
        return {}

    def spawned(self, session: Session, since: int, stop: Callable[[], bool]) -> list[tuple[EntryIndex, str]]:
        """The existing sessions of sub-agents, from an entry on: the result of the call that made each, and its path.

        See `sub_agents`. Never raises.
        """
        return []

    def resume(self, session: Session, env: Mapping[str, str]) -> Resume:
        """The command that opens the session in the agent. Raises Refused where its folder is gone."""
        ...

    def may_end(self, session: Session, end: EntryIndex, before_prompt: bool) -> str | None:
        """Why a new session of this agent may not end at an entry of any session; None where it may. See `fork.cut_at`.

        Usually it ends behind a reply, or behind a complete set of results.
        """
        from leafward.agents.fork_draft import after_results

        return after_results(session, end, before_prompt)

    def fork(self, session: Session, cut: ForkPoint, terms: ForkTerms) -> ForkDraft:
        """A new session from one of its own, up to a legal cut, beside it. Raises Refused where it cannot be made."""
        ...

    def convert(self, past: Conversation, terms: ForkTerms) -> ForkDraft:
        """A new session from another agent's, up to a legal cut. Raises Refused where it cannot be made."""
        ...


class Excerpt(Protocol):
    """One session of a file that holds many, with its sub-agents' sessions, to be copied to a file of its own."""

    name: str
    """Name of the copy in a store of its own; the session's name behind it is the same as in the original."""
    members: tuple[str, ...]
    """The paths of the sessions, the requested one first."""
    size: int
    """Bytes of their content."""

    def is_at(self, path: Path) -> bool:
        """Whether a file holds the same sessions in their present state."""
        ...

    def write(self, path: Path) -> None:
        """Writes them to an existing empty file. Raises OSError, NotASession."""
        ...


class Enclosing(Protocol):
    """An agent that keeps many sessions in one file. The path of each is the file's path followed by the session's id."""

    name: str

    def within(self, path: str, trouble: list[Trouble] | None = None) -> Listing | None:
        """The sessions in such a file, or the session that a path into it names; None for any other path.

        Sessions that no path can name are added to `trouble`.
        """
        ...

    def strays(self, path: str) -> dict[str, int]:
        """The numbers of messages in such a file whose session is missing, by the session that they name. Never raises."""
        ...

    def excerpt(self, path: str) -> Excerpt | None:
        """A session in such a file, to be copied; None for any other path. Raises OSError, NotASession."""
        ...


def refuse_copy(session: Session, title: str) -> None:
    """Raises Refused for one of our own copies: the session is gone from its agent, which `title` names.

    Our copies lie in a store without the agent's settings and credentials, and must stay as they are.
    """
    if is_kept(os.path.abspath(session.path)):
        raise Refused(f"{session.id} is a copy that Leafward kept; fork it to get a session for {title}")


def is_file(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is a file. A link that cannot be followed (to itself, for example) is not, and hides no other."""
    try:
        return entry.is_file()
    except OSError:
        return False


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is a folder itself; false where that cannot be told."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def expanded(path: str, env: Mapping[str, str]) -> Path:
    """A path with `~` for the home folder that `env` names."""
    if path == "~" or path.startswith(("~/", "~\\")):
        home = env.get("HOME") or env.get("USERPROFILE") or os.path.expanduser("~")
        path = home + path[1:]
    return Path(os.path.abspath(path))
