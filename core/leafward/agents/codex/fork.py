"""A copy of a thread's lines up to a cut, in one rollout of its own (Codex 0.47 to 0.169).

Lines are copied as bytes: only their numbers and the description change. Where the new thread works in another folder, Codex's
notes about the old one stay, and Codex itself tells the model about the new one before the next prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward import __version__
from leafward.agents.authorship import own_cut
from leafward.agents.codex.description import OURS
from leafward.agents.codex.entries.records import BEGINS, HEAD, Role, framed, line_at, line_of
from leafward.agents.codex.rollout import lines_in
from leafward.agents.codex.rollout_items import TITLE, draft_of, fresh_id, injected_line, provider_of
from leafward.agents.storage.lines import seams
from leafward.base.errors import Refused
from leafward.base.times import iso_stamp
from leafward.session.entries import BOOKKEEPING, Kind
from leafward.session.journal.lines import encode_line
from leafward.session.journal.write import WriteRemark
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.authorship import OwnCut
    from leafward.agents.codex.chain import ChainStep
    from leafward.agents.codex.rollout import Rollout
    from leafward.agents.codex.transcript import CodexReader
    from leafward.agents.fork_draft import ForkDraft, ForkPoint, ForkTerms
    from leafward.session.columns import Columns
    from leafward.session.entries import Body
    from leafward.session.session import Session

_LOST = frozenset(
    {
        *("history_base", "forked_from_ordinal_exclusive", "parent_thread_id"),
        *("agent_nickname", "agent_role", "agent_path", OURS),
    }
)
"""Fields of a thread's description that name the thread's own source; a copy loses them."""
_OF_FOLDER = frozenset({"git", "runtime_workspace_roots"})
"""Fields that describe the working folder."""
_OF_TURN = (Role.MESSAGE, Role.TURN)
"""Roles right before a prompt, in files that do not mark the beginning of a turn."""
_CLOSING = frozenset({
    Role.QUIET, Role.COUNT, Role.USAGE, Role.ANSWER, Role.ECHO, Role.BOOKS, Role.NAME, Role.UNKNOWN,
    Role.ASIDE, Role.REVIEWED
})  # fmt: skip
"""Roles that may follow the last reply of a turn."""


class _Stretch(NamedTuple):
    """Copied lines of one segment."""

    rollout: Rollout
    ordinal: int | None
    """The number of the first line that is not copied; None: `offset` is the end."""
    offset: int
    begin: int = 0
    """Offset of the first line that is copied."""


def forked(
    reader: CodexReader,
    session: Session,
    cut: ForkPoint,
    terms: ForkTerms,
    home: str,
    env_set: tuple[tuple[str, str], ...],
) -> ForkDraft:
    """The lines up to a cut, from all segments that lead there, in one file. Raises Refused."""
    columns = reader.columns
    folder = terms.folder(session, TITLE)
    owned = own_cut(session, columns, cut)
    tip = owned.end if owned.prompt >= 0 else _last_put(reader, owned)
    if tip < 0:
        raise Refused("none of it is in the files of Codex; --to pi copies everything")
    step, offset = _place(reader, tip, owned.prompt)
    stretches = _leading_to(reader, step, offset)
    anew = reader.begun_anew(tip)
    if anew >= 0:
        rollout, begin, _ = reader.stretch(anew)
        stretches = [one._replace(begin=begin) if one.rollout is rollout else one for one in stretches]
    own = _meta_of(reader, step, session)
    paginated = own.get("history_mode") == "paginated"
    name = fresh_id(terms)
    lost = _LOST if folder == session.cwd else _LOST | _OF_FOLDER
    meta = {key: value for key, value in own.items() if key not in lost}
    meta |= {
        "id": name,
        "session_id": name,
        "timestamp": iso_stamp(terms.now),
        "forked_from_id": session.id,
        "source": "cli",
        "thread_source": "user",
        "history_mode": "paginated" if paginated else "legacy",
        "cwd": folder,
    }
    meta.setdefault("originator", "leafward")
    meta.setdefault("cli_version", __version__)
    meta.setdefault("model_provider", provider_of(home))
    remarks = [*owned.remarks()]
    if owned.entry >= 0 and not reader.stands_alone(owned.entry):
        text = "this entry exists only in a compaction: the new session ends right before the compaction"
        remarks.append(WriteRemark("inside-compaction", text))
    if columns.kind.count(Kind.MALFORMED):
        remarks.append(
            WriteRemark("damaged-lines", "damaged lines are left out; whole records on them are kept")
        )
    return draft_of(
        name,
        home,
        terms,
        folder,
        lambda: _copied(meta, stretches, terms, paginated=paginated),
        _depth(columns, tip),
        tuple(remarks),
        env_set,
    )


def _last_put(reader: CodexReader, owned: OwnCut) -> int:
    """The last entry of the context: it includes Codex's additions behind the last reply, where that is the requested end."""
    columns = reader.columns
    at: int = owned.entry
    while at >= 0 and at != owned.end:
        if columns.kind[at] not in BOOKKEEPING and reader.stands_alone(at):
            return at
        at = columns.parent[at]
    return owned.end


def _depth(columns: Columns, index: int) -> int:
    """The number of entries of a path."""
    found = 0
    while index >= 0:
        found += 1
        index = columns.parent[index]
    return found


def _meta_of(reader: CodexReader, step: ChainStep, session: Session) -> Body:
    """The first record of the segment in which the copy ends; of the session's own first one, where that is another thread's."""
    metas = reader.chain.metas
    own = metas.get(step.segment.path, {})
    if step.segment.thread == session.id:
        return own
    paths = [one.segment.path for one in reader.chain.steps if one.segment.thread == session.id]
    return next((metas[path] for path in paths if path in metas), own)


# --- where the copy ends ---


def _place(reader: CodexReader, end: int, prompt: int) -> tuple[ChainStep, int]:
    """The segment in which the copy ends, and the offset of its end."""
    rollout, _, stop = reader.stretch(end)
    if prompt >= 0:
        following, start, _ = reader.stretch(prompt)
        begin = stop if following is rollout and stop <= start else 0
        return _step_of(reader, following), _turn_start(following, begin, start)
    if reader.columns.kind[end] in (Kind.TOOL_RESULT, Kind.CUSTOM_MESSAGE):
        return _step_of(reader, rollout), stop
    return _step_of(reader, rollout), _turn_end(rollout, stop)


def _step_of(reader: CodexReader, rollout: Rollout) -> ChainStep:
    return next(step for step in reader.chain.steps if step.rollout is rollout)


def _turn_start(rollout: Rollout, begin: int, prompt: int) -> int:
    """The beginning of a prompt's turn: the event that marks it, else the run of context lines before the prompt."""
    marked: int | None = None
    run: int | None = None
    reviews = False
    for data, start, end, at in _lines_from(rollout, begin):
        if at >= prompt:
            break
        line = line_at(data, start, end)
        if line is None:
            continue
        if line.role is Role.REVIEW or (line.role is Role.STARTED and not reviews):
            marked, reviews = at, line.role is Role.REVIEW
        if line.role in _OF_TURN or _is_world(data, start, end):
            run = at if run is None else run
        else:
            run = None
    if marked is not None:
        return marked
    return run if run is not None else prompt


def _turn_end(rollout: Rollout, begin: int) -> int:
    """The end of a turn: the first line behind its last reply that does not close it."""
    last = begin
    for data, start, end, at in _lines_from(rollout, begin):
        line = line_at(data, start, end)
        if line is not None and line.role not in _CLOSING:
            return at
        last = at + end + 1 - start
    return last


def _lines_from(rollout: Rollout, begin: int) -> Iterator[tuple[bytes, int, int, int]]:
    for buffer, whole, base in rollout.blocks(begin=begin):
        yield from lines_in(buffer, whole or len(buffer), base)


def _is_world(data: bytes, start: int, end: int) -> bool:
    head = HEAD.match(data, start, end)
    return head is not None and head[2] == b"world_state"


# --- which lines are copied ---


def _leading_to(reader: CodexReader, step: ChainStep, offset: int) -> list[_Stretch]:
    """The stretches of all segments that lead to a place in one, the first one first. Raises Refused where one is missing."""
    found = [_Stretch(step.rollout, None, offset)]
    by_id = {one.segment.id: one for one in reader.chain.steps}
    seen = {step.segment.path}
    while step.base is not None:
        if step.missing is not None:
            raise Refused(step.missing)
        ordinal = step.base.ordinal
        step = by_id[step.base.segment]
        if step.segment.path in seen:
            raise Refused(f"segment {step.segment.id} is based on itself")
        seen.add(step.segment.path)
        found.append(_Stretch(step.rollout, ordinal, 0))
    found.reverse()
    return found


def _copied(meta: Body, stretches: list[_Stretch], terms: ForkTerms, *, paginated: bool) -> Iterator[bytes]:
    stamp = iso_stamp(terms.now)
    number = 0
    first: Body = {"timestamp": stamp, "ordinal": 0, "type": "session_meta", "payload": meta}
    yield encode_line(first if paginated else _unnumbered(first))
    for stretch in stretches:
        for line in _records(stretch):
            if _is_described(line):
                continue
            number += 1
            yield _numbered(line, number, stamp) if paginated else _stamped(line, stamp)
    if terms.injected:
        yield injected_line(terms, number + 1 if paginated else None)


def _records(stretch: _Stretch) -> Iterator[bytes]:
    """The records of a stretch, one per line: the intact pieces of a damaged line, and nothing broken."""
    for data, start, end, at in stretch.rollout.lines(entire=True):
        if at < stretch.begin:
            continue
        if stretch.ordinal is None and at >= stretch.offset:
            return
        stop = end - 1 if data[end - 1 : end] == b"\r" and end > start else end
        for first, last in _pieces(data, start, stop):
            if stretch.ordinal is not None:
                number = _number_of(data, first, last)
                if number is not None and number >= stretch.ordinal:
                    return
            if stretch.ordinal is None and at + first - start >= stretch.offset:
                return
            yield data[first:last]


def _pieces(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    if start == end:
        return
    if decode_line(data[start:end]) is not None:
        yield start, end
        return
    for first, last in seams(data, start, end, BEGINS):
        if decode_line(data[first:last]) is not None:
            yield first, last


def _number_of(data: bytes, start: int, end: int) -> int | None:
    head = HEAD.match(data, start, end)
    if head is not None:
        return int(head[1]) if head[1] is not None else None
    return line_of(decode_line(data[start:end]) or {}).ordinal


def _is_described(line: bytes) -> bool:
    """Whether a line only describes its own file."""
    head = HEAD.match(line)
    if head is not None:
        return head[2] == b"session_meta"
    return framed(decode_line(line) or {}).get("type") in ("session_meta", "state")


def _numbered(line: bytes, number: int, stamp: str) -> bytes:
    """A line with its number in the new file, otherwise unchanged."""
    head = HEAD.match(line)
    if head is not None and head[1] is not None:
        return line[: head.start(1)] + str(number).encode() + line[head.end(1) :] + b"\n"
    body = decode_line(line) or {}
    placed = {"timestamp": body.get("timestamp") or stamp, "ordinal": number}
    return encode_line({**placed, **{key: value for key, value in body.items() if key not in placed}})


def _stamped(line: bytes, stamp: str) -> bytes:
    """A line as it is; an item without a frame gets the frame that later versions of Codex need to read the file."""
    if HEAD.match(line) is not None:
        return line + b"\n"
    body = decode_line(line) or {}
    whole = framed(body)
    return line + b"\n" if whole is body else encode_line({**whole, "timestamp": whole["timestamp"] or stamp})


def _unnumbered(body: Body) -> Body:
    return {key: value for key, value in body.items() if key != "ordinal"}
