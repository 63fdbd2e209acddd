"""What an agent brings so that its sessions can be found, read and resumed; nothing above the registry knows more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from leafward.base.errors import Refused
from leafward.base.paths import is_kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from leafward.agents.conversation import Conversation
    from leafward.agents.fork_draft import Draft, ForkPoint, Terms
    from leafward.agents.resume import Resume
    from leafward.base.config import Config
    from leafward.files.tool_calls import ToolTable
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

Stamp = list[int]
"""Size in bytes, time in nanoseconds and number (inode) of a file, and whatever else a reader's content depends on: with
another stamp it is another content. A size of -1: the file cannot even be looked at. A list, as it is read back from an index
of ten thousand."""


class Listing(NamedTuple):
    """The files of one folder that may be sessions, as listing it gives them: nothing of them has been read."""

    folder: str
    files: dict[str, Stamp]
    """By name."""
    agent: str
    """Whose folder it is; empty where only the content can tell."""
    empty: tuple[str, ...] = ()
    """Files without a byte in it that are no sessions, as the agent leaves them where one was begun and nothing was said."""

    def candidate(self, name: str) -> Candidate:
        """One of the files."""
        return Candidate(os.path.join(self.folder, name), self.files[name], self.agent)


class Candidate(NamedTuple):
    """A file that may be a session."""

    path: str
    stamp: Stamp
    agent: str
    """Whose folder it lies in; empty where only the content can tell."""

    @property
    def size(self) -> int:
        """Bytes."""
        return max(0, self.stamp[0])

    @property
    def mtime_ns(self) -> int:
        """When it was last written, in nanoseconds since 1970."""
        return self.stamp[1]


class FirstLook(NamedTuple):
    """What a look at the beginning of a session says, before it is read. Times in milliseconds since 1970."""

    id: str
    name: str | None = None
    prompt: str = ""
    """The first prompt, as typed; empty where it was not found."""
    title: str | None = None
    """What the agent itself calls it, where nobody named it."""
    project: str = ""
    created: int | None = None
    modified: int | None = None
    parent: str | None = None
    """The session it was made from: a path or an id."""
    relation: str | None = None
    """`fork` or `subagent`."""
    archived: bool = False


class Trouble(NamedTuple):
    """A folder that could not be searched, and why, in a few words."""

    path: str
    reason: str


class Text(NamedTuple):
    """Bytes in which a session keeps what it says: those of a file as it lies, or some that were read or unpacked.

    With neither, only opening the session tells what it holds.
    """

    session: str
    """The session's path."""
    file: str | None = None
    data: bytes | None = None
    """No text goes on from one piece into the next."""


class Texts(NamedTuple):
    """Where sessions keep what they say: between them the pieces hold every text of a session, also what was taken back."""

    own: Sequence[str] = ()
    """The paths of those whose own file holds texts as it lies. A path each: there may be ten thousand."""
    pieces: Iterable[Text] = ()
    """Everything else, or more; found while it is gone through."""


class Agent(Protocol):
    """One coding agent."""

    name: str
    """As in `--agent` and in a listing."""
    title: str
    """As people write it."""
    tool_table: ToolTable
    """How its tools name files."""

    def roots(self, config: Config, env: Mapping[str, str]) -> tuple[Path, ...]:
        """The folders that hold its sessions; they need not exist."""
        ...

    def discover(
        self, roots: tuple[Path, ...], stop: Callable[[], bool], trouble: list[Trouble]
    ) -> Iterator[Listing]:
        """Every file under `roots` that may be a session, folder by folder, each folder once, without opening any.

        A root that does not exist holds none; folders that cannot be listed are added to `trouble`.
        """
        ...

    def holds(self, folder: str, names: Iterable[str]) -> bool:
        """Whether a folder that contains these names is a store of this agent, to be searched by `discover`."""
        ...

    def gather(self, listings: Mapping[str, Listing]) -> None:
        """Takes away, of files found under folders that were named, those that are pieces of a session that stays.

        `listings` by folder; they are changed in place.
        """
        ...

    def peek(self, candidate: Candidate) -> FirstLook | None:
        """What the beginning of a session says; None for a file in the native format. Raises OSError."""
        ...

    def recognises(self, head: bytes) -> bool:
        """Whether a file that begins with these bytes (4 KiB or all of it) is one of its sessions."""
        ...

    def open(self, path: Path, stop: Callable[[], bool] = ...) -> Session:
        """Reads a session. Raises NotASession."""
        ...

    def texts(self, paths: Sequence[str]) -> Texts:
        """Where sessions keep what they say, so that bytes can be looked for before any is read. Never raises."""
        ...

    def belongings(self, path: str) -> list[tuple[str, str]]:
        """The files of a session, itself first, each with its name in a store of its own; nothing where it has no file.

        Of one that lies in a file with others see `Enclosing.excerpt`. Raises OSError, NotASession.
        """
        ...

    def lifetime(self, path: str) -> int | None:
        """Milliseconds after the last write to a session's file until the agent deletes it; None where it never does."""
        ...

    def remote(self, path: str) -> str | None:
        """The git remote of the folder that a session worked in, where the session recorded it. Never raises."""
        ...

    def spawned(self, session: Session, since: int, stop: Callable[[], bool]) -> list[tuple[EntryIndex, str]]:
        """The sessions of sub-agents that are there: the result of the call that made each, from an entry on, and its path.

        See `sub_agents`. Never raises.
        """
        ...

    def resume(self, session: Session, env: Mapping[str, str]) -> Resume:
        """The command that opens the session in the agent. Raises Refused where its folder is gone."""
        ...

    def may_end(self, session: Session, end: EntryIndex, before_prompt: bool) -> str | None:
        """Why a new session of this agent may not end at an entry of any session; None where it may. See `fork.cut_at`."""
        ...

    def fork(self, session: Session, cut: ForkPoint, terms: Terms) -> Draft:
        """A new session from one of its own, up to a legal cut, beside it. Raises Refused where it cannot be made."""
        ...

    def adopt(self, past: Conversation, terms: Terms) -> Draft:
        """A new session from another agent's, up to a legal cut. Raises Refused where it cannot be made."""
        ...


class Excerpt(Protocol):
    """One session of a file that holds many, with those of its sub-agents, to be copied to a file of its own."""

    name: str
    """Of that file, in a store of its own; behind it a session has the same name as in the original."""
    members: tuple[str, ...]
    """The paths of the sessions, the one that was asked for first."""
    size: int
    """Bytes of what they say."""

    def is_at(self, path: Path) -> bool:
        """Whether a file holds the same sessions, as they are now."""
        ...

    def write(self, path: Path) -> None:
        """Writes them to a file that is there and empty. Raises OSError, NotASession."""
        ...


class Enclosing(Protocol):
    """An agent that keeps many sessions in one file. Each has a path of its own: the file's, and behind it the session's id."""

    name: str

    def within(self, path: str, trouble: list[Trouble] | None = None) -> Listing | None:
        """The sessions in such a file, or the one that a path leading into it names; None for any other path.

        Those that no path can lead to are added to `trouble`.
        """
        ...

    def strays(self, path: str) -> dict[str, int]:
        """Messages in such a file whose session is not there, by the session they name. Never raises."""
        ...

    def excerpt(self, path: str) -> Excerpt | None:
        """A session in such a file, to be copied; None for any other path. Raises OSError, NotASession."""
        ...


def refuse_copy(session: Session, title: str) -> None:
    """Raises Refused for one of our own copies: its agent, which `title` names, has no such session any more.

    Our copies lie in a store without the agent's settings and credentials, and are to stay as they are.
    """
    if is_kept(os.path.abspath(session.path)):
        raise Refused(
            f"{session.id} is the copy that Leafward kept: fork it, and {title} has a session again"
        )


def is_file(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is a file. A link that cannot be followed, to itself for one, is none, and hides no other."""
    try:
        return entry.is_file()
    except OSError:
        return False


def is_folder(entry: os.DirEntry[str]) -> bool:
    """The same of a folder."""
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
