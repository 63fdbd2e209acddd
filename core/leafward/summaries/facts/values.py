"""The values of facts, and the merging of several sightings into one fact."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, IntEnum, StrEnum, auto
from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import NO_ENTRY, EntryIndex

if TYPE_CHECKING:
    from collections.abc import Iterable


DROPPED = "dropped"
"""The outcome of a todo that was removed from its list."""
ANSWERED = "answered"
"""The outcome of a todo in a request of the user's that was answered before the user went on.

It is also that of a demand that concerned that request alone.
"""
TAKEN_UP = "taken up"
"""The outcome of a todo that was only told, and worked on since: nothing tells whether it is done."""


class FactKind(StrEnum):
    """The kind of a fact, in the order in which kinds are listed."""

    PATH = "path"
    COMMAND = "command"
    NUMBER = "number"
    ERROR = "error"
    IDENTIFIER = "identifier"
    URL = "url"
    CONSTRAINT = "constraint"
    DECISION = "decision"
    TODO = "todo"


class Voice(IntEnum):
    """The place of a fact in a message, from the weakest to the strongest sign that it is needed."""

    OUTPUT = 0
    """A tool printed it."""
    THOUGHT = 1
    """The model's thinking."""
    CODE = 2
    """Text written into a file, or replaced in one."""
    CALL = 3
    """The arguments of a call."""
    TOLD = 4
    """A summary, or a message that an extension added."""
    AGENT = 5
    """The model's answer."""
    CHANGED = 6
    """A file that a call changes."""
    USER = 7
    """The user."""


class Reach(Enum):
    """How far a demand of the user's reaches: only one that lasts is a rule, any other is what was said with a request."""

    LASTING = auto()
    """It holds beyond its request: it says so, it was repeated, or nothing else was said with it."""
    OPEN = auto()
    """It belongs to a request that is open."""
    EARLIER = auto()
    """It was said with a request that was answered since: nothing tells whether it holds for other work."""
    OVER = auto()
    """It bound one piece of work, which was answered, or was that work."""


class Sighting(NamedTuple):
    """One occurrence of a fact."""

    kind: FactKind
    key: str
    """The canonical form: sightings of one kind with one key are one fact."""
    text: str
    """The text as written."""
    voice: Voice
    entry: EntryIndex
    outcome: str = ""
    """For a command: `exit 0`, `exit 1`, …, `failed`; for a todo: `dropped`, `answered`, `taken up`; else empty."""
    about: str = ""
    """For a number, the path that it describes. For a todo, the heading above it.

    For a path of a call, the folder that it was named from where that is not the session's, and that of a patch.
    """
    is_open: bool = True
    """For a todo, whether it is still to be done; for a demand, whether it still holds."""


@dataclass(slots=True)
class Fact:
    """A fact of some messages, with all of its sightings."""

    kind: FactKind
    key: str
    text: str
    """The text of its last sighting in the strongest voice."""
    entry: EntryIndex
    """The entry of that sighting."""
    voice: Voice
    """The strongest voice among its sightings."""
    entries: list[EntryIndex] = field(default_factory=list)
    """All entries that hold it, in order."""
    count: int = 0
    """The number of its sightings."""
    outcome: str = ""
    """The last known outcome."""
    ended: EntryIndex = NO_ENTRY
    """The last entry with an outcome: later ones may only name the command."""
    about: list[str] = field(default_factory=list)
    """The subjects of its sightings, or their headings."""
    is_open: bool = True
    weight: float = 0.0
    """The cost of losing it, relative to the other facts."""

    @property
    def last(self) -> EntryIndex:
        """The last entry that holds it."""
        return self.entries[-1] if self.entries else NO_ENTRY


_KIND_WEIGHT = {
    FactKind.PATH: 2.0,
    FactKind.COMMAND: 1.5,
    FactKind.NUMBER: 1.0,
    FactKind.ERROR: 2.0,
    FactKind.IDENTIFIER: 1.0,
    FactKind.URL: 2.0,
    FactKind.CONSTRAINT: 4.0,
    FactKind.DECISION: 3.0,
    FactKind.TODO: 3.0,
}
_VOICE_WEIGHT = {
    Voice.OUTPUT: 0.25,
    Voice.THOUGHT: 0.4,
    Voice.CODE: 0.5,
    Voice.CALL: 0.8,
    Voice.TOLD: 1.0,
    Voice.AGENT: 1.0,
    Voice.CHANGED: 2.0,
    Voice.USER: 2.0,
}


_CLOSED = frozenset({FactKind.TODO, FactKind.CONSTRAINT})
"""Kinds that are over once done, until they are said again."""


def gather(sightings: Iterable[Sighting]) -> list[Fact]:
    """The facts of some sightings, in the order of their first ones; weighted by kind, voice and recurrence.

    A path that is the end of exactly one longer path is that path, unless it was named from the root too. A name that is an
    error is not an identifier as well.
    """
    facts: dict[tuple[FactKind, str], Fact] = {}
    listed = list(sightings)
    whole = whole_paths({seen.key for seen in listed if seen.kind is FactKind.PATH})
    for seen in listed:
        if seen.key in whole and seen.kind is FactKind.PATH and from_root(seen):
            del whole[seen.key]
    abouts: dict[tuple[FactKind, str], dict[str, None]] = {}
    for seen in listed:
        key = whole.get(seen.key, seen.key) if seen.kind is FactKind.PATH else seen.key
        identity = (seen.kind, key)
        text = key if seen.kind is FactKind.PATH else seen.text
        fact = facts.get(identity)
        if fact is None:
            fact = facts[identity] = Fact(seen.kind, key, text, seen.entry, seen.voice)
        elif seen.voice >= fact.voice:
            fact.voice, fact.text, fact.entry = seen.voice, text, seen.entry
        if not fact.entries or fact.entries[-1] != seen.entry:
            fact.entries.append(seen.entry)
        # A call and its result are one use of a command.
        fact.count += not seen.outcome
        if seen.outcome:
            fact.outcome, fact.ended = seen.outcome, seen.entry
        elif fact.kind in _CLOSED:
            fact.outcome = ""
        if seen.about and seen.kind is not FactKind.PATH:
            abouts.setdefault(identity, {})[whole.get(seen.about, seen.about)] = None
        fact.is_open = seen.is_open
    for identity, about in abouts.items():
        facts[identity].about += about
    for fact in facts.values():
        recurrence = 1 + math.log2(max(1, len(fact.entries)))
        fact.weight = round(_KIND_WEIGHT[fact.kind] * _VOICE_WEIGHT[fact.voice] * recurrence, 4)
    errors = {fact.text for fact in facts.values() if fact.kind is FactKind.ERROR}
    return [
        fact
        for fact in facts.values()
        if fact.kind is not FactKind.IDENTIFIER or fact.text.strip("`") not in errors
    ]


def from_root(path: Sighting) -> bool:
    """Whether it is known which file a path means: it is whole, or a call changes it. No longer path that ends in the same means it."""
    return (
        path.voice is Voice.CHANGED
        or path.about != ""
        or (path.text != path.key and (path.text.startswith("/") or path.text[1:2] == ":"))
    )


def whole_paths(keys: Iterable[str]) -> dict[str, str]:
    """The longest path that ends in a relative path, by that relative path; left out where several are the longest."""
    known = sorted(set(keys))
    # Only of these the longer ones are asked for: all ends of a path of very many folders would take all memory.
    bare_keys = {key.lstrip("./") for key in known}
    ends: dict[str, set[str]] = {}
    for key in known:
        stem = key.strip("/")
        while "/" in stem:
            stem = stem.partition("/")[2]
            if stem in bare_keys:
                ends.setdefault(stem, set()).add(key)
    whole: dict[str, str] = {}
    for key in known:
        bare = key.lstrip("./")
        longer = ends.get(bare)
        if not longer or key.startswith(("/", "~")) or "." not in bare.rsplit("/", 1)[-1]:
            continue
        longest = [path for path in longer if not ends.get(path.lstrip("./"), set()) - {key}]
        if len(longest) == 1 and longest[0] != key:
            whole[key] = longest[0]
    return whole
