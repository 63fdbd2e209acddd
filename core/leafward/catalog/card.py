"""One row of the catalogue."""

from __future__ import annotations

from typing import Any, NamedTuple

from leafward.base.times import iso_time, parse_time

__all__ = [
    "EXCERPT",
    "FORK",
    "INFERRED",
    "NO_MESSAGES",
    "SUBAGENT",
    "Card",
    "Details",
    "Mark",
    "Reading",
    "Spent",
    "iso_time",
    "parse_time",
]

NO_MESSAGES = "(no messages)"
"""Title of a session nobody has spoken in."""

EXCERPT = 120
"""Characters kept of a prompt or a reply."""

FORK = "fork"
SUBAGENT = "subagent"
INFERRED = "inferred"


class Spent(NamedTuple):
    """What one session used on one day."""

    day: int
    """Days since 1970-01-01 in the zone of this machine when the session was read."""
    tokens: int
    """Sent, received, and read from or written to a cache."""
    cost: float
    """US dollars, as far as the agent recorded them."""
    priced: int
    """How many costs were recorded; where there is none, the cost is unknown."""
    copied: bool
    """Whether it was used before the session began: in the session that it was made from."""


class Card(NamedTuple):
    """What a listing shows of one session. A tuple, so that ten thousand are read back in a few milliseconds.

    Counts are None where they are not known yet (`partial`). Texts named safe have passed `safe_line`.
    """

    path: str
    agent: str
    id: str
    """The session's id; the file's name without its ending where it has none."""
    name: str | None
    """The name the user gave, as written."""
    title: str
    """Name, else first prompt, else `[image]` where that is all that was said, else `NO_MESSAGES`; one line, safe."""
    prompt: str
    """The first prompt: one line, safe, cut; empty where there is none."""
    project: str
    """The folder the agent worked in, as written; empty where it is not known."""
    created: int | None
    """Milliseconds since 1970, as the header says."""
    modified: int
    """The same: the latest user or assistant message, else `created`, else when the file was written (pi 1.5.2)."""
    entries: int | None
    messages: int | None
    """Entries of type `message`, on all branches (pi 1.5.2)."""
    turns: int | None
    """Prompts and commands of the user, on all branches."""
    branches: int | None
    """As `Session.branches` counts them."""
    compactions: int | None
    tokens: int | None
    """Size of the context at the agent's own leaf, on the basis of `context.basis`."""
    model: str | None
    """The model that applies there."""
    parent: str | None
    """The session this one was made from: a path as written in the header, or one inferred."""
    relation: str | None
    """`fork`, `subagent` or `inferred`; None where there is no parent."""
    archived: bool
    damage: int
    """Damaged entries, an unfinished last line among them, and what of a session cannot be read at all."""
    problem: str | None
    """Why the file cannot be read as a session; None where it can."""
    size: int
    """Bytes."""
    version: int
    """Of the file's format; 0 where it is not known."""
    origin: int
    """What the first prompt is, else the first entry, as a number, to find copies by; 0 where there is no entry."""
    partial: bool
    """Made from the two ends of the file, or older than the file: nothing in it is final."""
    estimated: bool = False
    """Whether no provider counted `tokens`: they are shown with `~`."""
    lacks_prompt: bool = False
    """`tokens` is estimated, and the agent's own prompt, whose size its session does not say, comes on top."""
    warm_up: bool = False
    """A sub-agent that was only started to be ready: nothing was asked of it."""

    @property
    def when(self) -> int:
        """What the list is ordered by: `modified`; of a fork or copy that nobody has gone on with yet, when it was made."""
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
            "problem": self.problem,
            "bytes": self.size,
            "version": self.version,
        }


def concealed(card: Card) -> Card:
    """A card that keeps nothing of what was said: where the session lies, and that its project is excluded."""
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
    """What only a preview or a `file:` search asks for; read from the index when first wanted."""

    changed: tuple[str, ...] = ()
    """The files last changed, the latest last, relative to the project where they lie in it."""
    read: tuple[str, ...] = ()
    """The files last read, and not changed."""
    last_prompt: str = ""
    """The last prompt on the way to the agent's own leaf: one line, safe, cut."""
    last_reply: str = ""
    """The last reply to it, likewise; empty where there is none yet."""


class Mark(NamedTuple):
    """Where reading a session stopped, so that a file that has only grown is read on from there."""

    end: int
    """Bytes read."""
    inode: int
    seal: str
    """Of the file's first bytes and of the last ones before `end`."""
    last_id: str
    """The entry that the next one continues."""
    leaves: int
    at_tip: bool
    """Whether the conversation stands at the end of a branch."""


class Reading(NamedTuple):
    """Everything taken from one file."""

    card: Card
    details: Details = Details()
    mark: Mark | None = None
    """None where the file has to be read whole the next time."""
    spent: tuple[Spent, ...] = ()
    """What it used, by day."""
