"""A new session that an earlier attempt at the same fork wrote, and that was not used since.

A user who runs `fork --run` again after the agent failed wants that session and no second copy, and so does one who asks again
in the explorer. Nothing is stored for this: a fork names its source, and its end matches the source at the cut.
"""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from leafward.agents.fork_draft import ForkDraft, Import, last_said
from leafward.agents.registry import agent_named
from leafward.base.errors import LeafwardError
from leafward.base.regular_files import read_regular
from leafward.branches.fork import LEFT_BEHIND, left_imports
from leafward.catalogue.lineage import parents
from leafward.catalogue.listing import Catalogue
from leafward.catalogue.roots import stores
from leafward.session.entries import EntryIndex, Kind, blocks_of
from leafward.session.lines.line_decoding import decode_line
from leafward.session.messages import message_in, message_text, messages_of, written_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from leafward.agents.resume import Resume
    from leafward.base.config import Config
    from leafward.branches.fork import Fork
    from leafward.session.session import Session


PutIn: TypeAlias = "Callable[[str], bool]"
"""Whether a text is one that a fork adds behind the copied entries."""


def models_summary(injected: str, offline: Callable[[], str]) -> PutIn:
    """Recognises a model's summary of the entries left behind, followed by the injected context where that is wanted.

    A model words it differently each time, so any summary matches except the one made without a model, which `offline` returns.
    """

    def is_one(text: str) -> bool:
        return LEFT_BEHIND in text and injected in text and offline() not in text

    return is_one


def unused_fork(
    session: Session, made: Fork, config: Config, env: Mapping[str, str], put_in: PutIn | None
) -> ForkDraft | None:
    """The latest session that an earlier attempt at a fork wrote and nobody continued; None where there is none.

    `put_in` stands in for the test for the text that the fork itself adds. Unreadable sessions are skipped.
    """
    draft = made.draft
    put_in = put_in or _put_in_by(made)
    agent = agent_named(draft.agent)
    roots = [root for one, root in stores(config, env) if one.name == draft.agent]
    catalogue = Catalogue(config, [*roots, draft.path.parent, session.path], env=env)
    catalogue.refresh()
    cards = catalogue.cards()
    above = parents(cards)
    source = os.path.abspath(session.path)
    likely = [
        card
        for card in cards
        if card.agent == draft.agent
        and card.problem is None
        and card.project == draft.resume.cwd
        and above.get(card.path, ("",))[0] == source
    ]
    for card in sorted(likely, key=lambda card: card.modified, reverse=True):
        path = Path(card.path)
        try:
            with closing(agent.open(path)) as other:
                if _ends_alike(session, made.cut.end, other, put_in):
                    resume = agent.resume(other, env)
                    return replace(draft, id=other.id, path=path, file=path, resume=resume, imported=None)
        except (LeafwardError, OSError):
            continue
    return None


def waiting_import(made: Fork, put_in: PutIn | None) -> ForkDraft | None:
    """A draft for an earlier attempt's document that still waits for its import; None without one, or where no import is needed."""
    draft = made.draft
    if draft.imported is None:
        return None
    ours = _put_in_by(made)
    said = _document(b"".join(draft.content()), ours)
    for path in left_imports():
        try:
            found = _document(read_regular(path), put_in or ours)
        except OSError:
            continue
        if found is not None and said is not None and found[1:] == said[1:]:
            return _renamed(draft, path, found[0])
    return None


def _put_in_by(made: Fork) -> PutIn | None:
    return (lambda text: made.injected in text) if made.injected else None


def _document(document: bytes, put_in: PutIn | None) -> tuple[str, object, list[object]] | None:
    """Id and folder of a document, and its copied content without the ids that are new in each document.

    None where it is not a document of this kind, or lacks the added text.
    """
    read = decode_line(document) or {}
    info, messages = read.get("info"), read.get("messages")
    if not isinstance(info, dict) or not isinstance(info.get("id"), str) or not isinstance(messages, list):
        return None
    parts = [part for message in messages for part in blocks_of(message.get("parts"))]
    copied = [part for part in parts if put_in is None or not put_in(str(part.get("text")))]
    if put_in is not None and len(copied) == len(parts):
        return None
    texts: list[object] = [
        {name: part.get(name) for name in ("type", "text", "callID", "state")} for part in copied
    ]
    return info["id"], info.get("directory"), texts


def _renamed(draft: ForkDraft, file: Path, name: str) -> ForkDraft:
    def command(one: Resume) -> Resume:
        return replace(one, argv=tuple(word.replace(draft.id, name) for word in one.argv))

    imported = draft.imported
    return replace(
        draft,
        id=name,
        path=draft.path.with_name(name),
        file=file,
        resume=command(draft.resume),
        imported=Import(command(imported.command), command(imported.undo)) if imported is not None else None,
    )


def _ends_alike(session: Session, end: EntryIndex, other: Session, put_in: PutIn | None) -> bool:
    """Whether a session ends as another one does at an entry, followed at most by the added text."""
    place = last_said(other, other.place)
    texts = _texts_below(other, place)
    if place >= 0 and put_in is not None and not texts:
        # Some agents take the added text for a prompt.
        texts, place = _texts(other, place), last_said(other, other.columns.parent[place])
    if place < 0 or not _says_alike(session, end, other, place):
        return False
    return any(map(put_in, texts)) if put_in is not None else not texts


def _says_alike(session: Session, end: EntryIndex, other: Session, place: EntryIndex) -> bool:
    """Whether an entry is a copy or a conversion of another one: in some formats a summary is a part of a prompt."""
    if mark_of(other, place) == mark_of(session, end):
        return True
    if written_at(other.body(place) or {}) != written_at(session.body(end) or {}):
        return False
    summary = (session.body(end) or {}).get("summary")
    return isinstance(summary, str) and any(summary in text for text in _texts(other, place))


def _texts_below(session: Session, entry: int) -> list[str]:
    """Texts behind an entry of the path, besides the messages."""
    path = (index for run in session.tree.path_runs(session.place) for index in range(run.start, run.stop))
    return [text for index in path if index > entry for text in _texts(session, index)]


def _texts(session: Session, index: int) -> list[str]:
    messages = messages_of(session.body(index) or {}, Kind(session.columns.kind[index]))
    return [text for text in map(message_text, messages) if text]


def mark_of(session: Session, index: int) -> tuple[object, ...]:
    """The parts of an entry that its copies keep: its text and time. Some agents give new ids, and thinking is not healed."""
    body = session.body(index) or {}
    message = message_in(body)
    texts = [block.get("text") for block in blocks_of(message.get("content")) if block.get("type") == "text"]
    return (session.columns.kind[index] == Kind.ASSISTANT, written_at(body), texts or body.get("summary"))
