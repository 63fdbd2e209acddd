"""One small conversation in the store of each other agent, for tests of what is kept beside their sessions."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from leafward.agents.registry import agent_named
from leafward.session.entries import Kind
from leafward.session.journal.operation_log import archived_branches, operations
from leafward.session.messages import message_text
from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout
from tests.foreign_sessions import texts
from tests.opencode_store import Conversation, Database, write_tree
from tests.untouched import contents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from leafward.session.session import Session

AGENTS = ("claude", "codex", "opencode", "opencode-files")
TURNS = 3


@dataclass
class Store:
    """A session of three turns, `one`, `two` and `three`, each a prompt and a reply that ends it."""

    agent: str
    root: Path
    """The whole store: everything in it is the agent's."""
    path: Path
    grow: Callable[[str], None]
    """Lets the agent go on with another turn of that name."""
    sessions: list[Session] = field(default_factory=list)

    def open(self) -> Session:
        session = agent_named(self.agent).open(self.path)
        assert not session.is_native
        self.sessions.append(session)
        return session

    def close(self) -> None:
        """Closes what was opened."""
        for session in self.sessions:
            session.close()


def make(agent: str, root: Path) -> Store:
    """A store of an agent with one session."""
    if agent == "claude":
        transcript = Transcript(root / ".claude")
        store = Store(agent, root, transcript.path, lambda name: _say(transcript.turn, name))
    elif agent == "codex":
        rollout = Rollout(root / ".codex")
        store = Store(agent, root, rollout.path, lambda name: rollout.turn(f"{name}?", f"{name}."))
    else:
        talk = Conversation(directory="/home/ada/orchard")
        if agent == "opencode":
            base = Database(root / "opencode")
            store = Store(agent, root, base.path / talk.id, lambda name: _stored(talk, name, base.write))
        else:
            files = root / "opencode"
            write_tree(files, talk)
            path = write_tree(files, talk)
            store = Store(
                "opencode", root, path, lambda name: _stored(talk, name, lambda it: write_tree(files, it))
            )
    for name in ("one", "two", "three"):
        store.grow(name)
    return store


@contextmanager
def watched(agent: str, root: Path) -> Iterator[Store]:
    """Such a store; whatever is done meanwhile, nothing of it is another afterwards than when the agent wrote last."""
    made = make(agent, root)
    written = {"bytes": contents(root)}
    grow = made.grow

    def growing(name: str) -> None:
        grow(name)
        written["bytes"] = contents(root)

    yield replace(made, grow=growing)
    made.close()
    assert contents(root) == written["bytes"]


def _say(turn: Callable[[str, str], str], name: str) -> None:
    turn(f"{name}?", f"{name}.")


def _stored(talk: Conversation, name: str, write: Callable[[Conversation], object]) -> None:
    talk.turn(name)
    write(talk)


def said(session: Session, name: str, *, reply: bool = True) -> int:
    """The entry that says a turn's name: its reply, or its prompt."""
    for index in range(len(session)):
        kind = session.columns.kind[index]
        if kind == (Kind.ASSISTANT if reply else Kind.USER):
            text = message_text((session.body(index) or {}).get("message") or {})
            if text.strip() == (f"{name}." if reply else f"{name}?"):
                return index
    raise AssertionError(name)


def same_anew(store: Store, session: Session) -> None:
    """Another Leafward that reads the files now finds the same as this one."""
    anew = store.open()
    try:
        assert anew.columns == session.columns
        assert (anew.leaf, anew.place, anew.what_if) == (session.leaf, session.place, session.what_if)
        assert (anew.name, anew.labels) == (session.name, session.labels)
        assert operations(anew) == operations(session)
        assert texts(anew) == texts(session)
        assert archived_branches(anew) == archived_branches(session)
    finally:
        anew.close()
