"""Makes the card of a session file from a scan of the whole file.

Few entries are decoded: the first prompt, the last few entries, and those from the leaf up to the last reply that records
the size of the context.
"""

from __future__ import annotations

import re
from contextlib import ExitStack, closing
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.base import SessionCandidate
from leafward.agents.registry import native
from leafward.agents.storage.stretches import LARGE
from leafward.base.errors import NotASession
from leafward.base.times import parse_time
from leafward.catalogue.cards.card import Card, Details, Reading, ReadMark
from leafward.catalogue.cards.card_fields import (
    MESSAGES,
    TouchedFiles,
    agent_of,
    archived_by,
    brief,
    card_title,
    excerpt,
    parent_of,
    problem_card,
    relation_of,
    seal_of,
    spoken_at,
    time_in,
    title_in,
)
from leafward.catalogue.cards.daily_usage import spent_by
from leafward.catalogue.cards.replies import Replies
from leafward.context.model_context import context_at, lacks_prompt
from leafward.context.projection import naming_model
from leafward.context.recorded_usage import believed
from leafward.files.working_set import touched
from leafward.session.entries import BOOKKEEPING, BOOKKEEPING_BYTES, NO_ENTRY, PROMPTS, EntryIndex, Kind
from leafward.session.foreign import ForeignFiles
from leafward.session.headlines.entry_headline import shown_only
from leafward.session.headlines.session_title import typed_command
from leafward.session.lines.line_decoding import CURRENT_VERSION
from leafward.session.lines.scan import Scan
from leafward.session.messages import is_bare_command, messages_of, trusted_usage
from leafward.session.native_file import NativeFile
from leafward.session.session import Session, problems_in
from leafward.session.tokens import message_tokens
from leafward.session.watched_file import SessionFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.agents.base import Agent
    from leafward.catalogue.cards.card import DayUsage
    from leafward.session.entries import Body

_MESSAGES, _PROMPTS = bytes(MESSAGES), bytes(PROMPTS)
_UNANSWERED = re.compile(b"[%c](?![%c])" % (Kind.USER, Kind.ASSISTANT))
"""A prompt with no prompt or reply right after it, which would be later."""
_SPEAKERS = (Kind.USER, Kind.ASSISTANT)
_LAST_ENTRIES = 12
"""Number of entries at the end of the file that are read at once."""
_REPLIES_TRIED = 32


def read_whole(candidate: SessionCandidate, stop: Callable[[], bool] = lambda: False) -> Reading | None:
    """All fields of a card, from the whole file; None if `stop` ended the reading. Raises nothing because of the file's content."""
    try:
        agent = agent_of(candidate)
        if agent is native():
            found = _native_reading(candidate, agent, stop, shared=candidate.size >= LARGE)
            return found or (None if stop() else _native_reading(candidate, agent, stop, shared=False))
        with closing(agent.open(Path(candidate.path), stop)) as session:
            if stop():
                return None
            files = TouchedFiles(session.cwd)
            files.take(_operations_of(session, agent, stop))
            spent = spent_by(session, stop)
            return None if spent is None else _reading(session, agent, candidate, files, spent)
    except NotASession as error:
        problem = _reason(error, candidate.path)
    except OSError as error:
        problem = f"cannot read: {error.strerror or error}"
    except Exception as error:
        # One bad file among thousands must not keep the others from being listed.
        problem = f"cannot be understood: {type(error).__name__}: {error}"
    return Reading(problem_card(candidate, problem))


def whole(card: Card) -> Card:
    """The card with its counts and its title, for one of a first look: reads its file. Any other card as it is."""
    if not card.partial or card.problem is not None:
        return card
    reading = read_whole(SessionCandidate(card.path, [card.size, card.modified * 1_000_000], card.agent))
    return card if reading is None or reading.card.problem is not None else reading.card


def _native_reading(
    candidate: SessionCandidate, agent: Agent, stop: Callable[[], bool], *, shared: bool
) -> Reading | None:
    """The reading of a native session; None if `stop` ended it, or if the processes that share the work failed."""
    replies, share = Replies(), None
    with ExitStack() as stack:
        if shared:
            # Imported only here, as few sessions are that large.
            from leafward.catalogue.cards.shared_replies import SharedReplies

            share = stack.enter_context(SharedReplies(candidate.path, replies))
        source = NativeFile(Path(candidate.path), Scan(replies.watch), SessionFile(candidate.path, once=True))
        session = stack.enter_context(closing(Session.of(source, stop)))
        if stop() or (share is not None and not share.join(session.scan.end, stop)):
            return None
        return _reading(session, agent, candidate, replies.files, replies.meter.days(), replies.spoken)


def _reading(
    session: Session,
    agent: Agent,
    candidate: SessionCandidate,
    files: TouchedFiles,
    spent: tuple[DayUsage, ...],
    replied: int | None = None,
) -> Reading:
    """Makes the reading. `replied` is the time of the latest reply in milliseconds, if all replies were looked at."""
    look = _Look(session, replied)
    tokens = look.tokens()
    source = session.source
    columns, kinds = session.columns, session.columns.kind
    prompt = look.first_prompt()
    created = parse_time(session.header.get("timestamp"))
    card = Card(
        path=candidate.path,
        agent=agent.name,
        id=session.id,
        name=session.name,
        title=card_title(session.name or title_in(session.header), prompt, look.shown),
        prompt=prompt,
        project=session.cwd,
        created=created,
        modified=look.modified() or created or candidate.mtime_ns // 1_000_000,
        entries=columns.entries,
        messages=len(kinds) - len(kinds.translate(None, _MESSAGES)) + look.unknown_messages(),
        turns=len(kinds) - len(kinds.translate(None, _PROMPTS)),
        branches=session.branches,
        compactions=kinds.count(Kind.COMPACTION),
        tokens=tokens,
        model=look.model(),
        parent=parent_of(session.header),
        relation=relation_of(session.header),
        archived=look.archived() or session.header.get("archived") is True,
        damage=problems_in(session),
        midway=columns.begins_midway,
        size=candidate.size or (source.transcript.size if isinstance(source, ForeignFiles) else 0),
        version=session.version,
        origin=look.origin() if session.is_native else 0,
        lacks_prompt=look.lacks_prompt,
        estimated=look.estimated,
        warm_up=session.header.get("warm_up") is True,
    )
    details = Details(tuple(files.changed), tuple(files.read), *look.last_words())
    return Reading(card, details, _mark(session, source) if isinstance(source, NativeFile) else None, spent)


class _Look:
    """A session being read for its card; decoded entries are kept, as some are needed twice."""

    def __init__(self, session: Session, replied: int | None) -> None:
        self.session = session
        self.kinds = session.columns.kind
        self.replied = replied
        count = len(session)
        last = range(max(0, count - _LAST_ENTRIES), count) if replied is None else ()
        source = session.source
        self.decoded: dict[int, Body | None] = dict(source.known) if isinstance(source, NativeFile) else {}
        self.decoded.update(session.bodies(last) if last else ())
        self.texts: dict[int, str] = {}
        self.runs = session.tree.path_runs(session.own_leaf)
        self.lacks_prompt = False
        """Whether the size found by `tokens` leaves out the agent's system prompt."""
        self.estimated = False
        """Whether no provider counted the size found by `tokens`."""
        self.shown = ""
        """Text shown for the prompts without text that `first_prompt` skipped."""

    def body(self, index: int) -> Body | None:
        if index not in self.decoded:
            self.decoded[index] = self.session.body(index)
        return self.decoded[index]

    def text(self, index: int) -> str:
        """The excerpt of a message."""
        if index not in self.texts:
            self.texts[index] = excerpt(self.body(index))
        return self.texts[index]

    def upwards(self, kind: Kind) -> Iterator[int]:
        """Entries of a kind on the path, from the leaf upwards."""
        if kind not in self.kinds:
            return
        for run in reversed(self.runs):
            at = self.kinds.rfind(kind, run.start, run.stop)
            while at >= 0:
                yield at
                at = self.kinds.rfind(kind, run.start, at)

    def tokens(self) -> int:
        """Size of the context at the agent's own leaf. Equals `context_at` and decodes as few entries as possible."""
        if next(self.upwards(Kind.CONTEXT_EDIT), NO_ENTRY) >= 0:
            return self.whole_context()
        oldest = next(self.upwards(Kind.COMPACTION), NO_ENTRY)
        trailing = 0
        for run in reversed(self.runs):
            for index in range(run.stop - 1, run.start - 1, -1):
                if index == oldest:
                    return self.whole_context()
                kind = self.kinds[index]
                if kind in BOOKKEEPING:
                    continue
                body = self.body(index)
                if body is None:
                    return self.whole_context()
                if kind == Kind.ASSISTANT:
                    message = body.get("message")
                    usage = trusted_usage(message) if isinstance(message, dict) else None
                    if usage is not None and not believed(self.session, EntryIndex(index)):
                        return self.whole_context()
                    if usage is not None:
                        return usage.total + trailing
                trailing += sum(message_tokens(message) for message in messages_of(body, Kind(kind)))
        return self.whole_context()

    def whole_context(self) -> int:
        """Size of the context at the agent's own leaf, from every message; a line that proves broken changes the path."""
        session = self.session
        # The agent sends nothing from a leaf that only Leafward moved to.
        context = context_at(session, None if session.own_leaf == session.leaf else session.own_leaf)
        self.lacks_prompt = lacks_prompt(session, context)
        self.estimated = not context.count.recorded
        self.runs = session.tree.path_runs(session.own_leaf)
        return context.total

    def first_prompt(self) -> str:
        """The first user message with a text, in file order (pi 1.5.2); of another agent's fork, the first of its own.

        A command without arguments counts only if there is no other prompt.
        """
        at = self.kinds.find(Kind.USER, self.session.inherited)
        at = at if at >= 0 else self.kinds.find(Kind.USER)
        bare = ""
        while at >= 0:
            body, text = self.body(at), self.text(at)
            if text and not is_bare_command(body or {}):
                return text
            bare = bare or text
            self.shown = self.shown or shown_only(body or {})
            at = self.kinds.find(Kind.USER, at + 1)
        if bare:
            return bare
        command = None if self.session.is_native else typed_command(self.session)
        return brief(command) if command else ""

    def last_words(self) -> tuple[str, str]:
        """The text of the last prompt on the path that has one, and of the last reply to it; empty if there is none."""
        for asked in self.upwards(Kind.USER):
            prompt = self.text(asked)
            if prompt:
                return prompt, self._reply(asked)
        return "", self._reply(NO_ENTRY)

    def _reply(self, above: int) -> str:
        """The text of the last reply on the path below an entry."""
        for tried, index in enumerate(self.upwards(Kind.ASSISTANT)):
            if tried == _REPLIES_TRIED or index < above:
                break
            text = self.text(index)
            if text:
                return text
        return ""

    def modified(self) -> int | None:
        """The latest time of a user's or assistant's message, in milliseconds.

        Files are appended to, so the latest message is among the last ones. Earlier ones are looked at only if none of those has
        a time, or if Leafward appended entries: grafted turns keep the times of the original messages.
        """
        if self.replied is not None:
            found = max(self.replied, self._spoken(self.kinds.rfind(Kind.USER)))
        else:
            found = max((spoken_at(body) for body in self.decoded.values()), default=0)
            found = found or self._spoken(max(self.kinds.rfind(kind) for kind in _SPEAKERS))
        if self.session.columns.own:
            found = max([found, *(self._spoken(at.start()) for at in _UNANSWERED.finditer(self.kinds))])
        return found or None

    def _spoken(self, index: int) -> int:
        return spoken_at(self.body(index)) if index >= 0 else 0

    def model(self) -> str | None:
        return naming_model(self.session, self.session.own_leaf, self.body)[1]

    def archived(self) -> bool:
        for index in reversed(self.session.columns.own):
            archived = archived_by(self.body(index))
            if archived is not None:
                return archived
        return False

    def unknown_messages(self) -> int:
        """Messages of a role that this version does not know."""
        count = 0
        at = self.kinds.find(Kind.UNKNOWN)
        while at >= 0:
            count += (self.session.body(at) or {}).get("type") == "message"
            at = self.kinds.find(Kind.UNKNOWN, at + 1)
        return count

    def origin(self) -> int:
        """Number of the first prompt and its time, else of the first entry's id and time; equal in all copies and forks.

        A copy that a program rewrote may have other ids and other entry times.
        """
        first = self.kinds.find(Kind.USER)
        prompt = self.body(first) if first >= 0 else None
        message = prompt.get("message") if prompt is not None else None
        said = time_in(message) if isinstance(message, dict) else None
        if said is not None:
            return _number_of(f"{self.text(first)}@{said}")
        if not self.kinds or self.kinds[0] == Kind.MALFORMED:
            return 0
        body = self.body(0) or {}
        return _number_of(f"{body.get('id')}@{body.get('timestamp')}")


def _number_of(text: str) -> int:
    known = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(known, digest_size=6).digest(), "big")


def _reason(error: NotASession, path: str) -> str:
    """The reason why a file cannot be read, without the file's name."""
    return str(error).replace(f" {path}:", ":").removeprefix(f"{path} ")


def _operations_of(session: Session, agent: Agent, stop: Callable[[], bool]) -> list[tuple[str, bool]]:
    """Files that another agent's session touched, on all branches and in its inherited beginning, as in a session of pi.

    Each is listed where it was last read and where it was last changed, with whether it was changed there.
    """
    found = touched(session, range(len(session)), agent.tool_table, stop)
    latest = [
        (entries[-1], (path, changed))
        for path, file in found.items()
        for changed, entries in ((False, file.read), (True, file.modified))
        if entries
    ]
    return [touch for _, touch in sorted(latest)]


def _mark(session: Session, source: NativeFile) -> ReadMark | None:
    """The mark to read on from; None if the file is not simple enough for that."""
    columns, leaf = session.columns, session.leaf
    if (
        session.scan.pending
        or columns.damage
        or session.version != CURRENT_VERSION
        or not session.header
        or leaf < 0
    ):
        return None
    place, tree = session.place, session.tree
    at_tip = place >= 0
    if at_tip:
        run = tree.run_of(place)
        below = columns.kind[place + 1 : tree.bounds(run)[1]].translate(None, BOOKKEEPING_BYTES)
        at_tip = not below and not tree.content_children(run)
    end = session.scan.end
    return ReadMark(
        end,
        source.seen.st_ino,
        seal_of(source.file.handle, end),
        columns.id(leaf),
        sum(1 for _ in tree.leaves()),
        at_tip,
    )
