"""One row of the catalogue."""

from __future__ import annotations

from typing import Any, NamedTuple

from leafward.base.times import iso_time

NO_MESSAGES = "(no messages)"
"""Title of a session without any message."""
NOT_READ = "(not read yet)"
"""Title of a session of which a first look shows no prompt."""

EXCERPT = 120
"""Characters kept of a prompt or a reply."""


class DayUsage(NamedTuple):
    """Tokens and cost of one session on one day."""

    day: int
    """Days since 1970-01-01 in the zone of this machine when the session was read."""
    tokens: int
    """Tokens sent, received, and read from or written to a cache."""
    cost: float
    """US dollars, as far as the agent recorded them."""
    priced: int
    """Number of recorded costs; if it is 0, the cost is unknown."""
    copied: bool
    """Whether this was used before the session began, that is, in the session that this one was made from."""


class Card(NamedTuple):
    """The fields of one session in a listing. A tuple, so that ten thousand are read back in a few milliseconds.

    Counts are None while they are not known yet (`partial`). Texts named safe have passed `safe_line`.
    """

    path: str
    agent: str
    id: str
    """The session's id; without one, the file's name without its ending."""
    name: str | None
    """The name the user gave, as written."""
    title: str
    """Name, else first prompt, else `[image]` if the prompts hold only images, else `NO_MESSAGES`; one line, safe."""
    prompt: str
    """The first prompt: one line, safe, cut; empty if there is none."""
    project: str
    """The folder that the agent worked in, as written; empty if it is not known."""
    created: int | None
    """Milliseconds since 1970, from the header."""
    modified: int
    """Milliseconds since 1970: the latest user or assistant message, else `created`, else the file's own time (pi 1.5.2)."""
    entries: int | None = None
    messages: int | None = None
    """Entries of type `message`, on all branches (pi 1.5.2)."""
    turns: int | None = None
    """Prompts and commands of the user, on all branches."""
    branches: int | None = None
    """As `Session.branches` counts them."""
    compactions: int | None = None
    tokens: int | None = None
    """Size of the context at the agent's own leaf, on the basis of `context.basis`."""
    model: str | None = None
    """The model in use at that leaf."""
    parent: str | None = None
    """The session that this one was made from: a path as written in the header, or an inferred one."""
    relation: str | None = None
    """`fork`, `subagent` or `inferred`; None without a parent."""
    archived: bool = False
    damage: int = 0
    """Number of damaged entries, an incomplete last line, and parts of the session that cannot be read at all."""
    midway: bool = False
    """Whether the session begins in the middle: what came before its first entry is not in the file."""
    problem: str | None = None
    """Why the file cannot be read as a session; None if it can."""
    size: int = 0
    """Bytes."""
    version: int = 0
    """Version of the file's format; 0 if it is not known."""
    origin: int = 0
    """Number made from the first prompt, else from the first entry, to find copies; 0 if there is no entry."""
    partial: bool = False
    """Whether the card was made from the two ends of the file or is older than the file; nothing in it is final."""
    estimated: bool = False
    """Whether no provider counted `tokens`; they are shown with `~`."""
    lacks_prompt: bool = False
    """Whether `tokens` is estimated and leaves out the agent's system prompt, whose size is not in the file."""
    warm_up: bool = False
    """Whether this is a sub-agent that was only started in advance and never asked anything."""

    @property
    def when(self) -> int:
        """Time that the list is ordered by: `modified`, or `created` if it is later, as for a fork without new messages."""
        return max(self.modified, self.created or 0)

    def as_json(self) -> dict[str, Any]:
        """The row as `ls --json` writes it."""
        return {
            "id": self.id,
            "agent": self.agent,
            "path": self.path,
            "name": self.name,
            "title": self.title,
            "project": self.project,
            "created": iso_time(self.created),
            "modified": iso_time(self.when),
            "entries": self.entries,
            "messages": self.messages,
            "turns": self.turns,
            "branches": self.branches,
            "compactions": self.compactions,
            "tokens": self.tokens,
            "estimated": self.estimated,
            "model": self.model,
            "parent": self.parent,
            "relation": self.relation,
            "archived": self.archived,
            "warm_up": self.warm_up,
            "damage": self.damage,
            "midway": self.midway,
            "problem": self.problem,
            "bytes": self.size,
            "version": self.version,
        }


def concealed(card: Card) -> Card:
    """The card without anything from the conversation: only the session's place, and that its project is excluded."""
    return card._replace(
        name=None,
        title="",
        prompt="",
        model=None,
        parent=None,
        relation=None,
        problem="excluded",
        origin=0,
        partial=False,
    )


class Details(NamedTuple):
    """Facts that only a preview or a `file:` search needs; read from the index when first asked for."""

    changed: tuple[str, ...] = ()
    """The files changed last, the latest last; relative to the project if they lie in it."""
    read: tuple[str, ...] = ()
    """The files read last that were not changed."""
    last_prompt: str = ""
    """The last prompt on the path to the agent's own leaf: one line, safe, cut."""
    last_reply: str = ""
    """The last reply to that prompt: one line, safe, cut; empty if there is none yet."""


class ReadMark(NamedTuple):
    """The point up to which a session was read, so that a file that has only grown is read on from there."""

    end: int
    """Bytes read."""
    inode: int
    seal: str
    """Digest of the file's first bytes and of the last bytes before `end`."""
    last_id: str
    """Id of the last entry read: the parent of the next one."""
    leaves: int
    at_tip: bool
    """Whether the conversation stands at the end of a branch."""


class Reading(NamedTuple):
    """Everything taken from one file."""

    card: Card
    details: Details = Details()
    mark: ReadMark | None = None
    """None if the file has to be read whole the next time."""
    spent: tuple[DayUsage, ...] = ()
    """Tokens and costs of the session, by day."""
